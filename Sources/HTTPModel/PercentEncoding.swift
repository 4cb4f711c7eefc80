/// RFC 3986 §2.1.
package enum PercentEncoding {
    /// `nil` if an escape is malformed.
    package static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexadecimalValue, let low = rest.popFirst()?.hexadecimalValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}

extension UInt8 {
    package var hexadecimalValue: UInt8? {
        if self &- 0x30 < 10 { return self - 0x30 }
        return (self | 0x20) &- 0x61 < 6 ? (self | 0x20) - 0x57 : nil
    }
}
