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
