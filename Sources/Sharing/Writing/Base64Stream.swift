/// Base64 (RFC 4648 §4) of bytes that come in pieces.
struct Base64Stream {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private var carry: [UInt8] = []

    /// The characters for the next bytes; up to two bytes wait for the next call.
    mutating func encode(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity((bytes.count + 2) / 3 * 4 + 4)
        var index = 0
        while !carry.isEmpty, carry.count < 3, index < bytes.count {
            carry.append(bytes[index])
            index += 1
        }
        if carry.count == 3 {
            Base64Stream.group(carry[0], carry[1], carry[2], &output)
            carry = []
        }
        while index + 3 <= bytes.count {
            Base64Stream.group(bytes[index], bytes[index + 1], bytes[index + 2], &output)
            index += 3
        }
        carry.append(contentsOf: bytes[index...])
        return output
    }

    /// The characters for the bytes that waited, padded.
    mutating func finish() -> [UInt8] {
        defer { carry = [] }
        guard let first = carry.first else { return [] }
        var output: [UInt8] = []
        Base64Stream.group(first, carry.count > 1 ? carry[1] : 0, 0, &output)
        output[3] = UInt8(ascii: "=")
        if carry.count == 1 { output[2] = UInt8(ascii: "=") }
        return output
    }

    private static func group(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ output: inout [UInt8]) {
        let bits = Int(first) << 16 | Int(second) << 8 | Int(third)
        for shift in [18, 12, 6, 0] { output.append(alphabet[bits >> shift & 63]) }
    }
}
