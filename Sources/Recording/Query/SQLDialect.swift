import HTTPModel

/// The differences between the databases that filters are compiled for.
package struct SQLDialect: Sendable {
    /// The placeholder of the n-th argument, from 1.
    package let placeholder: @Sendable (Int) -> String
    /// A condition that ignores the case of ASCII letters.
    package let equals: @Sendable (_ column: String, _ text: String) -> String
    /// A condition whose pattern has `%` and `_`, escaped by a backslash, and which ignores the case of ASCII letters.
    package let like: @Sendable (_ column: String, _ pattern: String) -> String
    /// The function that returns the position of a text in another, from 1; 0 if it is not found.
    package let position: String
    /// A condition on the recording of an exchange, from one on the table of recordings.
    let recording: @Sendable (_ condition: String) -> String
    /// The column of that table that has the identifier.
    let identifier: String
    /// A condition on that table's labels.
    let label: @Sendable (_ name: String, _ value: String) -> String
    /// Whether the database has our functions. If it has not, the condition on a URL is only a necessary one.
    let hasFunctions: Bool

    package static let sqlite = SQLDialect(
        placeholder: { "?\($0)" },
        equals: { "\($0) = \($1) COLLATE NOCASE" },
        like: { "\($0) LIKE \($1) ESCAPE '\\'" },
        position: "instr",
        recording: { "EXISTS (SELECT 1 FROM session WHERE \($0))" },
        identifier: "identifier",
        label: { "EXISTS (SELECT 1 FROM json_each(labels) WHERE key = \($0) AND value = \($1))" },
        hasFunctions: true
    )

    /// For columns with the collation `C`, which changes the case of ASCII letters only; `schema` has the tables.
    package static func postgreSQL(_ schema: String) -> SQLDialect {
        SQLDialect(
            placeholder: { "$\($0)::text" },
            // An index on `lower(…)` gives the order of the rows only to an equality.
            equals: { "lower(\($0)) = lower(\($1))" },
            like: { "lower(\($0)) LIKE lower(\($1)) ESCAPE '\\'" },
            position: "strpos",
            recording: { "e.session IN (SELECT session FROM \(schema).sessions WHERE \($0))" },
            identifier: "session::text",
            label: { "coalesce(labels ->> \($0) = \($1), FALSE)" },
            hasFunctions: false
        )
    }
}

package enum SQLArgument: Sendable, Hashable {
    case number(Int64)
    case text(String)
    /// A search for a registered function, passed by its address.
    case search(SearchedText)
}

/// A search for the registered functions, prepared once for all rows of a statement.
package final class SearchedText: Sendable, Hashable {
    let pattern: FilterTest.Pattern
    /// The name of the field whose value is searched.
    let name: Glob?
    /// `nil` if no body is searched.
    let question: BodyQuestion?
    /// The condition on the values at a place; `pattern` is then unused.
    let place: PlaceTest?
    /// Texts that each matching JSON body without escapes contains.
    let needed: [BodyText]
    /// In JSON without escapes, the quoted name that comes before a matching value; `nil` if it is not known.
    let valueName: BodyText?

    init(_ pattern: FilterTest.Pattern, name: Glob? = nil, question: BodyQuestion? = nil, place: PlaceTest? = nil) {
        (self.pattern, self.name, self.question, self.place) = (pattern, name, question, place)
        let steps = place.flatMap { $0.place.part == .json ? $0.place.steps : nil } ?? []
        var texts = steps.map { SearchedText.quoted($0) }
        valueName = texts.last.flatMap { $0 }.map { BodyText($0) }
        if case .text(let glob, nil)? = place?.condition, !glob.ignoresCase, glob.shape != .general, !steps.isEmpty {
            texts.append(SearchedText.unescaped(String(decoding: glob.literalBytes, as: UTF8.self)))
        }
        needed = texts.compactMap { $0 }.map { BodyText($0) }
    }

    convenience init(_ place: PlaceTest) { self.init(.any, place: place) }

    /// The name of a member, in quotes, like in JSON without escapes; `nil` for other steps.
    private static func quoted(_ step: Place.Step) -> Glob? {
        if case .member(let name) = step { unescaped("\"\(name)\"") } else { nil }
    }

    private static func unescaped(_ text: String) -> Glob? {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\\") } ? Glob(containing: text) : nil
    }

    func matches(_ text: UnsafeBufferPointer<UInt8>, of exchange: Int64) -> Bool {
        guard case .expression(let expression) = pattern else { return pattern.matches(text) }
        return UnfinishedSearches.finds(expression, in: UnsafeRawBufferPointer(text), of: exchange)
    }

    package static func == (left: SearchedText, right: SearchedText) -> Bool {
        left.pattern == right.pattern && left.name == right.name && left.place == right.place
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(pattern)
        hasher.combine(name)
        hasher.combine(place)
    }
}
