import Foundation
import HTTPModel
import Masking
import Rules

/// Masks a profile: values under a secret's name, long secrets of the traffic, and texts that look like secrets.
struct ProfileMask {
    /// In place of a text that looks like a secret.
    static let word = "masked-by-sluice"

    private let masked: MaskedSource
    private let rules: MaskRules

    init(_ masked: MaskedSource, _ rules: MaskRules) { (self.masked, self.rules) = (masked, rules) }

    func source(_ source: ProfileSource) -> ProfileSource {
        ProfileSource(file: source.file, text: text(source.text), isUnsaved: source.isUnsaved)
    }

    /// Adds the secrets that the text of a profile names: a trace may contain them, for example in the name of a rule.
    static func collect(_ text: String, _ masked: MaskedSource) {
        masked.collect(rules: text)
        for scalar in scalars(in: text) where !scalar.value.isEmpty {
            for name in scalar.names { masked.collect(rules: member(name, scalar.value)) }
            if valueKeys.contains(scalar.key) { masked.collect(rules: scalar.value) }
        }
    }

    private static func member(_ name: String, _ value: String) -> String {
        func quoted(_ text: String) -> String {
            "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
        }
        return "{\(quoted(name)):\(quoted(value))}"
    }

    private static let nameKeys: Set = ["name", "header", "field", "cookie", "query"]
    private static let valueKeys: Set = ["to", "match", "value", "from", "with", "equals", "contains"]
    private static let patternKeys: Set = ["match", "body", "url", "address"]

    func text(_ text: String) -> String {
        var (result, rest) = ("", text[...])
        for scalar in ProfileMask.scalars(in: text) where !scalar.value.isEmpty {
            let written =
                scalar.isPattern ? pattern(String(text[scalar.range])) : placeholder(scalar).map { "\"\($0)\"" }
            guard let written else { continue }
            result += plain(text[rest.startIndex..<scalar.range.lowerBound]) + written
            rest = text[scalar.range.upperBound...]
        }
        return result + plain(rest)
    }

    private func plain(_ text: Substring) -> String { withoutSuspects(masked.masked(text: String(text))) }

    /// The pattern with known and suspected secrets masked; its escapes and character sets are kept.
    private func pattern(_ text: String) -> String {
        masked.masked(pattern: text).replacing(#/(\\.|\[(?:\\.|[^\]\\])*\])|[^\[\\]+/#) { match in
            match.output.1.map { String($0) } ?? withoutSuspects(String(match.output.0))
        }
    }

    /// The placeholder for a value whose name marks a secret, as in the exports if possible; `nil` for other values.
    private func placeholder(_ scalar: Scalar) -> String? {
        for name in scalar.names {
            let member = ProfileMask.member(name, scalar.value)
            let replaced = masked.masked(text: member)
            guard replaced != member else { continue }
            let start = ProfileMask.member(name, "").dropLast(2)
            guard replaced.hasPrefix(start), replaced.hasSuffix("\"}") else { return ProfileMask.word }
            let word = replaced.dropFirst(start.count).dropLast(2)
            return word.contains("\"") || word.contains("\\") ? ProfileMask.word : String(word)
        }
        return nil
    }

    private struct Scalar {
        var key: String
        var value: String
        /// With its quotes.
        var range: Range<String.Index>
        /// The key; for a key such as `value`, the names in the same rule.
        var names: [String] = []

        /// Whether it is a regular expression, as in `match: '/token=([^&]+)/'`.
        var isPattern: Bool {
            patternKeys.contains(key) && value.utf8.count > 2 && value.hasPrefix("/") && value.hasSuffix("/")
        }
    }

    /// The values of keys, in their order. A dash at the beginning of a line begins a rule.
    private static func scalars(in text: String) -> [Scalar] {
        var starts = text.matches(of: #/(?m)^ *-/#).map(\.range.lowerBound)
        starts = [text.startIndex] + starts + [text.endIndex]
        return zip(starts, starts.dropFirst()).flatMap { start, end in
            var scalars = scalars(ofRule: text[start..<end])
            let names = scalars.filter { nameKeys.contains($0.key) }.map(\.value)
            for index in scalars.indices {
                scalars[index].names = valueKeys.contains(scalars[index].key) ? names : [scalars[index].key]
            }
            return scalars
        }
    }

    /// The plain and quoted values of keys on one line; other forms of YAML are not fields of rules.
    private static func scalars(ofRule text: Substring) -> [Scalar] {
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

    /// Replaces the parts of a text that look random.
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
            // A short run with the same beginning is an ordinary word.
            result += run.count < 12 ? String(run) : word
            rest = rest[max(run.endIndex, rest.index(after: start))...]
        }
        return result + rest
    }
}
