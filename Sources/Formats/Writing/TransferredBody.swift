package import Content
import Description
package import HTTPModel
package import NIOCore

/// A body as it was transferred, without the secrets that its source replaces.
///
/// Without secrets, it is the recorded bytes. A masked body gets its content coding again, unless it ``lacksCoding``.
/// The body of a WebSocket is its frames; if masked, each message is one frame without compression.
package struct TransferredBody {
    private enum Form {
        case recorded
        /// The source's bytes, without content coding.
        case plain
        case coded(ByteBuffer)
        case frames
    }

    /// A body with secrets up to this size gets its content coding again, which needs the whole body in memory.
    private static let longestCoded = 64 << 20

    private let exchange: RecordedExchange
    private let side: BodySide
    /// A separate reader, so that replaced secrets are not counted twice.
    private let source: any ExchangeSource
    private let form: Form
    package let size: Int64
    /// Whether the head names a content coding that the body does not have.
    package let lacksCoding: Bool

    package init(_ exchange: RecordedExchange, _ side: BodySide, from source: any ExchangeSource) throws {
        (self.exchange, self.side) = (exchange, side)
        self.source = source.again
        (form, size, lacksCoding) = try TransferredBody.read(exchange, side, source)
    }

    package var isAsRecorded: Bool { if case .recorded = form { true } else { false } }

    private static func read(
        _ exchange: RecordedExchange,
        _ side: BodySide,
        _ source: any ExchangeSource
    ) throws -> (Form, size: Int64, lacksCoding: Bool) {
        let id = exchange.record.id
        var size: Int64 = 0
        func asRecorded() throws -> (Form, Int64, Bool) {
            size = 0
            try RecordedBody(source: source.asRecorded, id: id, side: side).forEachPiece {
                size += Int64($0.readableBytes)
            }
            return (.recorded, size, false)
        }
        guard source.isMasking else { return try asRecorded() }
        if exchange.record.kind == .webSocket {
            // Reading each side reads both directions; secrets are only counted when the request is read.
            let reading = side.isRequest ? source : source.again
            let before = reading.replacedCount
            _ = try SocketFrames.forEach(of: exchange, from: reading) { isSent, frame, _ in
                if isSent == side.isRequest { size += Int64(frame.readableBytes) }
            }
            return reading.replacedCount == before ? try asRecorded() : (.frames, size, false)
        }
        let before = source.replacedCount
        let body = RecordedBody(source: source, id: id, side: side)
        try body.forEachPiece { size += Int64($0.readableBytes) }
        let problem = source.problem(of: id, side: side)
        let isAsReceived = problem?.kind == .notCoded
        if source.replacedCount == before, problem == nil || isAsReceived,
            try !source.hasSecretInRecordedBytes(id, side: side)
        {
            return try asRecorded()
        }
        let codings = exchange.messages.fields(of: side).values(of: .contentEncoding)
            .flatMap { ContentCoding.list($0) }.filter { $0 != .identity }
        // A body that cannot be decoded is masked without decoding.
        if codings.isEmpty || isAsReceived || problem?.kind == .unknownCoding { return (.plain, size, false) }
        if size == 0 { return (.plain, 0, problem != nil) }
        guard size <= longestCoded else { return (.plain, size, true) }
        var whole = ByteBuffer()
        whole.reserveCapacity(Int(size))
        try RecordedBody(source: source.again, id: id, side: side).forEachPiece { whole.writeImmutableBuffer($0) }
        guard let coded = try? ContentEncoder.encode(whole, codings: codings) else { return (.plain, size, true) }
        return (.coded(coded), Int64(coded.readableBytes), false)
    }

    /// Calls `body` with the bytes, piece by piece. Throws what the source or `body` throws.
    package func forEachPiece(_ body: (ByteBuffer) throws -> Void) throws {
        let id = exchange.record.id
        switch form {
        case .recorded: try RecordedBody(source: source.asRecorded, id: id, side: side).forEachPiece(body)
        case .plain: try RecordedBody(source: source, id: id, side: side).forEachPiece(body)
        case .coded(let bytes): try body(bytes)
        case .frames:
            _ = try SocketFrames.forEach(of: exchange, from: source) { isSent, frame, _ in
                if isSent == side.isRequest { try body(frame) }
            }
        }
    }

    /// Calls `body` with the recorded arrivals that still apply. Throws what the source or `body` throws.
    package func forEachArrival(_ body: (Arrival) throws -> Void) throws {
        switch form {
        case .recorded: try source.asRecorded.forEachArrival(of: exchange.record.id, side: side, body)
        case .frames:
            var offset: Int64 = 0
            _ = try SocketFrames.forEach(of: exchange, from: source) { isSent, frame, at in
                guard isSent == side.isRequest else { return }
                if let at { try body(Arrival(offset: offset, at: at)) }
                offset += Int64(frame.readableBytes)
            }
        case .plain, .coded: return
        }
    }
}

extension ExchangeSource {
    /// Calls `body` with each arrival of a body, by growing offset. Throws what the source or `body` throws.
    package func forEachArrival(of id: ExchangeID, side: BodySide, _ body: (Arrival) throws -> Void) throws {
        var (start, last): (Int64, Int64) = (0, -1)
        while true {
            let page = try arrivals(of: id, side: side, from: start, limit: 4_096)
            // A page begins with the last arrival of the page before.
            let news = page.filter { $0.offset > last }
            guard let end = news.last else { return }
            for arrival in news { try body(arrival) }
            (start, last) = (end.offset, end.offset)
        }
    }
}
