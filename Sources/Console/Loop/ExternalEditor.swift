import Foundation
import Runner

/// The user's editor, on a text of the console's.
enum ExternalEditor {
    /// Lets the user edit a text.
    ///
    /// - Returns: the text as it is then.
    /// - Throws: why there is none: the editor cannot be run, or has failed.
    static func edit(_ text: String, for purpose: EditorState.Purpose) throws -> String {
        let name =
            switch purpose {
            case .rule: "rule.yaml"
            case .hold, .request: "message.http"
            }
        let editor = try TextEditor(text, name: name)
        defer { editor.remove() }
        switch try editor.run() {
        case .text(let text): return text
        case .failed(let how): throw ConsoleFailure("The editor \(how); the text is as before.")
        }
    }
}
