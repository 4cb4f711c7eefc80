import HTTPModel
import Text

package enum YAMLText {
    /// Words that YAML or its parsers do not read as text.
    private static let reserved: Set<String> = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]

    /// The text as a YAML scalar: plain if it cannot be misread, otherwise in quotes.
    static func quoted(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        if let first = scalars.first, isLetter(first) || first == "/", !reserved.contains(text.lowercased()),
            scalars.allSatisfy({ isLetter($0) || ("0"..."9").contains($0) || "_-./".unicodeScalars.contains($0) })
        {
            return text
        }
        // Regular expressions and JSON are easier to read in single quotes, which need no backslashes.
        let hasEscapes = scalars.contains("\\") || scalars.contains("\"")
        if hasEscapes, !scalars.contains("'"), scalars.allSatisfy(isPrintable), !hasTrap(["'"] + scalars) {
            return "'\(text)'"
        }
        return doubleQuoted(scalars)
    }

    /// The text in double quotes, with ampersands and question marks unchanged, which a profile may reject.
    static func doubleQuoted(_ text: String) -> String { doubleQuoted(Array(text.unicodeScalars), escapesTraps: false) }

    private static func doubleQuoted(_ scalars: [Unicode.Scalar], escapesTraps: Bool = true) -> String {
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
            case _ where isPrintable(scalar) && !(escapesTraps && isTrap(before, scalar, after)): result.append(scalar)
            default: result += escape(scalar)
            }
        }
        result.append("\"")
        return String(result)
    }

    /// The escape of a character in double-quoted YAML (YAML 1.1 §5.5).
    package static func escape(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
        let (letter, width) = scalar.value < 0x100 ? ("x", 2) : scalar.value < 0x10000 ? ("u", 4) : ("U", 8)
        return "\\\(letter)\(scalar.value.padded(to: width, radix: 16, uppercase: true))".unicodeScalars
    }

    /// The text of a comment: on one line, with escapes for everything that profiles reject.
    package static func comment(_ text: String) -> String {
        let line = text.singleLine(upTo: 4_000)
        let scalars = Array(line.unicodeScalars)
        guard hasTrap([" "] + scalars) || !scalars.allSatisfy(isPrintable) else { return line }
        return String(doubleQuoted(scalars).dropFirst().dropLast())
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    /// Whether YAML accepts the character without an escape (YAML 1.1 §4.1), and a human can see it.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        !VisibleText.isHidden(scalar) && scalar.value & 0xFFFE != 0xFFFE
    }

    private static func hasTrap(_ scalars: [Unicode.Scalar]) -> Bool {
        scalars.indices.dropFirst().contains { index in
            isTrap(scalars[index - 1], scalars[index], index + 1 < scalars.count ? scalars[index + 1] : " ")
        }
    }

    /// Whether ``ProfileText`` rejects the character, even in quotes: it could begin an anchor or a complex key.
    private static func isTrap(_ before: Unicode.Scalar, _ scalar: Unicode.Scalar, _ after: Unicode.Scalar) -> Bool {
        guard scalar == "&" || scalar == "?" else { return false }
        let endsToken = !before.isASCII || before.value <= 0x20 || "[]{},:?\"'".unicodeScalars.contains(before)
        guard endsToken else { return false }
        if scalar == "&" { return !after.isASCII || isLetter(after) || "0123456789-_".unicodeScalars.contains(after) }
        return !after.isASCII || after.value <= 0x20 || "[{!#\"".unicodeScalars.contains(after)
    }
}

extension String {
    /// The text with line breaks and control characters as escapes, cut after `limit` characters.
    package func singleLine(upTo limit: Int = 80) -> String {
        var result = ""
        for scalar in unicodeScalars.prefix(limit + 1) {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where VisibleText.isHidden(scalar): result += VisibleText.of(String(scalar))
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result.unicodeScalars.count > limit ? String(result.unicodeScalars.prefix(limit)) + "…" : result
    }
}
