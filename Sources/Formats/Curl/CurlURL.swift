import HTTPModel

/// A URL as curl prepares it before parsing: finds patterns, and removes dot segments.
enum CurlURL {
    private static let backslash = UInt8(ascii: "\\")
    private static let signs = Array("{}[]".utf8)
    private static let mostPatterns = 5

    /// The URL without backslashes before `{`, `}`, `[` and `]`, and its patterns (`{a,b}`, `[1-3]`), which stay in it.
    static func unescaped(_ url: String) -> (url: String, patterns: [String]) {
        let bytes = Array(url.utf8)
        guard bytes.contains(where: signs.contains) else { return (url, []) }
        var result: [UInt8] = []
        var patterns: [String] = []
        var opening: Int?
        var place = 0
        while place < bytes.count {
            let byte = bytes[place]
            if byte == backslash, place + 1 < bytes.count, signs.contains(bytes[place + 1]) {
                result.append(bytes[place + 1])
                place += 2
                continue
            }
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): opening = place
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let start = opening, isPattern(bytes[start...place]), patterns.count < mostPatterns {
                    patterns.append(String(fieldBytes: bytes[start...place]))
                }
                opening = nil
            default: break
            }
            result.append(byte)
            place += 1
        }
        return (String(fieldBytes: result), patterns)
    }

    /// Whether a text in brackets is a list (`{a,b}`) or a range (`[1-3]`, `[a-z:2]`), not an address.
    private static func isPattern(_ text: ArraySlice<UInt8>) -> Bool {
        let inner = text.dropFirst().dropLast()
        if text.first == UInt8(ascii: "{") { return text.last == UInt8(ascii: "}") && !inner.isEmpty }
        guard text.last == UInt8(ascii: "]") else { return false }
        let parts = inner.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let isNumber = { (bytes: ArraySlice<UInt8>) in !bytes.isEmpty && bytes.allSatisfy { $0 &- 0x30 < 10 } }
        guard let range = parts.first, parts.count == 1 || parts.count == 2 && isNumber(parts[1]) else { return false }
        let ends = range.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let isLetter = { (bytes: ArraySlice<UInt8>) in
            bytes.count == 1 && bytes.allSatisfy { ($0 | 0x20) &- 0x61 < 26 }
        }
        return ends.count == 2 && (ends.allSatisfy(isNumber) || ends.allSatisfy(isLetter))
    }

    /// A URL without the segments `.` and `..` of its path (RFC 3986 §5.2.4); `start` is where its host begins.
    static func withoutDotSegments(_ url: String, from start: String.Index) -> String {
        let bytes = url.utf8
        guard let begin = bytes[start...].firstIndex(where: { "/?#".utf8.contains($0) }),
            bytes[begin] == UInt8(ascii: "/")
        else { return url }
        let end = bytes[begin...].firstIndex { "?#".utf8.contains($0) } ?? bytes.endIndex
        let path = NormalisedPath.removingDotSegments(String(url[begin..<end]))
        return String(url[..<begin]) + path + String(url[end...])
    }
}
