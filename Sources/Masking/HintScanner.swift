/// Finds secrets in what a failure says to try: a replay names a place of a request there and both values,
/// `body $.token is "a", recorded "b"`, with the name further from its value than in what is sent.
struct HintScanner {
    private let bytes: UnsafeRawBufferPointer
    private let names: SecretNames
    private var found: [FoundSecret] = []

    static func secrets(in bytes: UnsafeRawBufferPointer, _ names: SecretNames) -> [FoundSecret] {
        var scanner = HintScanner(bytes: bytes, names: names)
        scanner.scan()
        return scanner.found
    }

    private init(bytes: UnsafeRawBufferPointer, names: SecretNames) { (self.bytes, self.names) = (bytes, names) }

    private mutating func scan() {
        var place = 0
        while let verb = next(" is ", from: place) {
            place = verb.upperBound
            guard let (kind, name) = secret(before: verb.lowerBound) else { continue }
            if let recorded = next("missing, recorded ", from: place), recorded.lowerBound == place {
                place = take(from: recorded.upperBound, kind, name)
            } else {
                place = take(from: place, kind, name)
                if let recorded = next(", recorded ", from: place), recorded.lowerBound == place {
                    place = take(from: recorded.upperBound, kind, name)
                }
            }
        }
    }

    private func next(_ words: StaticString, from start: Int) -> Range<Int>? {
        let words = UnsafeBufferPointer(start: words.utf8Start, count: words.utf8CodeUnitCount)
        var place = start
        while let first = bytes[place...].firstIndex(of: words[0]) {
            if bytes[first...].starts(with: words) { return first..<first + words.count }
            place = first + 1
        }
        return nil
    }

    /// The kind of secret that the place before a verb is, and its name: `query field 'token'`, `body $.token`,
    /// `body $["my token"][0]`.
    private func secret(before end: Int) -> (SecretKind, String)? {
        var end = end
        // What is cut does not end in its name.
        if bytes[..<end].reversed().starts(with: "…".utf8.reversed()) { return (.credential, "") }
        if end > 0, bytes[end - 1] == UInt8(ascii: "'") {
            guard let start = bytes[..<(end - 1)].lastIndex(of: UInt8(ascii: "'")) else { return nil }
            let name = String(decoding: bytes[(start + 1)..<(end - 1)], as: UTF8.self)
            switch name.lowercased() {
            case "authorization", "proxy-authorization": return (.credential, name)
            case "cookie", "set-cookie": return (.cookie, name)
            default: return (names.kind(ofField: name) ?? names.kind(of: name.utf8)).map { ($0, name) }
            }
        }
        while end > 0, bytes[end - 1] == UInt8(ascii: "]"),
            let open = bytes[..<end].lastIndex(of: UInt8(ascii: "[")), open + 1 < end - 1,
            bytes[(open + 1)..<(end - 1)].allSatisfy({ $0 &- 0x30 < 10 })
        { end = open }
        var start = end
        if end > 1, bytes[end - 1] == UInt8(ascii: "]"), bytes[end - 2] == UInt8(ascii: "\"") {
            end -= 2
            start = end
            while start > 1, bytes[start - 1] != UInt8(ascii: "\"") || bytes[start - 2] != UInt8(ascii: "[") {
                start -= 1
            }
        } else {
            while start > 0, ValueShape.isLetterOrDigit(bytes[start - 1]) || bytes[start - 1] == UInt8(ascii: "_") {
                start -= 1
            }
            guard start > 0, bytes[start - 1] == UInt8(ascii: ".") else { return nil }
        }
        return names.kind(of: bytes[start..<end]).map { ($0, String(decoding: bytes[start..<end], as: UTF8.self)) }
    }

    /// Takes a value, without its quotes; returns its end.
    private mutating func take(from start: Int, _ kind: SecretKind, _ name: String) -> Int {
        guard start < bytes.count else { return start }
        let isQuoted = bytes[start] == UInt8(ascii: "\"")
        var (first, end) = (start, start)
        if isQuoted {
            first += 1
            end = first
            while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
                // A long value of JSON is cut, with its second quote.
                if bytes[end...].starts(with: "…".utf8), end + 3 < bytes.count, ",;.".utf8.contains(bytes[end + 3]) {
                    end += 3
                    break
                }
                end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
            }
            end = min(end, bytes.count)
        } else {
            while end < bytes.count, bytes[end] > 0x20, !",;".utf8.contains(bytes[end]) { end += 1 }
            if end > first, bytes[end - 1] == UInt8(ascii: ".") { end -= 1 }
        }
        let value = UnsafeRawBufferPointer(rebasing: bytes[first..<end])
        let after = isQuoted && end < bytes.count && bytes[end] == UInt8(ascii: "\"") ? end + 1 : end
        // Without quotes it is a number, or a word such as `true` or `without it`.
        let isNumber = value.first.map { $0 &- 0x30 < 10 || $0 == UInt8(ascii: "-") } == true
        let isCut = value.reversed().starts(with: "…".utf8.reversed())
        let shown = isCut ? UnsafeRawBufferPointer(rebasing: value.dropLast(3)) : value
        guard !value.isEmpty, isQuoted || kind.isNumeric && isNumber, !ValueShape.isOrdinary(shown, kind) else {
            return after
        }
        found.append(
            FoundSecret(
                range: first..<end,
                kind: kind,
                name: name,
                secret: PlainValue.of(value, escapes: isQuoted ? 1 : 0),
                // What was cut is not the secret.
                isSought: !isCut && after != end
            )
        )
        return after
    }
}

extension TextMask {
    /// What a failure says to try with its secrets replaced; `nil` where there are none.
    func masked(hint text: String) -> String? {
        var copy = text
        return copy.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            let named = HintScanner.secrets(in: bytes, names)
            for found in named { note(found) }
            var marks = named.map { Mark($0.range, book.placeholder(of: $0.secret, $0.kind)) }
            marks += self.marks(in: bytes, .text)
            guard !marks.isEmpty, !isCollecting else { return nil }
            let replaced = Mark.replaced(Mark.merged(marks), in: bytes[...], keepsLength: false, book)
            return String(decoding: replaced, as: UTF8.self)
        }
    }
}
