import NIOCore

/// Reads the messages and control frames of one direction of a WebSocket (RFC 6455 §5), decompressed (RFC 7692). A
/// forbidden frame ends the reading; smaller errors, like a client's missing mask, become notes of the message.
package final class WebSocketReader: StreamReader {
    /// How many frame sizes are kept for a message.
    private static let mostFrameSizes = 16
    private static let pieceSize = 16 * 1024

    package private(set) var problem: StreamError?

    private let direction: StreamedMessage.Direction
    private let extensions: WebSocketExtensions
    private let payloadLimit: Int
    private let inflater: MessageInflater?

    private var head = WebSocketHeadScan()
    private var order = WebSocketFrameOrder()
    private var offset: Int64 = 0
    private var frameStart: Int64 = 0
    /// The frame whose payload is being read; `payloadLeft` bytes of the payload are still missing.
    private var frame: WebSocketFrameHead?
    private var payloadLeft: Int64 = 0
    private var message: OpenMessage?
    /// The control frame that is being read; it may be between two frames of a message.
    private var control: OpenMessage?
    private var count: Int64 = 0
    private var isClosed = false
    private var unmasked: [UInt8] = []

    package init(
        direction: StreamedMessage.Direction,
        extensions: WebSocketExtensions = WebSocketExtensions(),
        payloadLimit: Int = 4096
    ) {
        self.direction = direction
        self.extensions = extensions
        self.payloadLimit = max(payloadLimit, 0)
        inflater = extensions.deflate.map { MessageInflater(resetsContext: $0.resetsContext(direction)) }
    }

    package func feed(_ bytes: UnsafeRawBufferPointer, _ emit: (StreamedMessage) throws -> Void) rethrows {
        var position = 0
        while position < bytes.count, problem == nil {
            if let frame, payloadLeft > 0 {
                let taken = Int(min(payloadLeft, Int64(bytes.count - position)))
                take(UnsafeRawBufferPointer(rebasing: bytes[position..<(position + taken)]), of: frame)
                payloadLeft -= Int64(taken)
                offset += Int64(taken)
                position += taken
                if payloadLeft == 0 { try end(frame, emit) }
                continue
            }
            if !head.isInside { frameStart = offset }
            let step = head.take(bytes[position])
            position += 1
            offset += 1
            switch step {
            case .more: continue
            case .malformed(let message): fail(message)
            case .head(let head): try begin(head, emit)
            }
        }
    }

    package func finish(_ emit: (StreamedMessage) throws -> Void) rethrows {
        for open in [message, control].compactMap({ $0 }) { try emit(describe(open, isWhole: false)) }
        message = nil
        control = nil
        frame = nil
        payloadLeft = 0
    }

    private func fail(_ message: String) {
        problem = StreamError(offset: frameStart, message: message)
    }

    private func describe(_ open: OpenMessage, isWhole: Bool) -> StreamedMessage {
        count += 1
        var open = open
        return open.end(number: count, at: offset, isWhole: isWhole)
    }

    private func begin(_ frame: WebSocketFrameHead, _ emit: (StreamedMessage) throws -> Void) rethrows {
        // An extension we do not know may give any reserved bit a meaning.
        let allowed: UInt8 = extensions.others.isEmpty ? extensions.deflate == nil ? 0 : 4 : 7
        if let problem = order.problem(with: frame, allowedReserved: frame.isControl ? allowed & 3 : allowed) {
            return fail(problem)
        }
        if frame.isControl {
            control = OpenMessage(frame.opcode, from: direction, start: frameStart, limit: payloadLimit)
        } else if frame.opcode != .continuation {
            message = open(frame)
        } else if frame.reserved & 4 != 0, inflater != nil {
            // RFC 7692 §6.1: only the first frame of a compressed message has RSV1 set.
            return fail("RSV1 is set on a continuation frame")
        }
        noteForm(of: frame)
        self.frame = frame
        payloadLeft = frame.length
        if payloadLeft == 0 { try end(frame, emit) }
    }

    private func open(_ frame: WebSocketFrameHead) -> OpenMessage {
        var message = OpenMessage(frame.opcode, from: direction, start: frameStart, limit: payloadLimit)
        if frame.reserved & 4 != 0, let inflater {
            message.isCompressed = true
            if let reason = inflater.begin() {
                message.note(reason)
            } else {
                message.isInflated = true
            }
        } else if frame.reserved != 0 {
            message.isOpaque = true
            message.note("encoded by an unknown extension (\(extensions.others.joined(separator: ", ")))")
        }
        return message
    }

    private func noteForm(of frame: WebSocketFrameHead) {
        if frame.mask == nil, direction == .fromClient { note("not masked, as a client's frames must be", frame) }
        if frame.mask != nil, direction == .fromServer { note("masked, as a server's frames must not be", frame) }
        if !frame.isMinimal { note("its length uses more bytes than necessary", frame) }
        if isClosed { note("sent after the close frame", frame) }
    }

    private func note(_ note: String, _ frame: WebSocketFrameHead) {
        if frame.isControl { control?.note(note) } else { message?.note(note) }
    }

    private func end(_ frame: WebSocketFrameHead, _ emit: (StreamedMessage) throws -> Void) rethrows {
        self.frame = nil
        if frame.isControl {
            guard var open = control else { return }
            control = nil
            open.addFrame(frame.length)
            if frame.opcode == .close { isClosed = true }
            return try emit(describe(open, isWhole: true))
        }
        message?.addFrame(frame.length)
        guard frame.isFinal, var open = message else { return }
        message = nil
        if open.isInflated, let reason = inflater?.end({ open.keep($0) }) {
            open.note("cannot be decompressed: \(reason)")
        }
        try emit(describe(open, isWhole: true))
    }

    private func take(_ bytes: UnsafeRawBufferPointer, of frame: WebSocketFrameHead) {
        guard let mask = frame.mask else { return keep(bytes, of: frame) }
        var rest = bytes
        var phase = Int((frame.length - payloadLeft) & 3)
        while !rest.isEmpty {
            let piece = rest.prefix(WebSocketReader.pieceSize)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
            unmasked.removeAll(keepingCapacity: true)
            for byte in piece {
                unmasked.append(byte ^ UInt8(truncatingIfNeeded: mask >> (24 - 8 * UInt32(phase))))
                phase = (phase + 1) & 3
            }
            unmasked.withUnsafeBytes { keep($0, of: frame) }
        }
    }

    private func keep(_ bytes: UnsafeRawBufferPointer, of frame: WebSocketFrameHead) {
        if frame.isControl {
            control?.keep(bytes)
        } else if message?.isInflated == true, let inflater {
            if let reason = inflater.feed(bytes, { message?.keep($0) }) {
                message?.note("cannot be decompressed: \(reason)")
            }
        } else {
            message?.keep(bytes)
        }
    }

    /// The part of a message or control frame that was received so far.
    private struct OpenMessage {
        private let limit: Int
        private var details: WebSocketDetails
        private var message: StreamedMessage
        /// Whether its payload is being decompressed.
        var isInflated = false
        /// Whether an unknown extension has changed its payload.
        var isOpaque = false
        private var check = UTF8Check()

        init(_ opcode: WebSocketOpcode, from direction: StreamedMessage.Direction, start: Int64, limit: Int) {
            // A close frame's code and reason are read from its payload, which has at most 125 bytes.
            self.limit = opcode.isControl ? max(limit, 125) : limit
            details = WebSocketDetails(opcode: opcode, frameCount: 0)
            message = StreamedMessage(number: 0, direction: direction, kind: .webSocket(details), range: start..<start)
        }

        var isCompressed: Bool {
            get { details.isCompressed }
            set { details.isCompressed = newValue }
        }

        private var isText: Bool { details.opcode == .text && !isOpaque && isInflated == isCompressed }

        mutating func keep(_ bytes: UnsafeRawBufferPointer) {
            message.size += Int64(bytes.count)
            let room = limit - message.payload.readableBytes
            if room > 0 { message.payload.writeBytes(UnsafeRawBufferPointer(rebasing: bytes.prefix(room))) }
            if isText { check.feed(bytes) }
        }

        mutating func note(_ note: String) {
            // Every frame of a message may have the same fault.
            if !message.notes.contains(note) { message.notes.append(note) }
        }

        mutating func addFrame(_ length: Int64) {
            details.frameCount += 1
            details.wireSize += length
            if details.frameSizes.count < WebSocketReader.mostFrameSizes { details.frameSizes.append(length) }
        }

        mutating func end(number: Int64, at end: Int64, isWhole: Bool) -> StreamedMessage {
            message.number = number
            message.range = message.range.lowerBound..<max(end, message.range.lowerBound)
            message.isText = isText
            message.isWhole = isWhole
            if isText, isWhole ? !check.isValid : !check.isValidSoFar { message.notes.append("no valid UTF-8") }
            if details.frameCount <= 1 { details.frameSizes = [] }
            if details.opcode == .close { readClose() }
            message.kind = .webSocket(details)
            return message
        }

        private mutating func readClose() {
            var payload = message.payload
            guard let code = payload.readInteger(as: UInt16.self) else {
                if payload.readableBytes > 0 { message.notes.append("its payload is too short for a status code") }
                return
            }
            if !UTF8Check.isValid(payload.readableBytesView) { message.notes.append("the reason is no valid UTF-8") }
            details.close = WebSocketClose(code: code, reason: String(buffer: payload))
        }
    }
}
