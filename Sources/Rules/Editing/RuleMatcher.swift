package import HTTPModel

/// Decides which recorded exchanges a rule matches, by its scope and ``condition``: chance and other rules do not
/// count, nor whether the rule is disabled.
package struct RuleMatcher: Sendable {
    private let tool: Tool?
    private let rule: (any ToolRule)?
    private let intercept: InterceptRules?
    /// What recorded exchanges must match besides.
    package var condition: Filter { rule?.heading.condition?.filter ?? .everything }

    /// - Throws: ``ProfileError`` with all errors, with places in the rule's text.
    package init(_ rule: RuleText, of section: ProfileSection, in profile: EditableProfile) throws(ProfileError) {
        let (reading, issues) = RuleCheck.read(rule, of: section, in: profile)
        try ProfileError.check(issues)
        tool = section.tool
        self.rule = reading?.rule
        intercept = reading?.intercept
    }

    package func matches(_ record: ExchangeRecord) -> Bool {
        guard record.kind != .malformed, record.kind != .failedHandshake else { return false }
        return matches(method: record.method, url: record.url)
    }

    /// Whether the rule acts on a request, perhaps depending on the content of the message. The method is `CONNECT` for
    /// a tunnel; the URL is the one that the client sent.
    package func matches(method: String, url: RequestURL) -> Bool {
        if let intercept { return !intercept.decrypts(host: url.host, port: url.port) }
        guard let tool, let rule else { return false }
        return tool.concerns(rule, method: method, url: url)
    }
}
