package import HTTPModel

/// Decides whether a rule would be for recorded exchanges, as its tool does.
///
/// It is compiled once. The content of messages, chance and other rules do not count: a rule that is disabled, or that an
/// earlier one shadows, is asked as if it were alone.
package struct RuleMatcher: Sendable {
    private enum Question: Sendable {
        case rule(any ToolRule, of: Tool)
        case unread(InterceptRules)
        case nothing
    }

    private let question: Question

    /// - Throws: ``ProfileError`` with all that is wrong, with places in the rule's text.
    package init(_ rule: RuleText, of section: ProfileSection, in profile: EditableProfile) throws(ProfileError) {
        let (read, issues) = RuleCheck.read(rule, of: section, in: profile)
        try ProfileError.check(issues)
        guard let tool = section.tool else {
            var (intercept, reader) = (InterceptRules(), ProfileReader(file: RuleText.file))
            intercept.add(try RuleLines(rule).node, &reader)
            question = .unread(intercept)
            return
        }
        question = read.map { .rule($0, of: tool) } ?? .nothing
    }

    package func matches(_ record: ExchangeRecord) -> Bool {
        guard record.kind != .malformed, record.kind != .failedHandshake else { return false }
        return matches(method: record.method, url: record.url)
    }

    /// Whether the rule acts on a request, or would where the message has what it looks for.
    ///
    /// The method is `CONNECT` for a tunnel; the URL is the one that the client sent.
    package func matches(method: String, url: RequestURL) -> Bool {
        switch question {
        case .nothing: false
        case .unread(let intercept): !intercept.decrypts(host: url.host, port: url.port)
        case .rule(let rule, let tool): tool.concerns(rule, method: method, url: url)
        }
    }
}
