import Foundation
import NIOCore

extension UnsafeRawBufferPointer {
    /// The offset of the first such byte at or after `start`; `nil` if not found.
    func offset(of byte: UInt8, from start: Int) -> Int? {
        guard start < count, let base = baseAddress, let place = memchr(base + start, Int32(byte), count - start)
        else { return nil }
        return UnsafeRawPointer(place) - base
    }
}

/// Counts the data messages of one direction of a WebSocket.
struct WebSocketCount: StreamScan {
    private(set) var count: Int64 = 0
    /// Whether a close frame came, after which there are no more messages.
    private(set) var hasClosed = false
    private var head = WebSocketHeadScan()
    private var order = WebSocketFrameOrder()
    private var payloadLeft: Int64 = 0
    /// Whether the current frame is the last of a data message.
    private var endsMessage = false

    mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position < bytes.count {
            if payloadLeft > 0 {
                let skipped = min(payloadLeft, Int64(bytes.count - position))
                payloadLeft -= skipped
                position += Int(skipped)
                if payloadLeft == 0, endsMessage { count += 1 }
                continue
            }
            let step = head.take(bytes[position])
            position += 1
            switch step {
            case .more: continue
            case .malformed: return false
            case .head(let frame):
                // RSV1 marks compressed messages. It is always allowed, because compression does not change the count.
                guard order.problem(with: frame, allowedReserved: 4) == nil else { return false }
                endsMessage = frame.isFinal && !frame.isControl
                hasClosed = hasClosed || frame.opcode == .close
                payloadLeft = frame.length
                if payloadLeft == 0, endsMessage { count += 1 }
            }
        }
        return true
    }
}

/// Counts the events of an event stream that have data and are ended by an empty line.
struct EventCount: StreamScan {
    private enum Line {
        /// How many bytes of a byte order mark were read; a stream may begin with this mark.
        case mark(Int)
        /// How many bytes of the line match the beginning of `data`.
        case name(Int)
        /// The line's meaning is known; the rest of the line is skipped.
        case rest
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let name = Array("data".utf8)

    private(set) var count: Int64 = 0
    private var line = Line.mark(0)
    private var hasData = false
    /// Whether the last byte was a carriage return: a line feed after it does not end another line.
    private var afterReturn = false

    mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        for byte in bytes {
            switch byte {
            case 0x0A where afterReturn: afterReturn = false
            case 0x0A, 0x0D:
                endLine()
                afterReturn = byte == 0x0D
            default:
                afterReturn = false
                if case .rest = line { continue }
                take(byte)
            }
        }
        return true
    }

    private mutating func take(_ byte: UInt8) {
        switch line {
        case .mark(let matched) where byte == EventCount.mark[matched]:
            line = matched == 2 ? .name(0) : .mark(matched + 1)
        case .mark(0):
            line = .name(0)
            take(byte)
        case .name(let matched) where matched < 4 && byte == EventCount.name[matched]: line = .name(matched + 1)
        case .name(4) where byte == UInt8(ascii: ":"):
            hasData = true
            line = .rest
        case .mark, .name, .rest: line = .rest
        }
    }

    private mutating func endLine() {
        switch line {
        case .mark(0), .name(0):
            if hasData { count += 1 }
            hasData = false
        // A line may be the field's name alone.
        case .name(4): hasData = true
        case .mark, .name, .rest: break
        }
        line = .name(0)
    }
}

/// Counts the lines that are not blank, or the texts of a JSON text sequence.
struct JSONLineCount: StreamScan {
    private(set) var count: Int64 = 0
    private var boundary = JSONLineBoundary()

    mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position < bytes.count {
            let (next, end) = boundary.advance(bytes, from: position)
            if end { count += 1 }
            position = next
        }
        return true
    }

    mutating func finish() {
        if boundary.hasContent { count += 1 }
        boundary = JSONLineBoundary()
    }
}

/// Counts length-prefixed messages and keeps the trailers of grpc-web.
struct GRPCCount: StreamScan {
    private static let prefixLength = 5
    private static let longestTrailers = 16 * 1024

    let isWeb: Bool
    private(set) var count: Int64 = 0
    private(set) var trailers: ByteBuffer?
    private var prefixTaken = 0
    private var flags: UInt8 = 0
    private var length: UInt32 = 0
    private var payloadLeft = 0
    /// The trailers read so far; `nil` outside of trailers, or if they are longer than `longestTrailers`.
    private var pending: ByteBuffer?

    init(isWeb: Bool) { self.isWeb = isWeb }

    mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position < bytes.count {
            if payloadLeft > 0 {
                let taken = min(payloadLeft, bytes.count - position)
                pending?.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[position..<(position + taken)]))
                payloadLeft -= taken
                position += taken
                if payloadLeft == 0 { endFrame() }
                continue
            }
            guard take(bytes[position]) else { return false }
            position += 1
        }
        return true
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        if prefixTaken == 0 {
            // Bit 0 means compressed, bit 7 (only in grpc-web) trailers; the other bits are undefined.
            guard byte & (isWeb ? 0x7E : 0xFE) == 0 else { return false }
            flags = byte
            length = 0
        } else {
            length = length << 8 | UInt32(byte)
        }
        prefixTaken += 1
        guard prefixTaken == GRPCCount.prefixLength else { return true }
        prefixTaken = 0
        payloadLeft = Int(length)
        pending = flags == 0x80 && payloadLeft <= GRPCCount.longestTrailers ? ByteBuffer() : nil
        if payloadLeft == 0 { endFrame() }
        return true
    }

    private mutating func endFrame() {
        if flags & 0x80 == 0 { count += 1 }
        if let pending { trailers = pending }
        pending = nil
    }
}

/// Counts the messages of grpc-web in base64; padding may occur inside the stream, after each piece.
struct GRPCTextCount: StreamScan {
    var count: Int64 { messages.count }
    var trailers: ByteBuffer? { messages.trailers }
    private var messages = GRPCCount(isWeb: true)
    private var group = Base64Group()

    mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count / 4 * 3 + 3)
        let isText = bytes.allSatisfy { take($0, into: &decoded) }
        // Bytes before an invalid base64 character still count.
        return decoded.withUnsafeBytes { messages.feed($0) } && isText
    }

    mutating func finish() {
        if let last = group.unpadded() { _ = last.withBytes { messages.feed($0) } }
    }

    /// Reads a character, and appends the bytes if it completes a group; `false` if the character is not allowed here.
    private mutating func take(_ character: UInt8, into decoded: inout [UInt8]) -> Bool {
        switch group.take(character) {
        case .needsMore: return true
        case .whole(let bytes):
            bytes.withBytes { decoded.append(contentsOf: $0) }
            return true
        case .invalid: return false
        }
    }
}
