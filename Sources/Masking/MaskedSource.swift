package import Content
package import HTTPModel
package import NIOCore

/// A session with its secrets replaced in heads, URLs, traces and decoded bodies. Use it on one thread: ``collect(_:)``
/// for each exchange of the export, then ``TextMask/endCollecting()``, then read.
package final class MaskedSource: ExchangeSource {
    /// Bounded, because masking takes much longer than decoding.
    package static let growth = DecodedGrowth.bounded
    private static let longestKept = 1 << 20
    private static let mostKnown = 4_096

    package let original: any ExchangeSource
    package let mask: TextMask
    /// The number of replacements, without those in the open body.
    private var count = 0
    private var open: OpenBody?
    /// The last masked exchange as recorded, and the parts with secrets.
    private var recorded: RecordedExchange?
    private var parts: [String] = []
    private let growth: DecodedGrowth
    /// Bodies without content coding and secrets, as long as so many secrets are sought.
    private var plainBodies: [ExchangeID: [BodySide]] = [:]
    private var plainCount = 0
    /// Whether placeholders are marked, so that they become variables of a shell command.
    package var marksSecrets = false

    package var isMasking: Bool { true }
    package var asRecorded: any ExchangeSource { original }
    package var forCommands: any ExchangeSource { other(marksSecrets: true) }
    package var forFiles: any ExchangeSource { other(marksSecrets: false) }
    package var again: any ExchangeSource { other(marksSecrets: marksSecrets) }

    package func maskSummary(most: Int) -> MaskSummary? {
        let secrets = mask.secrets
        let entries = secrets.prefix(most).map {
            MaskSummary.Entry(placeholder: $0.placeholder.text, name: $0.name, host: $0.host)
        }
        return MaskSummary(secretCount: secrets.count, suspectCount: mask.suspects.count, entries: entries)
    }

    private func other(marksSecrets: Bool) -> MaskedSource {
        let other = MaskedSource(original, mask, growth: growth)
        other.marksSecrets = marksSecrets
        return other
    }

    package init(_ original: any ExchangeSource, _ mask: TextMask, growth: DecodedGrowth = MaskedSource.growth) {
        (self.original, self.mask, self.growth) = (original, mask, growth)
    }

    // MARK: Collecting

    package func collect(_ exchange: RecordedExchange) throws {
        _ = masked(exchange)
        guard exchange.record.kind != .webSocket else { return }
        for side in MaskedSource.sides(of: exchange) {
            let body = OpenBody(exchange, side, of: self)
            // While secrets are collected, nothing is replaced.
            guard try body.readAll() == 0, !body.isCoded, !mask.isCollecting else { continue }
            if plainCount != mask.book.soughtCount || plainBodies.count > MaskedSource.mostKnown { plainBodies = [:] }
            plainCount = mask.book.soughtCount
            plainBodies[exchange.record.id, default: []].append(side)
        }
    }

    /// Whether ``collect(_:)`` has found no secret in a body, and none is known since.
    package func hasNoSecret(_ id: ExchangeID, side: BodySide) -> Bool {
        plainCount == mask.book.soughtCount && plainBodies[id]?.contains(side) == true
    }

    private static func sides(of exchange: RecordedExchange) -> [BodySide] {
        let flags = exchange.record.flags
        var sides: [BodySide] = [.requestReceived, .responseReceived]
        for (received, sent, changed) in [
            (BodySide.requestReceived, BodySide.requestSent, ExchangeRecord.Flags.requestBodyChanged),
            (.responseReceived, .responseSent, .responseBodyChanged),
        ] where flags.contains(changed) || reads(sent, unlike: received, in: exchange.messages) { sides.append(sent) }
        return sides
    }

    /// Whether a rule changed the type or coding of an unchanged body: then other secrets may be found in it.
    private static func reads(_ sent: BodySide, unlike received: BodySide, in messages: ExchangeMessages) -> Bool {
        guard (sent == .requestSent ? messages.requestHeadSent : messages.responseHeadSent) != nil else { return false }
        let (before, after) = (messages.fields(of: received), messages.fields(of: sent))
        return before.value(of: .contentType) != after.value(of: .contentType)
            || before.values(of: .contentEncoding) != after.values(of: .contentEncoding)
    }

    // MARK: Reading

    package func exchange(_ id: ExchangeID) throws -> RecordedExchange? { try original.exchange(id).map(masked) }

    package func masked(_ exchange: RecordedExchange) -> RecordedExchange {
        closeBody()
        mask.book.isForCommands = marksSecrets
        defer { mask.book.isForCommands = false }
        var masked = exchange
        (recorded, parts) = (exchange, RecordMask(mask).mask(&masked.record))
        count += parts.count
        for part in HeadMask.parts {
            guard let bytes = exchange.messages[keyPath: part.path] else { continue }
            mask.part = part.name
            let (head, found) = HeadMask(mask: mask).masked(bytes, as: part)
            masked.messages[keyPath: part.path] = head
            add(part.name, found)
        }
        (mask.part, mask.origin) = ("trace", .response)
        for (index, entry) in exchange.messages.trace.enumerated() {
            masked.messages.trace[index].rule = entry.rule.map { self.masked($0, "trace") }
            masked.messages.trace[index].text = self.masked(entry.text, "trace")
        }
        return masked
    }

    private func masked(_ text: String, _ part: String) -> String {
        guard let masked = mask.masked(text, .text) else { return text }
        add(part, 1)
        return masked
    }

    private func add(_ part: String, _ found: Int) {
        count += found
        if found > 0, !parts.contains(part) { parts.append(part) }
    }

    /// The parts with replaced secrets; complete when the bodies were read.
    package func maskedParts(of record: ExchangeRecord) -> [String] {
        closeBody()
        let earlier = record.extras.masked
        return recorded(record.id) != nil ? earlier.filter { !parts.contains($0) } + parts : earlier
    }

    package var replacedCount: Int { count + (open?.count ?? 0) }

    /// Returns the number of replacements to the thread that adds them up, and begins again at 0.
    package func takeReplacedCount() -> Int {
        closeBody()
        defer { count = 0 }
        return count
    }

    package func add(replaced places: Int) { count += places }

    private func closeBody() {
        guard let body = open else { return }
        open = nil
        if recorded(body.id) != nil { add(body.part, body.count) } else { count += body.count }
    }

    /// Reads a decoded and masked body. Reading backwards may decode it again from its beginning.
    package func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) throws -> ByteBuffer {
        let body = try opened(id, side, offset)
        mask.book.isForCommands = marksSecrets
        defer { mask.book.isForCommands = false }
        return try body?.read(offset, limit) ?? ByteBuffer()
    }

    /// The sizes of a body that was read to its end, as recorded and decoded.
    package func recordedSizes(of id: ExchangeID, side: BodySide) -> (encoded: Int, decoded: Int)? {
        openBody(id, side).map { (Int($0.readCount), $0.decodedCount) }
    }

    package func recordedHeadSize(of id: ExchangeID, isRequest: Bool) -> Int? {
        guard let messages = recorded(id)?.messages else { return nil }
        return (isRequest ? messages.requestHead : messages.responseHeadSent ?? messages.responseHead)?.readableBytes
    }

    private static let pieceSize = 256 * 1024

    /// Whether a body has no secrets and can be exported as recorded.
    package func isUnchanged(_ id: ExchangeID, side: BodySide) throws -> Bool {
        guard let exchange = try recorded(id) ?? original.exchange(id) else { return false }
        mask.begin(exchange.record)
        let body = OpenBody(exchange, side, of: self)
        return try body.readAll() == 0 && body.problem == nil && !hasSecretInRecordedBytes(id, side: side)
    }

    /// Whether the recorded bytes contain a secret, for example beside compressed data.
    package func hasSecretInRecordedBytes(_ id: ExchangeID, side: BodySide) throws -> Bool {
        var (offset, hasSecret): (Int64, Bool) = (0, false)
        while !hasSecret {
            let piece = try original.body(of: id, side: side, offset: offset, limit: MaskedSource.pieceSize)
            guard piece.readableBytes > 0 else { return false }
            offset += Int64(piece.readableBytes)
            piece.withUnsafeReadableBytes { mask.book.forEachSought(in: $0) { _, _ in hasSecret = true } }
        }
        return true
    }

    private func recorded(_ id: ExchangeID) -> RecordedExchange? { recorded.flatMap { $0.record.id == id ? $0 : nil } }

    package func problem(of id: ExchangeID, side: BodySide) -> DecodingProblem? { openBody(id, side)?.problem }

    private func openBody(_ id: ExchangeID, _ side: BodySide) -> OpenBody? {
        open.flatMap { $0.id == id && $0.side == side ? $0 : nil }
    }

    private func opened(_ id: ExchangeID, _ side: BodySide, _ offset: Int64) throws -> OpenBody? {
        if let body = openBody(id, side), offset >= body.start { return body }
        closeBody()
        guard let exchange = try recorded(id) ?? original.exchange(id) else { return nil }
        mask.begin(exchange.record)
        open = OpenBody(exchange, side, of: self)
        return open
    }

    // MARK: Messages of streams

    package func given(_ message: StreamedMessage, of exchange: RecordedExchange) -> StreamedMessage {
        mask.begin(exchange.record)
        mask.book.isForCommands = marksSecrets
        defer { mask.book.isForCommands = false }
        mask.part = "messages"
        mask.origin = message.direction == .fromClient ? .request : .response
        var masked = message
        masked.payload = message.payload.withUnsafeReadableBytes { bytes in
            if !message.isText, BodySyntax.isPacked(bytes) { mask.addUnread() }
            // Many programs send text in binary messages.
            let (syntax, isBinary) = message.isText ? (.text, false) : BodySyntax.of(nil, bytes)
            let marks = mask.marks(in: bytes, syntax, isBinary: isBinary)
            guard !marks.isEmpty else { return message.payload }
            add("messages", marks.count)
            return ByteBuffer(bytes: Mark.replaced(marks, in: bytes[...], keepsLength: isBinary, mask.book))
        }
        masked.maskedGrowth = Int64(masked.payload.readableBytes - message.payload.readableBytes)
        switch message.kind {
        case .webSocket(var details):
            guard let reason = details.close?.reason else { break }
            details.close?.reason = self.masked(reason, "messages")
            masked.kind = .webSocket(details)
        case .event(var details):
            details.type = self.masked(details.type, "messages")
            details.id = details.id.map { self.masked($0, "messages") }
            masked.kind = .event(details)
        case .line: break
        }
        return masked
    }

    private final class OpenBody {
        let id: ExchangeID
        let side: BodySide
        private let source: any ExchangeSource
        private var decoder: ContentDecoder
        private let masking: BodyMask
        private let textMask: TextMask
        private var codings: [ContentCoding]
        var isCoded: Bool { !codings.isEmpty || uncoded != nil }
        private(set) var readCount: Int64 = 0
        private(set) var decodedCount = 0
        private var isAtEnd = false
        private var beginning: ByteBuffer?
        /// Set if the body lacks its content coding and is read as received.
        private var uncoded: DecodingProblem?
        private var bytes = ByteBuffer()
        private(set) var start: Int64 = 0

        var part: String { side.isRequest ? "request body" : "response body" }
        var count: Int { masking.count }
        var problem: DecodingProblem? { uncoded ?? decoder.problem }

        init(_ exchange: RecordedExchange, _ side: BodySide, of masked: MaskedSource) {
            let fields = exchange.messages.fields(of: side)
            codings = fields.values(of: .contentEncoding).flatMap { ContentCoding.list($0) }
            let limit = codings.isEmpty ? .max : ContentDecoder.mostDecoded
            (id, self.side, source) = (exchange.record.id, side, masked.original)
            decoder = ContentDecoder(codings: codings, limit: limit, growth: masked.growth)
            masking = BodyMask(masked.mask, fields.value(of: .contentType).flatMap { MediaType($0) })
            textMask = masked.mask
        }

        func read(_ offset: Int64, _ limit: Int) throws -> ByteBuffer {
            let isSmall = start + Int64(bytes.readableBytes) <= MaskedSource.longestKept
            if !isSmall, offset > start {
                bytes.moveReaderIndex(forwardBy: Int(min(offset - start, Int64(bytes.readableBytes))))
                bytes.discardReadBytes()
                start = offset
            }
            while !isAtEnd, start + Int64(bytes.readableBytes) < offset + Int64(limit) { try readPiece() }
            let index = Int(offset - start)
            guard index < bytes.readableBytes else { return ByteBuffer() }
            return bytes.getSlice(at: bytes.readerIndex + index, length: min(limit, bytes.readableBytes - index))
                ?? ByteBuffer()
        }

        func readAll() throws -> Int {
            while !isAtEnd { try readPiece(isKept: false) }
            return count
        }

        private func readPiece(isKept: Bool = true) throws {
            textMask.part = part
            textMask.origin = side.isRequest ? .request : .response
            func keep(_ masked: [UInt8]) { if isKept { bytes.writeBytes(masked) } }
            let piece = try source.body(of: id, side: side, offset: readCount, limit: MaskedSource.pieceSize)
            if readCount == 0, !codings.isEmpty { beginning = piece }
            readCount += Int64(piece.readableBytes)
            isAtEnd = piece.readableBytes == 0
            if isAtEnd {
                decoder.finish()
                if startsOver() { return }
                if !codings.isEmpty, decodedCount == 0, readCount > 0 { textMask.addUnread() }
                masking.add(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true, keep)
            } else {
                decoder.decode(piece) { part in
                    if decodedCount == 0, BodySyntax.isPacked(part) { textMask.addUnread() }
                    decodedCount += part.count
                    masking.add(part, isLast: false, keep)
                }
            }
        }

        /// Reads the body again without decoding if it does not have its content coding.
        private func startsOver() -> Bool {
            guard uncoded == nil, let problem = decoder.problem, let beginning,
                problem.isAtBeginning(decoded: decodedCount, beginning), DecodingProblem.isPlain(beginning)
            else { return false }
            uncoded = problem.givenAsReceived
            codings = []
            decoder = ContentDecoder(codings: [], limit: .max)
            (readCount, isAtEnd) = (0, false)
            return true
        }
    }
}
