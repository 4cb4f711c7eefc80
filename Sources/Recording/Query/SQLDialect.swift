import HTTPModel

/// What differs between the databases that a filter is compiled for.
package struct SQLDialect: Sendable {
    /// How the n-th argument of a statement is written, from 1.
    package var placeholder: @Sendable (Int) -> String
    /// The operator that compares with `%` and `_`, where the case of ASCII letters does not count.
    package var like: String
    /// The function that says at which character, from 1, a text has another one; 0 where it has not.
    package var position: String

    package static let sqlite = SQLDialect(placeholder: { "?\($0)" }, like: "LIKE", position: "instr")
}

/// A value that a statement is given.
package enum SQLArgument: Sendable, Hashable {
    case number(Int64)
    case text(String)
    /// What a registered function looks for, lent by its address.
    case search(SearchedText)
}

/// What the registered functions look for, prepared once for all rows of a statement.
package final class SearchedText: Sendable, Hashable {
    /// Texts, names of fields, addresses.
    let glob: Glob
    /// The value that a field must have; `nil` for any.
    let value: Glob?
    /// Text in bodies.
    let bodyText: BodyText?
    /// What a text, the value of a field or a body must match in place of the others; `nil` for no expression.
    let expression: FilterExpression?

    init(_ glob: Glob, value: Glob? = nil, bodyText: BodyText? = nil, expression: FilterExpression? = nil) {
        self.glob = glob
        self.value = value
        self.bodyText = bodyText
        self.expression = expression
    }

    convenience init(_ expression: FilterExpression, name: Glob? = nil) {
        self.init(name ?? Glob(literal: ""), expression: expression)
    }

    /// Whether a text of an exchange is what is looked for.
    func matches(_ text: UnsafeBufferPointer<UInt8>, of exchange: Int64) -> Bool {
        guard let expression else { return glob.matches(text) }
        return UnfinishedSearches.finds(expression, in: UnsafeRawBufferPointer(text), of: exchange)
    }

    package static func == (left: SearchedText, right: SearchedText) -> Bool {
        left.glob == right.glob && left.value == right.value && left.expression == right.expression
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(glob)
        hasher.combine(value)
        hasher.combine(expression)
    }
}
