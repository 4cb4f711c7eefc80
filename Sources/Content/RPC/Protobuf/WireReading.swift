import Text

/// How a value without a type can be read, and which other readings are worth a remark.
enum WireReading {
    /// The other readings of a varint that tell something: a negative number, a truth value, a moment.
    static func varint(_ value: UInt64) -> String {
        if value < 2 { return value == 0 ? "or false" : "or true" }
        let signed = Int64(bitPattern: value)
        if signed < 0 { return "or \(signed)" }
        if let moment = moment(value) { return "or \(moment)" }
        // Half of all numbers are odd, but only as an odd one can a small negative `sint` come.
        return value & 1 == 1 ? "or \(ProtobufScalar.zigZag(value)) as sint" : ""
    }

    /// A moment between 2001 and 2096, where a number can be one in seconds, or thousandths of them, and so on.
    static func moment(_ value: UInt64) -> String? {
        var unit: UInt64 = 1
        for _ in 0..<4 {
            let seconds = value / unit
            if (1_000_000_000..<4_000_000_000).contains(seconds) {
                let nanoseconds = Int32(value % unit * (1_000_000_000 / unit))
                return ProtobufScalar.timestamp(seconds: Int64(seconds), nanoseconds: nanoseconds)
            }
            unit *= 1000
        }
        return nil
    }

    /// A floating-point number of a usual size, else an integer.
    static func fixed32(_ bits: UInt32) -> (text: String, remark: String) {
        fixed(bits, Float(bitPattern: bits), Int32(bitPattern: bits), nil)
    }

    static func fixed64(_ bits: UInt64) -> (text: String, remark: String) {
        fixed(bits, Double(bitPattern: bits), Int64(bitPattern: bits), moment(bits))
    }

    private static func fixed<Number: BinaryFloatingPoint & CustomStringConvertible>(
        _ bits: some FixedWidthInteger,
        _ number: Number,
        _ signed: some SignedInteger,
        _ moment: String?
    ) -> (text: String, remark: String) {
        let size = "\(bits.bitWidth) bits"
        // Integers of a common size have exponents as floating-point numbers that nobody would send.
        if number.isFinite, number.magnitude >= 1e-9, number.magnitude < 1e15 {
            return (ProtobufScalar.number(number), "\(size), or \(signed)")
        }
        if signed < 0 { return (String(bits), "\(size), or \(signed)") }
        return (String(bits), moment.map { "\(size), or \($0)" } ?? size)
    }

    /// Whether bytes are text: valid UTF-8 without control characters but tabs and line breaks.
    static func isText(_ bytes: ArraySlice<UInt8>, allowingCutEnd: Bool = false) -> Bool {
        // In UTF-8 the C1 controls are the byte 0xC2 and one of 0x80...0x9F.
        var previous: UInt8 = 0
        for byte in bytes {
            let isLayout = byte == 0x09 || byte == 0x0A || byte == 0x0D
            if byte < 0x20 && !isLayout || byte == 0x7F || previous == 0xC2 && byte < 0xA0 { return false }
            previous = byte
        }
        return UTF8Check.isValid(bytes, allowingCutEnd: allowingCutEnd)
    }

    /// The varints that fill a range exactly; `nil` if they do not, or look by chance as if they did.
    static func packedVarints(_ bytes: [UInt8], _ range: Range<Int>) -> [UInt64]? {
        var cursor = WireCursor(bytes, range)
        var values: [UInt64] = []
        while !cursor.isAtEnd {
            let start = cursor.position
            guard let value = cursor.varint(), cursor.position - start == WireCursor.length(ofVarint: value),
                value <= UInt64(UInt32.max) || value >= UInt64(bitPattern: Int64(Int32.min))
            else { return nil }
            values.append(value)
        }
        return values.count >= 2 ? values : nil
    }

    static func bytes(_ bytes: ArraySlice<UInt8>, limit: Int) -> (text: String, remark: String) {
        let digits = bytes.prefix(limit).map { $0.padded(to: 2, radix: 16) }.joined()
        let size = bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
        return ("<\(digits)\(bytes.count > limit ? "…" : "")>", size)
    }
}
