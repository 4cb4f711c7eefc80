import ExchangeCore
package import HTTPModel

/// Says of recorded exchanges whether a rule would be for them, as its tool decides it.
///
/// Compiled once, asked for each exchange. What was sent and answered does not count, nor do chance and other rules: a
/// rule that is not enabled, or that an earlier one shadows, is asked as though it stood alone.
package struct RuleMatcher: Sendable {
    private enum Question: Sendable {
        case everything
        case scope(RuleScope)
        /// Where the rule has conditions of its own.
        case stage(any Stage)
        /// Where just the host counts.
        case host(RuleScope)
        /// Which hosts would be passed through unread.
        case unread(InterceptRules)
        case nothing
    }

    private let question: Question
    /// Whether exchanges are meant of which just host and port are known.
    private let takesTunnels: Bool
    /// Whether only GET is meant, whatever the rule says.
    private let isGetOnly: Bool

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
        in profile: EditableProfile = EditableProfile(text: "", file: nil)
    ) throws(ProfileError) {
        let (read, issues) = RuleCheck.read(rule, of: section, in: profile)
        if issues.contains(where: { $0.severity == .error }) { throw ProfileError(issues: issues) }
        guard case .tool(let slot) = section, let tool = section.tool else {
            (takesTunnels, isGetOnly) = (true, false)
            var (intercept, reader) = (InterceptRules(), ProfileReader(file: RuleText.file))
            intercept.add(try RuleLines(rule).node, &reader)
            question = .unread(intercept)
            return
        }
        guard let read else {
            (takesTunnels, isGetOnly, question) = (false, false, .nothing)
            return
        }
        takesTunnels = [.allowList, .blockList, .dnsSpoofing, .throttle, .mapRemote].contains(slot)
        isGetOnly = slot == .mirror
        let heading = read.heading
        question =
            if slot == .dnsSpoofing {
                .host(heading.scope)
            } else if ToolOutline.isWholeScope(heading, tool.grammar.scope) {
                heading.scope.isEverything ? .everything : .scope(heading.scope)
            } else if heading.isEnabled {
                .stage(tool.stage([read]))
            } else {
                .stage(tool.stage([try RuleMatcher.enabled(rule, section, profile) ?? read]))
            }
    }

    /// The rule as though it were enabled.
    private static func enabled(
        _ rule: RuleText,
        _ section: ProfileSection,
        _ profile: EditableProfile
    ) throws(ProfileError) -> (any ToolRule)? {
        guard var mapping = try RuleLines(rule).node.mapping else { return nil }
        mapping["enabled"] = "true"
        return RuleCheck.read(RuleText(DraftValue(.mapping(mapping)).flow), of: section, in: profile).rule
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
        guard takesTunnels || url.scheme != "tunnel", !isGetOnly || method == "GET" else { return false }
        switch question {
        case .everything: return true
        case .nothing: return false
        case .unread(let intercept): return !intercept.decrypts(host: url.host, port: url.port)
        case .scope(let scope): return scope.matches(method: method, url: url)
        case .host(let scope):
            guard !url.host.isAddress else { return false }
            let bare = RequestURL(scheme: url.scheme, host: url.host, port: url.port, path: "")
            return scope.matches(method: method, url: bare)
        case .stage(let stage):
            let head = RequestHead(method: method, target: url.pathAndQuery)
            return stage.handler(for: ExchangeOpening(id: ExchangeID(0), url: url, head: head, clientAddress: ""))
                != nil
        }
    }
}

extension RuleScope {
    /// Whether a request of this method and URL is meant.
    func matches(method: String, url: RequestURL) -> Bool {
        (methods.isEmpty || methods.contains(method))
            && (locations?.contains { $0.matches(url) } ?? true)
            && !exceptions.contains { $0.matches(url) }
    }
}
