/// Finds secrets that are known by their own look, whatever their name: JSON Web Tokens, keys of well-known services,
/// private keys; and texts in base64 that hold a secret.
struct RunScanner {
    /// Runs as long as these are looked at.
    static let least = 20
    /// As much as the longest window of a body has, with what was looked at before it.
    static let longestBase64 = (4 << 20) + (64 << 10)
    /// Of a run that is longer the segments are not looked at by themselves.
    static let longestPath = 4_096

    let bytes: UnsafeRawBufferPointer
    let patterns: Set<MaskRules.Pattern>
    /// Whether the bytes go on from others that are not here: a text in base64 may begin anywhere in a group.
    let isContinued: Bool
    /// Runs that are shorter and go up to the end of the bytes are cut there, and not looked at; 0 where none is cut.
    let cutRun: Int
    /// Whether bytes that were in base64 hold a secret; and whether they are text.
    let holdsSecret: ([UInt8], Bool) -> Bool
    /// Takes a text that looks like a secret and is not known as one.
    let suspect: (Range<Int>) -> Void
    private(set) var found: [FoundSecret] = []
    /// Up to where base64 in lines or with escaped signs was looked at.
    var brokenEnd = 0

    init(
        _ bytes: UnsafeRawBufferPointer,
        patterns: Set<MaskRules.Pattern>,
        isContinued: Bool,
        cutRun: Int,
        holdsSecret: @escaping ([UInt8], Bool) -> Bool,
        suspect: @escaping (Range<Int>) -> Void
    ) {
        (self.bytes, self.patterns, self.isContinued, self.cutRun) = (bytes, patterns, isContinued, cutRun)
        (self.holdsSecret, self.suspect) = (holdsSecret, suspect)
    }

    mutating func scan() {
        RunScanner.isOfRun.withUnsafeBufferPointer { isOfRun in
            var place = 0
            while place < bytes.count {
                guard isOfRun[Int(bytes[place])] else {
                    place += 1
                    continue
                }
                let start = place
                while place < bytes.count, isOfRun[Int(bytes[place])] { place += 1 }
                if place == bytes.count, place - start < cutRun { break }
                // What stands in lines is looked at first: a line alone may have the beginning of a secret.
                if start >= brokenEnd, let end = broken(from: start, firstEnd: place) {
                    place = end
                    continue
                }
                let first = afterEscape(start, before: place)
                if place - first >= RunScanner.least { run(first..<place) }
            }
        }
        privateKeys()
        takePatterns()
    }

    static let isOfRun: [Bool] = (0...255).map { number in
        let byte = UInt8(number)
        return ValueShape.isLetterOrDigit(byte) || "-_.+/=~".utf8.contains(byte)
    }

