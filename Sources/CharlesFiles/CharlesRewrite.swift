import Rules

struct CharlesRewriteRule {
    /// The effect of a rule, by Charles' number.
    enum Kind: Int, CaseIterable {
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
        var words: String { "\(verb) \(target)" }

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
        /// Whether users choose the direction in Charles; other kinds have one, and their flags are both false.
        var hasDirection: Bool { target == "header" || self == .body }
    }

    var kind: Kind
    var isActive = true
    /// The name to find; empty for any.
    var matchName = ""
    /// Whether `matchName` is a regular expression, which may match a part of the name.
    var isNameExpression = false
    /// The value to find; empty for any.
    var matchValue = ""
    /// Whether `matchValue` is a regular expression.
    var isValueExpression = false
    /// Whether the rule acts on requests; not used if `hasDirection` is false.
    var onRequest = false
    var onResponse = false
    /// Empty to keep the name.
    var newName = ""
    var newValue = ""
    var matchesWhole = false
    var isCaseSensitive = false
    var replacesFirst = false
}

extension CharlesRewriteRule {
    init?(_ element: XMLElement, _ drafting: inout CharlesDrafting) {
        let known = [
            "active", "ruleType", "matchHeader", "matchValue", "matchHeaderRegex", "matchValueRegex", "matchRequest",
            "matchResponse", "newHeader", "newValue", "newHeaderRegex", "newValueRegex", "matchWholeValue",
            "caseSensitive", "replaceType",
        ]
        drafting.check(element, knows: known)
        let code = element.text("ruleType").trimmed
        guard let kind = Int(code).flatMap(Kind.init(rawValue:)) else {
            drafting.skip(element, "the rule's type '\(code.singleLine(upTo: 20))' is none of the eleven known")
            return nil
        }
        self.init(
            kind: kind,
            isActive: drafting.flag(element, "active", default: true),
            matchName: element.text("matchHeader"),
            isNameExpression: drafting.flag(element, "matchHeaderRegex", default: false),
            matchValue: element.text("matchValue"),
            isValueExpression: drafting.flag(element, "matchValueRegex", default: false),
            onRequest: drafting.flag(element, "matchRequest", default: false),
            onResponse: drafting.flag(element, "matchResponse", default: false),
            newName: element.text("newHeader"),
            newValue: element.text("newValue"),
            matchesWhole: drafting.flag(element, "matchWholeValue", default: false),
            isCaseSensitive: drafting.flag(element, "caseSensitive", default: false),
            replacesFirst: element.text("replaceType").trimmed == "1"
        )
    }
}
