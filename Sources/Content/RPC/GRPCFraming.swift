/// The format of a gRPC call's messages, from the suffix of the media type.
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
