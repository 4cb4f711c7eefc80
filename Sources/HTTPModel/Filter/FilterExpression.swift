package import Expressions

/// A regular expression of a filter (PCRE2), to be found anywhere in a text.
package struct FilterExpression: Sendable {
    /// The text that a regular expression searches.
    package enum Subject: Sendable, Hashable {
        case text(FilterTest.TextField)
        case url
        /// The values of fields with this name.
        case field(FilterTest.Side, name: Glob)
        case body(FilterTest.Side)
    }

    /// As written between the slashes.
    package let pattern: String
    private let ignoresCase: Bool
    private let expression: RegularExpression

    package init(_ pattern: String, ignoringCase: Bool) throws(RegularExpression.SyntaxError) {
        self.pattern = pattern
        ignoresCase = ignoringCase
        // Fields and bodies have bytes that are not UTF-8.
        expression = try RegularExpression(pattern, isCaseSensitive: !ignoringCase, takesAnyBytes: true)
    }

    /// Whether the text has a match. One that takes more work than the limits of matching allow counts as none, for a
    /// row in memory and in SQL alike.
    package func matches(_ text: UnsafeRawBufferPointer) -> Bool { isFound(in: text) ?? false }

    /// Whether the text has a match; `nil` if the search was given up, as it takes more work than the limits allow.
    package func isFound(in text: UnsafeRawBufferPointer) -> Bool? { try? expression.matches(text) }

    func matches(_ text: String) -> Bool { text.withUTF8Bytes { matches(UnsafeRawBufferPointer($0)) } }
}

extension FilterExpression: Hashable {
    package static func == (left: FilterExpression, right: FilterExpression) -> Bool {
        left.pattern == right.pattern && left.ignoresCase == right.ignoresCase
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(pattern) }
}

// MARK: - How it is written

extension FilterKey {
    /// In which values an expression is allowed.
    enum ExpressionForm: Sendable {
        /// The value is a text without spaces.
        case word
        /// The value often is a path: `/users/` stays one, as it has nothing that only an expression has.
        case path
        /// The value may contain spaces.
        case text
        /// The value is what follows the name of a field; it may have blanks.
        case field
    }

    /// `nil` if no value of the key can be an expression.
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
    /// Finds the expression that begins with the slash at a place; returns the place of the slash that ends it.
    ///
    /// It ends at the next slash without a `\` before it, and the value must end there too: so `/users`, `/v1/users/` and
    /// `/a/b` are paths.
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

    /// Whether a text has a sign that means something in an expression and hardly occurs in a path.
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
    /// What a user may want to know of how the filter is read; `nil` for nothing.
    package var remark: String? {
        root.terms.lazy.compactMap { term -> String? in
            for case .text(.path, let glob) in term.tests {
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

extension FilterNode {
    fileprivate var terms: [FilterTerm] {
        switch self {
        case .everything: []
        case .term(let term): [term]
        case .not(let operand): operand.terms
        case .and(let operands), .or(let operands): operands.flatMap(\.terms)
        }
    }
}
