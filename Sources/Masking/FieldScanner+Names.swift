/// What names say, in the codings that they stand in.
extension FieldScanner {
    func kind(_ name: Range<Int>) -> SecretKind? {
        if syntax == .form, bytes[name].contains(UInt8(ascii: "%")),
            let plain = PlainValue.percentDecoded(bytes[name])
        {
            return plain.withUnsafeBytes { kind(ofPlain: $0, 0..<$0.count) }
        }
        return kind(ofPlain: bytes, name)
    }

    private func kind(ofPlain bytes: UnsafeRawBufferPointer, _ name: Range<Int>) -> SecretKind? {
        let name = FieldScanner.innermost(name, in: bytes)
        guard !name.isEmpty else { return nil }
        return names.kind(of: bytes[name]) ?? (isOfCookies(bytes[name]) ? .cookie : nil)
    }

    /// Where `[]`, `[0]`, `%5B%5D` or `%5B0%5D` begins at the end of a name; `nil` where there is none.
    private static func beforeIndex(_ name: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Int? {
        let isPlain = bytes[name].last == UInt8(ascii: "]")
        guard isPlain || bytes[name].suffix(3).elementsEqual("%5D".utf8, by: isSameLetter) else { return nil }
        var place = name.upperBound - (isPlain ? 1 : 3)
        while place > name.lowerBound, bytes[place - 1] &- 0x30 < 10 { place -= 1 }
        let start = place - (isPlain ? 1 : 3)
        guard start > name.lowerBound else { return nil }
        let isOpen =
            isPlain
            ? bytes[start] == UInt8(ascii: "[")
            : bytes[start..<place].elementsEqual("%5B".utf8, by: isSameLetter)
        return isOpen ? start : nil
    }

    /// `password` of `user[password]` and `user%5Bpassword%5D`, of `password[]` and `password[0]`.
    func innermost(_ name: Range<Int>) -> Range<Int> { FieldScanner.innermost(name, in: bytes) }

    private static func innermost(_ name: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Range<Int> {
        var name = name
        while let place = beforeIndex(name, in: bytes) { name = name.lowerBound..<place }
        guard let last = bytes[name].last else { return name }
        if last == UInt8(ascii: "]") {
            let open = bytes[name].lastIndex(of: UInt8(ascii: "[")).map { $0 + 1 } ?? name.lowerBound
            return open..<name.upperBound - 1
        }
        guard last | 0x20 == UInt8(ascii: "d"), bytes[name].suffix(3).elementsEqual("%5D".utf8, by: isSameLetter) else {
            return name
        }
        let open = bytes[name].dropLast(3).lastIndex(of: UInt8(ascii: "%")).map { $0 + 3 } ?? name.lowerBound
        return min(open, name.upperBound - 3)..<name.upperBound - 3
    }

    /// Whether a name is the end of a longer one that names a type or the digest of secrets: `"AWS::IAM::AccessKey"`,
    /// `checksum/secret` of annotations of Kubernetes.
    func isOfType(_ name: Range<Int>, _ quote: Quote) -> Bool {
        has("checksum/", endingAt: name.lowerBound) || isQuoted(quote) && has("::", endingAt: name.lowerBound)
    }

    /// `auth` of `_auth`.
    func withoutSigns(_ name: Range<Int>) -> Range<Int> {
        (bytes[name].firstIndex { $0 != UInt8(ascii: "_") } ?? name.lowerBound)..<name.upperBound
    }

    private static func isSameLetter(_ one: UInt8, _ other: UInt8) -> Bool { one | 0x20 == other | 0x20 }

    /// The length of `%3D` or `%3A`, or of one in a query in a query, `%253D`.
    func encodedSeparator(_ place: Int) -> Int? {
        for sign in ["%3D", "%3d", "%3A", "%3a", "%253D", "%253d", "%253A", "%253a"] as [StaticString]
        where has(sign, endingAt: place + sign.utf8CodeUnitCount) { return sign.utf8CodeUnitCount }
        return nil
    }

    /// Where a name begins after `%26`, `%3F` or another encoded sign that is no part of one.
    func afterEncodedSign(_ name: Range<Int>) -> Int {
        var start = name.lowerBound
        for place in name where bytes[place] == UInt8(ascii: "%") {
            if let byte = PlainValue.percentDecoded(bytes[place..<min(place + 3, name.upperBound)])?.first,
                isOfName(byte, .none), byte != UInt8(ascii: "%")
            {
                continue
            }
            // `%25` is the sign of a sign that is encoded twice.
            start = min(name.upperBound, place + (has("%25", endingAt: place + 3) ? 5 : 3))
        }
        return start
    }

    /// A name in a query within a text that has letters percent-encoded.
    func encodedName(_ name: Range<Int>, _ quote: Quote) -> (kind: SecretKind, range: Range<Int>)? {
        guard case .none = quote, syntax != .form, name.lowerBound > 0,
            bytes[name.lowerBound - 1] == UInt8(ascii: "%")
        else { return nil }
        var start = name.lowerBound - 1
        while start > 0, name.upperBound - start < SecretNames.longest,
            isOfName(bytes[start - 1], quote) || bytes[start - 1] == UInt8(ascii: "%")
        {
            start -= 1
        }
        guard let plain = PlainValue.percentDecoded(bytes[start..<name.upperBound]) else { return nil }
        let word = plain.reversed().prefix { isOfName($0, quote) }.count
        return plain.withUnsafeBytes { plain in kind(ofPlain: plain, plain.count - word..<plain.count) }
            .map { ($0, start..<name.upperBound) }
    }

    /// The name of a value: what stands before the sign between them, or the element that it is in.
    static func name(
        of value: Range<Int>,
        in bytes: UnsafeRawBufferPointer,
        _ syntax: ScanSyntax,
        _ names: SecretNames
    ) -> String? {
        let scanner = FieldScanner(names: names, syntax: syntax, bytes: bytes)
        var place = value.lowerBound
        while place > 0, value.lowerBound - place < 8, "\"'\\ \n".utf8.contains(bytes[place - 1]) { place -= 1 }
        guard place > 0 else { return nil }
        switch bytes[place - 1] {
        case UInt8(ascii: ":"), UInt8(ascii: "="):
            return scanner.name(before: place - 1).map {
                String(decoding: bytes[scanner.innermost($0.0)], as: UTF8.self)
            }
        case UInt8(ascii: ">"):
            guard let open = bytes[max(0, place - 200)..<place].lastIndex(of: UInt8(ascii: "<")) else { return nil }
            let tag = bytes[(open + 1)..<(place - 1)].prefix { scanner.isOfName($0, .none) || $0 == UInt8(ascii: ":") }
            return tag.isEmpty ? nil : String(decoding: tag, as: UTF8.self)
        default: return nil
        }
    }
}
