import Text

/// How a value without a type can be read, and which other readings are worth a remark.
enum WireReading {
    /// Other plausible readings of a varint: a negative number, a Boolean, a time.
    static func varint(_ value: UInt64) -> String {
        if value < 2 { return value == 0 ? "or false" : "or true" }
        let signed = Int64(bitPattern: value)
        if signed < 0 { return "or \(signed)" }
        if let moment = moment(value) { return "or \(moment)" }
        // A negative `sint` is always an odd varint, so even numbers get no remark.
        return value & 1 == 1 ? "or \(ProtobufScalar.zigZag(value)) as sint" : ""
    }

    /// The time between 2001 and 2096 that a number may be, in seconds, milli-, micro- or nanoseconds; may be `nil`.
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

    /// A floating-point number if its magnitude is plausible; if not, an integer.
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
        // Common integers, read as floating-point numbers, are implausibly small or large.
        if number.isFinite, number.magnitude >= 1e-9, number.magnitude < 1e15 {
            return (ProtobufScalar.number(number), "\(size), or \(signed)")
        }
        if signed < 0 { return (String(bits), "\(size), or \(signed)") }
        return (String(bits), moment.map { "\(size), or \($0)" } ?? size)
    }

    /// Whether bytes are text: valid UTF-8 without control characters except tabs and line breaks.
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

    /// The varints that fill a range exactly; `nil` if they do not fill it, or probably do so by chance.
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
