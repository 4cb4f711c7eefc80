package import Content
import ExchangeCore
import Foundation
package import HTTPModel
import Jobs
import NIOCore
package import Recording
package import Rules
import Text
import Tools

package enum RecordedWhy {
    /// The largest part of a body that a dry run reads, in bytes.
    private static let bodyLimit = 1 << 20

    /// Explains an exchange of a session (a file, `last`, or an archive) by the rules in force when it began, or by
    /// `profiles`, with the recorded request and response. `isWhole` also lists rules for other hosts. Throws
    /// `StartError`, `SessionError` or `ProfileError`.
    package static func text(
        session: String,
        id: Int64,
        profiles: [String] = [],
        isWhole: Bool = false
    ) throws -> String {
        try text(SessionQuery.open(session), named: session, id: id, profiles: profiles, isWhole: isWhole)
    }

    /// As ``text(session:id:profiles:isWhole:)``, of a session that is open.
    package static func text(
        _ reader: SessionReader,
        named session: String,
        id: Int64,
        profiles: [String] = [],
        isWhole: Bool = false
    ) throws -> String {
        guard let exchange = try reader.exchange(ExchangeID(id)) else {
            throw StartError("The session has no exchange \(id).", hint: "To list them: sluice list \(session)")
        }
        let record = exchange.record
        let sent = record.sentURL.map { "\n  sent as \(VisibleText.of($0.description))" } ?? ""
        var text = VisibleText.of("#\(record.id) \(record.method) \(record.url)") + sent + "\n\n"
        guard profiles.isEmpty else {
            let profile = try RuleProfile.load(paths: profiles, takesPipes: true)
            let (request, response) = try messages(exchange, reader)
            let explanation = request.explained(by: profile, answered: response ?? .init())
            return try text + explanation.text(isWhole: isWhole) + brokenBodies(exchange, reader)
        }
        guard let rules = try reader.rules(at: record.startedAt) else {
            return text + unknown(exchange, "The session does not say which rules were in force.")
        }
        guard !rules.sources.isEmpty else {
            return text + unknown(exchange, "No rules were in force: it was recorded without a profile.")
        }
        let facts = try facts(exchange, reader)
        let off = Set(ToolRegistry.standard.tools.map(\.id).filter { rules.switchedOff.contains($0.name) })
        do throws(ProfileError) {
            let profile = try RuleProfile(sources: rules.sources, tools: .standard, variables: .forRecordedRules)
            let explanation = Explanation(
                exchange.messages.trace,
                of: opening(exchange),
                facts,
                by: profile,
                without: off,
                missed: missed(exchange, reader, by: profile, without: off),
                isRefused: record.state == .blocked
            )
            text += explanation.text(isWhole: isWhole)
        } catch {
            let reason = "The rules of the time cannot be read by this Sluice: \(error.issues.first?.description ?? "")"
            return text + unknown(exchange, reason)
        }
        return try text + remarks(exchange) + brokenBodies(exchange, reader) + outcome(record)
    }

    private static func unknown(_ exchange: RecordedExchange, _ reason: String) -> String {
        let trace = exchange.messages.trace.map { entry in
            VisibleText.of("  \(entry.stage)\(entry.rule.map { " (\($0))" } ?? ""): \(entry.text)") + "\n"
        }
        let text = trace.isEmpty ? "" : "\nWhat its trace says:\n" + trace.joined()
        return "\(reason)\n\(text)\nTo ask with a profile: sluice why SESSION \(exchange.record.id) --profile FILE\n"
            + outcome(exchange.record)
    }

    /// The trace entries of Sluice itself.
    private static func remarks(_ exchange: RecordedExchange) -> String {
        let lines = exchange.messages.trace.filter { $0.stage == "sluice" }
        return lines.isEmpty ? "" : "\nsluice\n" + lines.map { "  • \(VisibleText.of($0.text))\n" }.joined()
    }

    /// Where the JSON of a body breaks: then no term with a JSON place matches.
    private static func brokenBodies(_ exchange: RecordedExchange, _ reader: SessionReader) throws -> String {
        let places = ExchangePlaces(exchange, source: reader)
        let lines = try [BodySide.requestReceived, .responseReceived].compactMap { side -> String? in
            let place = Place(Place.Root(side), .json)
            let fields = exchange.messages.head(of: side).map { StoredHead.fieldsAfterStartLine($0) }
            guard fields?.value(of: .contentType).flatMap({ MediaType($0) })?.isJSON == true else { return nil }
            _ = try places.values(at: place)
            return places.problem.map { "  • \(place) has no values: \(VisibleText.of($0))\n" }
        }
        return lines.isEmpty ? "" : "\nbodies\n" + lines.joined()
    }

    private static func outcome(_ record: ExchangeRecord) -> String {
        var text = "\n"
        switch record.state {
        case .blocked: text += "It was blocked."
        case .failed: text += "It failed: \(VisibleText.of(record.failure?.message ?? "no reason is recorded"))"
        case .inFlight, .interrupted: text += "It was not over."
        case .complete: text += "It was answered with \(record.status)."
        }
        if record.flags.contains(.answeredLocally) { text += " The answer is Sluice's own, no server was asked." }
        return text + "\n"
    }

    private static func head(_ exchange: RecordedExchange) -> RequestHead {
        let record = exchange.record
        return exchange.messages.requestHead.flatMap { StoredHead.request($0) }
            ?? RequestHead(method: record.method, target: record.url.requestTarget)
    }

    private static func opening(_ exchange: RecordedExchange) -> ExchangeOpening {
        let (record, address) = (exchange.record, exchange.client.map { "\($0.peerAddress)" } ?? "")
        var opening = ExchangeOpening(id: record.id, url: record.url, head: head(exchange), clientAddress: address)
        opening.listeningMode = record.extras.listeningMode
        opening.process = record.extras.process
        return opening
    }

    /// The messages as they were received.
    private static func facts(_ exchange: RecordedExchange, _ reader: SessionReader) throws -> ConditionFacts {
        func body(_ side: BodySide) throws -> ByteBuffer? {
            let limit = ConditionFacts.longestBody
            let body = try reader.body(of: exchange.record.id, side: side, limit: limit + 1)
            return body.readableBytes > limit ? nil : body
        }
        let facts = ConditionFacts(opening(exchange))
        facts.setRequestBody(try body(.requestReceived))
        if let head = exchange.messages.responseHead.flatMap({ StoredHead.response($0) }) {
            facts.setResponse(head)
            facts.setResponseBody(try body(.responseReceived))
        }
        return facts
    }

    /// Edits that matched but changed nothing, found by a dry run. Tools that apply only their first matching rule are
    /// left out: they may act by chance, and their effect is recorded.
    private static func missed(
        _ exchange: RecordedExchange,
        _ reader: SessionReader,
        by profile: RuleProfile,
        without off: Set<StageID>
    ) -> [MissedEdit] {
        let deciding = ToolRegistry.standard.tools.filter { $0.selection == .first }.map(\.id)
        guard let (request, response) = try? messages(exchange, reader) else { return [] }
        var dryRun = DryRun(profile, without: off.union(deciding))
        let edits = MissedEdits.gather { dryRun.play(request, response ?? .init()) }.1
        return edits.map { edit in
            guard response == nil, edit.direction == .response else { return edit }
            var edit = edit
            edit.reason = "not applied, since there was no response"
            return edit
        }
    }

    /// An exchange for a dry run, with the messages as they were received.
    package static func messages(
        _ exchange: RecordedExchange,
        _ source: any ExchangeSource
    ) throws -> (DryRunRequest, DryRunResponse?) {
        let (record, head) = (exchange.record, head(exchange))
        func recordedBody(_ side: BodySide) throws -> ByteBuffer? {
            let body = try source.body(of: record.id, side: side, offset: 0, limit: bodyLimit)
            return body.readableBytes > 0 ? body : nil
        }
        func fields(_ section: FieldSection) -> [(name: String, value: String)] {
            // Masked bodies have no content coding.
            let kept = section.filter {
                !HeaderRules.isFraming($0) && !(source.isMasking && $0.name.lowercased() == "content-encoding")
            }
            return kept.map { (name: $0.name, value: $0.value) }
        }
        let body = try recordedBody(.requestReceived)
        let request = DryRunRequest(method: head.method, url: record.url, fields: fields(head.fields), body: body)
        var response: DryRunResponse?
        if let stored = exchange.messages.responseHead.flatMap({ StoredHead.response($0) }), stored.status >= 200 {
            let body = try recordedBody(.responseReceived)
            response = DryRunResponse(status: stored.status, fields: fields(stored.fields), body: body)
        }
        return (request, response)
    }
}
