extension SecretBook {
    /// The placeholders in bytes, in order, that were given to secrets.
    package func placeholders(in bytes: [UInt8]) -> [(range: Range<Int>, placeholder: Placeholder)] {
        var found: [(Range<Int>, Placeholder)] = []
        var place = 0
        while let start = bytes[place...].firstIndex(of: UInt8(ascii: "s")) {
            place = start + 1
            guard bytes[start...].starts(with: Placeholder.prefix.utf8) else { continue }
            let rest = bytes[(start + Placeholder.prefix.utf8.count)...]
            for kind in SecretKind.allCases where rest.starts(with: kind.rawValue.utf8 + [UInt8(ascii: "-")]) {
                let digits = rest.dropFirst(kind.rawValue.utf8.count + 1).prefix { $0 &- 0x30 < 10 }.prefix(9)
                guard let number = Int(String(decoding: digits, as: UTF8.self)) else { continue }
                var placeholder = Placeholder(kind: kind, number: number)
                var end = digits.endIndex
                if bytes[end...].first == UInt8(ascii: "e") {
                    let encoding = bytes[(end + 1)...].prefix { $0 &- 0x30 < 10 }.prefix(9)
                    placeholder.encoding = Int(String(decoding: encoding, as: UTF8.self)) ?? 0
                    if isIssued(placeholder), placeholder.encoding > 0 {
                        end = encoding.endIndex
                    } else {
                        placeholder.encoding = 0
                    }
                }
                guard isIssued(placeholder) else { continue }
                found.append((start..<end, placeholder))
                place = end
                break
            }
        }
        return found
    }

    /// Where a secret was found first; `nil` where it has no number of its own.
    package func entry(of placeholder: Placeholder) -> Entry? {
        entries.first { $0.placeholder == placeholder.ofSecret }
    }
}
