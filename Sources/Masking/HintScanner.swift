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
            guard let named = named(before: verb.lowerBound) else { continue }
            if let recorded = next("missing, recorded ", from: place), recorded.lowerBound == place {
                place = take(from: recorded.upperBound, named)
            } else {
                place = take(from: place, named)
                if let recorded = next(", recorded ", from: place), recorded.lowerBound == place {
                    place = take(from: recorded.upperBound, named)
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

    /// What the place before a verb names.
    private enum Named {
        /// `query field 'token'`, a field of a form.
        case parameter(ArraySlice<UInt8>)
        /// `header 'Authorization'`
        case field(ArraySlice<UInt8>)
        /// `body $.token`, `body $["my token"][0]`
        case member(ArraySlice<UInt8>)
        /// What is cut does not end in its name.
        case cut

        var name: ArraySlice<UInt8> {
            switch self {
            case .parameter(let name), .field(let name), .member(let name): name
            case .cut: []
            }
        }
    }

    private func named(before end: Int) -> Named? {
        var end = end
        if bytes[..<end].reversed().starts(with: "…".utf8.reversed()) { return .cut }
        if end > 0, bytes[end - 1] == UInt8(ascii: "'") {
            guard let start = bytes[..<(end - 1)].lastIndex(of: UInt8(ascii: "'")) else { return nil }
            let name = Array(bytes[(start + 1)..<(end - 1)])[...]
            return bytes[..<start].suffix(7).elementsEqual("header ".utf8) ? .field(name) : .parameter(name)
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
        return .member(Array(bytes[start..<end])[...])
    }

    /// Takes what of a value is secret, without its quotes; returns its end.
    private mutating func take(from start: Int, _ named: Named) -> Int {
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
        let after = isQuoted && end < bytes.count && bytes[end] == UInt8(ascii: "\"") ? end + 1 : end
        // What was cut is not the secret.
        let isCut = bytes[first..<end].reversed().starts(with: "…".utf8.reversed())
        let whole = isCut ? end - "…".utf8.count : end
        for var secret in secrets(in: first..<whole, named, isQuoted: isQuoted) {
            if secret.range.upperBound == whole {
                secret.isSought = secret.isSought && !isCut && (after != end || !isQuoted)
                secret.range = secret.range.lowerBound..<end
            }
            secret.isNumber = false
            found.append(secret)
        }
        return after
    }

    /// The secrets of a value under a name, as they are where both stand together: in JSON, in a query.
    private func secrets(in value: Range<Int>, _ named: Named, isQuoted: Bool) -> [FoundSecret] {
        func read(_ before: [UInt8], _ after: String, _ syntax: ScanSyntax) -> [FoundSecret] {
            let text = before + bytes[value] + Array(after.utf8)
            return text.withUnsafeBytes { text in
                FieldScanner.secrets(in: text, syntax, names).found.compactMap { secret in
                    let (start, end) = (secret.range.lowerBound - before.count, secret.range.upperBound - before.count)
                    guard start >= 0, end <= value.count else { return nil }
                    var secret = secret
                    secret.range = value.lowerBound + start..<value.lowerBound + end
                    return secret
                }
            }
        }
        let quote = isQuoted ? "\"" : ""
        let member = read(Array("\"".utf8) + named.name + Array("\":\(quote)".utf8), quote, .text)
        guard member.isEmpty, isQuoted else { return member }
        switch named {
        case .member: return []
        case .parameter(let name): return read(Array("?".utf8) + name + Array("=".utf8), "", .field)
        case .cut: return whole(value, .credential, "")
        case .field(let name):
            let label = String(decoding: name, as: UTF8.self)
            return names.kind(ofField: label).map { whole(value, $0, label) } ?? []
        }
    }

    private func whole(_ value: Range<Int>, _ kind: SecretKind, _ name: String) -> [FoundSecret] {
        let text = UnsafeRawBufferPointer(rebasing: bytes[value])
        guard !text.isEmpty, !ValueShape.isOrdinary(text, kind) else { return [] }
        return [FoundSecret(range: value, kind: kind, name: name, secret: PlainValue.of(text, escapes: 1))]
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
