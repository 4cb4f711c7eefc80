import ExchangeCore
import HTTPModel
import NIOCore

/// A request that was played through a profile, and why its rules did what they did.
package struct ExplainedRequest: Sendable {
    package let exchange: DryRunExchange
    package let explanation: Explanation
    fileprivate let request: DryRunRequest
    package let isRecorded: Bool
    /// How the server is reached by `upstream`, in words; `nil` if no rule matches the request.
    package let way: String?

    /// Some lines for each tool, then the sent request and the answer; `isWhole` lists all rules for other hosts, too.
    package func text(isWhole: Bool = false) -> String {
        var text = ""
        if exchange.isTunnel, request.url.scheme != "tunnel" {
            text += "\(request.url.host) is not decrypted ('intercept'), so only host and port are known.\n\n"
        }
        text += explanation.text(isWhole: isWhole) + "\n"
        text += exchange.outcomeText(request)
        if let way { text += "\(way)\n" }
        return isRecorded ? text : text + "not recorded: 'record' in the profile excludes it\n"
    }
}

extension DryRunRequest {
    /// Plays the request through a profile and explains what its rules did.
    package func explained(by profile: RuleProfile, answered response: DryRunResponse = .init()) -> ExplainedRequest {
        let off = profile.off
        var dryRun = DryRun(profile)
        let (exchange, missed) = MissedEdits.gather { dryRun.play(self, response) }
        let isUndecrypted = exchange.isTunnel && url.scheme != "tunnel"
        let record = exchange.record
        let head = isUndecrypted ? RequestHead(method: "CONNECT", target: record.url.authority) : head
        let opening = ExchangeOpening(id: record.id, url: record.url, head: head, clientAddress: "")
        let facts = ConditionFacts(opening)
        facts.setRequestBody(body)
        let isLocal = record.flags.contains(.answeredLocally)
        let answer = isLocal ? exchange.answered.map { ($0.head, $0.body) } : (response.head, response.body)
        if let (head, body) = answer {
            facts.setResponse(head)
            facts.setResponseBody(body)
        }
        let (trace, isRefused) = (exchange.trace, exchange.isBlocked)
        let goesOut = exchange.sent != nil || exchange.isTunnel
        return ExplainedRequest(
            exchange: exchange,
            explanation: .init(
                trace,
                of: opening,
                facts,
                by: profile,
                without: off,
                missed: missed,
                isRefused: isRefused
            ),
            request: self,
            isRecorded: profile.record.admits(record.url),
            way: goesOut ? profile.upstream.way(to: exchange.sentURL ?? record.url) : nil
        )
    }
}

extension DryRunExchange {
    /// The sent request, with the fields that differ from the client's request, and the answer.
    fileprivate func outcomeText(_ request: DryRunRequest) -> String {
        var text = ""
        if let sent, let url = sentURL {
            text += "goes out: \(sent.head.method) \(url)"
            if let address = destination?.address { text += " (connected to \(address))" }
            text += "\n"
            // A tunnel has only its CONNECT, so there is nothing to compare.
            if !isTunnel { text += sent.head.fields.difference(from: request.head.fields) }
            if !isTunnel, let body = request.body, sent.body != body { text += "  the body is changed\n" }
        } else {
            text += "sent: nothing\n"
        }
        if !held.isEmpty { text += "held: \(held.map { "\($0)" }.joined(separator: ", "))\n" }
        if delay > .zero { text += "delayed: \(delay.nanoseconds / 1_000_000) ms\n" }
        if isTunnel, answered?.head.status == 200 {
            text += "answered: bytes pass unread\n"
        } else if let answered {
            let source = record.flags.contains(.answeredLocally) ? "by Sluice" : "as the server answered"
            let isChanged = record.flags.contains(.responseChanged)
            text += "answered: \(answered.head.status) (\(isChanged ? "edited" : source))\n"
        } else if isCutOff {
            text += "answered: nothing, the connection to the client is closed\n"
        }
        if let failure { text += "fails: \(failure.message)\n" }
        return text
    }
}

extension FieldSection {
    /// The lines that only one of the two sections has.
    fileprivate func difference(from old: FieldSection) -> String {
        let changes = map { "\($0.name): \($0.value)" }.difference(from: old.map { "\($0.name): \($0.value)" })
        return (changes.removals + changes.insertions).map { change in
            switch change {
            case .remove(_, let line, _): "  - \(line)\n"
            case .insert(_, let line, _): "  + \(line)\n"
            }
        }.joined()
    }
}
