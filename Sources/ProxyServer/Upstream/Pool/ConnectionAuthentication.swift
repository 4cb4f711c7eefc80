import HTTPModel

/// Authentication of a connection and not of each request (RFC 4559 §6).
enum ConnectionAuthentication {
    private static let schemes: Set = ["ntlm", "negotiate"]

    /// Whether a field with credentials or challenges names such a scheme.
    static func isNamed(in fields: FieldSection, by name: FieldName) -> Bool {
        var start = 0
        while let index = fields.firstIndex(of: name, from: start) {
            if fields.withValue(at: index, isNamed) { return true }
            start = index + 1
        }
        return false
    }

    private static func isNamed(in value: UnsafeRawBufferPointer) -> Bool {
        // Most credentials use other schemes; this check saves making a string of them.
        guard value.contains(where: { $0 | 0x20 == UInt8(ascii: "n") }) else { return false }
        return value.split(separator: UInt8(ascii: ",")).contains { challenge in
            let scheme = challenge.split(separator: UInt8(ascii: " "), maxSplits: 1).first ?? []
            return schemes.contains(String(decoding: scheme, as: UTF8.self).lowercased())
        }
    }
}
