import Content

/// What the texts of a value have in common, as JSON Schema says it: whether each is a number, and which format each has.
struct ValueText: Sendable, Hashable {
    /// Formats that JSON Schema and OpenAPI name.
    enum Format: String, Sendable, CaseIterable {
        case uuid
        case dateTime = "date-time"
        case date, email, uri
    }

    private(set) var count = 0
    private(set) var integers = 0
    private(set) var numbers = 0
    private(set) var booleans = 0
    private(set) var formats: Set<Format> = []

    mutating func add(_ text: String) {
        let bytes = Array(text.utf8.prefix(ValueText.longest + 1))
        formats = count == 0 ? ValueText.formats(of: bytes) : formats.intersection(ValueText.formats(of: bytes))
        count += 1
        if text == "true" || text == "false" { booleans += 1 }
        switch ValueText.number(bytes) {
        case .integer: integers += 1
        case .decimal: numbers += 1
        case nil: break
        }
    }

    /// The type of a parameter or a form's field, which is always text on the wire.
    var type: String {
        if count == 0 { return "string" }
        if integers == count { return "integer" }
        if integers + numbers == count { return "number" }
        return booleans == count ? "boolean" : "string"
    }

    /// The one format that all texts have.
    var format: Format? { Format.allCases.first { formats.contains($0) } }

    func write(into writer: inout JSONWriter) {
        writer.member("type", type)
        if type == "string", let format { writer.member("format", format.rawValue) }
    }

    // MARK: - One text

    private static let longest = 2_048

    private enum Number { case integer, decimal }

    private static func number(_ bytes: [UInt8]) -> Number? {
        let digits = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
        let parts = digits.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        // A number with a zero before it is a name, for example a telephone's; a longer one than 18 digits too.
        guard let whole = parts.first, (1...18).contains(whole.count), whole.allSatisfy(isDigit),
            whole.count == 1 || whole.first != UInt8(ascii: "0")
        else { return nil }
        guard parts.count == 2 else { return .integer }
        return parts[1].isEmpty || !parts[1].allSatisfy(isDigit) ? nil : .decimal
    }

    private static func formats(of bytes: [UInt8]) -> Set<Format> {
        guard bytes.count <= longest, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return [] }
        if isUUID(bytes) { return [.uuid] }
        if isDate(bytes[...]) { return [.date] }
        if isDateTime(bytes) { return [.dateTime] }
        if bytes.starts(with: "https://".utf8) || bytes.starts(with: "http://".utf8) { return [.uri] }
        let parts = bytes.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        let isEmail =
            parts.count == 2 && !parts[0].isEmpty && parts[1].dropFirst().dropLast().contains(UInt8(ascii: "."))
        return isEmail && !bytes.contains(UInt8(ascii: "/")) ? [.email] : []
    }

    private static func isUUID(_ bytes: [UInt8]) -> Bool {
        bytes.count == 36
            && bytes.enumerated().allSatisfy { place, byte in
                [8, 13, 18, 23].contains(place)
                    ? byte == UInt8(ascii: "-") : isDigit(byte) || (byte | 0x20) &- 0x61 < 6
            }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// Whether the bytes are as a pattern, in which `0` stands for any digit.
    private static func fits(_ bytes: ArraySlice<UInt8>, _ pattern: String) -> Bool {
        bytes.count == pattern.utf8.count
            && zip(bytes, pattern.utf8).allSatisfy { $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1 }
    }

    /// `2026-11-23` (RFC 3339 §5.6).
    private static func isDate(_ bytes: ArraySlice<UInt8>) -> Bool { fits(bytes, "0000-00-00") }

    /// `2026-11-23T08:00:00.5Z` (RFC 3339 §5.6).
    private static func isDateTime(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 20, isDate(bytes[..<10]), bytes[10] | 0x20 == UInt8(ascii: "t"),
            fits(bytes[11..<19], "00:00:00")
        else { return false }
        var rest = bytes[19...]
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix(while: isDigit)
            guard !fraction.isEmpty else { return false }
            rest = rest[fraction.endIndex...]
        }
        return rest.elementsEqual("Z".utf8) || rest.elementsEqual("z".utf8) || fits(rest, "+00:00")
            || fits(rest, "-00:00")
    }
}
