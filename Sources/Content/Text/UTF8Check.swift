package import NIOCore

/// Checks UTF-8 piece by piece (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
package struct UTF8Check: Sendable {
    private var pending = 0
    /// How many bytes at the end belong to a character that is not whole yet.
    package private(set) var unfinishedCount = 0
    /// The allowed values of the next continuation byte.
    private var allowed: ClosedRange<UInt8> = 0x80...0xBF
    /// Whether the bytes so far can begin valid UTF-8.
    package private(set) var isValidSoFar = true
    package private(set) var hasNUL = false

    package init() {}

    package var isValid: Bool { isValidSoFar && pending == 0 }

    /// Reads the next bytes. Not generic: other modules could not specialise it, and long bodies would be slow.
    package mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        var place = 0
        while place < bytes.count, isValidSoFar {
            if pending == 0 { place += UTF8Check.plainCount(bytes, from: place) }
            // Checks the next word (8 bytes) byte by byte.
            let end = min(bytes.count, place + 8)
            take(bytes[place..<end])
            place = end
        }
    }

    /// How many bytes from a place on are ASCII and not NUL, in whole words.
    private static func plainCount(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var place = start
        while place + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            let zeros = (word &- 0x0101_0101_0101_0101) & ~word
            guard (word | zeros) & 0x8080_8080_8080_8080 == 0 else { break }
            place += 8
        }
        return place - start
    }

    package mutating func feed(_ bytes: some Sequence<UInt8>) {
        if bytes.withContiguousStorageIfAvailable({ feed(UnsafeRawBufferPointer($0)) }) == nil { take(bytes) }
    }

    private mutating func take(_ bytes: some Sequence<UInt8>) {
        guard isValidSoFar else { return }
        for byte in bytes {
            if pending > 0 {
                guard allowed.contains(byte) else {
                    isValidSoFar = false
                    return
                }
                pending -= 1
                unfinishedCount = pending == 0 ? 0 : unfinishedCount + 1
                allowed = 0x80...0xBF
            } else if byte >= 0x80 {
                isValidSoFar = begin(byte)
                if !isValidSoFar { return }
            } else if byte == 0 {
                hasNUL = true
            }
        }
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        allowed = 0x80...0xBF
        unfinishedCount = 1
        switch byte {
        case 0xC2...0xDF: pending = 1
        case 0xE0...0xEF:
            pending = 2
            if byte == 0xE0 { allowed = 0xA0...0xBF }
            if byte == 0xED { allowed = 0x80...0x9F }
        case 0xF0...0xF4:
            pending = 3
            if byte == 0xF0 { allowed = 0x90...0xBF }
            if byte == 0xF4 { allowed = 0x80...0x8F }
        default: return false
        }
        return true
    }

    /// Whether bytes are valid UTF-8; with `allowingCutEnd` the last character may be cut off.
    package static func isValid(_ bytes: some Sequence<UInt8>, allowingCutEnd: Bool = false) -> Bool {
        var check = UTF8Check()
        check.feed(bytes)
        return allowingCutEnd ? check.isValidSoFar : check.isValid
    }
}

extension ByteBuffer {
    /// Reads all but an incomplete last character.
    package mutating func readWholeCharacters() -> ByteBuffer {
        let bytes = readableBytesView
        let tail = bytes.suffix(3)
        let start = tail.lastIndex { $0 & 0xC0 != 0x80 } ?? bytes.endIndex
        let length = start < bytes.endIndex ? max(1, (~bytes[start]).leadingZeroBitCount) : 0
        let missing = bytes.endIndex - start < min(length, 4) ? bytes.endIndex - start : 0
        return readSlice(length: readableBytes - missing) ?? ByteBuffer()
    }
}
