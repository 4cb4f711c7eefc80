package import Expressions

/// A regular expression (PCRE2) that is searched in a text.
package struct FilterExpression: Sendable {
    package let pattern: String
    private let ignoresCase: Bool
    private let expression: RegularExpression

    package init(_ pattern: String, ignoringCase: Bool) throws(RegularExpression.SyntaxError) {
        self.pattern = pattern
        ignoresCase = ignoringCase
        // Fields and bodies may have bytes that are not UTF-8.
        expression = try RegularExpression(pattern, isCaseSensitive: !ignoringCase, takesAnyBytes: true)
    }

    /// A search that exceeds the limits counts as no match, in memory and in SQL.
    package func matches(_ text: UnsafeRawBufferPointer) -> Bool { isFound(in: text) ?? false }

    /// `nil` if the search exceeded the limits.
    package func isFound(in text: UnsafeRawBufferPointer) -> Bool? { try? expression.matches(text) }
}

extension FilterExpression: Hashable {
    package static func == (left: FilterExpression, right: FilterExpression) -> Bool {
        left.pattern == right.pattern && left.ignoresCase == right.ignoresCase
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(pattern) }
}

extension FilterKey {
    enum ExpressionForm: Sendable {
        /// Without spaces.
        case word
        /// Often a path: `/users/` is a path, because it has no special characters of a regular expression.
        case path
        /// May contain spaces.
        case text
        /// After the name of a field; may contain spaces.
        case field
    }

    /// `nil` if the key accepts no regular expressions.
    var expressionForm: ExpressionForm? {
        switch reading {
        case .text(.path, _), .url, .query: .path
        case .text, .process: .word
        case .body: .text
        case .field: .field
        default: nil
        }
    }
}

extension Place.Part {
    var expressionForm: FilterKey.ExpressionForm { self == .path || self == .url ? .path : .text }
}

extension FilterKey.ExpressionForm {
    /// The index of the slash that ends the regular expression: the first slash after `start` without a `\` before it,
    /// if the value ends there, too. So `/users`, `/v1/users/` and `/a/b` are paths.
    func end(from start: Int, in characters: [Unicode.Scalar]) -> Int? {
        guard start < characters.count, characters[start] == "/" else { return nil }
        var end = start + 1
        while end < characters.count, characters[end] != "/" {
            if characters[end].properties.isWhitespace, self == .word || self == .path { return nil }
            end += characters[end] == "\\" ? 2 : 1
        }
        guard end < characters.count, end > start + 1 else { return nil }
        if end + 1 < characters.count {
            let next = characters[end + 1]
            guard next.properties.isWhitespace || next == "," || next == ")" || next == "(" else { return nil }
        }
        return self != .path || Self.isPlainlyExpression(characters[start + 1..<end]) ? end : nil
    }

    /// Whether a text has characters of a regular expression that are rare in paths.
    private static func isPlainlyExpression(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        var last: Unicode.Scalar?
        return text.contains { character in
            defer { last = character }
            if last == ".", character == "*" || character == "+" || character == "?" { return true }
            return "\\^$+()[]{}|".unicodeScalars.contains(character)
        }
    }
}

extension Filter {
    package var remark: String? {
        root.terms.lazy.compactMap { term -> String? in
            for case .matches(.text(.path), .glob(let glob)) in term.tests {
                guard let path = glob.literal, path.count > 2, path.first == "/", path.last == "/",
                    !path.dropFirst().dropLast().contains("/")
                else { continue }
                let name = path.dropFirst().dropLast()
                return "\(path) after path: is read as a path; write path:/(\(name))/ for a regular expression"
            }
            return nil
        }.first
    }
}
