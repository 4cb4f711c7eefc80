import Foundation

/// A pattern for names: `traffic-%Y-%m-%dT%H-%M-%S.sluice`. `%Y` `%m` `%d` `%H` `%M` `%S` `%j` are the local time like
/// in `strftime`, `%N` is a running number of at least four digits, `%%` a percent sign. Without `%N`, a name that is
/// taken gets `-2`, `-3` and so on before its ending.
package struct SessionPattern: Sendable, Hashable {
    package let text: String
    private let folder: String
    private var parts: [Part] = []

    private enum Part: Sendable, Hashable {
        case text(String)
        case time(Character, digits: Int)
        case number
        /// Nothing, or a hyphen and a number from 2.
        case copy
    }

    package struct PatternError: Error, CustomStringConvertible {
        package let description: String
    }

    private static let fields: [Character: Int] = ["Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2, "j": 3]

    /// Throws ``PatternError``, also for a directive in a folder's name.
    package init(_ text: String) throws(PatternError) {
        let end = text.lastIndex(of: "/").map { text.index(after: $0) } ?? text.startIndex
        guard !text[..<end].contains("%") else {
            throw PatternError(description: "'\(text)' has a directive in a folder's name.")
        }
        try self.init(folder: String(text[..<end]), name: String(text[end...]))
    }

    /// `folder` has no directives; it is empty, or ends with a slash.
    package init(folder: String, name: String) throws(PatternError) {
        (text, self.folder) = (folder + name, folder)
        guard !name.isEmpty, !text.utf8.contains(0) else { throw PatternError(description: "'\(text)' names no file.") }
        // The suffix of a name that is taken comes before the ending.
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        parts = try Self.parts(of: name[..<dot])
        if !parts.contains(.number) { parts.append(.copy) }
        parts += try Self.parts(of: name[dot...])
        guard parts.count(where: { $0 == .number }) < 2 else {
            throw PatternError(description: "'\(text)' has %N more than once.")
        }
    }

    private static func parts(of name: Substring) throws(PatternError) -> [Part] {
        var parts: [Part] = []
        var literal = ""
        var rest = name
        while let character = rest.popFirst() {
            guard character == "%" else {
                literal.append(character)
                continue
            }
            let directive = rest.popFirst()
            if directive == "%" {
                literal.append("%")
                continue
            }
            if !literal.isEmpty { parts.append(.text(literal)) }
            literal = ""
            if directive == "N" {
                parts.append(.number)
            } else if let directive, let digits = fields[directive] {
                parts.append(.time(directive, digits: digits))
            } else {
                let known = "%Y %m %d %H %M %S %j %N %%"
                throw PatternError(
                    description: "%\(directive.map(String.init) ?? "") is not a directive; use \(known)."
                )
            }
        }
        if !literal.isEmpty { parts.append(.text(literal)) }
        return parts
    }

    var directory: String { folder.isEmpty ? "." : folder }

    func path(of name: String) -> String { folder + name }

    package func path(at time: Int, number: Int) -> String { path(of: name(at: time, number: number)) }

    var isNumbered: Bool { parts.contains(.number) }

    /// `time` is in seconds since 1970; `number` is the running number, or the number of the copy.
    func name(at time: time_t, number: Int) -> String {
        var (time, fields) = (time, tm())
        localtime_r(&time, &fields)
        var name = ""
        for part in parts {
            switch part {
            case .text(let text): name += text
            case .time(let field, _): name += Self.text(of: field, at: &fields)
            case .number: name += String(repeating: "0", count: max(0, 4 - "\(number)".count)) + "\(number)"
            case .copy: if number > 1 { name += "-\(number)" }
            }
        }
        return name
    }

    private static func text(of field: Character, at time: inout tm) -> String {
        var bytes = [CChar](repeating: 0, count: 16)
        let count = strftime(&bytes, bytes.count, "%\(field)", &time)
        return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The number in a name, 1 if it has no number; `nil` if the name does not match the pattern.
    package func number(in name: String) -> Int? { Self.number(in: Substring(name), parts[...]) }

    private static func number(in name: Substring, _ parts: ArraySlice<Part>, _ found: Int = 1) -> Int? {
        guard let part = parts.first else { return name.isEmpty ? found : nil }
        let rest = parts.dropFirst()
        switch part {
        case .text(let text): return name.hasPrefix(text) ? number(in: name.dropFirst(text.count), rest, found) : nil
        case .time(_, let digits):
            let field = name.prefix(digits)
            guard field.count == digits, field.allSatisfy(isDigit) else { return nil }
            return number(in: name.dropFirst(digits), rest, found)
        case .number:
            // Tries the most digits first, because a field of the time may follow.
            for count in stride(from: min(18, name.prefix(while: isDigit).count), through: 4, by: -1) {
                guard let value = Int(name.prefix(count)) else { continue }
                if let found = number(in: name.dropFirst(count), rest, value) { return found }
            }
            return nil
        case .copy:
            if let found = number(in: name, rest, found) { return found }
            guard name.first == "-" else { return nil }
            let digits = name.dropFirst().prefix(while: isDigit)
            guard digits.count < 18, let value = Int(digits), value > 1, digits.first != "0" else { return nil }
            return number(in: name.dropFirst(1 + digits.count), rest, value)
        }
    }

    private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) && character.isASCII }
}
