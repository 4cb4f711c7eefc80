/// Private members of JSON Web Keys.
extension FieldScanner {
    /// A key of RSA with 4,096 bits has 3 KiB.
    private static let longestWebKey = 4_096

    /// Whether a name is that of a private member of a JSON Web Key (RFC 7518 §6), whose object says with `kty` what key it is.
    mutating func isOfWebKey(_ name: Range<Int>) -> Bool {
        guard name.count <= 2, isName(name, among: ["d", "p", "q", "dp", "dq", "qi", "k"]) else { return false }
        // The members of one object come one after the other.
        if let last = webKey, last.range.contains(name.lowerBound) { return last.isOne }
        let least = max(0, name.lowerBound - FieldScanner.longestWebKey)
        let most = min(bytes.count, name.upperBound + FieldScanner.longestWebKey)
        let start =
            bytes[least..<name.lowerBound].lastIndex { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") } ?? least
        let end =
            bytes[name.upperBound..<most].firstIndex { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") } ?? most
        let isOne = find(Array("kty".utf8), from: start, within: end - start).map { $0 < end } ?? false
        // Of an object that is longer, what is near a name is looked at for each kilobyte of it.
        webKey = (start..<(end == most ? min(end, name.upperBound + 1_024) : end), isOne)
        return isOne
    }
}
