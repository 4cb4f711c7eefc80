package import HTTPModel
package import NIOCore

/// What a server says about an error beside its status and message.
package enum GRPCStatusDetails {
    private static let name: FieldName = "grpc-status-details-bin"

    /// The full name of the type that the details have.
    package static let type = "google.rpc.Status"

    /// The details of `grpc-status-details-bin`, a message in Protocol Buffers; `nil` where there is none, or no
    /// base64.
    package static func read(_ fields: FieldSection) -> ByteBuffer? {
        fields.withValue(of: name) { value in
            var details = ByteBuffer()
            var group = Base64Group()
            for character in value {
                switch group.take(character) {
                case .needsMore: break
                case .whole(let decoded): decoded.withBytes { _ = details.writeBytes($0) }
                case .invalid: return nil
                }
            }
            // Padding is optional in the binary fields of gRPC.
            if group.hasDigits {
                guard let last = group.unpadded() else { return nil }
                last.withBytes { _ = details.writeBytes($0) }
            }
            return details
        } ?? nil
    }
}
