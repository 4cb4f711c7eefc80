package import NIOCore

/// One length-prefixed frame of a gRPC body: a message, or the trailers of gRPC-Web.
package struct GRPCFrame: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case message
        /// The trailer section of gRPC-Web, as lines `name: value`.
        case trailers
    }

    package var kind: Kind
    /// Whether the payload is compressed, as `grpc-encoding` says.
    package var isCompressed: Bool
    /// How many bytes of payload the prefix announces.
    package var size: Int
    /// The payload's first bytes, as far as they arrived and the reader keeps them.
    package var payload: ByteBuffer
    /// How many bytes of the payload arrived: all of them, unless the frame is unfinished.
    package var received: Int

    /// How many bytes of payload arrived and were not kept.
    package var leftOut: Int { received - payload.readableBytes }

    /// Decompresses the payload; `encoding` is the `grpc-encoding` of the same direction.
    package func content(encoding: String?, limit: Int) -> DecodedContent {
        guard isCompressed else { return ContentDecoder.decode(payload, codings: [], limit: limit) }
        let coding = ContentCoding(Substring(encoding ?? "").trimmingASCIIWhitespace)
        guard coding != .identity else {
            let message = "the message is marked as compressed, but grpc-encoding is missing"
            let problem = DecodingProblem(kind: .unknownCoding, coding: coding, offset: 0, message: message)
            return DecodedContent(bytes: payload, problem: problem)
        }
        return ContentDecoder.decode(payload, codings: [coding], limit: limit)
    }
}
