import HTTPModel
import Runner

/// Reads the changes of a held message from one line: `method=PUT header="X-Mode: test" body="{}"`.
///
/// The names are the options of `sluice hold edit`; a value with spaces is quoted.
enum HoldWords {
    private static let names =
        "method, url, path, query, remove-query, header, add-header, remove-header, status, body, json, form, raw"

    /// Throws ``ConsoleFailure`` or `ControlFailure` for what is no change.
    static func edit(_ line: String) throws -> HoldEdit {
        var edit = HoldEdit()
        for word in try words(line) {
            let word = word.hasPrefix("--") ? String(word.dropFirst(2)) : word
            guard let equals = word.firstIndex(of: "=") else {
                throw ConsoleFailure("'\(VisibleText.of(word))' is no change; write NAME=VALUE with one of: \(names).")
            }
            try set(String(word[..<equals]), String(word[word.index(after: equals)...]), in: &edit)
        }
        return edit
    }

    private static func set(_ name: String, _ value: String, in edit: inout HoldEdit) throws {
        switch name {
        case "method": edit.method = value
        case "url": edit.url = value
        case "path": edit.path = value
        case "query": edit.query.append(try HoldEdit.pair(value))
        case "remove-query": edit.removeQuery.append(value)
        case "header": edit.headers.append(try HoldEdit.header(value))
        case "add-header": edit.addHeaders.append(try HoldEdit.header(value))
        case "remove-header": edit.removeHeaders.append(value)
        case "status":
            guard let status = Int(value) else { throw ConsoleFailure("A status is a number, not '\(value)'.") }
            edit.status = status
        case "body":
            guard value != "@-" else { throw ConsoleFailure("Standard input is where the commands come from.") }
            edit.body = HoldEdit.Body(try HoldEdit.content(value))
        case "json": edit.json.append(try HoldEdit.json(value))
        case "form": edit.form.append(try HoldEdit.pair(value))
        case "raw": edit.raw = value
        default:
            throw ConsoleFailure("'\(VisibleText.of(name))' cannot be changed; there are: \(names).")
        }
    }

    /// Splits a line as a shell does, with quotes and backslashes.
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
        guard quote == nil, !isEscaped else { throw ConsoleFailure("A quote is opened and not closed.") }
        if let word { words.append(word) }
        return words
    }
}
