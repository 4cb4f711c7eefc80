import Foundation
import Runner

/// The user's editor, on a text of the console's.
enum ExternalEditor {
    /// Lets the user edit a text; returns `nil` where it was left as it was.
    static func edit(_ text: String, for purpose: EditorState.Purpose) throws -> String? {
        let name =
            switch purpose {
            case .rule: "rule.yaml"
            case .hold, .request: "message.http"
            }
        let editor = try TextEditor(text, name: name)
        defer { editor.remove() }
        return try editor.run()
    }
}
