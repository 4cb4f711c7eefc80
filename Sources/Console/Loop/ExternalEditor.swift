import Foundation
import Runner

enum ExternalEditor {
    /// Opens a file in the user's own editor, and says how that went.
    static func open(_ path: String) -> Message {
        do {
            guard let how = try TextEditor(path: path).edit() else { return .said("\(path) was edited.", .info) }
            return .said("The editor \(how).", .error)
        } catch {
            return .said("\(error)", .error)
        }
    }

    /// Opens a text in the user's own editor; returns the new text, and throws where the editor cannot be run or fails.
    static func edit(_ text: String, for purpose: EditorState.Purpose) throws -> String {
        let name =
            switch purpose {
            case .rule: "rule.yaml"
            case .hold, .request, .newRequest: "message.http"
            }
        let editor = try TextEditor(text, name: name)
        defer { editor.remove() }
        switch try editor.run() {
        case .text(let text): return text
        case .failed(let how): throw ConsoleError("The editor \(how); the text is as before.")
        }
    }
}
