import Content

/// Edits queries and form bodies in place: what is not edited keeps its spelling.
enum NamedValues {
    /// Gives the first pair of a name this value and removes further ones; appends a pair where there is none.
    static func set(_ name: String, _ value: String, in text: String) -> String {
        let pair = "\(encoded(name))=\(encoded(value))"
        var isSet = false
        var pairs = split(text).compactMap { old -> Substring? in
            guard self.name(of: old) == name else { return old }
            defer { isSet = true }
            return isSet ? nil : pair[...]
        }
        if !isSet { pairs.append(pair[...]) }
        return pairs.joined(separator: "&")
    }

    /// Removes all pairs of a name; `nil` where there are none.
    static func remove(_ name: String, from text: String) -> String? {
        let pairs = split(text)
        let kept = pairs.filter { self.name(of: $0) != name }
        return kept.count == pairs.count ? nil : kept.joined(separator: "&")
    }

    private static func split(_ text: String) -> [Substring] {
        text.isEmpty ? [] : text.split(separator: "&", omittingEmptySubsequences: false)
    }

    private static func name(of pair: Substring) -> String {
        FormFields.decode(pair.utf8.prefix { $0 != UInt8(ascii: "=") })
    }

    /// Percent-encodes all but the unreserved characters (RFC 3986 §2.3).
    static func encoded(_ text: String) -> String {
        escaped(text) { byte in
            byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "-._~".utf8.contains(byte)
        }
    }

    /// Percent-encodes what cannot stand in a request target at all; `nil` where there are control characters.
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
