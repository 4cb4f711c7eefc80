import HTTPModel
import NIOCore

/// Collects a head, then reads a body by its framing. Stages: head → body → head …, or head → handedOver. A fault is
/// thrown again by every later call.
struct MessageReader: ~Copyable {
    enum BodyEvent {
        case part(ByteBuffer)
        case end(trailers: FieldSection?)
    }

    private enum Stage {
        case head
        case fixed(remaining: Int64)
        case chunked, untilClose, trailers, handedOver
        case failed(HTTP1ParseError)
    }

    let side: MessageSide
    let limits: HTTP1Limits
    private var stage = Stage.head
    private(set) var wireSize = HTTP1WireSize()
    var tolerances: HTTP1Tolerances = []

    private var buffer = ByteBuffer()
    /// The beginning of a head or trailer section that is cut over several reads.
    private var partial = ByteBuffer()
    private var scanner = SectionScanner()
    private var chunks: ChunkDecoder
    private var hasReachedEOF = false
    private var isRecognized = false
    private var isStartLineChecked = false
    private var skippedBytes = 0

    init(side: MessageSide, limits: HTTP1Limits) {
        self.side = side
        self.limits = limits
        chunks = ChunkDecoder(side: side, lineLimit: limits.chunkLine)
    }

    var unparsedBytes: Int { buffer.readableBytes + partial.readableBytes }
    var hasUnparsedBytes: Bool { unparsedBytes > 0 }
    /// The first bytes of the next message; `nil` if there are none, or a message has begun.
    var nextBytes: ByteBuffer? { isInHead && scanner.seen == 0 && buffer.readableBytes > 0 ? buffer : nil }
    var isInHead: Bool { if case .head = stage { true } else { false } }
    var partialHeadSize: Int { isInHead ? scanner.seen : 0 }
    var isBetweenMessages: Bool { isInHead && !hasUnparsedBytes }

    mutating func receive(_ bytes: ByteBuffer) {
        if case .failed = stage { return }
        buffer.append(bytes)
    }

    mutating func receiveEOF() { hasReachedEOF = true }

    mutating func takeRemaining() -> ByteBuffer? {
        stage = .handedOver
        var remaining = partial
        remaining.append(buffer)
        partial = ByteBuffer()
        buffer = ByteBuffer()
        return remaining.readableBytes > 0 ? remaining.slice() : nil
    }

    /// Makes every later call throw this fault again.
    mutating func fail(_ error: HTTP1ParseError) -> HTTP1ParseError {
        stage = .failed(error)
        buffer = ByteBuffer()
        partial = ByteBuffer()
        return error
    }

    mutating func fail(_ code: HTTP1ParseError.Code, at offset: some BinaryInteger) -> HTTP1ParseError {
        fail(HTTP1ParseError(code, at: offset, in: side))
    }
}

extension MessageReader {
    /// The start line and the fields of the next head once it is complete.
    mutating func nextHead<Line: StartLine>(
        _: Line.Type
    ) throws(HTTP1ParseError) -> (line: Line, fields: FieldSection)? {
        if scanner.seen == 0, !beginHead() { return nil }
        guard let head = takeSection() else {
            try checkIncompleteHead(Line.self)
            if hasReachedEOF { throw fail(.truncated, at: scanner.seen) }
            return nil
        }
        wireSize.head = skippedBytes + head.readableBytes
        let startLineEnd = scanner.firstLineEnd
        if startLineEnd > limits.startLine {
            throw failStartLine(.startLineTooLong, at: limits.startLine, in: head)
        }
        let line: Line = try startLine(of: head, until: startLineEnd)
        tolerances.formUnion(line.tolerances)
        if head.readableBytes > limits.head { throw fail(.headTooLarge, at: limits.head) }
        var fields = try readFields(of: head, from: startLineEnd, offset: 0, isTolerant: side.isTolerant)
        if line.needsRewriting { fields.requireRewriting() }
        return (line, fields)
    }

    private mutating func startLine<Line: StartLine>(
        of head: ByteBuffer,
        until end: Int
    ) throws(HTTP1ParseError) -> Line {
        do throws(StartLineError) {
            return try Line(head.readableBytesUInt8Span.extracting(first: end))
        } catch {
            throw failStartLine(error.code, at: error.offset, in: head)
        }
    }

    /// Fails because of the start line; with `notHTTP` if the message does not even begin like HTTP.
    mutating func failStartLine(_ code: HTTP1ParseError.Code, at offset: Int, in head: ByteBuffer) -> HTTP1ParseError {
        if verdict(on: head.readableBytesUInt8Span) == .no { return fail(.notHTTP, at: 0) }
        return fail(code, at: offset)
    }

    mutating func beginBody(_ framing: BodyFraming) {
        switch framing {
        case .none: stage = .fixed(remaining: 0)
        case .length(let length): stage = .fixed(remaining: length)
        case .untilClose: stage = .untilClose
        case .chunked:
            chunks = ChunkDecoder(side: side, lineLimit: limits.chunkLine)
            stage = .chunked
        }
        scanner = SectionScanner()
    }

    mutating func beginNextHead() {
        stage = .head
        scanner = SectionScanner()
        skippedBytes = 0
    }

    /// Skips bytes that may precede a start line (RFC 9112 §2.2); `false` if nothing follows them.
    private mutating func beginHead() -> Bool {
        let most = HTTP1Sniffer.farEnough - skippedBytes
        let skipped = HTTP1Sniffer.skipped(of: buffer.readableBytesUInt8Span, atMost: most)
        buffer.moveReaderIndex(forwardBy: skipped)
        skippedBytes += skipped
        guard buffer.readableBytes > 0 else {
            buffer = ByteBuffer()
            return false
        }
        wireSize = HTTP1WireSize()
        isRecognized = false
        isStartLineChecked = false
        tolerances = skippedBytes > 0 ? .leadingEmptyLine : []
        return true
    }

