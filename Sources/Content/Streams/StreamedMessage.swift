package import NIOCore

/// One message of a stream, as it is shown: a WebSocket message or control frame, a server-sent event, a JSON text.
package struct StreamedMessage: Sendable, Hashable {
    package enum Direction: UInt8, Sendable, Hashable, CaseIterable {
        case fromClient, fromServer
    }

    package enum Kind: Sendable, Hashable {
        case webSocket(WebSocketDetails)
        case event(ServerSentEventDetails)
        /// A line of JSON, or a text of a JSON text sequence.
        case line
    }

    /// The message's number in its direction, from 1.
    package var number: Int64
    package var direction: Direction
    package var kind: Kind
    /// The message's bytes in the stream without content coding, framing included.
    package var range: Range<Int64>
    /// The size of its payload without framing and compression, as far as it was decoded.
    package var size: Int64 = 0
    /// The beginning of its payload, up to the reader's limit.
    package var payload = ByteBuffer()
    /// Whether the payload is UTF-8 text; invalid bytes are read as U+FFFD.
    package var isText = false
    /// Whether the message is complete; `false` if the bytes end before it does: it is cut off or still arriving.
    package var isWhole = true
    /// Notes for the user: what is wrong with the message, what could not be decoded.
    package var notes: [String] = []
    /// When its last byte arrived, in microseconds since 1970; the caller fills it in.
    package var arrivedAt: Int64?
    /// By how many bytes the payload grew when its secrets were replaced.
    package var maskedGrowth: Int64 = 0

    /// How many bytes of the payload are not in `payload`.
    package var leftOut: Int64 { max(size + maskedGrowth - Int64(payload.readableBytes), 0) }

    /// The beginning of the payload as text; `nil` if it is not text.
    package var text: String? {
        guard isText else { return nil }
        guard leftOut > 0 else { return String(decoding: payload.readableBytesView, as: UTF8.self) }
        // The limit may have cut through a character.
        var check = UTF8Check()
        payload.withUnsafeReadableBytes { check.feed($0) }
        let whole = check.isValidSoFar ? payload.readableBytes - check.unfinishedCount : payload.readableBytes
        return String(decoding: payload.readableBytesView.prefix(whole), as: UTF8.self)
    }
}

/// What a WebSocket message has besides its payload.
package struct WebSocketDetails: Sendable, Hashable {
    /// What kind of message or control frame it is; never `continuation`.
    package var opcode: WebSocketOpcode
    package var frameCount: Int64 = 1
    /// The payload sizes of the first frames as they were sent; empty if there was one frame only.
    package var frameSizes: [Int64] = []
    /// How many bytes of payload the frames had, before decompression.
    package var wireSize: Int64 = 0
    /// Whether it was compressed (RFC 7692).
    package var isCompressed = false
    /// The content of a close frame; `nil` for other kinds, and for a close frame without a code.
    package var close: WebSocketClose?
}

/// What a server-sent event has besides its data.
package struct ServerSentEventDetails: Sendable, Hashable {
    /// The event's type; `message` if the event has no `event` line.
    package var type = "message"
    package var id: String?
    /// In milliseconds.
    package var retry: Int64?
}

/// Why the rest of a stream cannot be read.
package struct StreamError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        case malformed, truncated
    }

    package var kind = Kind.malformed
    /// In the stream without content coding.
    package var offset: Int64
    package var message: String

    package var description: String { "\(message), at byte \(offset)" }
}

/// Reads items from one direction of a stream that arrives in pieces, in constant memory.
package protocol StreamReader<Item>: AnyObject {
    associatedtype Item

    /// The first error in the stream's format; nothing after it is read.
    var problem: StreamError? { get }
    /// Reads the next bytes; calls `emit` with each item that they complete.
    func feed(_ bytes: UnsafeRawBufferPointer, _ emit: (Item) throws -> Void) rethrows
    /// Ends the stream; calls `emit` with the incomplete items.
    func finish(_ emit: (Item) throws -> Void) rethrows
}

extension StreamReader {
    /// Most formats allow all bytes.
    package var problem: StreamError? { nil }

    package func feed(_ bytes: ByteBuffer, _ emit: (Item) throws -> Void) rethrows {
        try bytes.withUnsafeReadableBytes { try feed($0, emit) }
    }
}
