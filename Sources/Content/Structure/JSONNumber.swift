/// JSON numbers: different spellings may mean the same number (RFC 8259 §6).
package enum JSONNumber {
    /// A number in its canonical spelling: `1`, `1.0` and `10e-1` are the same; digits are never lost.
    package static func spelling(of text: String) -> String {
        let parts = text.lowercased().split(separator: "e", maxSplits: 1)
        guard let mantissa = parts.first, let exponent = parts.count > 1 ? Int32(parts[1]).map(Int.init) : 0 else {
            return text.lowercased()
        }
        let isNegative = mantissa.hasPrefix("-")
        let pieces = mantissa.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
        let fraction = pieces.count > 1 ? pieces[1] : ""
        var digits = Substring((pieces.first ?? "") + fraction).drop { $0 == "0" }
        var scale = exponent - fraction.count
        while digits.last == "0" {
            digits.removeLast()
            scale += 1
        }
        if digits.isEmpty { return "0" }
        let sign = isNegative ? "-" : ""
        if scale == 0 { return sign + digits }
        if (1...20).contains(scale) { return sign + digits + String(repeating: "0", count: scale) }
        if scale < 0, -scale < digits.count, digits.count <= 40 {
            return "\(sign)\(digits.dropLast(-scale)).\(digits.suffix(-scale))"
        }
        return "\(sign)\(digits)e\(scale)"
    }
}
