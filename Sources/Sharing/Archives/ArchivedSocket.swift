package import Content
import Foundation
import HTTPModel
package import NIOCore
import Text

/// The messages of a WebSocket as the bytes that carried them, and when these came.
struct ArchivedSocket {
    /// What a direction carried.
    struct Direction {
        /// Frames, one for each message (RFC 6455 §5.2).
        var bytes = ByteBuffer()
        /// Where messages begin, and when they came: microseconds since 1970.
        var arrivals: [(offset: Int64, at: Int64)] = []
    }

    private(set) var sent = Direction()
    private(set) var received = Direction()
    private(set) var tally = MessageCounts()

    init(_ messages: [ArchiveEntry.SocketMessage]) {
        for message in messages {
            guard let opcode = UInt8(exactly: message.opcode).flatMap(WebSocketOpcode.init) else { continue }
            // Who wrote the archive may have had text where it should be base64.
            let decoded = opcode == .text ? nil : Data(base64Encoded: message.data)
            let payload = message.bytes ?? decoded.map { ByteBuffer(bytes: $0) } ?? ByteBuffer(string: message.data)
            // Control frames are no messages.
            let count: Int64 = opcode.isControl ? 0 : 1
            if message.isSent {
                sent.add(opcode, payload, isMasked: true, message.time)
                tally.fromClient += count
            } else {
                received.add(opcode, payload, isMasked: false, message.time)
                tally.fromServer += count
            }
        }
    }
}

extension ArchiveEntry {
    /// More messages of one WebSocket are not read.
    private static let mostMessages = 100_000
    private static let mostNotes = 20

    /// Adds a message of a WebSocket; one of a kind that is not known, and one too many, are counted.
    mutating func add(_ message: SocketMessage, _ losses: ArchiveLosses) {
        if UInt8(exactly: message.opcode).flatMap(WebSocketOpcode.init) == nil { return losses.add(.opcode) }
        guard messages.count < Self.mostMessages else { return losses.add(.socketMessage) }
        messages.append(message)
    }

    /// Keeps what an archive says of a WebSocket among its messages.
    mutating func addNote(ofSocket text: String) {
        guard notes.count < Self.mostNotes else { return }
        notes.append("The archive says of the WebSocket: \(VisibleText.of(String(text.prefix(200))))")
    }
}

extension ArchivedSocket.Direction {
    fileprivate mutating func add(_ opcode: WebSocketOpcode, _ payload: ByteBuffer, isMasked: Bool, _ seconds: Double) {
        let moment = RecordedRange.nearest(seconds * 1_000_000, in: RecordedRange.moments)
        arrivals.append((Int64(bytes.readableBytes), moment))
        bytes.writeImmutableBuffer(WebSocketFrame.of(opcode, payload, isMasked: isMasked))
    }
}

/// A message of a WebSocket as one frame, without compression (RFC 6455 §5.2).
package enum WebSocketFrame {
    /// The frame of a message; where it `isMasked`, as what a client sends is, by a mask that leaves the payload as it is.
    package static func of(_ opcode: WebSocketOpcode, _ payload: ByteBuffer, isMasked: Bool) -> ByteBuffer {
        // A control frame has no room for more.
        let payload =
            opcode.isControl
            ? payload.getSlice(at: payload.readerIndex, length: min(125, payload.readableBytes)) : payload
        let count = payload?.readableBytes ?? 0
        var bytes = ByteBuffer()
        bytes.reserveCapacity(count + 14)
        bytes.writeInteger(0x80 | opcode.rawValue)
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch count {
        case ..<126: bytes.writeInteger(mask | UInt8(count))
        case ..<65_536:
            bytes.writeInteger(mask | 126)
            bytes.writeInteger(UInt16(count))
        default:
            bytes.writeInteger(mask | 127)
            bytes.writeInteger(UInt64(count))
        }
        if isMasked { bytes.writeInteger(UInt32(0)) }
        if let payload { bytes.writeImmutableBuffer(payload) }
        return bytes
    }
}
