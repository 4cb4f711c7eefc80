/// Numbers at both ends of the ranges that readers take, beside them, and beyond.
package enum HostileNumbers {
    package static let whole: [Int64] = [
        0, 1, -1, 1 << 24, 1 << 24 + 1, 1 << 53 - 1, 1 << 53, 1 << 53 + 1, -(1 << 53), -(1 << 53) - 1, 1 << 62,
        .max - 1,
        .max, .min, .min + 1, 255, 65_536, 1 << 32,
    ]

    /// As a text file has them, those included that are none.
    package static let texts =
        whole.map { String($0) } + [
            "9223372036854775808", "-9223372036854775809", "1e15", "9.1e15", "1e300", "1e400", "-1e400", "0.5",
            "-0.001",
            "1e-400", "null", "true", "nan", "inf", "0x7fffffffffffffff", "00",
            "99999999999999999999999999999999999999",
        ]

    /// A template with a number in place of each `#`: that at `place` is `text`, all others are `usual`.
    package static func filled(_ template: String, usual: String = "1", _ choose: (Int) -> String?) -> String {
        let pieces = template.split(separator: "#", omittingEmptySubsequences: false)
        var text = String(pieces.first ?? "")
        for (place, piece) in pieces.dropFirst().enumerated() { text += (choose(place) ?? usual) + piece }
        return text
    }

    /// How many numbers a template has.
    package static func count(_ template: String) -> Int { template.utf8.count { $0 == UInt8(ascii: "#") } }
}
