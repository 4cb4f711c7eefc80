extension TextMask {
    /// Higher numbers are no export's.
    private static let highestNumber = 900_000
    /// What all placeholders begin with, seven bytes of eight.
    private static let beginning = Placeholder.prefix.utf8.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }

    /// Says that what stands in these bytes is exported: placeholders of an earlier export keep their numbers.
    func noteEarlier(in bytes: UnsafeRawBufferPointer) {
        guard isCollecting, !isAtOthers, bytes.count >= 12 else { return }
        let beginning = TextMask.beginning
        for place in 0...(bytes.count - 8) {
            let eight = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            if eight << 8 == beginning << 8 { noteEarlier(bytes[(place + Placeholder.prefix.utf8.count)...]) }
        }
    }

    private func noteEarlier(_ rest: Slice<UnsafeRawBufferPointer>) {
        for kind in SecretKind.allCases where rest.starts(with: kind.rawValue.utf8 + [UInt8(ascii: "-")]) {
            let digits = rest.dropFirst(kind.rawValue.utf8.count + 1).prefix { $0 &- 0x30 < 10 }
            let number = digits.prefix(7).reduce(0) { $0 * 10 + Int($1 - 0x30) }
            if number > 0, number <= TextMask.highestNumber { add(earlier: Placeholder(kind: kind, number: number)) }
        }
    }
}

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
