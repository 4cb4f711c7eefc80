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
    /// a message away over a broken escape, so that stays as it was sent; what is no UTF-8 reads as U+FFFD.
    package static func percentDecoded(_ value: some Collection<UInt8>) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(value.count)
        var rest = value[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.first?.hexDigitValue,
                let low = rest.dropFirst().first?.hexDigitValue
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    /// What the byte counts as a hexadecimal digit in ASCII; `nil` where it is none.
    fileprivate var hexDigitValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}
