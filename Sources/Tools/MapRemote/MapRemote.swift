import ExchangeCore
import Expressions
import HTTPModel
import NIOCore
import Rules

/// Map remote: matching requests are sent to another URL.
///
/// Locations, the matches of their stars, and the remainder of the path refer to the URL as the client sent it. Parts
/// that `to` leaves out keep the values that earlier tools, such as rewrite, gave them.
///
/// The response is not changed (as in Charles): after a redirect to the new URL, the client bypasses the rule.
struct MapRemote: RuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        /// Searched for in the whole URL; `nil` if the rule has locations.
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
        guard hasExpressions else { return rules.first(opening).map { located(opening, $0) } }
        for found in rules.matches(opening) {
            guard let expression = found.rule.expression else { return located(opening, found) }
            do throws(RegularExpression.MatchLimitError) {
                guard let captures = try expression.captures(in: opening.url.description) else { continue }
                let context = ValueContext(opening, found)
                return RemoteHandler(rule: found.rule, context: context, captures: captures, remainder: nil)
            } catch {
                return RequestHeadHandler { _, exchange in
                    let reason = "the regular expression took too long and was stopped; the request was not mapped"
                    exchange.note("\(found.rule.heading.name): \(reason)")
                    return .forward
                }
            }
        }
        return nil
    }

    private func located(_ opening: ExchangeOpening, _ match: RuleMatch<Rule>) -> RemoteHandler {
        RemoteHandler(
            rule: match.rule,
            context: ValueContext(opening, match),
            captures: match.location?.stars(of: opening.url) ?? [],
            remainder: match.location?.remainder(of: opening.url.path) ?? String(opening.url.path.dropFirst())
        )
    }
}

/// Sends one request to the target of a rule.
private final class RemoteHandler: StageHandler {
    private let rule: MapRemote.Rule
    private let context: ValueContext
    /// The values of `$1` and so on.
    private let captures: [String]
    /// The rest of the path; `nil` if nothing is to be appended.
    private let remainder: String?

    init(rule: MapRemote.Rule, context: ValueContext, captures: [String], remainder: String?) {
        (self.rule, self.context, self.captures, self.remainder) = (rule, context, captures, remainder)
    }

    func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
        do throws(RemoteParts.TargetError) {
            if exchange.url.scheme == "tunnel" {
                mapTunnel(try rule.target.parts(captures, nil), &exchange)
                return .forward
            }
            let values: RemoteTarget.Values
            do throws(ValueError) {
                values = try rule.target.values(context)
            } catch {
                exchange.note("\(rule.heading.name): not mapped: \(error)")
                return .forward
            }
            let parts = try rule.target.parts(captures, values)
            let shown = values.haveSecrets ? try rule.target.parts(captures, values, isTrace: true) : parts
            try map(parts, shown, &head, &exchange)
        } catch {
            exchange.note("\(rule.heading.name): not mapped, because the new URL is invalid: \(error.message)")
        }
        return .forward
    }

    /// Maps an undecrypted tunnel: only its destination can be changed.
    private func mapTunnel(_ parts: RemoteParts, _ exchange: inout StageExchange) {
        let before = exchange.destination.authority
        parts.place(&exchange.destination)
        exchange.destination.scheme = "tunnel"
        guard exchange.destination.authority != before else {
            exchange.note("\(rule.heading.name): this tunnel is not decrypted, so only host and port could be mapped")
            return
        }
        let change = "connects to \(exchange.destination.authority) in place of \(before)"
        exchange.fired(rule: rule.heading.name, "\(change); the bytes pass unchanged")
    }

    private func map(
        _ parts: RemoteParts,
        _ shown: RemoteParts,
        _ head: inout RequestHead,
        _ exchange: inout StageExchange
    ) throws(RemoteParts.TargetError) {
        let target = try self.target(parts, head.targetBytes, exchange.url)
        let text = String(fieldBytes: parts == shown ? target : try self.target(shown, head.targetBytes, exchange.url))
        var destination = exchange.destination
        parts.place(&destination)
        let hostChange = destination == exchange.destination ? nil : setHost(parts, destination, &head, exchange.url)
        exchange.destination = destination
        if !target.elementsEqual(head.targetBytes) { head.setTarget(target) }
        let path = text == "*" ? "*" : "/"
        let url = RequestURL(scheme: destination.scheme, host: destination.host, port: destination.port, path: path)
        let sent = text == "*" ? "\(url)" : "\(url)".dropLast() + text
        let changes = ["sent to \(sent) in place of \(exchange.url)", hostChange].compactMap { $0 }
        exchange.fired(rule: rule.heading.name, changes.joined(separator: "; "))
    }

    /// The new request target: path and query.
    private func target(
        _ parts: RemoteParts,
        _ current: ByteBufferView,
        _ original: RequestURL
    ) throws(RemoteParts.TargetError) -> [UInt8] {
        var target = Array(current)
        guard target != Array("*".utf8), parts.path != nil || parts.query != nil else { return target }
        // The URL, its captures and its remainder were read in this encoding.
        let encoding = FieldEncoding(target)
        let mark = UInt8(ascii: "?")
        let end = target.firstIndex(of: mark) ?? target.endIndex
        if let query = parts.query {
            var bytes = [mark]
            encoding.append(query.utf8, to: &bytes)
            target.replaceSubrange(end..., with: bytes)
        }
        if let path = parts.path {
            let remainder = rule.keepsPrefix ? String(original.path.dropFirst()) : self.remainder ?? ""
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

    /// Sets `Host` to the destination, unless the rule keeps it; returns the change for the trace.
    private func setHost(
        _ parts: RemoteParts,
        _ destination: Destination,
        _ head: inout RequestHead,
        _ original: RequestURL
    ) -> String? {
        let before = head.fields.value(of: .host) ?? ""
        if rule.keepsHostField { return before.isEmpty ? nil : "kept Host: \(before)" }
        // If the rule does not change the host, `Host` may differ from the host of the connection.
        let host = parts.host ?? RequestURL.splitAuthority(before)?.host ?? original.host
        let url = RequestURL(scheme: destination.scheme, host: host, port: destination.port, path: "/")
        guard url.authority != before else { return nil }
        head.fields.set("Host", url.authority)
        return before.isEmpty ? "added Host: \(url.authority)" : "changed Host: \(before) to \(url.authority)"
    }
}
