package import Content
package import HTTPModel
import NIOCore
import Text

/// Two exchanges beside each other: what is different between them.
package enum Comparison {
    /// Headers that are another in every exchange and seldom matter.
    private static let noisy: Set<String> = [
        "date", "age", "expires", "last-modified", "x-request-id", "request-id", "x-correlation-id", "traceparent",
        "tracestate", "x-amzn-trace-id", "x-cloud-trace-context", "cf-ray", "x-runtime", "x-response-time",
        "server-timing", "x-served-by", "x-timer",
    ]

    /// Compares two exchanges, the first taken for the older one, their responses as they were sent to the clients or as
    /// they were `received` from the servers; what cannot be read is a line. Of each body `bodyLimit` bytes are compared; those
    /// of the second are read from `secondSource` where there is one. `names` are those of their sessions, if they differ.
    package static func document(
        _ first: RecordedExchange,
        _ second: RecordedExchange,
        source: any ExchangeSource,
        secondSource: (any ExchangeSource)? = nil,
        names: (String, String)? = nil,
        responses version: MessageVersion = .sent,
        width: Int = 80,
        bodyLimit: Int = 1 << 20,
        budget: DetailBudget = DetailBudget()
    ) -> DetailDocument {
        var options = DetailOptions(page: .difference)
        options.width = width
        options.bodyLimit = bodyLimit
        var writer = DetailWriter(options, budget)
        Pair(
            first: first,
            second: second,
            source: BudgetedSource(source: source, budget: budget),
            secondSource: BudgetedSource(source: secondSource ?? source, budget: budget),
            names: names,
            responses: [ComparedResponse(first, version), ComparedResponse(second, version)]
        ).write(into: &writer)
        return writer.document()
    }

    private struct Pair {
        let first: RecordedExchange
        let second: RecordedExchange
        let source: any ExchangeSource
        let secondSource: any ExchangeSource
        let names: (String, String)?
        let responses: [ComparedResponse]

        func write(into writer: inout DetailWriter) {
            let (old, new) = names.map { ("\(VisibleText.of($0.0)):", "\(VisibleText.of($0.1)):") } ?? ("", "")
            writer.section("Exchanges \(old)\(first.record.id) and \(new)\(second.record.id)") { outcome(&$0) }
            writer.section("URL") { url(&$0) }
            writer.section("Query") { query(&$0) }
            let requests = [first, second].map { $0.messages.fields(of: .requestReceived) }
            writer.section("Request headers") { headers(requests, &$0) }
            body("Request body", [.requestReceived, .requestReceived], &writer)
            let fields = responses.map { $0.head.map { StoredHead.fieldsAfterStartLine($0) } ?? FieldSection() }
            // Which of the two versions, where they are not the same.
            let notes = responses.lazy.compactMap(\.note).first.map { [$0] } ?? []
            writer.section("Response headers", notes: notes) { headers(fields, &$0) }
            body("Response body", responses.map(\.side), notes: notes, &writer)
            writer.section("Times") { times(&$0) }
        }

        private func status(_ response: ComparedResponse) -> String {
            response.status > 0 ? String(response.status) : "no answer"
        }

        private func outcome(_ writer: inout DetailWriter) {
            let (left, right) = (first.record, second.record)
            pairs(
                [
                    ("method", left.method, right.method),
                    ("status", status(responses[0]), status(responses[1])),
                    ("state", left.state.exportName, right.state.exportName),
                    ("failure", left.failure?.code.rawValue ?? "", right.failure?.code.rawValue ?? ""),
                    ("version", left.clientVersion.description, right.clientVersion.description),
                    ("media type", left.mediaType, right.mediaType),
                ],
                &writer
            )
        }

        private func url(_ writer: inout DetailWriter) {
            let (left, right) = (first.record.url, second.record.url)
            pairs(
                [
                    ("scheme", left.scheme, right.scheme), ("host", left.host, right.host),
                    ("port", String(left.port), String(right.port)), ("path", left.path, right.path),
                ],
                &writer
            )
        }

        private func query(_ writer: inout DetailWriter) {
            let fields = [first, second].map { exchange in
                FormFields.parse(query: exchange.record.url.query ?? "").map { (name: $0.name, value: $0.value) }
            }
            let entries = FieldDifference.entries(fields[0], fields[1], ignoringCase: false)
            writer.changes(entries, marked: true)
        }

        private func headers(_ sections: [FieldSection], _ writer: inout DetailWriter) {
            let entries = FieldDifference.entries(sections[0], sections[1])
            writer.changes(entries, marked: true, role: { noisy.contains($0.lowercased()) ? .faint : .key })
        }

        private func body(_ title: String, _ sides: [BodySide], notes: [String] = [], _ writer: inout DetailWriter) {
            let limit = writer.options.bodyLimit
            let old = LoadedBody(first, sides[0], source: source, limit: limit)
            let new = LoadedBody(second, sides[1], source: secondSource, limit: limit)
            if old.isEmpty, new.isEmpty, old.failure == nil, new.failure == nil { return }
            let sizes = "\(Measures.size(old.recordedSize)) \(writer.arrow) \(Measures.size(new.recordedSize))"
            writer.section(title, notes: notes + [sizes]) { BodyDifference(old: old, new: new).write(into: &$0) }
        }

        private func times(_ writer: inout DetailWriter) {
            let (left, right) = (first.record.phases, second.record.phases)
            var phases = Timings.fields.map {
                ($0.name, left.timings[keyPath: $0.path], right.timings[keyPath: $0.path])
            }
            phases.insert(("deliver", left.deliver, right.deliver), at: phases.count - 1)
            for (name, before, after) in phases where before != nil || after != nil {
                var spans = [
                    Span(name.filled(to: 10), .label), Span(Measures.duration(before).aligned(to: 10), .number),
                    Span(Measures.duration(after).aligned(to: 12), .number),
                ]
                if let before, let after, before != after {
                    let change = after - before
                    let sign = change > 0 ? "+" : writer.minus
                    spans.append(Span("  \(sign)\(Measures.duration(abs(change)))", change > 0 ? .removed : .added))
                }
                writer.add(spans, wraps: false)
            }
        }

        /// Adds facts that both exchanges have, those that are the same without signs.
        private func pairs(_ facts: [(name: String, old: String, new: String)], _ writer: inout DetailWriter) {
            let entries = facts.filter { !$0.old.isEmpty || !$0.new.isEmpty }.map { name, old, new in
                FieldDifference.Entry(
                    name: name,
                    change: old == new
                        ? .same(old) : .changed(old.isEmpty ? "none" : old, to: new.isEmpty ? "none" : new)
                )
            }
            writer.changes(entries, marked: true, role: { _ in .label })
        }
    }
}
