import Rules
import Tools

/// Carries regular expressions over from Java, whose dialect Charles has, to that of PCRE2.
enum JavaExpression {
    /// A pattern that was carried over.
    struct Pattern: Hashable {
        /// The pattern for PCRE2.
        var text: String
        /// What it may match otherwise than Java would.
        var notes: [String]
        /// The names of its groups, by number; the whole match is number 0 and has none.
        var groups: [String?]
    }

    /// Carries a pattern over.
    ///
    /// - Returns: the pattern; or why PCRE2 cannot take it.
    static func pattern(_ source: String, isCaseSensitive: Bool) -> Result<Pattern, Refusal> {
        var scan = Scan(Array(source.unicodeScalars))
        scan.run()
        if let reason = scan.refusal { return .failure(Refusal(reason: reason)) }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scan.result)
        let pattern = Pattern(text: String(text), notes: scan.notes, groups: scan.groups)
        do {
            _ = try RegularExpression(pattern.text, isCaseSensitive: isCaseSensitive)
            return .success(pattern)
        } catch {
            let place = String(decoding: Array(pattern.text.utf8).prefix(error.offset), as: UTF8.self).count
            return .failure(Refusal(reason: "bad regular expression at character \(place + 1): \(error.message)"))
        }
    }

    /// Why a pattern cannot be taken.
    struct Refusal: Error, Hashable {
        var reason: String
    }

    /// Carries a replacement over: `$1`, `${name}` and the backslash as Java has them, to `$1` and `$$` as profiles do.
    ///
    /// - Returns: the replacement, with what may differ; or why there is none.
    static func replacement(_ source: String, for pattern: Pattern) -> Result<(text: String, notes: [String]), Refusal>
    {
        var result = String.UnicodeScalarView()
        var notes: [String] = []
        var rest = Array(source.unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            if scalar == "\\", let next = rest.popFirst() {
                if next != "$" {
                    notes = ["a backslash in the new value is taken as Java does: it makes the next character plain"]
                }
                result += (next == "$" ? "$$" : String(next)).unicodeScalars
            } else if scalar == "$" {
                switch group(&rest, pattern) {
                case .success(let number) where number > 9:
                    return .failure(Refusal(reason: "the new value refers to group \(number); profiles have $0 to $9"))
                case .success(let number): result += "$\(number)".unicodeScalars
                case .failure(let refusal): return .failure(refusal)
                }
            } else {
                result.append(scalar)
            }
        }
        return .success((String(result), notes))
    }

    /// The number of the group that stands after a dollar sign; as many digits count as there are groups.
    private static func group(_ rest: inout ArraySlice<Unicode.Scalar>, _ pattern: Pattern) -> Result<Int, Refusal> {
        if rest.first == "{" {
            let name = rest.dropFirst().prefix { $0 != "}" }
            let text = String(String.UnicodeScalarView(name))
            guard rest.count > name.count + 1, let number = pattern.groups.firstIndex(of: text) else {
                return .failure(
                    Refusal(reason: "the new value refers to the group '\(text.prefix(40))', which is not there")
                )
            }
            rest = rest.dropFirst(name.count + 2)
            return .success(number)
        }
        var number: Int?
        while let digit = rest.first.flatMap({ $0.isASCII ? Int(String($0)) : nil }) {
            let longer = (number ?? 0) * 10 + digit
            if number != nil, longer >= pattern.groups.count { break }
            number = longer
            rest.removeFirst()
        }
        guard let number else {
            return .failure(Refusal(reason: "a dollar sign in the new value refers to no group; Java does not take it"))
        }
        guard number < pattern.groups.count else {
            return .failure(Refusal(reason: "the new value refers to group \(number), which is not there"))
        }
        return .success(number)
    }

    // MARK: - Back

    /// A replacement of a profile as Java writes it.
    static func javaReplacement(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "\\": result += "\\\\"
            case "$" where rest.first == "$":
                rest.removeFirst()
                result += "\\$"
            case "$" where rest.first.map { $0.isASCII && $0.isNumber } != true: result += "\\$"
            default: result.append(character)
            }
        }
        return result
    }

    /// A plain text as a pattern that matches just it, for PCRE2 as for Java.
    static func quoting(_ text: String) -> String {
        var result = ""
        for character in text {
            if "\\^$.|?*+()[]{}".contains(character) { result += "\\" }
            result.append(character)
        }
        return result
    }
}
