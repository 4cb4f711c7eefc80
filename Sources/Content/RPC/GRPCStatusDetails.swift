package import HTTPModel
package import NIOCore
import Text

/// What a server says about an error beside its status and message.
package enum GRPCStatusDetails {
    private static let name: FieldName = "grpc-status-details-bin"

    package static let type = "google.rpc.Status"

    /// The details of `grpc-status-details-bin`, a message in Protocol Buffers; `nil` if there is none, or no base64.
    package static func read(_ fields: FieldSection) -> ByteBuffer? {
        fields.value(of: name).flatMap { Base64Text.decode($0.utf8) }.map { ByteBuffer(bytes: $0) }
    }
}
