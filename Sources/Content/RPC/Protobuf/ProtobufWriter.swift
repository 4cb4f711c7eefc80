/// Writes the wire format of Protocol Buffers. Fields with a default value are written, too.
package struct ProtobufWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func varint(_ number: Int, _ value: UInt64) {
        tag(number, type: 0)
        varint(value)
    }

    package mutating func fixed64(_ number: Int, _ value: UInt64) {
        tag(number, type: 1)
        append(value)
    }

    package mutating func fixed32(_ number: Int, _ value: UInt32) {
        tag(number, type: 5)
        append(value)
    }

    package mutating func string(_ number: Int, _ value: String) { self.bytes(number, value.utf8) }

    package mutating func bytes(_ number: Int, _ value: some Collection<UInt8>) {
        tag(number, type: 2)
        varint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    package mutating func message(_ number: Int, _ write: (inout ProtobufWriter) -> Void) {
        var message = ProtobufWriter()
        write(&message)
        self.bytes(number, message.bytes)
    }

    private mutating func tag(_ number: Int, type: UInt64) { varint(UInt64(number) << 3 | type) }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
}
