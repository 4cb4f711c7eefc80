import Content
package import HTTPModel
import NIOCore

/// What was changed between receiving a message and sending it on, each change with the rule that made it.
package struct DifferencePage {
    package let exchange: RecordedExchange
    package let labels: RuleLabels
    /// Reads the beginning of a body, as far as the page looks at it.
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
            change("URL", exchange.record.url.description, sent.description, labels.url(), &writer)
        }
        let before = messages.requestHead.flatMap { StoredHead.request($0) }
        let after = messages.requestHeadSent.flatMap { StoredHead.request($0) }
        if let before, let after {
            if before.method != after.method {
                change("method", before.method, after.method, labels.startLine("method", isRequest: true), &writer)
            }
            if before.target != after.target {
                // A proxy is asked with the whole URL, a server with its path (RFC 9112 §3.2).
                let isSame = exchange.record.sentURL == nil && exchange.record.url.description == before.target
                let label = isSame ? "sluice, as servers are asked" : labels.url()
                change("target", before.target, after.target, label, &writer)
            }
            headers(before.fields, after.fields, isRequest: true, &writer)
        }
        body(.requestReceived, .requestSent, .requestBodyChanged, labels.body(isRequest: true), &writer)
    }

    private func response(_ writer: inout DetailWriter) {
        let messages = exchange.messages
        let before = messages.responseHead.flatMap { StoredHead.response($0) }
        let after = messages.responseHeadSent.flatMap { StoredHead.response($0) }
        if let before, let after {
            // HTTP/2 has no reason phrases, so that one is missing says nothing.
            let isOther = !before.reason.isEmpty && !after.reason.isEmpty && before.reason != after.reason
            if before.status != after.status || isOther {
                let texts = [before, after].map { $0.reason.isEmpty ? "\($0.status)" : "\($0.status) \($0.reason)" }
                change("status", texts[0], texts[1], labels.startLine("status", isRequest: false), &writer)
            }
            headers(before.fields, after.fields, isRequest: false, &writer)
        }
        body(.responseReceived, .responseSent, .responseBodyChanged, labels.body(isRequest: false), &writer)
    }

    private func change(_ name: String, _ old: String, _ new: String, _ label: String?, _ writer: inout DetailWriter) {
        let entry = FieldDifference.Entry(name: name, change: .changed(old, to: new))
        writer.changes([entry], marked: true, label: { _ in label })
    }

    private func headers(_ before: FieldSection, _ after: FieldSection, isRequest: Bool, _ writer: inout DetailWriter) {
        let entries = FieldDifference.entries(before, after).filter { entry in
            if case .same = entry.change { false } else { true }
        }
        writer.changes(entries, marked: true, label: { labels.header($0, isRequest: isRequest) })
    }

    private func body(
        _ received: BodySide,
        _ sent: BodySide,
        _ flag: ExchangeRecord.Flags,
        _ label: String?,
        _ writer: inout DetailWriter
    ) {
        guard exchange.record.flags.contains(flag) else { return }
        let limit = writer.options.bodyLimit
        let (old, new) = (load(received), load(sent))
        let sizes = [old, new].map {
            $0.isCut ? "more than \(Measures.size(Int64(limit)))" : Measures.size($0.recordedSize)
        }
        let by = label.map { [$0] } ?? []
        writer.section("Body", notes: ["\(sizes[0]) \(writer.arrow) \(sizes[1])"] + by) { writer in
            BodyDifference(old: old, new: new).write(into: &writer)
        }
    }
}
