import Rules
import Tools

/// Keys that are no commands: those of fields, editors, panels and the list of held messages.
enum HelpKeys {
    typealias Hint = FooterView.Hint

    static let field: [Hint] = [
        ("enter", "OK"), ("esc", "cancel"), ("← → home end", "move"), ("backspace delete", "delete a character"),
        ("ctrl-w", "delete a word"), ("ctrl-u ctrl-k", "delete to the beginning, to the end"),
    ]

    static let filter: [Hint] =
        [("enter", "apply the filter"), ("esc", "cancel: the filter before"), ("↑ ↓", "earlier filters")]
        + field.dropFirst(2)

    static let picker: [Hint] = [
        ("type", "narrow the list: a part, or another word for it"), ("↑ ↓ pgup pgdn", "move"), ("enter", "choose"),
        ("esc", "close"),
    ]

    static let report: [Hint] = [
        ("↑ ↓ j k", "move"), ("pgup pgdn", "by pages"), ("g G", "to the first line, to the last"), ("f", "find"),
        ("c", "copy: a line, or all that is shown"), ("?", "help; in help, the guide's page about where you were"),
        ("esc q", "close"),
    ]

    /// What the keys of a panel do, in more words than the footer has.
    static let panel = [
        "enter": "edit the rule", "a": "add a rule, from the selected exchange where there is one",
        "space": "switch the rule on or off", "d": "delete the rule", "J K": "move the rule down, up",
        "o": "switch the tool on or off", "p": "choose a preset", "u": "undo the last change",
        "ctrl-s": "save the rules to the profile's file",
    ]

    static func holds(_ model: ConsoleModel) -> [Hint] {
        [("↑ ↓", "move"), ("enter", "edit the message")] + FooterView.holdHints(model) + [("esc", "close")]
    }

    static func editor(_ editor: EditorState) -> [Hint] {
        let word =
            switch editor.purpose {
            case .rule: "put the rule in force"
            case .hold: "execute the message as it stands"
            case .request, .newRequest: "send the request"
            }
        let scope: [Hint] = editor.isNewRule && editor.origin != nil ? [("ctrl-t", "the next wider scope")] : []
        let own: [Hint] =
            editor.isRule
            ? [("tab", "complete the word: a key, a value, a host of the session")]
            : [("ctrl-y", "format JSON; without edits, the body is sent as it was")]
        return [("ctrl-s", word)] + scope + own + [
            ("ctrl-o", "go on in $EDITOR"), ("esc", "close; asks where the text was changed"), ("", ""),
            ("← → ↑ ↓", "move"), ("home end", "to the beginning of the line, to its end"),
            ("ctrl-home/end", "to the first line, to the last"), ("pgup pgdn", "by pages"),
            ("ctrl-u ctrl-k", "delete to the beginning of the line, to its end"),
            ("alt-z", "undo the last change of the text"),
        ]
    }

    static func remark(_ editor: EditorState) -> String {
        switch editor.purpose {
        case .rule(let tool, _): "A rule of \(tool.title), as YAML. What it would match stands below it."
        case .hold: "The message as a text: first line, header fields, an empty line, the body."
        case .request, .newRequest: "The request as a text: method and URL, header fields, an empty line, the body."
        }
    }
}
