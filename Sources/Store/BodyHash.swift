import COpenSSL
import NIOCore

/// The SHA-256 of a body, which names it in a store.
struct BodyHash: Hashable, Comparable {
    let bytes: ByteBuffer

    init(_ body: ByteBuffer) {
        var digest = [UInt8](repeating: 0, count: 32)
        _ = body.withUnsafeReadableBytes { bytes in
            SHA256(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &digest)
        }
        bytes = ByteBuffer(bytes: digest)
    }

    static func < (left: BodyHash, right: BodyHash) -> Bool {
        left.bytes.readableBytesView.lexicographicallyPrecedes(right.bytes.readableBytesView)
    }
}
