package import ExchangeCore
import HTTPModel
import NIOCore

/// A request that was played through a profile, and why its rules did what they did.
package struct ExplainedRequest: Sendable {
    /// What became of it.
    package let exchange: RehearsedExchange
    /// What each rule did.
    package let explanation: Explanation
    private let request: RehearsedRequest

    fileprivate init(_ exchange: RehearsedExchange, _ explanation: Explanation, _ request: RehearsedRequest) {
        self.exchange = exchange
        self.explanation = explanation
        self.request = request
    }

    /// As people read it; ends with what goes out and what is answered.
    ///
    /// - Parameter isWhole: whether rules for other hosts are told one by one, however many they are.
    /// - Returns: some lines for each tool, and what goes out.
    package func text(isWhole: Bool = false) -> String {
        var text = ""
        if exchange.isTunnel, request.url.scheme != "tunnel" {
            text += "\(request.url.host) is not decrypted ('intercept'), so just host and port are known.\n\n"
        }
        text += explanation.text(isWhole: isWhole) + "\n"
        return text + exchange.outcomeText(request)
    }
}

extension RehearsedRequest {
    /// Plays the request through a profile and explains what its rules did.
    package func explained(
        by profile: RuleProfile,
        without off: Set<StageID>? = nil,
        answered response: RehearsedResponse = .init()
    ) -> ExplainedRequest {
        let off = off ?? profile.off
        var rehearsal = Rehearsal(profile, without: off)
        let exchange = rehearsal.play(self, response)
        let opening = ExchangeOpening(
            id: exchange.record.id,
            url: exchange.record.url,
            head: exchange.isTunnel && url.scheme != "tunnel"
                ? RequestHead(method: "CONNECT", target: exchange.record.url.authority) : head,
            clientAddress: ""
        )
        return ExplainedRequest(exchange, Explanation(exchange.trace, of: opening, by: profile, without: off), self)
    }
}

extension RehearsedExchange {
    /// What goes out and what is answered, each with the fields that differ from what came in.
    fileprivate func outcomeText(_ request: RehearsedRequest) -> String {
        var text = ""
        if let sent, let url = sentURL {
            text += "goes out: \(sent.head.method) \(url)"
            if let address = destination?.address { text += " (connected to \(address))" }
            text += "\n"
            // Of a tunnel there is nothing but the CONNECT.
            if !isTunnel { text += FieldDifference(request.head.fields, sent.head.fields).text }
            if !isTunnel, let body = request.body, sent.body != body { text += "  the body is changed\n" }
        } else {
            text += "goes out: nothing\n"
        }
        if !held.isEmpty { text += "held: \(held.map { "\($0)" }.joined(separator: ", "))\n" }
        if delay > .zero { text += "held up: \(delay.nanoseconds / 1_000_000) ms\n" }
        if isTunnel, answered?.head.status == 200 {
            text += "answered: the bytes pass unread\n"
        } else if let answered {
            let source = record.flags.contains(.answeredLocally) ? "by Sluice" : "as the server answered"
            let isChanged = record.flags.contains(.responseChanged)
            text += "answered: \(answered.head.status) (\(isChanged ? "edited" : source))\n"
        } else if isCutOff {
            text += "answered: nothing, the client is cut off\n"
        }
        if let failure { text += "fails: \(failure.message)\n" }
        return text
    }
}

/// The field lines that only one of two heads has.
private struct FieldDifference {
    let text: String

    init(_ before: FieldSection, _ after: FieldSection) {
        let (old, new) = (before.map(FieldDifference.line), after.map(FieldDifference.line))
        let difference = new.difference(from: old)
        text =
            difference.removals.map { FieldDifference.text("-", $0) }.joined()
            + difference.insertions.map { FieldDifference.text("+", $0) }.joined()
    }

    private static func line(_ field: Field) -> String { "\(field.name): \(field.value)" }

    private static func text(_ sign: String, _ change: CollectionDifference<String>.Change) -> String {
        switch change {
        case .insert(_, let line, _), .remove(_, let line, _): "  \(sign) \(line)\n"
        }
    }
}
