import HTTPModel
import Text

package enum ProtobufScalar {
    /// A JSON string; characters that a terminal would obey or hide are escaped.
    static func quoted(_ text: some StringProtocol) -> String { JSONWriter.quoted(String(text)) }

    /// A name for a remark. A message may contain any name, so it is cut, and its control characters are escaped.
    static func name(_ name: String) -> String {
        let shown = name.unicodeScalars.prefix(longestName)
        let isCut = shown.endIndex < name.unicodeScalars.endIndex
        return quoted(String(shown)).dropFirst().dropLast() + (isCut ? "…" : "")
    }

    private static let longestName = 200

    /// A text cut to `limit` bytes, as a JSON string, with a remark about it.
    static func text(_ bytes: ArraySlice<UInt8>, limit: Int) -> (text: String, remark: String) {
        guard bytes.count > limit else {
            let isValid = UTF8Check.isValid(bytes)
            return (quoted(String(decoding: bytes, as: UTF8.self)), isValid ? "" : "not valid UTF-8")
        }
        var check = UTF8Check()
        check.feed(bytes.prefix(limit))
        let isCutCharacter = check.isValidSoFar && !check.isValid
        let shown = bytes.prefix(limit).dropLast(isCutCharacter ? check.unfinishedCount : 0)
        let remark = "the first \(shown.count) of \(bytes.count) bytes\(check.isValidSoFar ? "" : "; not valid UTF-8")"
        return (quoted(String(decoding: shown, as: UTF8.self)), remark)
    }

    /// A floating-point number in the JSON form of proto3: NaN and infinity are strings.
    static func number(_ value: some BinaryFloatingPoint & CustomStringConvertible) -> String {
        if value.isNaN { return "\"NaN\"" }
        if value.isInfinite { return value < 0 ? "\"-Infinity\"" : "\"Infinity\"" }
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Decodes `sint32` and `sint64` (zigzag).
    static func zigZag(_ value: UInt64) -> Int64 {
        Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Seconds since 1970 in RFC 3339, with 0, 3, 6 or 9 digits of a fraction; `nil` outside the years 1 to 9999.
    package static func timestamp(seconds: Int64, nanoseconds: Int32) -> String? {
        guard (-62_135_596_800...253_402_300_799).contains(seconds), (0..<1_000_000_000).contains(nanoseconds) else {
            return nil
        }
        let days = Int((seconds - (seconds < 0 ? 86_399 : 0)) / 86_400)
        let inDay = Int(seconds) - days * 86_400
        let (year, month, day) = CivilDate.of(day: Int64(days))
        let date = "\(year.padded(to: 4))-\(month.padded(to: 2))-\(day.padded(to: 2))"
        let time = "\((inDay / 3600).padded(to: 2)):\((inDay / 60 % 60).padded(to: 2)):\((inDay % 60).padded(to: 2))"
        return "\(date)T\(time)\(fraction(Int(nanoseconds)))Z"
    }

    /// Nanoseconds as the fraction of a second, with its point; empty for 0.
    static func fraction(_ nanoseconds: Int) -> String {
        guard nanoseconds > 0 else { return "" }
        var digits = nanoseconds.padded(to: 9)
        while digits.hasSuffix("000") { digits.removeLast(3) }
        return "." + digits
    }
}
