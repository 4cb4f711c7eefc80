package import Content
package import Description
package import HTTPModel
import NIOCore
import Text

/// Exports exchanges as one HTML page that needs no network and no other file: a list with a waterfall and filters, the
/// details of each exchange, changes by rules, and the facts of the session.
///
/// Nothing recorded can run in it. The data is in `script` elements of the type `application/json`, and gets into the
/// page only as text; the page's policy (Content Security Policy Level 3) admits our script and style by their digests,
/// images that are part of the page, and nothing else.
///
/// An exchange has an element with two lines of JSON: its row, and its details, which are read when it is opened.
/// Bodies and streams are cut by ``Limits``; the page and ``remark`` say how much is missing.
package struct PageExport: ExchangeExport {
    /// How much recorded data a page contains; in bytes, except `messages`.
    package struct Limits: Sendable {
        package var text = 64 << 10
        package var binary = 4 << 10
        /// A larger image is not shown.
        package var image = 256 << 10
        /// The bodies and messages of all exchanges together.
        package var all = 96 << 20
        package var messages = 200
        package var payload = 4 << 10

        package init() {}
    }

    private let source: any ExchangeSource
    private let facts: SessionFacts
    private let sink: ExportSink
    private var isOpen = false
    private var totals: PageTotals

    package init(
        source: any ExchangeSource,
        facts: SessionFacts,
        limits: Limits = Limits(),
        sink: @escaping ExportSink
    ) {
        (self.source, self.facts, self.sink) = (source, facts, sink)
        totals = PageTotals(limits: limits)
    }

    package mutating func add(_ exchange: RecordedExchange) throws {
        try begin()
        let page = try PageExchange(exchange, source: source, facts: facts, totals: &totals)
        var details = JSONWriter()
        try details.object { try page.details(into: &$0) }
        // Written last, because masked parts are only known when the rest was read.
        var row = JSONWriter()
        try row.object { try page.row(into: &$0) }
        var output = ByteBuffer(string: #"<script type="application/json" class="x">"#)
        PageText.write(json: row.buffer, into: &output)
        output.writeString("\n")
        PageText.write(json: details.buffer, into: &output)
        output.writeString("</script>\n")
        try sink(output)
    }

    package mutating func finish() throws {
        try begin()
        var output = ByteBuffer()
        try data("totals", into: &output) { writer in
            writer.member("exchanges", totals.exchanges)
            writer.member("limit", Measures.size(Int64(totals.limits.text)))
            writer.optionalMember("remark", remark)
            try PageEnvironment.masked(source, into: &writer)
        }
        output.writeString(PageMarkup.end)
        try sink(output)
    }

    package var remark: String? { totals.remark }

    private mutating func begin() throws {
        guard !isOpen else { return }
        isOpen = true
        var output = ByteBuffer(string: PageMarkup.beginning(title: facts.title ?? facts.name))
        try data("facts", into: &output) {
            try PageEnvironment.session(facts, isMasked: source.isMasking, into: &$0)
            try $0.object("filter") { try PageEnvironment.language(into: &$0) }
        }
        try sink(output)
    }

    private func data(_ name: String, into output: inout ByteBuffer, _ body: (inout JSONWriter) throws -> Void) throws {
        var writer = JSONWriter()
        try writer.object(body)
        output.writeString(#"<script type="application/json" id="\#(name)">"#)
        PageText.write(json: writer.buffer, into: &output)
        output.writeString("</script>\n")
    }
}

/// What a page contains so far, and what was left out.
struct PageTotals {
    let limits: PageExport.Limits
    var exchanges = 0
    var written = 0
    /// How many bodies are shortened, and how many bytes are missing at least.
    var cutBodies = 0
    var cutBytes: Int64 = 0
    var messages: Int64 = 0

    var remark: String? {
        var parts: [String] = []
        if cutBodies > 0 {
            let size = cutBytes > 0 ? " by at least \(Measures.size(cutBytes))" : ""
            parts.append("\(cutBodies.grouped) \(cutBodies == 1 ? "body is" : "bodies are") shortened\(size)")
        }
        if messages > 0 {
            let count = Int(clamping: messages)
            parts.append("\(count.of("message")) of streams \(count == 1 ? "is" : "are") left out")
        }
        guard !parts.isEmpty else { return nil }
        return parts.joined(separator: ", ") + "; the formats har and json have them whole"
    }
}
