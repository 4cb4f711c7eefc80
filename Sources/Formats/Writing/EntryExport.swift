package import Content
package import Description
package import HTTPModel
package import NIOCore

/// Exports exchanges as entries of one JSON text, or as one line each.
package struct EntryExport<Entry: ExportedEntry>: PartedExport {
    private let source: any ExchangeSource
    private let options: EntryOptions
    private var writer: JSONWriter
    private var isOpen = false
    /// Whether this export writes only entries, and a different one writes the beginning and the end.
    private var isPart = false

    package init(source: any ExchangeSource, options: EntryOptions = EntryOptions(), sink: @escaping ExportSink) {
        self.source = source
        self.options = options
        writer = JSONWriter(sink)
    }

    package mutating func add(_ exchange: RecordedExchange) throws {
        try begin()
        if !options.lines { writer.lineBreak() }
        let entry = Entry(exchange, source: source, options: options)
        try writer.object { try entry.write(into: &$0) }
        if options.lines { try writer.endLine() }
    }

    package mutating func finish() throws {
        if isPart { return try writer.flush() }
        try begin()
        if !options.lines {
            try writer.endLine()
            try Entry.close(&writer)
            try writer.endLine()
        }
        try writer.flush()
    }

    private mutating func begin() throws {
        guard !isOpen else { return }
        isOpen = true
        if !options.lines { try Entry.open(&writer, options) }
    }

    package var part: ExportPart {
        let options = options
        return { source, sink in
            var part = EntryExport(source: source, options: options, sink: sink)
            (part.isOpen, part.isPart) = (true, true)
            return part
        }
    }

    package mutating func add(_ piece: ByteBuffer, beginsPart: Bool) throws {
        try begin()
        try writer.add(piece, isContinued: !beginsPart || options.lines)
    }
}

/// An exchange as an independent JSON object, and the JSON before and after all exchanges.
package protocol ExportedEntry: SendableMetatype {
    init(_ exchange: RecordedExchange, source: any ExchangeSource, options: EntryOptions)

    /// Writes the JSON before the entries, up to the opening bracket of their array.
    static func open(_ writer: inout JSONWriter, _ options: EntryOptions) throws
    /// Writes the JSON after the entries, beginning with the closing bracket of their array.
    static func close(_ writer: inout JSONWriter) throws
    func write(into writer: inout JSONWriter) throws
}

package struct EntryOptions: Sendable {
    /// One object per line instead of one array; not for HAR.
    package var lines = false
    /// How many bytes of each body to write; `nil` for all.
    package var bodyLimit: Int?
    /// How many bytes to decode of a body with content coding, against decompression bombs.
    package var decodedLimit = 256 << 20
    /// The version of Sluice that a HAR names; empty if it does not matter.
    package var creatorVersion = ""

    package init() {}
}

extension MessageTimeline {
    convenience init?(
        _ exchange: RecordedExchange,
        _ heads: ReadHeads,
        _ source: any ExchangeSource,
        _ options: EntryOptions,
        _ responses: BodySide
    ) {
        self.init(
            exchange,
            heads,
            source: source,
            sides: (.requestReceived, responses),
            payloadLimit: min(options.bodyLimit ?? .max, MessageTimeline.longestPayload),
            decodedLimit: options.decodedLimit
        )
    }
}

extension ExportedEntry {
    package static func open(_ writer: inout JSONWriter, _ options: EntryOptions) { writer.open(UInt8(ascii: "[")) }

    package static func close(_ writer: inout JSONWriter) throws { try writer.close(UInt8(ascii: "]")) }
}
