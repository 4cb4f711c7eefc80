import Foundation
import Runner

enum ExternalEditor {
    /// Opens a file in the user's own editor, and says how that went.
    static func open(_ path: String) -> Message {
        do {
            guard let how = try TextEditor(path: path).edit() else { return .said("\(path) was edited.") }
            return .said("The editor \(how).", .error)
        } catch {
            return .said("\(error)", .error)
        }
    }

    /// Opens the text of an editor in the user's own one.
    static func edit(_ editor: EditorState) -> Message {
        do {
            let text = try edit(editor.area.text, for: editor.purpose)
            return .answer { $0.takeBack(editor, text) }
        } catch {
            return .said("\(error)", .error)
        }
    }

    /// Returns the new text; throws if the editor cannot be run or fails.
    private static func edit(_ text: String, for purpose: EditorState.Purpose) throws -> String {
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
