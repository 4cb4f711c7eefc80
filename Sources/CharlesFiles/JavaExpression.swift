import Expressions
import Rules
import Tools

/// Converts regular expressions from Java's dialect, which Charles uses, to that of PCRE2.
enum JavaExpression {
    struct Pattern: Hashable {
        /// For PCRE2.
        var text: String
        /// Differences from Java.
        var notes: [String]
        /// The names of the groups, by number; number 0 is the whole match, which has no name.
        var groups: [String?]
    }

    /// Why a pattern or replacement cannot be converted.
    struct UnsupportedError: Error, Hashable {
        var reason: String
    }

    static func pattern(_ source: String, isCaseSensitive: Bool) throws(UnsupportedError) -> Pattern {
        var scan = Scan(Array(source.unicodeScalars))
        scan.run()
        if let reason = scan.refusal { throw UnsupportedError(reason: reason) }
        let text = String(String.UnicodeScalarView(scan.result))
        do {
            _ = try RegularExpression(text, isCaseSensitive: isCaseSensitive)
        } catch {
            let place = String(decoding: Array(text.utf8).prefix(error.offset), as: UTF8.self).count
            throw UnsupportedError(reason: "bad regular expression at character \(place + 1): \(error.message)")
        }
        return Pattern(text: text, notes: scan.notes, groups: scan.groups)
    }

    /// Converts a Java replacement, with `$1`, `${name}` and backslashes, to a profile's, with `$1` and `$$`.
    static func replacement(
        _ source: String,
        for pattern: Pattern
    ) throws(UnsupportedError) -> (text: String, notes: [String]) {
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
                let number = try group(&rest, pattern)
                if number > 9 {
                    throw UnsupportedError(reason: "the new value refers to group \(number); profiles have $0 to $9")
                }
                result += "$\(number)".unicodeScalars
            } else {
                result.append(scalar)
            }
        }
        return (String(result), notes)
    }

    /// The number of the group after a dollar sign; a further digit counts only if such a group exists.
    private static func group(
        _ rest: inout ArraySlice<Unicode.Scalar>,
        _ pattern: Pattern
    ) throws(UnsupportedError) -> Int {
        if rest.first == "{" {
            let name = rest.dropFirst().prefix { $0 != "}" }
            let text = String(String.UnicodeScalarView(name))
            guard rest.count > name.count + 1, let number = pattern.groups.firstIndex(of: text) else {
                let reason = "the new value refers to the group '\(text.prefix(40))', which is not there"
                throw UnsupportedError(reason: reason)
            }
            rest = rest.dropFirst(name.count + 2)
            return number
        }
        var number: Int?
        while let digit = rest.first.flatMap({ $0.isASCII ? Int(String($0)) : nil }) {
            let longer = (number ?? 0) * 10 + digit
            if number != nil, longer >= pattern.groups.count { break }
            number = longer
            rest.removeFirst()
        }
        guard let number else {
            throw UnsupportedError(reason: "a dollar sign in the new value refers to no group; Java does not take it")
        }
        if number >= pattern.groups.count {
            throw UnsupportedError(reason: "the new value refers to group \(number), which is not there")
        }
        return number
    }

    /// A literal pattern for both dialects.
    static func quoting(_ text: String) -> String {
        text.map { "\\^$.|?*+()[]{}".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }
}
