import ExchangeCore
import HTTPModel

/// What is allowed but hardly meant in a profile as a whole: found once every rule is read.
struct ProfileLints {
    private(set) var issues: [ProfileIssue] = []
    private let intercept: InterceptRules

    init(_ tools: [ToolOutline], intercept: InterceptRules) {
        self.intercept = intercept
        for tool in tools {
            lintNames(tool)
            lintShadows(tool)
            for heading in tool.rules where heading.isEnabled { lintUndecrypted(heading) }
        }
    }

    private mutating func lint(_ place: ProfilePlace, _ message: String) {
        issues.append(ProfileIssue(.lint, message, at: place))
    }

    private mutating func lintNames(_ tool: ToolOutline) {
        var first: [String: ProfilePlace] = [:]
        for heading in tool.rules {
            if let place = first[heading.name] {
                lint(
                    heading.place,
                    "the rule at \(place) is called '\(heading.name)' too; traces cannot tell them apart"
                )
            } else {
                first[heading.name] = heading.place
            }
        }
    }

    private mutating func lintShadows(_ tool: ToolOutline) {
        for (rule, by) in tool.shadows.sorted(by: { $0.key < $1.key }) {
            let (shadowed, shadow) = (tool.rules[rule], tool.rules[by])
            lint(
                shadowed.place,
                "'\(shadowed.name)' never decides: '\(shadow.name)' at \(shadow.place) is for all that it is for"
            )
        }
    }

    /// Where nothing is decrypted, nothing is known but host and port.
    private mutating func lintUndecrypted(_ heading: RuleHeading) {
        for location in heading.scope.locations ?? [] {
            let pattern = location.pattern
            let isPlain = ["http", "ws"].contains(pattern.protocol.lowercased())
            guard !pattern.path.isEmpty || !pattern.query.isEmpty, !isPlain, intercept.neverDecrypts(location) else {
                continue
            }
            let isEncrypted = ["https", "wss"].contains(pattern.protocol.lowercased())
            lint(
                heading.place,
                "\(location) asks for a path or query, but 'intercept' does not have \(pattern.host) decrypted: "
                    + (isEncrypted ? "it matches nothing" : "it matches plain http only")
            )
        }
    }
}
