import Content
package import HTTPModel
package import NIOCore

/// Exports exchanges as an HTTP Archive, HAR 1.2, as browsers' developer tools open it.
///
/// The archive shows what the client saw: the request as the client sent it and the response as it was given to the
/// client. Where a stage changed either, the other form is in the entry's `_sluice` member, with the trace, failure,
/// addresses and TLS details. `connect` includes `ssl`, and `time` is the sum of the phases, as HAR 1.2 demands; the
/// duration that was measured is `_sluice.duration`. Bodies are without content coding: as text where they are text,
/// else in base64 (`encoding`; for requests `_encoding`, which HAR 1.2 does not foresee). What WebSockets and event
/// streams carried is in `_webSocketMessages` and `_eventSourceMessages`.
package struct HARExport: PartedExport {
    package struct Options: Sendable {
        /// How many bytes of each body to write; `nil` for all.
        package var bodyLimit: Int?
        /// How many bytes to decode of a body with content coding.
        package var decodedLimit = 256 << 20
        /// The version of Sluice that the archive names.
        package var creatorVersion = "0.1.0"

        package init() {}
    }

    private let entries: HAREntries
    private var writer: JSONWriter
    private var isOpen = false
    /// Whether it writes exchanges in the middle of an archive that another one begins and ends.
    private var isPart = false

    /// Prepares an export; nothing is written before the first exchange or the end.
    package init(source: any ExchangeSource, options: Options = Options(), sink: @escaping ExportSink) {
        entries = HAREntries(source: source, options: options)
        writer = JSONWriter(sink)
    }

    package mutating func add(_ exchange: RecordedExchange) throws {
        try begin()
        writer.lineBreak()
        let entries = entries
        try writer.object { try entries.write(exchange, into: &$0) }
    }

    package mutating func finish() throws {
        if isPart { return try writer.flush() }
        try begin()
        try writer.endLine()
        try writer.close(UInt8(ascii: "]"))
        try writer.close(UInt8(ascii: "}"))
        try writer.close(UInt8(ascii: "}"))
        try writer.endLine()
        try writer.flush()
    }

    private mutating func begin() throws {
        guard !isOpen else { return }
        isOpen = true
        writer.open(UInt8(ascii: "{"))
        writer.key("log")
        writer.open(UInt8(ascii: "{"))
        writer.member("version", "1.2")
        writer.key("creator")
        let version = entries.options.creatorVersion
        try writer.object {
            $0.member("name", "Sluice")
            $0.member("version", version)
        }
        // Firefox walks through the pages without asking whether there are any.
        writer.key("pages")
        try writer.array { _ in }
        writer.key("entries")
        writer.open(UInt8(ascii: "["))
    }

    package var part: ExportPart {
        let options = entries.options
        return { source, sink in
            var part = HARExport(source: source, options: options, sink: sink)
            (part.isOpen, part.isPart) = (true, true)
            return part
        }
    }

    package mutating func add(_ piece: ByteBuffer, beginsPart: Bool) throws {
        try begin()
        try writer.add(piece, isContinued: !beginsPart)
    }
}
