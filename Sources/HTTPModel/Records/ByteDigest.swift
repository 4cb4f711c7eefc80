/// A hash of 128 bits with random seeds of this process, so that nobody outside can predict it.
package struct ByteDigest: Sendable {
    private var first: Hasher
    private var second: Hasher

    package init() {
        (first, second) = (Hasher(), Hasher())
        second.combine(UInt8.max)
    }

    package static func of(_ add: (inout ByteDigest) -> Void) -> Fingerprint {
        var digest = ByteDigest()
        add(&digest)
        return digest.fingerprint
    }

    package mutating func add(_ bytes: some Collection<UInt8>) {
        let isThere: Void? = bytes.withContiguousStorageIfAvailable { add(UnsafeRawBufferPointer($0)) }
        if isThere == nil { Array(bytes).withUnsafeBytes { add($0) } }
    }

    /// Includes the count.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        first.combine(bytes.count)
        first.combine(bytes: bytes)
        second.combine(bytes.count)
        second.combine(bytes: bytes)
    }

    package mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    package mutating func add(_ other: Fingerprint) { withUnsafeBytes(of: (other.first, other.second)) { add($0) } }

    package var fingerprint: Fingerprint { Fingerprint(first: first.finalize(), second: second.finalize()) }
}

package struct Fingerprint: Sendable, Hashable, CustomStringConvertible {
    let first: Int
    let second: Int

    package func hash(into hasher: inout Hasher) { hasher.combine(first) }

    package var description: String { String(UInt(bitPattern: first), radix: 16) }
}
