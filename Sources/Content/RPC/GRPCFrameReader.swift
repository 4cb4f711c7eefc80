import NIOCore
import Text

/// Reads the frames of a gRPC body piecewise: five bytes of flags and length before each message (gRPC over HTTP/2,
/// "Length-Prefixed-Message"). Only the beginning of one payload is in memory. The first error ends the reading.
package final class GRPCFrameReader: StreamReader {
    private static let prefixLength = 5

    /// How many bytes of a payload are kept; may be changed between pieces.
    package var payloadLimit: Int
    package private(set) var messageCount = 0
    package private(set) var problem: StreamError?

    private let format: StreamCounter.Format
    private var offset: Int64 = 0
    private var base64 = Base64Group()
    /// The offset of the current base64 group.
    private var groupStart: Int64 = 0
    private var frameStart: Int64 = 0
    private var prefixTaken = 0
    private var flags: UInt8 = 0
    private var length: UInt32 = 0
    private var received = 0
    private var payload = ByteBuffer()
    private var hasTrailers = false

    /// Prepares to read one of the formats of gRPC.
    package init(_ format: StreamCounter.Format, payloadLimit: Int) {
        self.format = format
        self.payloadLimit = payloadLimit
    }

    /// The received part of a frame that has not ended; `nil` between frames and within a prefix.
    package var unfinished: GRPCFrame? {
        prefixTaken == GRPCFrameReader.prefixLength ? frame : nil
    }

    package func feed(_ bytes: UnsafeRawBufferPointer, _ emit: (GRPCFrame) throws -> Void) rethrows {
        if format == .grpcWebText { return try readBase64(bytes, emit) }
        try readFrames(bytes, from: offset, emit)
        if problem == nil { offset += Int64(bytes.count) }
    }

    /// Ends the body; an unfinished frame becomes a ``problem``. The last base64 group may lack its padding.
    package func finish(_ emit: (GRPCFrame) throws -> Void) rethrows {
        guard problem == nil else { return }
        if format == .grpcWebText, base64.hasDigits {
            guard let last = base64.unpadded() else {
                return fail(.truncated, offset, "the body ends within a group of base64")
            }
            try last.withBytes { try readFrames($0, from: groupStart, isGroup: true, emit) }
        }
        guard problem == nil, prefixTaken > 0 else { return }
        let what = prefixTaken == GRPCFrameReader.prefixLength && flags & 0x80 != 0 ? "trailers" : "message"
        let name = what == "message" ? "message \(messageCount + 1)" : "the trailers"
        if prefixTaken < GRPCFrameReader.prefixLength {
            fail(.truncated, offset, "the body ends within the prefix of \(name)")
        } else {
            fail(.truncated, offset, "the body ends within \(name), after \(received) of its \(length) bytes")
        }
    }

    private func readBase64(_ bytes: UnsafeRawBufferPointer, _ emit: (GRPCFrame) throws -> Void) rethrows {
        for byte in bytes {
            guard problem == nil else { return }
            if !base64.hasDigits { groupStart = offset }
            switch base64.take(byte) {
            case .needsMore: offset += 1
            case .invalid: fail(.malformed, offset, "0x\(byte.padded(to: 2, radix: 16)) is no base64 in this place")
            case .whole(let decoded):
                offset += 1
                try decoded.withBytes { try readFrames($0, from: groupStart, isGroup: true, emit) }
            }
        }
    }

    /// All bytes of a base64 group have the offset `start` in the body.
    private func readFrames(
        _ bytes: UnsafeRawBufferPointer,
        from start: Int64,
        isGroup: Bool = false,
        _ emit: (GRPCFrame) throws -> Void
    ) rethrows {
        var position = 0
        while position < bytes.count, problem == nil {
            if prefixTaken < GRPCFrameReader.prefixLength {
                if prefixTaken == 0 { frameStart = isGroup ? start : start + Int64(position) }
                takePrefix(bytes[position])
                position += 1
            } else {
                let taken = min(Int(length) - received, bytes.count - position)
                let kept = min(taken, max(0, payloadLimit - received))
                if kept > 0 {
                    payload.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[position..<(position + kept)]))
                }
                received += taken
                position += taken
            }
            if prefixTaken == GRPCFrameReader.prefixLength, received == Int(length), problem == nil {
                try endFrame(emit)
            }
        }
    }

    private func takePrefix(_ byte: UInt8) {
        if prefixTaken == 0 {
            // Bit 0 means compressed, bit 7 (only in gRPC-Web) trailers; the other bits are undefined.
            guard byte & (format == .grpc ? 0xFE : 0x7E) == 0 else {
                let allowed = format == .grpc ? "0x00 or 0x01" : "0x00, 0x01, 0x80 or 0x81"
                let flags = "0x\(byte.padded(to: 2, radix: 16))"
                return fail(.malformed, frameStart, "the flags of a message are \(flags), not \(allowed)")
            }
            guard !hasTrailers else { return fail(.malformed, frameStart, "more follows the trailers") }
            flags = byte
            length = 0
        } else {
            length = length << 8 | UInt32(byte)
        }
        prefixTaken += 1
    }

    private func endFrame(_ emit: (GRPCFrame) throws -> Void) rethrows {
        if flags & 0x80 == 0 { messageCount += 1 } else { hasTrailers = true }
        let whole = frame
        prefixTaken = 0
        received = 0
        payload = ByteBuffer()
        try emit(whole)
    }

    private var frame: GRPCFrame {
        let kind: GRPCFrame.Kind = flags & 0x80 != 0 ? .trailers : .message
        let (isCompressed, size) = (flags & 0x01 != 0, Int(length))
        return GRPCFrame(kind: kind, isCompressed: isCompressed, size: size, payload: payload, received: received)
    }

    private func fail(_ kind: StreamError.Kind, _ offset: Int64, _ message: String) {
        problem = StreamError(kind: kind, offset: offset, message: message)
    }
}