    static func isOfBase64(_ byte: UInt8) -> Bool {
        ValueShape.isLetterOrDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    mutating func run(_ range: Range<Int>) {
        var place = range.lowerBound
        while place < range.upperBound {
            if place == range.lowerBound || !RunScanner.isOfBase64(bytes[place - 1]) {
                if let end = webToken(at: place, in: range) ?? serviceKey(at: place, in: range) {
                    place = end
                    continue
                }
            }
            place += 1
        }
        let isPath = bytes[range.lowerBound] == UInt8(ascii: "/") && range.count <= RunScanner.longestPath
        // What stands between points, tildes and equals signs is one text in base64.
        var start = range.lowerBound
        while start < range.upperBound {
            var end = start
            while end < range.upperBound, bytes[end] != UInt8(ascii: "."), bytes[end] != UInt8(ascii: "~"),
                bytes[end] != UInt8(ascii: "=")
            { end += 1 }
            if end - start >= RunScanner.least { word(start..<end, isInPath: isPath) }
            start = end + 1
        }
        botToken(in: range)
        if isPath { webhook(inPath: range) }
        // A text in base64 may begin with a slash, too.
        if isPath, !(content(range)?.isText ?? false) { suspects(inPath: range) }
    }

    private mutating func webToken(at place: Int, in range: Range<Int>) -> Int? {
        guard range.upperBound - place > 20, bytes[place] == UInt8(ascii: "e"), bytes[place + 1] == UInt8(ascii: "y"),
            bytes[place + 2] == UInt8(ascii: "J")
        else { return nil }
        var (end, points) = (place, 0)
        while end < range.upperBound, RunScanner.isOfBase64(bytes[end]) || bytes[end] == UInt8(ascii: ".") && points < 4
        {
            if bytes[end] == UInt8(ascii: ".") { points += 1 }
            end += 1
        }
        while end > place, bytes[end - 1] == UInt8(ascii: ".") { (end, points) = (end - 1, points - 1) }
        guard points == 2 || points == 4 else { return nil }
        take(place..<end, .token, "JSON Web Token")
        return end
    }

    private mutating func word(_ range: Range<Int>, isInPath: Bool) {
        let isTaken = found.last.map { $0.range.overlaps(range) } ?? false
        guard !isTaken else { return }
        // A slash is a digit of base64, too: what stands in a path does not begin before its segment.
        if let coded = codedSegment(range), let content = content(coded), holdsSecret(content.bytes, content.isText) {
            return take(coded.lowerBound..<padded(coded.upperBound), .token, "text in base64", isSought: false)
        }
        if range.count <= RunScanner.longestBase64, let content = content(range) {
            let whole = range.lowerBound..<padded(range.upperBound)
            if holdsSecret(content.bytes, content.isText) {
                return take(whole, .token, "text in base64", isSought: false)
            }
            if isContinued, range.lowerBound == 0, let digits = digitsFurther(Array(bytes[range])) {
                return take(whole, .token, "text in base64", secret: digits, isSought: false)
            }
            if content.isText { return }
            segments(range)
            if found.last.map({ $0.range.overlaps(range) }) ?? false { return }
        }
        let value = UnsafeRawBufferPointer(rebasing: bytes[range])
        // Two hyphens begin the boundary of a multipart body (RFC 2046 §5.1.1).
        guard range.count <= 512, !isInPath, !value.starts(with: "--".utf8), !ValueShape.isUUID(value),
            isSuspicious(value, range), ValueShape.entropy(value) > 3.6
        else { return }
        suspect(range)
    }

    /// The first segment of a path that is no word, where words stand before it; with what follows where that is no word either,
    /// as of a text in base64 that has slashes in it. `nil` where no such path stands there.
    private func codedSegment(_ range: Range<Int>) -> Range<Int>? {
        guard range.count <= RunScanner.longestPath, let slash = bytes[range].firstIndex(of: UInt8(ascii: "/")),
            slash == range.lowerBound || range.lowerBound > 0 && ":/.".utf8.contains(bytes[range.lowerBound - 1])
        else { return nil }
        let segments = bytes[range].split(separator: UInt8(ascii: "/"))
        guard let first = segments.firstIndex(where: { !isWord($0) }), first > 0,
            segments[..<first].contains(where: { $0.count > 3 })
                || !segments[..<first].joined().contains(where: { $0 &- 0x41 < 26 })
        else { return nil }
        let coded = segments[first]
        let isAlone = segments[(first + 1)...].allSatisfy(isWord)
        let end = isAlone ? coded.endIndex : range.upperBound
        return end - coded.startIndex >= RunScanner.least ? coded.startIndex..<end : nil
    }

    /// Whether a segment of a path is short, or is words rather than what looks made by chance.
    private func isWord(_ segment: Slice<UnsafeRawBufferPointer>) -> Bool {
        segment.count <= 3 || !ValueShape.isInPieces(UnsafeRawBufferPointer(rebasing: segment))
    }

    private func isSuspicious(_ value: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        guard value.contains(UInt8(ascii: "/")) else {
            // Sixteen bytes have 22 digits; of so few only letters as no words have them tell. But the digests of Subresource
            // Integrity.
            return (ValueShape.isMadeByChance(value, least: 24) || ValueShape.isMixed(value, least: RunScanner.least))
                && !["sha256-", "sha384-", "sha512-"].contains { value.starts(with: $0.utf8) }
        }
        // Paths have digits and hyphens, too.
        let isPath = range.lowerBound > 0 && bytes[range.lowerBound - 1] == UInt8(ascii: ".")
        return !isPath && !value.contains(UInt8(ascii: "-")) && ValueShape.isMixed(value, least: 32)
    }

    mutating func take(
        _ range: Range<Int>,
        _ kind: SecretKind,
        _ name: String,
        secret: [UInt8]? = nil,
        isSought: Bool = true
    ) {
        let value = UnsafeRawBufferPointer(rebasing: bytes[range])
        guard !range.isEmpty, !Placeholder.isOne(value) else { return }
        let secret = secret ?? Array(value)
        var start = range.lowerBound
        // Of an escaped sign all backslashes go.
        if "/\\".utf8.contains(bytes[start]) {
            while start > 0, bytes[start - 1] == UInt8(ascii: "\\") { start -= 1 }
        }
        let range = start..<range.upperBound
        found.append(FoundSecret(range: range, kind: kind, name: name, secret: secret, isSought: isSought))
    }
}
