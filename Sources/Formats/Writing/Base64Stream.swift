import Foundation

/// Base64 (RFC 4648 §4) of bytes that come in pieces.
struct Base64Stream {
    private var carry = Data()

    /// The characters for the next bytes; up to two bytes wait for the next call.
    mutating func encode(_ bytes: UnsafeRawBufferPointer) -> Data {
        carry.append(contentsOf: bytes)
        let rest = carry.count % 3
        defer { carry = Data(carry.suffix(rest)) }
        return carry.dropLast(rest).base64EncodedData()
    }

    /// The characters for the bytes that waited, padded.
    mutating func finish() -> Data {
        defer { carry = Data() }
        return carry.base64EncodedData()
    }
}
