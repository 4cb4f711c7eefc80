package import NIOCore

/// Counts the messages of live traffic with few instructions per byte, in constant memory.
package struct StreamCounter: Sendable {
    package enum Format: Sendable, Hashable, CaseIterable {
        /// Frames of one direction of a WebSocket (RFC 6455 §5).
        case webSocket
        /// `text/event-stream` (WHATWG HTML §9.2).
        case serverSentEvents
        /// One JSON text per line, or a JSON text sequence (RFC 7464); the first byte tells them apart.
        case jsonLines
        /// Messages with a prefix of five bytes each; the status is in the trailers of HTTP.
        case grpc
        /// Like ``grpc``, but with the trailers in a last frame.
        case grpcWeb
        /// gRPC-Web in base64.
        case grpcWebText

        package var isGRPC: Bool { self == .grpc || self == .grpcWeb || self == .grpcWebText }
    }

    private var scan: any StreamScan
    private var isStopped = false

    /// Whole messages: data messages of a WebSocket, events that a browser would dispatch, lines that are not blank.
    package var count: Int64 { scan.count }

    /// The trailers in the last frame of grpc-web; `nil` until they are whole, or if compressed or longer than 16 KiB.
    package var trailers: ByteBuffer? { scan.trailers }

    /// Whether a WebSocket's peer has sent a close frame (RFC 6455 §5.5.1).
    package var hasClosed: Bool { scan.hasClosed }

    package init(_ format: Format) {
        scan =
            switch format {
            case .webSocket: WebSocketCount()
            case .serverSentEvents: EventCount()
            case .jsonLines: JSONLineCount()
            case .grpc: GRPCCount(isWeb: false)
            case .grpcWeb: GRPCCount(isWeb: true)
            case .grpcWebText: GRPCTextCount()
            }
    }

    /// Takes the next bytes of the stream; bytes that the format does not allow end the counting.
    package mutating func feed(_ bytes: ByteBuffer) {
        if !isStopped { isStopped = !bytes.withUnsafeReadableBytes { scan.feed($0) } }
    }

    /// Ends the stream: a last line without a line feed counts too, and so does base64 without its padding.
    package mutating func finish() {
        if !isStopped { scan.finish() }
        isStopped = true
    }
}

protocol StreamScan: Sendable {
    var count: Int64 { get }
    var trailers: ByteBuffer? { get }
    var hasClosed: Bool { get }
    /// Takes the next bytes; `false` if they are not what the format allows.
    mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Bool
    mutating func finish()
}

extension StreamScan {
    var trailers: ByteBuffer? { nil }
    var hasClosed: Bool { false }
    func finish() {}
}

extension StreamCounter.Format {
    /// The format of a media type (in lower case, without parameters); `nil` if it is not a stream of messages.
    package init?(mediaType: String) {
        switch mediaType {
        case "text/event-stream": self = .serverSentEvents
        case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq",
            "application/stream+json":
            self = .jsonLines
        default:
            guard mediaType.hasPrefix("application/grpc") else { return nil }
            // `+proto`, `+json` and the like name the form of the messages, not of the stream.
            switch mediaType.prefix(while: { $0 != "+" }) {
            case "application/grpc": self = .grpc
            case "application/grpc-web": self = .grpcWeb
            case "application/grpc-web-text": self = .grpcWebText
            default: return nil
            }
        }
    }
}
