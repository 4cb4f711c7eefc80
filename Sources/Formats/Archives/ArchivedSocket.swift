import Content
import Foundation
import HTTPModel
import NIOCore
import Text

/// The messages of a WebSocket as frames, with their times.
struct ArchivedSocket {
    struct Direction {
        /// Frames, one for each message (RFC 6455 §5.2).
        var bytes = ByteBuffer()
        /// The offsets at which messages begin, and their times in microseconds since 1970.
        var arrivals: [(offset: Int64, at: Int64)] = []

        mutating func add(_ opcode: WebSocketOpcode, _ payload: ByteBuffer, isMasked: Bool, _ seconds: Double) {
            let moment = RecordedRange.nearest(seconds * 1_000_000, in: RecordedRange.moments)
            arrivals.append((Int64(bytes.readableBytes), moment))
            bytes.writeImmutableBuffer(WebSocketFrame.of(opcode, payload, isMasked: isMasked))
        }
    }

    private(set) var sent = Direction()
    private(set) var received = Direction()
    private(set) var tally = MessageCounts()

    init(_ messages: [ArchiveEntry.SocketMessage]) {
        for message in messages {
            guard let opcode = UInt8(exactly: message.opcode).flatMap(WebSocketOpcode.init) else { continue }
            // Some archives have text instead of base64.
            let decoded = opcode == .text ? nil : Data(base64Encoded: message.data)
            let payload = message.bytes ?? decoded.map { ByteBuffer(bytes: $0) } ?? ByteBuffer(string: message.data)
            // Control frames do not count as messages.
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
    private static let mostMessages = 100_000
    private static let mostNotes = 20

    /// Adds a message of a WebSocket; messages of unknown kinds, and messages above the limit, are only counted.
    mutating func add(_ message: SocketMessage, _ losses: ArchiveLosses) {
        if UInt8(exactly: message.opcode).flatMap(WebSocketOpcode.init) == nil { return losses.add(.opcode) }
        guard messages.count < Self.mostMessages else { return losses.add(.socketMessage) }
        messages.append(message)
    }

    /// Keeps a remark on a WebSocket that an archive has among its messages.
    mutating func addNote(ofSocket text: String) {
        guard notes.count < Self.mostNotes else { return }
        notes.append("The archive says of the WebSocket: \(VisibleText.of(String(text.prefix(200))))")
    }
}
