import Content

/// Edits queries and form bodies; unedited parts keep their bytes.
enum NamedValues {
    /// Sets the first pair of a name and removes further ones, or appends a pair.
    static func set(_ name: String, _ value: String, in bytes: [UInt8]) -> [UInt8] {
        let pair = Array("\(encoded(name))=\(encoded(value))".utf8)[...]
        var isSet = false
        var pairs = split(bytes).compactMap { old -> ArraySlice<UInt8>? in
            guard self.name(of: old) == name else { return old }
            defer { isSet = true }
            return isSet ? nil : pair
        }
        if !isSet { pairs.append(pair) }
        return Array(pairs.joined(separator: [separator]))
    }

    /// `nil` if there are none.
    static func remove(_ name: String, from bytes: [UInt8]) -> [UInt8]? {
        let pairs = split(bytes)
        let kept = pairs.filter { self.name(of: $0) != name }
        return kept.count == pairs.count ? nil : Array(kept.joined(separator: [separator]))
    }

    private static let separator = UInt8(ascii: "&")

    private static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        bytes.isEmpty ? [] : bytes.split(separator: separator, omittingEmptySubsequences: false)
    }

    private static func name(of pair: ArraySlice<UInt8>) -> String {
        FormFields.decode(pair.prefix { $0 != UInt8(ascii: "=") })
    }

    /// Except unreserved characters (RFC 3986 §2.3).
    static func encoded(_ text: String) -> String {
        escaped(text) { $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 26 || "-._~".utf8.contains($0) }
    }

    /// For a request target; `nil` for control characters.
    static func target(_ text: String) -> String? {
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return escaped(text) { $0 > 0x20 && $0 < 0x7F && !"\"<>".utf8.contains($0) }
    }

    private static func escaped(_ text: String, unless isPlain: (UInt8) -> Bool) -> String {
        text.utf8.reduce(into: "") { result, byte in
            if isPlain(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
