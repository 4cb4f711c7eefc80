import ExchangeCore
import HTTPModel
import NIOCore
import Rules

/// Map remote: requests that match one of its rules are sent somewhere else.
///
/// Two URLs count. Locations, what their stars stand for, and the remainder of the path go by the URL as the client sent
/// it. What `to` leaves blank stays as it is when the rule acts: as earlier tools, rewrite for one, have left it.
///
/// Nothing in the response is changed: a redirect to the new place leads the client there, past the rule (as Charles).
struct MapRemote: RuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        /// What the whole URL must match; `nil` where locations say which requests are meant.
        let expression: RegularExpression?
        let target: RemoteTarget
        let keepsHostField: Bool
        let keepsPrefix: Bool
    }

    private let rules: RuleList<Rule>
    private let hasExpressions: Bool

    init(rules: RuleList<Rule>) {
        self.rules = rules
        hasExpressions = rules.all.contains { $0.expression != nil && $0.heading.isEnabled }
    }

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        guard hasExpressions else {
            return rules.first(opening).map { RemoteHandler($0.rule, located(opening.url, $0.location)) }
        }
        for found in rules.matches(opening) {
            guard let expression = found.rule.expression else {
                return RemoteHandler(found.rule, located(opening.url, found.location))
            }
            do throws(RegularExpression.Runaway) {
                if let match = try Match(expression, opening.url) { return RemoteHandler(found.rule, match) }
            } catch {
                return RemoteHandler(found.rule, nil)
            }
        }
        return nil
    }

    private func located(_ url: RequestURL, _ location: Location?) -> Match {
        Match(
            captures: location?.stars(of: url) ?? [],
            remainder: location?.remainder(of: url.path) ?? String(url.path.dropFirst())
        )
    }

    /// What a rule found in a URL.
    struct Match {
        /// What `$1` and so on stand for.
        let captures: [String]
        /// What is left of the path; `nil` where nothing is to be appended.
        let remainder: String?

        init(captures: [String], remainder: String?) {
            self.captures = captures
            self.remainder = remainder
        }

        /// Looks for an expression in a URL; `nil` where it is not found.
        init?(_ expression: RegularExpression, _ url: RequestURL) throws(RegularExpression.Runaway) {
            guard let captures = try expression.firstMatch(in: url.description) else { return nil }
            self.init(captures: captures, remainder: nil)
        }
    }
}

