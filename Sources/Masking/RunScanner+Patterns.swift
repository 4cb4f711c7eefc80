/// E-mail addresses and numbers of cards, however their signs are written: `%40`, `\u0040` and `&#64;` are an `@`.
extension RunScanner {
    /// Takes what the profile's patterns name.
    mutating func takePatterns() {
        guard !patterns.isEmpty else { return }
        var places: [(range: Range<Int>, kind: SecretKind, secret: [UInt8])] = []
        // By where they end, so that what is read with its escapes is not read again without.
        var ends: Set<Int> = []
        func look(at text: UnsafeRawBufferPointer, _ source: (Range<Int>) -> Range<Int>) {
            func add(_ range: Range<Int>, _ kind: SecretKind, _ secret: [UInt8]) {
                let range = source(range)
                if ends.insert(range.upperBound).inserted { places.append((range, kind, secret)) }
            }
            if patterns.contains(.email) { RunScanner.forEachEmail(in: text) { add($0, .email, Array(text[$0])) } }
            if patterns.contains(.card) {
                RunScanner.forEachCard(in: text) {
                    add($0, .card, text[$0].map { $0 == UInt8(ascii: "+") ? 0x20 : $0 })
                }
            }
        }
        UnescapedText.forEach(of: bytes) { text in text.bytes.withUnsafeBytes { look(at: $0, text.source) } }
        look(at: bytes) { $0 }
        for place in places.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            take(place.range, place.kind, place.kind == .email ? "e-mail address" : "card number", secret: place.secret)
        }
    }

    private static func forEachEmail(in bytes: UnsafeRawBufferPointer, _ body: (Range<Int>) -> Void) {
        for at in bytes.indices where bytes[at] == UInt8(ascii: "@") {
            var start = at
            while start > 0, ValueShape.isLetterOrDigit(bytes[start - 1]) || ".+_-".utf8.contains(bytes[start - 1]) {
                start -= 1
            }
            // The letter of `\n` is none of the address's.
            if start > 0, bytes[start - 1] == UInt8(ascii: "\\"), "nrt".utf8.contains(bytes[start]) { start += 1 }
            var end = at + 1
            while end < bytes.count, ValueShape.isLetterOrDigit(bytes[end]) || ".-".utf8.contains(bytes[end]) {
                end += 1
            }
            while end > at, bytes[end - 1] == UInt8(ascii: ".") { end -= 1 }
            if start < at, isDomain(bytes[(at + 1)..<end]) { body(start..<end) }
        }
    }

    /// Whether bytes are labels with points between, the last one of letters: not the number of a version, nor the size of a
    /// picture, as in `logo@2x.png`.
    private static func isDomain(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard bytes.count >= 3, let point = bytes.lastIndex(of: UInt8(ascii: ".")), point > bytes.startIndex else {
            return false
        }
        let last = bytes[(point + 1)...]
        let isPicture =
            bytes.count > 3 && bytes.first.map { $0 &- 0x31 < 9 } ?? false
            && bytes.dropFirst().starts(with: "x.".utf8)
        return !isPicture && last.count >= 2
            && (last.allSatisfy { ($0 | 0x20) &- 0x61 < 26 } || last.starts(with: "xn--".utf8))
    }

    private static let longestCard = 24
    private static let fewestDigits = 13

    private static func forEachCard(in bytes: UnsafeRawBufferPointer, _ body: (Range<Int>) -> Void) {
        var place = 0
        while place < bytes.count {
            guard bytes[place] &- 0x30 < 10, place == 0 || !ValueShape.isLetterOrDigit(bytes[place - 1]) else {
                place += 1
                continue
            }
            var end = place
            while end < bytes.count, end - place < longestCard, isOfCard(bytes[end]) { end += 1 }
            while end > place, bytes[end - 1] &- 0x30 >= 10 { end -= 1 }
            if let card = card(in: bytes[place..<end]) {
                body(card)
                place = card.upperBound
            } else {
                // Another may begin with the next group.
                while place < bytes.count, bytes[place] &- 0x30 < 10 { place += 1 }
            }
        }
    }

    /// The number of a card that groups of digits are, all of them or the first ones.
    private static func card(in digits: Slice<UnsafeRawBufferPointer>) -> Range<Int>? {
        guard digits.count >= fewestDigits else { return nil }
        var rest = digits
        while rest.count >= fewestDigits {
            let isWhole = rest.endIndex == digits.endIndex && !rest.contains(UInt8(ascii: "+"))
            let plain = rest.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
            if isWhole || isInGroups(rest), plain.withUnsafeBytes(ValueShape.isCard) { return rest.indices }
            guard let sign = rest.lastIndex(where: { $0 &- 0x30 >= 10 }) else { return nil }
            rest = rest[..<sign]
            while let last = rest.last, last &- 0x30 >= 10 { rest = rest.dropLast() }
        }
        return nil
    }

    private static func isOfCard(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || byte == 0x20 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
    }

    /// Whether digits stand in the groups that are on cards: all in one, or four and four, of some cards four and six.
    private static func isInGroups(_ digits: Slice<UnsafeRawBufferPointer>) -> Bool {
        let groups = digits.split(omittingEmptySubsequences: false) { $0 &- 0x30 >= 10 }.map(\.count)
        return groups.count == 1 || groups == [4, 6, 5] || groups == [4, 6, 4]
            || (4...5).contains(groups.count) && groups.dropLast().allSatisfy { $0 == 4 } && groups.last ?? 0 <= 4
    }
}
