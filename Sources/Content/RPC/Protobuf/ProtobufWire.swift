/// Where and why bytes are not the wire format of Protocol Buffers.
package struct ProtobufError: Error, Hashable, CustomStringConvertible {
    /// The offset, in the message's bytes, of the field that cannot be read.
    package var offset: Int
    package var message: String

    package var description: String { "\(message), at byte \(offset)" }
}

/// A field as encoded: its number and an uninterpreted value.
package struct WireField {
    package enum Value: Hashable {
        case varint(UInt64)
        case fixed64(UInt64)
        /// The range of a length-delimited value's bytes.
        case bytes(Range<Int>)
        case groupStart, groupEnd
        case fixed32(UInt32)

        /// The wire type, as the specification spells it.
        var type: (number: Int, name: String) {
            switch self {
            case .varint: (0, "VARINT")
            case .fixed64: (1, "I64")
            case .bytes: (2, "LEN")
            case .groupStart: (3, "SGROUP")
            case .groupEnd: (4, "EGROUP")
            case .fixed32: (5, "I32")
            }
        }
    }

    package var number: Int
    package var value: Value
    var start: Int
}

/// Reads the wire format of Protocol Buffers field by field (Protocol Buffers, "Encoding").
package struct WireCursor {
    static let largestNumber = 1 << 29 - 1

    let bytes: [UInt8]
    let end: Int
    /// Whether the bytes are only the beginning of a message and may end within a field.
    private let isPartial: Bool
    private(set) var position: Int
    /// Whether every tag so far has the shortest encoding, which real encoders use.
    private(set) var hasMinimalTags = true

    package init(_ bytes: [UInt8], _ range: Range<Int>, isPartial: Bool = false) {
        self.bytes = bytes
        self.isPartial = isPartial && range.upperBound == bytes.count
        position = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { position >= end }

    /// Reads the next field; `nil` at the end. A partial message's cut-off field is read only if length-delimited.
    package mutating func next() throws(ProtobufError) -> WireField? {
        guard position < end else { return nil }
        let start = position
        guard let tag = varint() else {
            if isCutOff(start) { return nil }
            throw problem(start, "a field's tag is cut off or too long")
        }
        if position - start > WireCursor.length(ofVarint: tag) { hasMinimalTags = false }
        guard tag >> 3 >= 1, tag >> 3 <= UInt64(WireCursor.largestNumber) else {
            throw problem(start, "\(tag >> 3) is not a field number")
        }
        let number = Int(tag >> 3)
        guard let value = try value(of: number, Int(tag & 7), start) else {
            if isCutOff(position) { return nil }
            throw problem(start, "field \(number) is cut off")
        }
        return WireField(number: number, value: value, start: start)
    }

    /// Whether the rest is unreadable because a partial message ends. With 10 bytes left, a varint cannot be cut off.
    private mutating func isCutOff(_ place: Int) -> Bool {
        guard isPartial, end - place < 10 else { return false }
        position = end
        return true
    }

    private mutating func value(of number: Int, _ type: Int, _ start: Int) throws(ProtobufError) -> WireField.Value? {
        switch type {
        case 0: return varint().map { .varint($0) }
        case 1: return fixed(8).map { .fixed64($0) }
        case 2:
            guard let count = varint(), isPartial || count <= UInt64(end - position) else { return nil }
            let range = position..<(position + Int(min(count, UInt64(end - position))))
            position = range.upperBound
            return .bytes(range)
        case 3: return .groupStart
        case 4: return .groupEnd
        case 5: return fixed(4).map { .fixed32(UInt32(truncatingIfNeeded: $0)) }
        default: throw problem(start, "\(type) is not a wire type (field \(number))")
        }
    }

    /// Reads a varint; `nil` if it is cut off, or longer than 64 bits.
    mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        var place = position
        while place < end {
            let byte = bytes[place]
            place += 1
            if shift == 63, byte > 1 { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 {
                position = place
                return value
            }
            shift += 7
        }
        return nil
    }

    /// Reads this many bytes, low byte first.
    mutating func fixed(_ count: Int) -> UInt64? {
        guard end - position >= count else { return nil }
        defer { position += count }
        return bytes[position..<(position + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    static func length(ofVarint value: UInt64) -> Int { max(1, (64 - value.leadingZeroBitCount + 6) / 7) }

    /// Skips to the end of a group if the field that was just read starts one; returns the range of the group's fields.
    mutating func group(of first: WireField, depthLimit: Int) throws(ProtobufError) -> Range<Int>? {
        let start = position
        var open: [Int] = []
        var field = first
        while true {
            switch field.value {
            case .groupStart:
                guard open.count < max(1, depthLimit) else { throw problem(field.start, "groups are nested too deep") }
                open.append(field.number)
            case .groupEnd:
                guard open.popLast() == field.number else {
                    throw problem(field.start, "a group ends without a beginning (field \(field.number))")
                }
                if open.isEmpty { return start..<field.start }
            default: if open.isEmpty { return nil }
            }
            guard let next = try next() else { break }
            field = next
        }
        if isPartial { return start..<end }
        throw problem(start, "the group of field \(first.number) has no end")
    }

    func problem(_ offset: Int, _ message: String) -> ProtobufError { ProtobufError(offset: offset, message: message) }
}
