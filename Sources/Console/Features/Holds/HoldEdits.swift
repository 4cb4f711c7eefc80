import HTTPModel
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

/// The changes of a held message, with the option names of `sluice hold edit`.
package enum HoldOption: String, CaseIterable, Sendable {
    case method, url, path, query
    case removeQuery = "remove-query"
    case header
    case addHeader = "add-header"
    case removeHeader = "remove-header"
    case status, body, form, remove, raw

    package func add(_ value: String, to edit: inout HoldEdit) throws {
        switch self {
        case .method: edit.method = value
        case .url: edit.url = value
        case .path: edit.path = value
        case .query: edit.values.append(try HoldEdit.pair(.query, value))
        case .removeQuery: edit.values.append(.init(place: "\(Place(.request, .query, [.member(value)]))"))
        case .header: edit.headers.append(try HoldEdit.header(value))
        case .addHeader: edit.addHeaders.append(try HoldEdit.header(value))
        case .removeHeader: edit.removeHeaders.append(value)
        case .status:
            guard let status = Int(value) else { throw ConsoleError("A status is a number, not '\(value)'.") }
            edit.status = status
        case .body: edit.body = HoldEdit.Body(try HoldEdit.content(value))
        case .form: edit.values.append(try HoldEdit.pair(.form, value))
        case .remove: edit.values.append(.init(place: try HoldEdit.place(value)))
        case .raw: edit.raw = try HoldEdit.message(value)
        }
    }

    /// Reads `method=PUT`, `header=X-Mode: test` or the value of a place: `json.user.name=Ada`.
    package static func read(_ word: String, into edit: inout HoldEdit) throws {
        let name = String(word.prefix { $0 != "=" })
        if let option = HoldOption(rawValue: name), name != word {
            return try option.add(String(word.dropFirst(name.count + 1)), to: &edit)
        }
        do throws(ControlError) {
            edit.values.append(try HoldEdit.value(word))
        } catch {
            let names = allCases.map(\.rawValue).joined(separator: ", ")
            throw ConsoleError("\(error.message) These can be changed, too: \(names).")
        }
    }
}

/// Reads the changes of a held message from one line: `method=PUT header="X-Mode: test" json.user.name=Ada`.
enum HoldWords {
    static let noInput = ConsoleError("'@-' is not possible here: commands are read from standard input.")

    static func edit(_ line: String) throws -> HoldEdit {
        var edit = HoldEdit()
        for word in try words(line) {
            let word = word.hasPrefix("--") ? String(word.dropFirst(2)) : word
            guard !["body=@-", "raw=@-"].contains(word) else { throw noInput }
            try HoldOption.read(word, into: &edit)
        }
        return edit
    }

    static func words(_ line: String) throws -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = line[...]
        while let sign = rest.popFirst() {
            if sign == "\\", quote != "'" {
                guard let escaped = rest.popFirst() else { throw ConsoleError("A quote is not closed.") }
                word = (word ?? "") + String(escaped)
            } else if sign == quote {
                quote = nil
            } else if quote == nil, "\"'".contains(sign) {
                (quote, word) = (sign, word ?? "")
            } else if quote == nil, " \t".contains(sign) {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(sign)
            }
        }
        guard quote == nil else { throw ConsoleError("A quote is not closed.") }
        return words + (word.map { [$0] } ?? [])
    }
}
