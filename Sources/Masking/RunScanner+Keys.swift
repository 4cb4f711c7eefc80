/// Private keys in PEM and of PGP.
extension RunScanner {
    /// `-----BEGIN … PRIVATE KEY-----` to its end (RFC 7468), `… PRIVATE KEY BLOCK-----` of PGP (RFC 9580 §6.2), also where its
    /// lines end with `\n` as in JSON, or it stands in a form.
    mutating func privateKeys() {
        var place = 0
        guard bytes.contains(UInt8(ascii: "P")) else { return }
        while let dash = bytes[place...].firstIndex(of: UInt8(ascii: "P")) {
            place = dash + 1
            guard let body = afterKeyLabel(dash) else { continue }
            var end = body
            let close = Array("-----END".utf8)
            let open = Array("-----BEGIN".utf8)
            while end < bytes.count,
                bytes[end] != UInt8(ascii: "-")
                    || !bytes[end...].starts(with: close) && !bytes[end...].starts(with: open)
            { end += 1 }
            guard end > body, isKey(body..<end) else { continue }
            let value = UnsafeRawBufferPointer(rebasing: bytes[body..<end])
            take(body..<end, .privateKey, "private key", secret: PlainValue.of(value, escapes: 1))
            place = min(bytes.count, end + close.count + 20)
        }
    }

    /// Whether what stands behind the label of a key is one, and no pattern or part of a text that speaks of keys: "KEY-----..."
    private func isKey(_ body: Range<Int>) -> Bool {
        var place = body.lowerBound
        while place < body.upperBound, bytes[place] <= 0x20 || bytes[place] == UInt8(ascii: "\\") {
            let isEscape = bytes[place] == UInt8(ascii: "\\")
            place += 1
            if isEscape, place < body.upperBound, "nr".utf8.contains(bytes[place]) { place += 1 }
        }
        guard place < body.upperBound else { return false }
        let isDocumented = bytes[place...].prefix(4).allSatisfy { $0 | 0x20 == 0x78 }
        guard isDocumented || ".\"',`])<".utf8.contains(bytes[place]) else { return true }
        var run = 0
        for byte in bytes[body].prefix(4_096) {
            run = ValueShape.isLetterOrDigit(byte) || "+/".utf8.contains(byte) ? run + 1 : 0
            if run >= 16 { return true }
        }
        return false
    }

    /// Where the line ends that begins a private key, from its `P` on; `nil` where there is none.
    private func afterKeyLabel(_ start: Int) -> Int? {
        guard bytes[start...].starts(with: "PRIVATE".utf8) else { return nil }
        var place = start + "PRIVATE".utf8.count
        for (word, isNeeded) in [("KEY", true), ("BLOCK", false)] {
            let space = [" ", "+", "%20"].first { bytes[place...].starts(with: "\($0)\(word)".utf8) }
            if let space { place += space.utf8.count + word.utf8.count } else if isNeeded { return nil }
        }
        return bytes[place...].starts(with: "-----".utf8) ? place + 5 : nil
    }
}
