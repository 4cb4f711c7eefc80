import Foundation
package import HTTPModel
package import NIOCore

/// What a server says about an error beside its status and message.
package enum GRPCStatusDetails {
    private static let name: FieldName = "grpc-status-details-bin"

    /// The full name of the type that the details have.
    package static let type = "google.rpc.Status"

    /// The details of `grpc-status-details-bin`, a message in Protocol Buffers; `nil` if there is none, or no base64.
    package static func read(_ fields: FieldSection) -> ByteBuffer? {
        fields.value(of: name).flatMap { value in
            // Padding is optional in the binary fields of gRPC.
            let padding = String(repeating: "=", count: (4 - value.utf8.count % 4) % 4)
            return Data(base64Encoded: value + padding).map { ByteBuffer(bytes: $0) }
        }
    }
}
