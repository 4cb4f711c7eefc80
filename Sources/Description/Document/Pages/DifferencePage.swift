import Content
package import HTTPModel
import NIOCore

/// What was changed between receiving a message and sending it on, each change with the rule that made it.
package struct DifferencePage {
    package let exchange: RecordedExchange
    package let labels: RuleLabels
    package let load: (BodySide) -> LoadedBody

    package init(exchange: RecordedExchange, labels: RuleLabels, load: @escaping (BodySide) -> LoadedBody) {
        (self.exchange, self.labels, self.load) = (exchange, labels, load)
    }

    package func write(into writer: inout DetailWriter) {
        changes(into: &writer)
        if writer.lines.isEmpty { writer.add("Nothing was changed.", .faint) }
    }

    /// Writes nothing if nothing was changed.
    package func changes(into writer: inout DetailWriter) {
        writer.section("Request, as received and as sent") { request(&$0) }
        writer.section("Response, as received and as sent") { response(&$0) }
    }

    private func request(_ writer: inout DetailWriter) {
        let messages = exchange.messages
        if let sent = exchange.record.sentURL {
            change("req.url", exchange.record.url.description, sent.description, labels.url(), &writer)
        }
        let before = messages.requestHead.flatMap { StoredHead.request($0) }
        let after = messages.requestHeadSent.flatMap { StoredHead.request($0) }
        if let before, let after {
            change("req.method", before.method, after.method, labels.startLine("method", isRequest: true), &writer)
            // A request to a proxy has the whole URL, a request to a server only the path (RFC 9112 §3.2).
            let isSame = exchange.record.sentURL == nil && exchange.record.url.description == before.target
            let label = isSame ? "sluice, as servers are asked" : labels.url()
            change("target", before.target, after.target, label, &writer)
            headers(.request, [before.fields, after.fields], &writer)
        }
        body(.request, &writer)
    }

    private func response(_ writer: inout DetailWriter) {
        let messages = exchange.messages
        let before = messages.responseHead.flatMap { StoredHead.response($0) }
        let after = messages.responseHeadSent.flatMap { StoredHead.response($0) }
        if let before, let after {
            // HTTP/2 has no reason phrases, so a missing phrase is not a change.
            let isOther = !before.reason.isEmpty && !after.reason.isEmpty && before.reason != after.reason
            if before.status != after.status || isOther {
                let texts = [before, after].map { $0.reason.isEmpty ? "\($0.status)" : "\($0.status) \($0.reason)" }
                change("res.status", texts[0], texts[1], labels.startLine("status", isRequest: false), &writer)
            }
            headers(.response, [before.fields, after.fields], &writer)
        }
        body(.response, &writer)
    }

    private func change(_ name: String, _ old: String, _ new: String, _ label: String?, _ writer: inout DetailWriter) {
        if old == new { return }
        writer.changes([FieldDifference.Entry(name: name, old: old, new: new)], label: { _ in label })
    }

    private func headers(_ root: Place.Root, _ versions: [FieldSection], _ writer: inout DetailWriter) {
        let lists = versions.map(FieldDifference.fields)
        writer.changes(
            FieldDifference.entries(lists[0], lists[1]).filter { !$0.isSame },
            named: { $0.place(root, .header).description },
            label: { labels.header($0, isRequest: root == .request) }
        )
    }

    private func body(_ root: Place.Root, _ writer: inout DetailWriter) {
        let isRequest = root == .request
        guard exchange.record.flags.contains(isRequest ? .requestBodyChanged : .responseBodyChanged) else { return }
        let limit = writer.options.bodyLimit
        let sides: [BodySide] = isRequest ? [.requestReceived, .requestSent] : [.responseReceived, .responseSent]
        let bodies = sides.map(load)
        let sizes = bodies.map {
            $0.isCut ? "more than \(Measures.size(Int64(limit)))" : Measures.size($0.recordedSize)
        }
        let by = labels.body(isRequest: isRequest).map { [$0] } ?? []
        writer.section("Body", notes: [sizes.joined(separator: " \(writer.arrow) ")] + by) {
            BodyDifference(root: root, old: bodies[0], new: bodies[1]).write(into: &$0)
        }
    }
}
