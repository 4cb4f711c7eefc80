package import HTTPModel
package import NIOCore
import Text

extension GRPCOutcome {
    private static let statusName: FieldName = "grpc-status"
    private static let messageName: FieldName = "grpc-message"

    /// Reads trailers, a response's head, or the last frame of gRPC-Web. `nil` without a numeric `grpc-status`.
    package init?(_ fields: FieldSection) {
        guard let digits = fields.value(of: GRPCOutcome.statusName), digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }),
            let status = Int(digits)
        else { return nil }
        let message = fields.withValue(of: GRPCOutcome.messageName) { GRPCOutcome.percentDecoded($0) }
        self.init(status: status, message: message ?? "")
    }

    /// Decodes the percent-encoding of `grpc-message`. Keeps broken escapes; invalid UTF-8 becomes U+FFFD.
    package static func percentDecoded(_ value: some Collection<UInt8>) -> String {
        String(decoding: FormFields.percentDecoded(value), as: UTF8.self)
    }

    package static let detailsType = "google.rpc.Status"

    /// The error details that a server sent besides status and message: a message of ``detailsType``, if any.
    package static func details(_ fields: FieldSection) -> ByteBuffer? {
        fields.value(of: "grpc-status-details-bin").flatMap { Base64Text.decode($0.utf8) }.map { ByteBuffer(bytes: $0) }
    }
}
