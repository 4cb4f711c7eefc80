import Foundation
import HTTPModel
import Masking
import Rules

/// Takes the secrets out of the text of a profile: what a rule puts into a field of a secret's name, what is known as a
/// secret of the traffic and long enough to be looked for, and what looks like one.
struct ProfileMask {
    /// What stands for a text that looks like a secret.
    static let word = "masked-by-sluice"

    private let masked: MaskedSource
    private let rules: MaskRules

    init(_ masked: MaskedSource, _ rules: MaskRules) { (self.masked, self.rules) = (masked, rules) }

    func source(_ source: ProfileSource) -> ProfileSource {
        ProfileSource(file: source.file, text: text(source.text), isUnsaved: source.isUnsaved)
    }

    /// Has those secrets known that the text of a profile names: a trace may tell them, as in the name of a rule.
    static func collect(_ text: String, _ masked: MaskedSource) {
        masked.collect(rules: text)
        for group in groups(of: text) {
            let scalars = scalars(in: group)
            let names = scalars.filter { nameKeys.contains($0.key) }.map(\.value)
            for scalar in scalars where !scalar.value.isEmpty {
                guard valueKeys.contains(scalar.key) else {
                    masked.collect(rules: member(scalar.key, scalar.value))
                    continue
                }
                for name in names { masked.collect(rules: member(name, scalar.value)) }
                masked.collect(rules: scalar.value)
            }
        }
    }

    /// A name and its value as an object of JSON.
    private static func member(_ name: String, _ value: String) -> String {
        func quoted(_ text: String) -> String {
            "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
        }
        return "{\(quoted(name)):\(quoted(value))}"
    }

    private static let nameKeys: Set = ["name", "header", "field", "cookie", "query"]
    private static let valueKeys: Set = ["to", "match", "value", "from", "with", "equals", "contains"]

