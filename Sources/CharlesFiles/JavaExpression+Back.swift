extension JavaExpression {
    /// Syntax of PCRE2 that Java does not have, or reads otherwise, by its beginning.
    private static let foreign: [(start: String, words: String)] = [
        ("(?|", "(?|…)"), ("(?R)", "(?R)"), ("(?&", "(?&…)"), ("(?P>", "(?P>…)"), ("(?(", "(?(…)"), ("(*", "(*…)"),
        ("\\K", "\\K"), ("\\C", "\\C"), ("\\g", "\\g"), ("(?#", "(?#…)"),
    ]

    /// A pattern of PCRE2 as Java writes it.
    static func javaPattern(_ source: String) -> (text: String, notes: [String]) {
        var result = ""
        var notes: [String] = []
        var rest = source[...]
        var isInSet = false
        while let character = rest.first {
            if !isInSet, let found = foreign.first(where: { rest.hasPrefix($0.start) }) {
                notes.append("Java has no \(found.words)")
            }
            if rest.hasPrefix("\\Q"), !isInSet {
                let end = rest.firstRange(of: "\\E")?.upperBound ?? rest.endIndex
                result += rest[..<end]
                rest = rest[end...]
            } else if character == "\\" {
                result += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else if isInSet, rest.hasPrefix("[:"), let end = rest.firstRange(of: ":]") {
                result += posix(rest[..<end.lowerBound].dropFirst(2))
                rest = rest[end.upperBound...]
            } else if isInSet, character == "[" || rest.hasPrefix("&&") {
                // To PCRE2 a character; to Java a set within the set, or what is in both.
                result += "\\\(character)"
                rest.removeFirst()
            } else if rest.hasPrefix("(?P<"), !isInSet {
                result += "(?<"
                rest = rest.dropFirst(4)
            } else if character == "[", !isInSet {
                isInSet = true
                let start = rest.hasPrefix("[^]") ? 3 : rest.hasPrefix("[^") || rest.hasPrefix("[]") ? 2 : 1
                result += rest.prefix(start)
                rest = rest.dropFirst(start)
            } else {
                if character == "]" { isInSet = false }
                result.append(character)
                rest.removeFirst()
            }
        }
        return (result, notes)
    }

    /// A named set of characters: `[:alpha:]` is `\p{Alpha}`.
    private static func posix(_ name: Substring) -> String {
        let isNegated = name.hasPrefix("^")
        let word = isNegated ? name.dropFirst() : name
        switch word {
        case "word": return isNegated ? "\\W" : "\\w"
        case "xdigit": return isNegated ? "\\P{XDigit}" : "\\p{XDigit}"
        default: return "\\\(isNegated ? "P" : "p"){\(word.prefix(1).uppercased())\(word.dropFirst())}"
        }
    }
}
