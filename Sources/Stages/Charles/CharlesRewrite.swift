/// A set of rewrite rules with the locations that it is for.
package struct CharlesRewriteSet: Sendable, Hashable {
    /// What the user calls it.
    package var name: String
    /// Whether it counts.
    package var isActive: Bool
    /// The locations, of which one must match.
    package var locations: [CharlesPlace]
    /// The rules, in order.
    package var rules: [CharlesRewriteRule]

    package init(
        _ name: String,
        isActive: Bool = true,
        locations: [CharlesPlace],
        rules: [CharlesRewriteRule]
    ) {
        self.name = name
        self.isActive = isActive
        self.locations = locations
        self.rules = rules
    }
}

package struct CharlesRewriteRule: Sendable, Hashable {
    /// What a rule does, under the number that Charles has for it.
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

        /// What it is done to.
        var target: String {
            switch self {
            case .addHeader, .removeHeader, .modifyHeader: "header"
            case .addQuery, .removeQuery, .modifyQuery: "query"
            case .host: "host"
            case .path: "path"
            case .url: "url"
            case .body: "body"
            case .status: "status"
            }
        }

        /// Whether it is about something that has a name: a header field or a query parameter.
        var hasName: Bool { target == "header" || target == "query" }
        /// Whether Charles asks where to apply it; the others have one place, and both flags stored as false.
        var hasDirection: Bool { target == "header" || self == .body }
    }

    package var kind: Kind
    /// Whether it counts.
    package var isActive = true
    /// Whether it acts on requests; without meaning for kinds that have one place.
    package var onRequest = false
    /// Whether it acts on responses; likewise.
    package var onResponse = false
    /// The name to look for; blank for any.
    package var matchName = ""
    /// Whether that is a regular expression, which may match a part of the name.
    package var isNameExpression = false
    /// The value to look for; blank for any.
    package var matchValue = ""
    /// Whether that is a regular expression.
    package var isValueExpression = false
    /// Whether the whole value must match.
    package var matchesWhole = false
    /// Whether the case of letters counts.
    package var isCaseSensitive = false
    /// The new name; blank for the same.
    package var newName = ""
    package var newValue = ""
    /// Whether just the first match is replaced.
    package var replacesFirst = false

    /// A rule that does nothing yet.
    package init(_ kind: Kind) {
        self.kind = kind
    }
}

extension CharlesRewriteSet: CharlesEntry {
    static let element = "rewriteSet"

    init?(_ element: XMLElement, _ reading: inout CharlesReading) {
        reading.check(element, knows: ["active", "name", "hosts", "rules"])
        self.init(
            element["name"]?.text ?? "",
            isActive: reading.flag(element, "active", default: true),
            locations: reading.places(element["hosts"]),
            rules: []
        )
        for child in element["rules"]?.children ?? [] {
            guard child.name == "rewriteRule" else {
                reading.unknown(child)
                continue
            }
            if let rule = CharlesRewriteRule(child, &reading) { rules.append(rule) }
        }
    }

    var xml: XMLElement {
        XMLElement(
            "rewriteSet",
            [
                XMLElement("active", isActive), XMLElement("name", name),
                XMLElement("hosts", [XMLElement(locations)]),
                XMLElement("rules", rules.map(\.xml)),
            ]
        )
    }
}

extension CharlesRewriteRule {
    private static let elements = [
        "active", "ruleType", "matchHeader", "matchValue", "matchHeaderRegex", "matchValueRegex", "matchRequest",
        "matchResponse", "newHeader", "newValue", "newHeaderRegex", "newValueRegex", "matchWholeValue", "caseSensitive",
        "replaceType",
    ]

    init?(_ element: XMLElement, _ reading: inout CharlesReading) {
        reading.check(element, knows: CharlesRewriteRule.elements)
        let code = element["ruleType"]?.text.trimmed ?? ""
        guard let kind = Int(code).flatMap(Kind.init(rawValue:)) else {
            reading.skip(element, "the rule's type '\(code.singleLine(upTo: 20))' is none of the eleven known")
            return nil
        }
        self.init(kind)
        isActive = reading.flag(element, "active", default: true)
        onRequest = reading.flag(element, "matchRequest", default: false)
        onResponse = reading.flag(element, "matchResponse", default: false)
        matchName = element["matchHeader"]?.text ?? ""
        isNameExpression = reading.flag(element, "matchHeaderRegex", default: false)
        matchValue = element["matchValue"]?.text ?? ""
        isValueExpression = reading.flag(element, "matchValueRegex", default: false)
        matchesWhole = reading.flag(element, "matchWholeValue", default: false)
        isCaseSensitive = reading.flag(element, "caseSensitive", default: false)
        newName = element["newHeader"]?.text ?? ""
        newValue = element["newValue"]?.text ?? ""
        replacesFirst = element["replaceType"]?.text.trimmed == "1"
    }

    /// The elements that Charles writes for a rule of this kind.
    var xml: XMLElement {
        let isRemoval = kind.verb == "remove"
        var children = [XMLElement("active", isActive), XMLElement("ruleType", "\(kind.rawValue)")]
        if kind.hasName || !matchName.isEmpty { children.append(XMLElement("matchHeader", matchName)) }
        children.append(XMLElement("matchValue", matchValue))
        children.append(XMLElement("matchHeaderRegex", isNameExpression))
        children.append(XMLElement("matchValueRegex", isValueExpression))
        children.append(XMLElement("matchRequest", onRequest))
        children.append(XMLElement("matchResponse", onResponse))
        if kind.hasName && !isRemoval || !newName.isEmpty { children.append(XMLElement("newHeader", newName)) }
        if !isRemoval || !newValue.isEmpty { children.append(XMLElement("newValue", newValue)) }
        children.append(XMLElement("newHeaderRegex", false))
        children.append(XMLElement("newValueRegex", false))
        children.append(XMLElement("matchWholeValue", matchesWhole))
        children.append(XMLElement("caseSensitive", isCaseSensitive))
        children.append(XMLElement("replaceType", replacesFirst ? "1" : "2"))
        return XMLElement("rewriteRule", children)
    }
}
