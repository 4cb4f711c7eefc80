import HTTPModel

/// What is allowed but probably a mistake in a profile as a whole: found once every rule is read.
struct ProfileLints {
    private(set) var issues: [ProfileIssue] = []
    private let intercept: InterceptRules

    init(
        _ tools: [ToolOutline],
        intercept: InterceptRules,
        record: RecordRules,
        upstream: UpstreamRules,
        clientCertificates: ClientCertificateRules
    ) {
        self.intercept = intercept
        for tool in tools {
            lintNames(tool)
            lintShadows(tool)
            for heading in tool.rules where heading.isEnabled {
                lintUndecrypted(heading.scope.locations ?? [], at: heading.place)
            }
        }
        for (shadowed, by) in upstream.shadows + clientCertificates.shadows { lint(shadowed, shadowedBy: by) }
        for rule in upstream.rules where rule.heading.isEnabled {
            lintUndecrypted(rule.heading.scope.locations ?? [], at: rule.heading.place)
        }
        for rule in clientCertificates.rules where rule.isEnabled {
            for host in rule.hosts where intercept.neverDecrypts(host) {
                lint(
                    rule.place,
                    "'intercept' excludes \(host) from decryption: its clients need the certificate, not Sluice"
                )
            }
        }
        let recorded = record.locations
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

    private mutating func lintShadows(_ tool: ToolOutline) {
        for (rule, by) in tool.shadows.sorted(by: { $0.key < $1.key }) {
            lint(tool.rules[rule], shadowedBy: tool.rules[by])
        }
    }

    private mutating func lint(_ shadowed: RuleHeading, shadowedBy shadow: RuleHeading) {
        let message =
            "'\(shadowed.name)' is never used: '\(shadow.name)' at \(shadow.place) already matches everything it matches"
        lint(shadowed.place, message)
    }

    /// Without decryption only host and port are known.
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