    private mutating func takeSection() -> ByteBuffer? {
        let received = buffer
        let end = scanner.scan(received.readableBytesUInt8Span)
        if partial.readableBytes == 0 {
            if let end { return buffer.readSlice(length: end) }
            partial = buffer
            buffer = ByteBuffer()
            return nil
        }
        guard let end else {
            partial.writeBuffer(&buffer)
            buffer = ByteBuffer()
            return nil
        }
        if var rest = buffer.readSlice(length: end) { partial.writeBuffer(&rest) }
        let section = partial.slice()
        partial = ByteBuffer()
        return section
    }

    /// Refuses a bad head before it is complete: the rest may take long.
    private mutating func checkIncompleteHead<Line: StartLine>(_: Line.Type) throws(HTTP1ParseError) {
        let end = scanner.firstLineEnd
        if end == 0 {
            if !isRecognized {
                let verdict = verdict(on: partial.readableBytesUInt8Span)
                if verdict == .no { throw fail(.notHTTP, at: 0) }
                isRecognized = verdict == .yes
            }
            if scanner.seen > limits.startLine { throw fail(.startLineTooLong, at: limits.startLine) }
        } else if !isStartLineChecked {
            isStartLineChecked = true
            if end > limits.startLine { throw failStartLine(.startLineTooLong, at: limits.startLine, in: partial) }
            let _: Line = try startLine(of: partial, until: end)
        }
        if scanner.seen > limits.head { throw fail(.headTooLarge, at: limits.head) }
    }

    private func verdict(on bytes: Span<UInt8>) -> HTTP1Sniffer.Verdict {
        switch side {
        case .request: HTTP1Sniffer.requestVerdict(bytes)
        case .response: HTTP1Sniffer.statusVerdict(bytes)
        }
    }

    private mutating func readFields(
        of bytes: ByteBuffer,
        from start: Int,
        offset: Int64,
        isTolerant: Bool
    ) throws(HTTP1ParseError) -> FieldSection {
        var section = FieldSection(received: bytes)
        var lines = FieldLines(side: side, isTolerant: isTolerant, maximumCount: limits.fieldCount, offset: offset)
        do throws(HTTP1ParseError) {
            try lines.read(bytes.readableBytesUInt8Span, from: start, into: &section)
        } catch {
            throw fail(error)
        }
        tolerances.formUnion(lines.tolerances)
        return section
    }
}

extension MessageReader {
    mutating func nextBodyEvent() throws(HTTP1ParseError) -> BodyEvent? {
        switch stage {
        case .head, .handedOver: return nil
        case .failed(let error): throw error
        case .fixed(remaining: 0): return end(trailers: nil)
        case .fixed(let remaining):
            guard let part = takePart(atMost: remaining) else { return try needMore(missing: remaining) }
            stage = .fixed(remaining: remaining - Int64(part.readableBytes))
            return .part(part)
        case .untilClose:
            if let part = takePart(atMost: .max) { return .part(part) }
            return hasReachedEOF ? end(trailers: nil) : nil
        case .chunked: return try nextChunkEvent()
        case .trailers: return try nextTrailerEvent()
        }
    }

    private mutating func nextChunkEvent() throws(HTTP1ParseError) -> BodyEvent? {
        let received = buffer
        var position = 0
        let progress: ChunkDecoder.Progress
        do throws(HTTP1ParseError.Code) {
            progress = try chunks.advance(received.readableBytesUInt8Span, from: &position)
        } catch {
            throw fail(error, at: offset + Int64(position))
        }
        buffer.moveReaderIndex(forwardBy: position)
        wireSize.body += Int64(position)
        tolerances.formUnion(chunks.tolerances)
        switch progress {
        case .needMore: return try needMore(missing: nil)
        case .data(let remaining):
            guard let part = takePart(atMost: remaining) else { return try needMore(missing: remaining) }
            chunks.dataPassed(part.readableBytes)
            return .part(part)
        case .lastChunk:
            stage = .trailers
            return try nextTrailerEvent()
        }
    }

    private mutating func nextTrailerEvent() throws(HTTP1ParseError) -> BodyEvent? {
        let start = offset
        guard let section = takeSection() else {
            if scanner.seen > limits.head { throw fail(.headTooLarge, at: start + Int64(limits.head)) }
            return try needMore(missing: nil)
        }
        guard section.readableBytes <= limits.head else { throw fail(.headTooLarge, at: start + Int64(limits.head)) }
        let trailers = try readFields(of: section, from: 0, offset: start, isTolerant: false)
        wireSize.body += Int64(section.readableBytes)
        return end(trailers: trailers.isEmpty ? nil : trailers)
    }

    private mutating func end(trailers: FieldSection?) -> BodyEvent {
        beginNextHead()
        return .end(trailers: trailers)
    }

    private mutating func takePart(atMost most: Int64) -> ByteBuffer? {
        let count = Int(min(Int64(buffer.readableBytes), most))
        guard count > 0 else { return nil }
        wireSize.body += Int64(count)
        return buffer.readSlice(length: count)
    }

    private mutating func needMore(missing: Int64?) throws(HTTP1ParseError) -> BodyEvent? {
        buffer = ByteBuffer()
        guard hasReachedEOF else { return nil }
        throw fail(HTTP1ParseError(.truncated, at: offset, in: side, missing: missing))
    }

    private var offset: Int64 { Int64(wireSize.head - skippedBytes) + wireSize.body }
}
