import Files
package import Foundation
package import HTTPModel

extension HoldEdit {
    /// `Name: value`.
    package static func header(_ text: String) throws(ControlError) -> Pair {
        guard let (name, rest) = split(text, at: ":") else {
            throw ControlError("A header field is given as 'Name: value'; '\(text.prefix(60))' has no colon.")
        }
        let pair = Pair(name, rest.trimmingCharacters(in: CharacterSet(charactersIn: " \t")))
        try HeaderRules.check(pair)
        return pair
    }

    /// `NAME=VALUE` of a query or a form.
    package static func pair(_ part: Place.Part, _ text: String) throws(ControlError) -> ValueChange {
        guard let (name, value) = split(text, at: "="), !name.isEmpty else {
            throw ControlError("A parameter is given as NAME=VALUE, not '\(text.prefix(60))'.")
        }
        return ValueChange(place: Place(.request, part, [.member(name)]).description, value: value)
    }

    /// `PLACE=VALUE`, for example `json.user.name=Ada`; a name in quotation marks may contain `=`.
    package static func value(_ text: String) throws(ControlError) -> ValueChange {
        var first: ControlError?
        for equals in text.indices where text[equals] == "=" {
            do {
                let place = try place(String(text[..<equals]))
                return ValueChange(place: place, value: String(text[text.index(after: equals)...]))
            } catch {
                first = first ?? error
            }
        }
        throw first
            ?? ControlError("Write PLACE=VALUE, not '\(text.prefix(60))'.", hint: "For example json.user.name=Ada.")
    }

    /// Checks the place of a value in a request or a response, and returns it unchanged.
    package static func place(_ text: String) throws(ControlError) -> String {
        if (try? Place(text, in: .response)) != nil { return text }
        do throws(PlaceError) {
            _ = try Place(text, in: .request)
            return text
        } catch {
            throw ControlError("'\(text.prefix(60))' is not a place: \(error).")
        }
    }

    private static func split(_ text: String, at separator: Character) -> (String, String)? {
        text.firstIndex(of: separator).map { (String(text[..<$0]), String(text[text.index(after: $0)...])) }
    }

    /// The text of a raw message, given in a form that ``content(_:)`` accepts.
    package static func message(_ text: String) throws(ControlError) -> String {
        guard let message = String(validating: try content(text), as: UTF8.self) else {
            throw ControlError("The message is not UTF-8 text.", hint: "A body of other bytes is given with --body.")
        }
        return message
    }

    /// A text, `@file`, or `@-` for standard input; `@@` stands for `@` at the beginning of a text.
    package static func content(_ text: String) throws(ControlError) -> Data {
        guard text.hasPrefix("@") else { return Data(text.utf8) }
        if text.hasPrefix("@@") { return Data(text.utf8.dropFirst()) }
        let path = String(text.dropFirst())
        let limit = ControlProtocol.longestLine
        do {
            let bytes =
                path == "-"
                ? try FileHandle.standardInput.read(upToCount: limit + 1) ?? Data()
                : Data(try InputFile.contents(of: path, atMost: limit + 1, takesPipes: true))
            if bytes.count <= limit { return bytes }
        } catch {
            let reason = (error as? FileError)?.description ?? "\(path) cannot be read."
            throw ControlError(reason, hint: "'@@' stands for a text that begins with '@'.")
        }
        throw ControlError("\(path) is larger than \(limit >> 20) MiB.")
    }
}