extension RegularExpression {
    /// The groups of the first match, empty where they took no part; `nil` where there is no match.
    fileprivate func firstMatch(in text: String) throws(Runaway) -> [String]? {
        var text = text
        var groups: [String]?
        var failure: Runaway?
        text.withUTF8 { bytes in
            let subject = UnsafeRawBufferPointer(bytes)
            do throws(Runaway) {
                try forEachMatch(in: subject) { match in
                    groups = (0..<groupCount).map { number in
                        match.group(number + 1).map { String(decoding: subject[$0], as: UTF8.self) } ?? ""
                    }
                    return false
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return groups
    }
}

/// Sends one request somewhere else.
private final class RemoteHandler: StageHandler {
    private let rule: MapRemote.Rule
    private let match: MapRemote.Match?

    /// Takes a rule, and what it found: `nil` where looking for that took too long.
    init(_ rule: MapRemote.Rule, _ match: MapRemote.Match?) {
        self.rule = rule
        self.match = match
    }

    func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
        guard let match else {
            exchange.note(
                "\(rule.heading.name): the regular expression took too long and was stopped; nothing was mapped"
            )
            return .forward
        }
        do throws(RemoteParts.Problem) {
            let parts = try rule.target.parts(match.captures)
            if exchange.url.scheme == "tunnel" {
                mapTunnel(parts, &exchange)
            } else {
                try map(parts, match, &head, &exchange)
            }
        } catch {
            exchange.note("\(rule.heading.name): not mapped, since it makes a bad URL: \(error.message)")
        }
        return .forward
    }

    /// Of bytes that pass unread only the place to connect to can be changed.
    private func mapTunnel(_ parts: RemoteParts, _ exchange: inout StageExchange) {
        let before = exchange.destination.authority
        parts.place(&exchange.destination)
        exchange.destination.scheme = "tunnel"
        guard exchange.destination.authority != before else {
            exchange.note("\(rule.heading.name): this tunnel is not decrypted, so only host and port could be mapped")
            return
        }
        exchange.fired(
            rule: rule.heading.name,
            "connects to \(exchange.destination.authority) in place of \(before); the bytes pass as they are"
        )
    }

    private func map(
        _ parts: RemoteParts,
        _ match: MapRemote.Match,
        _ head: inout RequestHead,
        _ exchange: inout StageExchange
    ) throws(RemoteParts.Problem) {
        let target = try self.target(parts, match, head.targetBytes, exchange.url)
        var destination = exchange.destination
        parts.place(&destination)
        var changes: [String] = []
        if destination != exchange.destination, let change = setHost(parts, destination, &head, exchange.url) {
            changes.append(change)
        }
        exchange.destination = destination
        if !target.elementsEqual(head.targetBytes) { head.setTarget(target) }
        let text = String(fieldBytes: target)
        let url = RequestURL(
            scheme: destination.scheme,
            host: destination.host,
            port: destination.port,
            path: text == "*" ? "*" : "/"
        )
        let sent = text == "*" ? "\(url)" : "\(url)".dropLast() + text
        changes.insert("sent to \(sent) in place of \(exchange.url)", at: 0)
        exchange.fired(rule: rule.heading.name, changes.joined(separator: "; "))
    }

    /// The bytes of the request target as it is to be: path and query.
    private func target(
        _ parts: RemoteParts,
        _ match: MapRemote.Match,
        _ current: ByteBufferView,
        _ original: RequestURL
    ) throws(RemoteParts.Problem) -> [UInt8] {
        var target = Array(current)
        guard target != Array("*".utf8), parts.path != nil || parts.query != nil else { return target }
        // What the URL was read as: so are what its stars and groups stand for, and what is left of its path.
        let encoding = FieldEncoding(target)
        let mark = UInt8(ascii: "?")
        let end = target.firstIndex(of: mark) ?? target.endIndex
        if let query = parts.query {
            var bytes = [mark]
            encoding.append(query.utf8, to: &bytes)
            target.replaceSubrange(end..., with: bytes)
        }
        if let path = parts.path {
            let remainder = rule.keepsPrefix ? String(original.path.dropFirst()) : match.remainder ?? ""
            var bytes: [UInt8] = []
            encoding.append(path.utf8, to: &bytes)
            if rule.target.appendsRemainder, !remainder.isEmpty {
                if bytes.last != UInt8(ascii: "/") { bytes.append(UInt8(ascii: "/")) }
                encoding.append(remainder.utf8, to: &bytes)
            }
            target.replaceSubrange(..<end, with: bytes)
        }
        try RemoteParts.check(String(fieldBytes: target))
        return target
    }

    /// Makes `Host` say where the request goes, unless it is to stay; returns what was done.
    private func setHost(
        _ parts: RemoteParts,
        _ destination: Destination,
        _ head: inout RequestHead,
        _ original: RequestURL
    ) -> String? {
        let before = head.fields.value(of: .host) ?? ""
        if rule.keepsHostField { return before.isEmpty ? nil : "kept Host: \(before)" }
        // Where the rule leaves the host as it is, the field may have another name for it than the connection has.
        let host = parts.host ?? RequestURL.splitAuthority(before)?.host ?? original.host
        let url = RequestURL(scheme: destination.scheme, host: host, port: destination.port, path: "/")
        guard url.authority != before else { return nil }
        head.fields.set("Host", url.authority)
        return before.isEmpty ? "added Host: \(url.authority)" : "changed Host: \(before) to \(url.authority)"
    }
}
