import Foundation
import HTTPModel
import Text

/// Standard output and standard error, written without buffering in between.
///
/// What a terminal would obey or hide is made visible, as in text of traffic, files and arguments. Exact bytes go
/// through ``OutputFile``.
package enum StandardStreams {
    package static func out(_ text: String) { write(text, to: FileHandle.standardOutput) }
    package static func error(_ text: String) { write(text, to: FileHandle.standardError) }

    private static func write(_ text: String, to handle: FileHandle) {
        // A reader that ends (`| head`) does not stop the proxy.
        StatusLine.whileErased { try? handle.write(contentsOf: Data(VisibleText.lines(text).utf8)) }
    }
}
