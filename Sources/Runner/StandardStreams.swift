import Foundation
import HTTPModel
import Text

/// Standard output and standard error, written without buffering in between.
///
/// What a terminal would obey or hide is made visible, wherever it comes from: traffic, files, arguments. Bytes that are
/// to stay exact go through ``OutputFile``.
package enum StandardStreams {
    package static func out(_ text: String) { write(text, to: FileHandle.standardOutput) }
    package static func error(_ text: String) { write(text, to: FileHandle.standardError) }

    private static func write(_ text: String, to handle: FileHandle) {
        // A reader that went away (`| head`) is no reason to stop the proxy.
        try? handle.write(contentsOf: Data(VisibleText.lines(text).utf8))
    }
}
