package import Content
package import HTTPModel
import NIOCore
import Text

/// Two exchanges side by side, and the differences between them.
package enum Comparison {
    /// Compares two exchanges, `bodyLimit` bytes of each body; errors become lines. `secondSource`, if set, has the
    /// bodies of `second`. `names` are the names of the two sessions.
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
            exchanges: [first, second],
            sources: [source, secondSource ?? source].map { BudgetedSource(source: $0, budget: budget) },
            names: names.map { ["\(VisibleText.of($0.0)):", "\(VisibleText.of($0.1)):"] } ?? ["", ""],
            responses: [first, second].map { ComparedResponse(exchange: $0, version: version) }
        ).write(into: &writer)
        return writer.document()
    }

    private struct Pair {
        let exchanges: [RecordedExchange]
        let sources: [any ExchangeSource]
        let names: [String]
        let responses: [ComparedResponse]

        func write(into writer: inout DetailWriter) {
            let titles = zip(names, exchanges).map { "\($0)\($1.record.id)" }
            writer.section("Exchanges \(titles.joined(separator: " and "))") { writer in
                let statuses = responses.map { $0.status > 0 ? String($0.status) : "no answer" }
                facts(
                    [
                        fact("req.method", \.method), entry("res.status", statuses), fact("state", \.state.exportName),
                        fact("failure") { $0.failure?.code.rawValue ?? "" },
                        fact("version", \.clientVersion.description), fact("media type", \.mediaType),
                    ],
                    &writer
                )
            }
            let port = fact("port") { String($0.url.port) }
            let url = [fact("scheme", \.url.scheme), fact("req.host", \.url.host), port, fact("req.path", \.url.path)]
            writer.section("URL") { facts(url, &$0) }
            let queries = exchanges.map { FormFields.parse(query: $0.record.url.query ?? "") }
            writer.section("Query") { fields(Place(.request, .query), queries, &$0) }
            let requests = exchanges.map { FieldDifference.fields($0.messages.fields(of: .requestReceived)) }
            writer.section("Request headers") { fields(Place(.request, .header), requests, &$0) }
            body(.request, &writer)
            let headers = responses.map { response in
                FieldDifference.fields(response.head.map { StoredHead.fieldsAfterStartLine($0) } ?? FieldSection())
            }
            // Which version of the responses is compared, if the received and the sent version differ.
            let notes = responses.lazy.compactMap(\.note).first.map { [$0] } ?? []
            writer.section("Response headers", notes: notes) {
                fields(Place(.response, .header), headers, &$0)
            }
            body(.response, notes: notes, &writer)
            writer.section("Times") { times(&$0) }
        }

        private func facts(_ facts: [FieldDifference.Entry?], _ writer: inout DetailWriter) {
            writer.changes(facts.compactMap(\.self), role: { _ in .label })
        }

        private func fact(_ name: String, _ value: (ExchangeRecord) -> String) -> FieldDifference.Entry? {
            entry(name, exchanges.map { value($0.record) })
        }

        /// `nil` if neither exchange has a value.
        private func entry(_ name: String, _ values: [String]) -> FieldDifference.Entry? {
            if values == ["", ""] { return nil }
            let shown = values.map { $0.isEmpty ? "none" : $0 }
            return FieldDifference.Entry(name: name, old: shown[0], new: shown[1], isSame: shown[0] == shown[1])
        }

        private func fields(_ place: Place, _ lists: [[FormField]], _ writer: inout DetailWriter) {
            writer.changes(
                FieldDifference.entries(lists[0], lists[1], ignoringCase: place.part == .header),
                named: { $0.place(place.root, place.part).description },
                role: { ComparisonRules.isVolatile(Place(place.root, place.part, [.member($0)])) ? .faint : .key }
            )
        }

        private func body(_ root: Place.Root, notes: [String] = [], _ writer: inout DetailWriter) {
            let bodies = (0...1).map { index in
                let side = root == .request ? .requestReceived : responses[index].side
                return LoadedBody(exchanges[index], side, source: sources[index], limit: writer.options.bodyLimit)
            }
            if bodies.allSatisfy({ $0.isEmpty && $0.failure == nil }) { return }
            let sizes = bodies.map { Measures.size($0.recordedSize) }.joined(separator: " \(writer.arrow) ")
            writer.section(root == .request ? "Request body" : "Response body", notes: notes + [sizes]) {
                BodyDifference(root: root, old: bodies[0], new: bodies[1]).write(into: &$0)
            }
        }

        private func times(_ writer: inout DetailWriter) {
            let (left, right) = (exchanges[0].record.phases, exchanges[1].record.phases)
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
    }
}
