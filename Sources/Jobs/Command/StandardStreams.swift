import Foundation
import HTTPModel
import Text

/// Unbuffered standard output and standard error. Control and invisible characters are made visible; exact bytes are
/// written with ``OutputFile``.
package enum StandardStreams {
    package static func out(_ text: String) { write(text, to: FileHandle.standardOutput) }
    package static func error(_ text: String) { write(text, to: FileHandle.standardError) }

    private static func write(_ text: String, to handle: FileHandle) {
        // A closed pipe (`| head`) does not stop the proxy.
        StatusLine.whileErased { try? handle.write(contentsOf: Data(VisibleText.lines(text).utf8)) }
    }
}
