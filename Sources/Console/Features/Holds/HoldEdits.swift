package import Runner
import Text

package enum HoldChange: Sendable, Hashable {
    case draft(String)
    /// Changes on one line: `method=PUT header="X-Mode: test"`.
    case words(String)

    func edit() throws -> HoldEdit {
        switch self {
        case .draft(let text):
            var edit = HoldEdit()
            edit.raw = text
            return edit
        case .words(let line): return try HoldWords.edit(line)
        }
    }
}

/// The changes of a held message, as the options of `sluice hold edit` name them.
package enum HoldOption: String, CaseIterable, Sendable {
    case method, url, path, query
    case removeQuery = "remove-query"
    case header
    case addHeader = "add-header"
    case removeHeader = "remove-header"
    case status, body, json, form, raw

    /// Throws ``ConsoleError`` or `ControlError` for a wrong value.
    package func add(_ value: String, to edit: inout HoldEdit) throws {
        switch self {
        case .method: edit.method = value
        case .url: edit.url = value
        case .path: edit.path = value
        case .query: edit.query.append(try HoldEdit.pair(value))
        case .removeQuery: edit.removeQuery.append(value)
        case .header: edit.headers.append(try HoldEdit.header(value))
        case .addHeader: edit.addHeaders.append(try HoldEdit.header(value))
        case .removeHeader: edit.removeHeaders.append(value)
        case .status:
            guard let status = Int(value) else { throw ConsoleError("A status is a number, not '\(value)'.") }
            edit.status = status
        case .body: edit.body = HoldEdit.Body(try HoldEdit.content(value))
        case .json: edit.json.append(try HoldEdit.json(value))
        case .form: edit.form.append(try HoldEdit.pair(value))
        case .raw: edit.raw = try HoldEdit.message(value)
        }
    }
}

/// Reads the changes of a held message from one line: `method=PUT header="X-Mode: test" body="{}"`.
enum HoldWords {
    /// Throws ``ConsoleError`` or `ControlError` for what is not a change.
    static func edit(_ line: String) throws -> HoldEdit {
        let names = HoldOption.allCases.map(\.rawValue).joined(separator: ", ")
        var edit = HoldEdit()
        for word in try words(line) {
            let word = word.hasPrefix("--") ? String(word.dropFirst(2)) : word
            guard let equals = word.firstIndex(of: "=") else {
                throw ConsoleError("'\(VisibleText.of(word))' is not a change; write NAME=VALUE with one of: \(names).")
            }
            let name = String(word[..<equals])
            guard let option = HoldOption(rawValue: name) else {
                throw ConsoleError("'\(VisibleText.of(name))' cannot be changed; there are: \(names).")
            }
            let value = String(word[word.index(after: equals)...])
            guard value != "@-" || ![.body, .raw].contains(option) else {
                throw ConsoleError("'@-' is not possible here: commands are read from standard input.")
            }
            try option.add(value, to: &edit)
        }
        return edit
    }

    static func words(_ line: String) throws -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for sign in line {
            if isEscaped {
                word = (word ?? "") + String(sign)
                isEscaped = false
            } else if sign == "\\", quote != "'" {
                isEscaped = true
            } else if sign == quote {
                quote = nil
            } else if quote == nil, sign == "\"" || sign == "'" {
                quote = sign
                word = word ?? ""
            } else if quote == nil, sign == " " || sign == "\t" {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(sign)
            }
        }
        guard quote == nil, !isEscaped else { throw ConsoleError("A quote is not closed.") }
        if let word { words.append(word) }
        return words
    }
}