    /// The rules of a profile, each with the lines before the next one.
    private static func groups(of text: String) -> [String] {
        var groups: [String] = [""]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            // A rule begins with its dash.
            if line.drop(while: { $0 == " " }).hasPrefix("-") { groups.append("") }
            groups[groups.count - 1] += line + "\n"
        }
        return groups
    }

    func text(_ text: String) -> String {
        var result = ProfileMask.groups(of: text).map(rule).joined()
        result.removeLast()
        // Nobody writes one, and where somebody does, its patterns are masked as values are.
        guard !result.contains(ProfileMask.mark) else { return withoutSuspects(masked.masked(text: result)) }
        var patterns: [String] = []
        for scalar in ProfileMask.scalars(in: result).reversed() where ProfileMask.isPattern(scalar) {
            patterns.append(String(result[scalar.range]))
            result.replaceSubrange(scalar.range, with: "\(ProfileMask.mark)")
        }
        let pieces = withoutSuspects(masked.masked(text: result))
            .split(separator: ProfileMask.mark, omittingEmptySubsequences: false)
        guard pieces.count == patterns.count + 1 else { return withoutSuspects(masked.masked(text: text)) }
        return zip(pieces, patterns.reversed().map(pattern) + [""]).map { $0 + $1 }.joined()
    }

    /// Stands for a pattern while the text around it is masked: a character of Unicode for private use.
    private static let mark: Character = "\u{E000}"

    /// Whether a value is a regular expression, as `match: '/token=([^&]+)/'` has it.
    private static func isPattern(_ scalar: Scalar) -> Bool {
        patternKeys.contains(scalar.key) && scalar.value.utf8.count > 2 && scalar.value.hasPrefix("/")
            && scalar.value.hasSuffix("/")
    }

    private static let patternKeys: Set = ["match", "body", "url", "address"]

    /// A pattern without the secrets that are known or look like one; its escapes and sets of characters stay.
    private func pattern(_ text: String) -> String {
        masked.masked(pattern: text).replacing(#/(\\.|\[(?:\\.|[^\]\\])*\])|[^\[\\]+/#) { match in
            match.output.1.map { String($0) } ?? withoutSuspects(String(match.output.0))
        }
    }

    /// A rule with the values masked that go by a secret's name.
    private func rule(_ text: String) -> String {
        let scalars = ProfileMask.scalars(in: text)
        let names = scalars.filter { ProfileMask.nameKeys.contains($0.key) }.map(\.value)
        var result = text
        for scalar in scalars.reversed() where !scalar.value.isEmpty && !ProfileMask.isPattern(scalar) {
            let isValue = ProfileMask.valueKeys.contains(scalar.key)
            for name in isValue ? names : [scalar.key] where isSecret(name, scalar.value) {
                result.replaceSubrange(scalar.range, with: "\"\(placeholder(name, scalar.value))\"")
                break
            }
        }
        return result
    }

    private func isSecret(_ name: String, _ value: String) -> Bool {
        let member = ProfileMask.member(name, value)
        return masked.masked(text: member) != member
    }

    /// The value as it stands in the exports, where that can be told, else a word of our own.
    private func placeholder(_ name: String, _ value: String) -> String {
        let member = masked.masked(text: ProfileMask.member(name, value))
        let start = ProfileMask.member(name, "").dropLast(2)
        guard member.hasPrefix(start), member.hasSuffix("\"}") else { return ProfileMask.word }
        let word = member.dropFirst(start.count).dropLast(2)
        return word.contains("\"") || word.contains("\\") ? ProfileMask.word : String(word)
    }

    private struct Scalar {
        var key: String
        var value: String
        /// With its quotes.
        var range: Range<String.Index>
    }

    /// The plain and quoted values of keys on one line; what YAML has beside them is none of a rule's fields.
    private static func scalars(in text: String) -> [Scalar] {
        var scalars: [Scalar] = []
        let pattern =
            #/(?:^|[\s{,\-])([A-Za-z][A-Za-z-]*)\s*:[ \t]+("(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'|[^\s,{}\[\]|>&#"'][^,}\n]*)/#
        for match in text.matches(of: pattern) {
            let raw = match.output.2
            var value = String(raw)
            var range = raw.startIndex..<raw.endIndex
            if let quote = value.first, quote == "\"" || quote == "'" {
                value = String(value.dropFirst().dropLast())
                value =
                    quote == "'" ? value.replacing("''", with: "'") : value.replacing(#/\\(.)/#) { String($0.output.1) }
            } else {
                if let comment = value.range(of: " #") { value = String(value[..<comment.lowerBound]) }
                while value.last?.isWhitespace == true { value.removeLast() }
                range = raw.startIndex..<text.index(raw.startIndex, offsetBy: value.count)
            }
            scalars.append(Scalar(key: match.output.1.lowercased(), value: value, range: range))
        }
        return scalars
    }

    /// A text without the runs that look made by chance.
    private func withoutSuspects(_ text: String) -> String {
        let finder = MaskedSource(masked.original, TextMask(rules))
        finder.collect(shown: text)
        let result = finder.mask.suspects.reduce(text) { ProfileMask.without(runs: $1.beginning, in: $0) }
        // Stricter than in traffic, where hashes and numbers of this look are ordinary: few profiles have any.
        return result.replacing(#/[A-Za-z0-9_+=]{20,}/#) { match in
            let digits = match.output.count { $0.isNumber }
            return digits >= 4 && match.output.count - digits >= 4 ? ProfileMask.word : String(match.output)
        }
    }

    private static func without(runs beginning: String, in text: String) -> String {
        guard beginning.utf8.count >= 4 else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.range(of: beginning)?.lowerBound {
            result += rest[..<start]
            let run = rest[start...].prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+/=_-.~".contains($0)) }
            // What begins alike and is short is a word.
            result += run.count < 12 ? String(run) : word
            rest = rest[max(run.endIndex, rest.index(after: start))...]
        }
        return result + rest
    }
}
