/// How gRPC messages stand in a body, as its media type says.
package enum GRPCFraming: Sendable, Hashable {
    /// `application/grpc`: messages with a prefix of five bytes each; the status is in the trailers of HTTP.
    case grpc
    /// `application/grpc-web`: the same, with the trailers in a last frame.
    case web
    /// `application/grpc-web-text`: the frames of gRPC-Web in base64.
    case webText

    package init?(_ mediaType: MediaType) {
        // `+proto`, `+json` and the like name the form of the messages, not of the stream.
        switch mediaType.essence.prefix(while: { $0 != "+" }) {
        case "application/grpc": self = .grpc
        case "application/grpc-web": self = .web
        case "application/grpc-web-text": self = .webText
        default: return nil
        }
    }
}

/// What the messages of a gRPC call are written in, as the suffix of the media type says.
package enum GRPCMessageForm: Sendable, Hashable {
    /// Protocol Buffers: `+proto` or no suffix.
    case protobuf
    case json, other

    package init(_ mediaType: MediaType) {
        switch mediaType.subtype.split(separator: "+", maxSplits: 1).dropFirst().first {
        case nil, "proto": self = .protobuf
        case "json": self = .json
        default: self = .other
        }
    }
}
