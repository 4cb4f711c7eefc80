import Files
package import Foundation

/// How a command line says what to edit.
extension HoldEdit {
    /// Reads `Name: value`.
    package static func header(_ text: String) throws(ControlFailure) -> Pair {
        guard let colon = text.firstIndex(of: ":") else {
            throw ControlFailure("A header field is given as 'Name: value'; '\(text.prefix(60))' has no colon.")
        }
        let value = text[text.index(after: colon)...].trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
        let pair = Pair(String(text[..<colon]), value)
        try HeaderRules.check(pair)
        return pair
    }

    /// Reads `NAME=VALUE`, of a query or a form.
    package static func pair(_ text: String) throws(ControlFailure) -> Pair {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw ControlFailure("A parameter is given as NAME=VALUE, not '\(text.prefix(60))'.")
        }
        return Pair(String(text[..<equals]), String(text[text.index(after: equals)...]))
    }

    /// Reads `/path/in/json=VALUE`.
    package static func json(_ text: String) throws(ControlFailure) -> JSONChange {
        guard let equals = text.firstIndex(of: "=") else {
            throw ControlFailure(
                "A value in a JSON body is given as /PATH=VALUE, not '\(text.prefix(60))'.",
                hint: "For example /user/name=Ada, /items/0=17, /flags/-=true."
            )
        }
        let change = JSONChange(path: String(text[..<equals]), value: String(text[text.index(after: equals)...]))
        _ = try JSONPointer(change.path)
        return change
    }

    /// Reads a whole message in raw form, given as ``content(_:)`` has it.
    package static func message(_ text: String) throws(ControlFailure) -> String {
        guard let message = String(validating: try content(text), as: UTF8.self) else {
            throw ControlFailure("The message is not UTF-8 text.", hint: "A body of other bytes is given with --body.")
        }
        return message
    }

    /// Reads a text given as it is, as `@file`, or as `@-` for standard input; `@@` stands for a text that begins with
    package static func content(_ text: String) throws(ControlFailure) -> Data {
        guard text.hasPrefix("@") else { return Data(text.utf8) }
        if text.hasPrefix("@@") { return Data(text.utf8.dropFirst()) }
        let path = String(text.dropFirst())
        let limit = ControlProtocol.longestLine
        let bytes: Data
        do {
            bytes =
                path == "-"
                ? try FileHandle.standardInput.read(upToCount: limit + 1) ?? Data()
                : Data(try InputFile.contents(of: path, atMost: limit + 1, takesPipes: true))
        } catch {
            let reason = (error as? FileFailure)?.description ?? "\(path) cannot be read."
            throw ControlFailure(reason, hint: "'@@' stands for a text that begins with '@'.")
        }
        guard bytes.count <= limit else { throw ControlFailure("\(path) is larger than \(limit >> 20) MiB.") }
        return bytes
    }
}
