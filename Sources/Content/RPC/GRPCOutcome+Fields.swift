package import HTTPModel

extension GRPCOutcome {
    private static let statusName: FieldName = "grpc-status"
    private static let messageName: FieldName = "grpc-message"

    /// Reads the outcome from a response's trailers, or from its head where a call failed before it began. gRPC-Web
    /// puts the same fields into the last frame of the body. `nil` without a `grpc-status` that is a number.
    package init?(_ fields: FieldSection) {
        guard let digits = fields.value(of: GRPCOutcome.statusName), digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }),
            let status = Int(digits)
        else { return nil }
        let message = fields.withValue(of: GRPCOutcome.messageName) { GRPCOutcome.percentDecoded($0) }
        self.init(status: status, message: message ?? "")
    }

    /// Undoes the percent-encoding of `grpc-message`: the bytes behind it are UTF-8. The specification forbids to throw
    /// a message away over a broken escape, so that stays as it was sent; what is not UTF-8 reads as U+FFFD.
    package static func percentDecoded(_ value: some Collection<UInt8>) -> String {
        String(decoding: FormFields.percentDecoded(value), as: UTF8.self)
    }
}
