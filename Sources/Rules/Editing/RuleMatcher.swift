import ExchangeCore
package import HTTPModel

/// Says of recorded exchanges whether a rule would be for them, as its tool decides it.
///
/// Compiled once, asked for each exchange. What was sent and answered does not count, nor do chance and other rules: a
/// rule that is not enabled, or that an earlier one shadows, is asked as though it stood alone.
package struct RuleMatcher: Sendable {
    private enum Question: Sendable {
        case rule(any ToolRule, of: Tool)
        /// Which hosts would be passed through unread.
        case unread(InterceptRules)
        case nothing
    }

    private let question: Question

    /// Compiles a rule.
    ///
    /// - Parameters:
    ///   - rule: the rule's text.
    ///   - section: where it belongs.
    ///   - profile: the profile it is for.
    /// - Throws: ``ProfileError`` with all that is wrong, with places in the rule's text.
    package init(
        _ rule: RuleText,
        of section: ProfileSection,
        in profile: EditableProfile
    ) throws(ProfileError) {
        let (read, issues) = RuleCheck.read(rule, of: section, in: profile)
        if issues.contains(where: { $0.severity == .error }) { throw ProfileError(issues: issues) }
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

    /// Whether the rule is for a request.
    ///
    /// - Parameters:
    ///   - method: the method; `CONNECT` for a tunnel.
    ///   - url: the URL as the client sent it.
    /// - Returns: whether the rule acts on it, or would where the message has what it looks for.
    package func matches(method: String, url: RequestURL) -> Bool {
        switch question {
        case .nothing: false
        case .unread(let intercept): !intercept.decrypts(host: url.host, port: url.port)
        case .rule(let rule, let tool): tool.concerns(rule, method: method, url: url)
        }
    }
}

extension RuleScope {
    /// Whether a request of this method and URL is meant.
    package func matches(method: String, url: RequestURL) -> Bool {
        (methods.isEmpty || methods.contains(method))
            && (locations?.contains { $0.matches(url) } ?? true)
            && !exceptions.contains { $0.matches(url) }
    }
}
