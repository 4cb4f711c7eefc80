import Rules

package struct CharlesRewriteSet: Sendable, Hashable {
    package var name = ""
    package var isActive = true
    /// One of them must match.
    package var locations: [CharlesPlace] = []
    package var rules: [CharlesRewriteRule] = []
}

package struct CharlesRewriteRule: Sendable, Hashable {
    /// The effect of a rule, by Charles' number.
    package enum Kind: Int, Sendable, Hashable, CaseIterable {
        case addHeader = 1
        case removeHeader = 2
        case modifyHeader = 3
        case host = 4
        case path = 5
        case url = 6
        case body = 7
        case addQuery = 8
        case modifyQuery = 9
        case removeQuery = 10
        case status = 11

        /// `add header`, `modify host` and so on.
        package var words: String { "\(verb) \(target)" }

        /// `add`, `modify` or `remove`.
        var verb: String {
            switch self {
            case .addHeader, .addQuery: "add"
            case .removeHeader, .removeQuery: "remove"
            case .modifyHeader, .host, .path, .url, .body, .modifyQuery, .status: "modify"
            }
        }

        /// The edited part.
        var target: String {
            switch self {
            case .addHeader, .removeHeader, .modifyHeader: "header"
            case .addQuery, .removeQuery, .modifyQuery: "query"
            case .host, .path, .url, .body, .status: "\(self)"
            }
        }

        /// Whether it edits header fields or query parameters.
        var hasName: Bool { target == "header" || target == "query" }
        /// Whether Charles asks for the direction; the other kinds have one, and both flags are stored as false.
        var hasDirection: Bool { target == "header" || self == .body }
    }

    package var kind = Kind.addHeader
    package var isActive = true
    /// Whether it acts on requests; not used where `hasDirection` is false.
    package var onRequest = false
    package var onResponse = false
    /// The name to find; empty for any.
    package var matchName = ""
    /// Whether that is a regular expression, which may match a part of the name.
    package var isNameExpression = false
    /// The value to find; empty for any.
    package var matchValue = ""
    /// Whether that is a regular expression.
    package var isValueExpression = false
    package var matchesWhole = false
    package var isCaseSensitive = false
    /// Empty to keep the name.
    package var newName = ""
    package var newValue = ""
    package var replacesFirst = false

    init() {}

    package init(_ kind: Kind) { self.kind = kind }
}

extension CharlesRewriteSet: CharlesEntry {
    static let element = "rewriteSet"
    static var children: [CharlesElement<Self>] {
        [
            .flag("active", \.isActive), .text("name", \.name),
            CharlesElement(name: "hosts") { $0.locations = $2.places($1["hosts"]) },
            CharlesElement(name: "rules") { set, parent, reading in
                set.rules = parent["rules"].map { reading.entries($0) } ?? []
            },
        ]
    }
}

extension CharlesRewriteRule: CharlesEntry {
    static let element = "rewriteRule"
    static var children: [CharlesElement<Self>] {
        [
            .flag("active", \.isActive), .known("ruleType"), .text("matchHeader", \.matchName),
            .text("matchValue", \.matchValue), .flag("matchHeaderRegex", \.isNameExpression),
            .flag("matchValueRegex", \.isValueExpression), .flag("matchRequest", \.onRequest),
            .flag("matchResponse", \.onResponse), .text("newHeader", \.newName), .text("newValue", \.newValue),
            .known("newHeaderRegex"), .known("newValueRegex"), .flag("matchWholeValue", \.matchesWhole),
            .flag("caseSensitive", \.isCaseSensitive),
            CharlesElement(name: "replaceType") { rule, parent, _ in
                rule.replacesFirst = parent["replaceType"]?.text.trimmed == "1"
            },
        ]
    }

    mutating func begin(_ element: XMLElement, _ reading: inout CharlesReading) -> Bool {
        let code = element["ruleType"]?.text.trimmed ?? ""
        guard let kind = Int(code).flatMap(Kind.init(rawValue:)) else {
            reading.skip(element, "the rule's type '\(code.singleLine(upTo: 20))' is none of the eleven known")
            return false
        }
        self.kind = kind
        return true
    }
}
