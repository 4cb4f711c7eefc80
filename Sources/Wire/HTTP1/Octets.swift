import NIOCore

/// Classes of bytes in HTTP/1's grammar (RFC 9110 §5.6, RFC 9112 §2).
extension UInt8 {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let colon: UInt8 = 0x3A

    /// RFC 9110 §5.6.2.
    @inline(__always)
    var isTokenCharacter: Bool {
        // One bit for each token character, for the bytes below 64 and below 128.
        let bits: UInt64 = self < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
        return self < 128 && (bits >> UInt64(self & 63)) & 1 != 0
    }

    @inline(__always)
    var isOptionalWhitespace: Bool { self == .space || self == .tab }

    @inline(__always)
    var isSkippedBeforeRequest: Bool { isOptionalWhitespace || self == .carriageReturn || self == .lineFeed }

    /// DEL and tab included.
    @inline(__always)
    var isControl: Bool { self < 0x20 || self == 0x7F }
}

/// Searches that compare eight bytes at a time.
extension Span<UInt8> {
    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var highs: UInt64 { 0x8080_8080_8080_8080 }

    @inline(__always)
    private func word(at index: Int) -> UInt64 {
        UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    @inline(__always)
    func firstLineFeed(from start: Int) -> Int? {
        var index = start
        while index &+ 8 <= count {
            let differences = word(at: index) ^ (Self.ones &* UInt64(UInt8.lineFeed))
            let zeros = (differences &- Self.ones) & ~differences & Self.highs
            if zeros != 0 { return index &+ zeros.trailingZeroBitCount / 8 }
            index &+= 8
        }
        while index < count {
            if self[index] == .lineFeed { return index }
            index &+= 1
        }
        return nil
    }

    /// Other than tab, at or after `start`; `count` if there is none.
    @inline(__always)
    func firstControl(from start: Int) -> Int {
        var index = start
        while index &+ 8 <= count {
            let word = word(at: index)
            let deletes = word ^ (Self.ones &* 0x7F)
            // The lowest bit found is exact; higher ones may be carried over from it.
            let low = (word &- Self.ones &* 0x20) & ~word & Self.highs
            let found = low | ((deletes &- Self.ones) & ~deletes & Self.highs)
            if found == 0 {
                index &+= 8
            } else {
                index &+= found.trailingZeroBitCount / 8
                guard self[index] == .tab else { return index }
                index &+= 1
            }
        }
        while index < count {
            let byte = self[index]
            if byte.isControl, byte != .tab { return index }
            index &+= 1
        }
        return count
    }

    @inline(__always)
    func hasBytes(_ text: StaticString, at start: Int) -> Bool {
        guard start &+ text.utf8CodeUnitCount <= count else { return false }
        return text.withUTF8Buffer { text in
            for offset in 0..<text.count where self[start &+ offset] != text[offset] { return false }
            return true
        }
    }
}

extension ByteBuffer {
    /// Appends bytes, without a copy if the buffer has none yet.
    @inline(__always)
    mutating func append(_ bytes: ByteBuffer) {
        if readableBytes == 0 { self = bytes } else { writeImmutableBuffer(bytes) }
    }
}
