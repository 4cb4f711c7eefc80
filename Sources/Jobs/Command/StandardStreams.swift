import Foundation
import HTTPModel
import Text

/// Unbuffered standard output and error, with control and invisible characters escaped (``OutputFile``: raw bytes).
package enum StandardStreams {
    package static func out(_ text: String) { write(text, to: FileHandle.standardOutput) }
    package static func error(_ text: String) { write(text, to: FileHandle.standardError) }

    private static func write(_ text: String, to handle: FileHandle) {
        // A closed pipe (`| head`) does not stop the proxy.
        StatusLine.whileErased { try? handle.write(contentsOf: Data(VisibleText.lines(text).utf8)) }
    }
}
