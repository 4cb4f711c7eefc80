import HTTPModel

/// The differences between the databases for which filters are compiled.
package struct SQLDialect: Sendable {
    /// The placeholder of the n-th argument, from 1.
    package var placeholder: @Sendable (Int) -> String
    /// The operator that matches `%` and `_` and ignores the case of ASCII letters.
    package var like: String
    /// The function that returns the position of a text in another, from 1; 0 if it is not found.
    package var position: String

    package static let sqlite = SQLDialect(placeholder: { "?\($0)" }, like: "LIKE", position: "instr")
}

package enum SQLArgument: Sendable, Hashable {
    case number(Int64)
    case text(String)
    /// A search of a registered function, passed by its address.
    case search(SearchedText)
}

/// A search of the registered functions, prepared once for all rows of a statement.
package final class SearchedText: Sendable, Hashable {
    let glob: Glob
    /// The required value of a field; `nil` for any.
    let value: Glob?
    let bodyText: BodyText?
    /// Replaces the other patterns of a text, a field value or a body; `nil` for none.
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
