/// Texts in code that stand for a secret where nothing else is set, or beside its name with a sign of their own:
/// `process.env.TOKEN || "…"`, `getenv("TOKEN", "…")`, `'password' => '…'`.
extension FieldScanner {
    /// After `||` and `??`, what is taken where the expression before has no value.
    mutating func alternative(at place: Int) -> Int? {
        guard place + 1 < bytes.count, bytes[place + 1] == bytes[place], let (name, quote) = name(before: place),
            !isQuoted(quote), let kind = kind(lastWord(of: name))
        else { return nil }
        return string(after: place + 2, kind, lastWord(of: name))
    }

    /// The second argument of a call that reads a setting whose name is the first one.
    mutating func readerDefault(openedAt open: Int) -> Int? {
        guard open > 2, open + 1 < bytes.count, "\"'\\".utf8.contains(bytes[open + 1]),
            ValueShape.isLetterOrDigit(bytes[open - 1]), isReader(endingAt: open),
            let (name, kind, _, next) = namedString(at: open + 1)
        else { return nil }
        return string(after: next, kind, name)
    }

    /// `'password' => '…'` and `:password => "…"`, as PHP and Ruby have members; a function of JavaScript has neither quotes nor a colon.
    mutating func arrow(at place: Int) -> Int? {
        guard let (name, quote) = name(before: place), let kind = kind(name),
            isQuoted(quote) || name.lowerBound > 0 && bytes[name.lowerBound - 1] == UInt8(ascii: ":")
        else { return nil }
        return string(after: place + 2, kind, name)
    }

    /// The password of `-u user:password` in a command of curl; returns where it ends.
    mutating func userOption(before place: Int) -> Int? {
        // Most words end here.
        guard syntax == .text, place > 1, place + 1 < bytes.count, "uUr".utf8.contains(bytes[place - 1]),
            ["-u", "--user", "-U", "--proxy-user"].contains(where: {
                has($0, endingAt: place) && (place == $0.utf8.count || bytes[place - $0.utf8.count - 1] <= 0x20)
            })
        else { return nil }
        var (start, quote) = (place + 1, Quote.none)
        if let opened = openingQuote(at: start) { (start, quote) = opened }
        var end = isQuoted(quote) ? self.end(of: quote, from: start) : start
        if !isQuoted(quote) {
            while end < bytes.count, bytes[end] > 0x20, !"\"'<>`;|)\\".utf8.contains(bytes[end]) { end += 1 }
        }
        guard let colon = bytes[start..<end].firstIndex(of: UInt8(ascii: ":")), colon > start, colon + 1 < end else {
            return nil
        }
        let value = UnsafeRawBufferPointer(rebasing: bytes[(colon + 1)..<end])
        // The user and the group of a container.
        let isNumber = bytes[start..<end].allSatisfy { $0 < 0x3B }
        guard !isNumber, !ValueShape.isOrdinary(value, .password), !isExempt(start) else { return nil }
        let before = bytes[..<place].suffix(FieldScanner.longestCommand)
        guard find(Array("curl".utf8), from: before.startIndex, within: before.count - 4) != nil else { return nil }
        let secret = PlainValue.of(value, in: quote, isMarkup: false)
        add(FoundSecret(range: colon + 1..<end, kind: .password, name: "password of curl", secret: secret))
        return end
    }

    private static let longestCommand = 1_024

    private func isReader(endingAt end: Int) -> Bool {
        let word = bytes[..<end].suffix(16).reversed().prefix { ValueShape.isLetterOrDigit($0) }.count
        return FieldScanner.readers.contains(String(decoding: bytes[(end - word)..<end], as: UTF8.self).lowercased())
    }

    /// `TOKEN` of `process.env.TOKEN`.
    private func lastWord(of name: Range<Int>) -> Range<Int> {
        let point = bytes[name].lastIndex(of: UInt8(ascii: "."))
        return (point.map { $0 + 1 } ?? name.lowerBound)..<name.upperBound
    }

    private mutating func string(after place: Int, _ kind: SecretKind, _ name: Range<Int>) -> Int? {
        guard let (content, quote) = openingQuote(at: afterBlanks(place, acrossLines: true)), case .plain = quote else {
            return nil
        }
        let value = content..<end(of: quote, from: content)
        let count = found.count
        take(value, kind, name, quote, needsShape: syntax == .script)
        return found.count > count ? value.upperBound : nil
    }
}
