import HTTPModel

/// A value in a profile that is being written.
indirect enum DraftValue: Hashable {
    /// A text, quoted where it must be.
    case text(String)
    /// A number or a flag, as it stands.
    case word(String)
    case list([DraftValue])
    case mapping([DraftField])

    /// A number, without a fraction where there is none.
    static func number(_ number: Double) -> DraftValue { .word(GrammarValue.text(number)) }

    /// A list; where it has one member, just that.
    static func texts(_ texts: [String]) -> DraftValue { .some(texts.map { .text($0) }) }

    /// Likewise.
    static func some(_ values: [DraftValue]) -> DraftValue { values.count == 1 ? values[0] : .list(values) }

    /// On one line, in YAML's flow style.
    var flow: String {
        switch self {
        case .text(let text): DraftValue.quoted(text)
        case .word(let word): word
        case .list(let members): members.isEmpty ? "[]" : "[\(members.map(\.flow).joined(separator: ", "))]"
        case .mapping(let fields): fields.isEmpty ? "{}" : "{ \(fields.map(\.flow).joined(separator: ", ")) }"
        }
    }

    // MARK: - Texts

    /// Words that YAML, or a reader of it, takes for something else.
    private static let taken: Set<String> = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]

    /// The text as a YAML scalar that can stand anywhere: plain where nothing can be misread, else in quotes.
    static func quoted(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        if let first = scalars.first, isLetter(first) || first == "/", !taken.contains(text.lowercased()),
            scalars.allSatisfy({ isLetter($0) || ("0"..."9").contains($0) || "_-./".unicodeScalars.contains($0) })
        {
            return text
        }
        // Regular expressions and JSON read best where nothing in them needs a backslash.
        let readsBetter = scalars.contains("\\") || scalars.contains("\"")
        if readsBetter, !scalars.contains("'"), scalars.allSatisfy(isPrintable), !hasTrap(["'"] + scalars) {
            return "'\(text)'"
        }
        return doubleQuoted(scalars)
    }

    private static func doubleQuoted(_ scalars: [Unicode.Scalar]) -> String {
        var result = String.UnicodeScalarView("\"".unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            let before = index == 0 ? "\"" : scalars[index - 1]
            let after = index + 1 < scalars.count ? scalars[index + 1] : "\""
            switch scalar {
            case "\"": result += "\\\"".unicodeScalars
            case "\\": result += "\\\\".unicodeScalars
            case "\n": result += "\\n".unicodeScalars
            case "\r": result += "\\r".unicodeScalars
            case "\t": result += "\\t".unicodeScalars
            case _ where isTrap(before, scalar, after): result += escape(scalar)
            case _ where isPrintable(scalar): result.append(scalar)
            default: result += escape(scalar)
            }
        }
        result.append("\"")
        return String(result)
    }

    /// A character as double-quoted YAML escapes it (YAML 1.1 §5.5).
    static func escape(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let (letter, width) = scalar.value < 0x100 ? ("x", 2) : scalar.value < 0x10000 ? ("u", 4) : ("U", 8)
        return "\\\(letter)\(String(repeating: "0", count: width - digits.count))\(digits)".unicodeScalars
    }

    /// The text of a comment: on one line, and nothing in it that profiles do not take.
    static func comment(_ text: String) -> String {
        let scalars = Array(text.singleLine(upTo: 4_000).unicodeScalars)
        guard hasTrap([" "] + scalars) || !scalars.allSatisfy(isPrintable) else {
            return String(text.singleLine(upTo: 4_000))
        }
        return String(doubleQuoted(scalars).dropFirst().dropLast())
    }

    // MARK: - Characters

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    /// Whether YAML takes the character as it stands (YAML 1.1 §4.1), and a human can see it.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        !VisibleText.isHidden(scalar) && scalar.value & 0xFFFE != 0xFFFE
    }

    private static func hasTrap(_ scalars: [Unicode.Scalar]) -> Bool {
        scalars.indices.dropFirst().contains { index in
            isTrap(scalars[index - 1], scalars[index], index + 1 < scalars.count ? scalars[index + 1] : " ")
        }
    }

    /// What ``ProfileText`` refuses wherever it stands: it could begin an anchor or a key of many parts.
    private static func isTrap(
        _ before: Unicode.Scalar,
        _ scalar: Unicode.Scalar,
        _ after: Unicode.Scalar
    ) -> Bool {
        guard scalar == "&" || scalar == "?" else { return false }
        let endsToken = !before.isASCII || before.value <= 0x20 || "[]{},:?\"'".unicodeScalars.contains(before)
        guard endsToken else { return false }
        if scalar == "&" { return !after.isASCII || isLetter(after) || "0123456789-_".unicodeScalars.contains(after) }
        return !after.isASCII || after.value <= 0x20 || "[{!#\"".unicodeScalars.contains(after)
    }
}

/// A key and its value.
struct DraftField: Hashable {
    var key: String
    var value: DraftValue

    init(_ key: String, _ value: DraftValue) {
        self.key = key
        self.value = value
    }

    /// On one line.
    var flow: String {
        // What profiles call a key needs no quotes, even where YAML 1.1 would take it for a flag: `on`, `off`.
        let isWord = key.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D }
        return "\(isWord && !key.isEmpty ? key : DraftValue.quoted(key)): \(value.flow)"
    }
}
