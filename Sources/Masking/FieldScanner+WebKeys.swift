/// Private members of JSON Web Keys.
extension FieldScanner {
    /// A key of RSA with 4,096 bits has 3 KiB.
    private static let longestWebKey = 4_096

    /// Whether a name is that of a private member of a JSON Web Key (RFC 7518 §6), whose object says with `kty` what key it is.
    func isOfWebKey(_ name: Range<Int>) -> Bool {
        guard name.count <= 2, isName(name, among: ["d", "p", "q", "dp", "dq", "qi", "k"]) else { return false }
        let least = max(0, name.lowerBound - FieldScanner.longestWebKey)
        let most = min(bytes.count, name.upperBound + FieldScanner.longestWebKey)
        let start =
            bytes[least..<name.lowerBound].lastIndex { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") } ?? least
        let end =
            bytes[name.upperBound..<most].firstIndex { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") } ?? most
        return find(Array("kty".utf8), from: start, within: end - start).map { $0 < end } ?? false
    }
}
