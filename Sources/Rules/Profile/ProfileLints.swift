import HTTPModel

/// Finds probable mistakes in a profile as a whole, once every rule is read.
struct ProfileLints {
    private(set) var issues: [ProfileIssue] = []
    private let intercept: InterceptRules

    init(_ tools: [ToolOutline], _ settings: RuleProfile.Settings) {
        intercept = settings.intercept
        for tool in tools {
            lintNames(tool)
            lint(tool.shadows, of: tool.rules)
            lintUndecrypted(tool.rules)
        }
        lint(settings.upstream.shadows, of: settings.upstream.rules.map(\.heading))
        lint(settings.clientCertificates.shadows, of: settings.clientCertificates.rules.map(\.heading))
        lintUndecrypted(settings.upstream.rules.map(\.heading))
        for rule in settings.clientCertificates.rules where rule.isEnabled {
            for host in rule.hosts where intercept.neverDecrypts(host) {
                let reason = "its clients need the certificate, not Sluice"
                lint(rule.place, "'intercept' excludes \(host) from decryption: \(reason)")
            }
        }
        let recorded = settings.record.locations
        for entry in (recorded.only ?? []) + recorded.except { lintUndecrypted([entry.location], at: entry.place) }
    }

    private mutating func lint(_ place: ProfilePlace, _ message: String) {
        issues.append(ProfileIssue(.lint, message, at: place))
    }

    private mutating func lintNames(_ tool: ToolOutline) {
        var first: [String: ProfilePlace] = [:]
        for heading in tool.rules {
            if let place = first[heading.name] {
                let message = "the rule at \(place) is also called '\(heading.name)'; traces cannot distinguish them"
                lint(heading.place, message)
            } else {
                first[heading.name] = heading.place
            }
        }
    }

    private mutating func lint(_ shadows: [Int: Int], of rules: [RuleHeading]) {
        for (rule, by) in shadows.sorted(by: { $0.key < $1.key }) {
            let reason = "'\(rules[by].name)' at \(rules[by].place) already matches everything it matches"
            lint(rules[rule].place, "'\(rules[rule].name)' is never used: \(reason)")
        }
    }

    private mutating func lintUndecrypted(_ rules: [RuleHeading]) {
        for rule in rules where rule.isEnabled { lintUndecrypted(rule.scope.locations ?? [], at: rule.place) }
    }

    /// Warns about paths and queries for hosts that are not decrypted: only host and port are known.
    private mutating func lintUndecrypted(_ locations: [Location], at place: ProfilePlace) {
        for location in locations {
            let pattern = location.pattern
            let scheme = pattern.protocol.lowercased()
            guard !pattern.path.isEmpty || !pattern.query.isEmpty, !["http", "ws"].contains(scheme),
                intercept.neverDecrypts(location)
            else { continue }
            let rest = ["https", "wss"].contains(scheme) ? "it matches nothing" : "it matches plain http only"
            let host = "'intercept' excludes \(pattern.host) from decryption"
            lint(place, "\(location) has a path or query, but \(host): \(rest)")
        }
    }
}
