/// The texts within bytes that are none, as a message of an own format has them.
enum TextRuns {
    /// A shorter text has no name with a value.
    private static let shortest = 12

    /// For each byte: 1 for a sign of a text, 0 for none, 2 for one that may begin a character of UTF-8.
    private static let kinds: [UInt8] = (0...255).map { byte in
        switch byte {
        case 0x09, 0x0A, 0x0D, 0x20...0x7E: 1
        case 0xC2...0xF4: 2
        default: 0
        }
    }

    static func forEach(in bytes: UnsafeRawBufferPointer, _ body: (Range<Int>) -> Void) {
        kinds.withUnsafeBufferPointer { kinds in
            var (start, place) = (0, 0)
            while place < bytes.count {
                let length =
                    switch kinds[Int(bytes[place])] {
                    case 1: 1
                    case 2: characterLength(bytes, place)
                    default: 0
                    }
                guard length == 0 else {
                    place += length
                    continue
                }
                if place - start >= shortest { body(start..<place) }
                place += 1
                start = place
            }
            if place - start >= shortest { body(start..<place) }
        }
    }

    /// How long a character of more than one byte is (RFC 3629 §3); 0 where it is none.
    private static func characterLength(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Int {
        let length = bytes[place] < 0xE0 ? 2 : bytes[place] < 0xF0 ? 3 : 4
        guard place + length <= bytes.count, bytes[(place + 1)..<(place + length)].allSatisfy({ $0 & 0xC0 == 0x80 })
        else {
            return 0
        }
        return length
    }
}

extension FieldScanner {
    /// Secrets in the texts within bytes that are none.
    static func secretsOfTexts(in bytes: UnsafeRawBufferPointer, _ names: SecretNames) -> [FoundSecret] {
        var found: [FoundSecret] = []
        TextRuns.forEach(in: bytes) { run in
            let text = UnsafeRawBufferPointer(rebasing: bytes[run])
            for var secret in secrets(in: text, .binary, names).found {
                secret.range = secret.range.lowerBound + run.lowerBound..<secret.range.upperBound + run.lowerBound
                found.append(secret)
            }
        }
        return found
    }
}
