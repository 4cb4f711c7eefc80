/// Secrets by name in fields whose quotes or tags are escaped otherwise than `FieldScanner` reads them where they stand: XML in a
/// JSON string, in a form or in XML; JSON as .NET has it in a JSON string (`\u0022`), or percent-encoded twice.
///
/// Only where a name of a secret stands before such an escape the text is read again, without its escapes.
struct EscapedFields {
    /// Whether there is such a name, and whether one of an element.
    private var (isHere, isMarkup) = (false, false)

    /// What follows a name, in small letters, and whether it is a sign of XML.
    private static let percentSigns: [(text: StaticString, isMarkup: Bool)] = [
        ("%3c", true), ("%3e", true), ("%253c", true), ("%253e", true), ("%22%3e", true), ("%26lt", true),
        ("%26gt", true), ("%26amp", true), ("%26quot", true), ("%25", false), ("%5c%22", false), ("%5c%5c", false),
        ("%22%3a%5b", false), ("%22%3a%20%5b", false), ("%22%3a+%5b", false),
    ]
    private static let entitySigns: [(text: StaticString, isMarkup: Bool)] = [
        ("&lt;", true), ("&gt;", true), ("&#60;", true), ("&#62;", true), ("&#x3c;", true), ("&#x3e;", true),
        ("&quot;&gt;", true), ("&amp;lt;", true), ("&amp;gt;", true), ("&amp;quot;", true), ("&amp;#", true),
        ("&amp;amp;", true),
    ]
    /// What follows backslashes.
    private static let characterSigns: [(text: StaticString, isMarkup: Bool)] = [
        ("u0022", false), ("u0027", false), ("u003c", true), ("u003e", true), ("u0026", true),
    ]
    private static let mostBackslashes = 8
    /// So far before a value its quote or tag is looked for: credentials have a scheme between.
    private static let mostBefore = 200

    /// Looks at a sign with which an escape can begin.
    mutating func look(at place: Int, in bytes: UnsafeRawBufferPointer, _ names: SecretNames) {
        guard place > 1, !isMarkup else { return }
        let before = bytes[place - 1]
        guard ValueShape.isLetterOrDigit(before) || "_-=".utf8.contains(before) else { return }
        guard let sign = EscapedFields.sign(at: place, in: bytes) else { return }
        let end = before == UInt8(ascii: "=") ? place - 1 : place
        var start = end
        while start > 0, end - start <= SecretNames.longest,
            ValueShape.isLetterOrDigit(bytes[start - 1]) || "_-.".utf8.contains(bytes[start - 1])
        {
            start -= 1
        }
        // The digits of an escape before the name are none of it.
        let starts = [start, min(end, start + 2), min(end, start + 4), min(end, start + 5)]
        // passwords: [ … ]
        let last = !sign.isMarkup && bytes[end - 1] | 0x20 == UInt8(ascii: "s") ? end - 1 : end
        guard
            starts.contains(where: { first in
                names.kind(of: bytes[first..<end]) != nil || first < last && names.kind(of: bytes[first..<last]) != nil
            })
        else { return }
        (isHere, isMarkup) = (true, sign.isMarkup)
    }

    private static func sign(at place: Int, in bytes: UnsafeRawBufferPointer) -> (text: StaticString, isMarkup: Bool)? {
        guard place + 4 < bytes.count else { return nil }
        // Most escapes are others, and end here.
        switch (bytes[place], bytes[place + 1], bytes[place + 2] | 0x20) {
        case (UInt8(ascii: "%"), UInt8(ascii: "2"), UInt8(ascii: "2")) where bytes[place + 3] == UInt8(ascii: "%"),
            (UInt8(ascii: "%"), UInt8(ascii: "2"), UInt8(ascii: "5")),
            (UInt8(ascii: "%"), UInt8(ascii: "2"), UInt8(ascii: "6")) where "lgaq".utf8.contains(bytes[place + 3]),
            (UInt8(ascii: "%"), UInt8(ascii: "3"), UInt8(ascii: "c")),
            (UInt8(ascii: "%"), UInt8(ascii: "3"), UInt8(ascii: "e")),
            (UInt8(ascii: "%"), UInt8(ascii: "5"), UInt8(ascii: "c")):
            return percentSigns.first { stands($0.text, at: place, in: bytes) }
        case (UInt8(ascii: "%"), _, _): return nil
        case (UInt8(ascii: "&"), UInt8(ascii: "l"), UInt8(ascii: "t")),
            (UInt8(ascii: "&"), UInt8(ascii: "g"), UInt8(ascii: "t")),
            (UInt8(ascii: "&"), UInt8(ascii: "a"), UInt8(ascii: "m")),
            (UInt8(ascii: "&"), UInt8(ascii: "q"), UInt8(ascii: "u")),
            (UInt8(ascii: "&"), UInt8(ascii: "#"), _):
            return entitySigns.first { stands($0.text, at: place, in: bytes) }
        case (UInt8(ascii: "&"), _, _): return nil
        default:
            let rest = bytes[place...].prefix(mostBackslashes + 1)
            guard let letter = rest.firstIndex(where: { $0 != UInt8(ascii: "\\") }) else { return nil }
            if bytes[letter] == UInt8(ascii: "u") {
                return characterSigns.first { stands($0.text, at: letter, in: bytes) }
            }
            // <entry key="password"> in a string of JSON
            guard bytes[letter] == UInt8(ascii: "\""), letter + 1 < bytes.count, bytes[letter + 1] == UInt8(ascii: "\\")
            else { return nil }
            return sign(at: letter + 1, in: bytes).flatMap { $0.isMarkup ? $0 : nil }
        }
    }

    private static func stands(_ text: StaticString, at place: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard place + text.utf8CodeUnitCount <= bytes.count else { return false }
        for index in 0..<text.utf8CodeUnitCount {
            let byte = bytes[place + index]
            let small = byte &- 0x41 < 26 ? byte | 0x20 : byte
            if small != text.utf8Start[index] { return false }
        }
        return true
    }

    /// The secrets that are found without the escapes, and whose quotes or tags are escaped; none that overlaps one of those.
    func secrets(
        in bytes: UnsafeRawBufferPointer,
        _ syntax: ScanSyntax,
        _ names: SecretNames,
        besides known: [FoundSecret]
    ) -> [FoundSecret] {
        guard isHere else { return [] }
        guard syntax == .form, bytes.contains(UInt8(ascii: "+")) else {
            return secrets(in: bytes, syntax, names, known)
        }
        // A plus sign is a space there.
        let spaced = bytes.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
        return spaced.withUnsafeBytes { spaced in
            secrets(in: spaced, syntax, names, known).map { found in
                var found = found
                if bytes[found.range].contains(UInt8(ascii: "+")) {
                    found.other = found.secret.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }
                }
                return found
            }
        }
    }

    private func secrets(
        in bytes: UnsafeRawBufferPointer,
        _ syntax: ScanSyntax,
        _ names: SecretNames,
        _ known: [FoundSecret]
    ) -> [FoundSecret] {
        var further: [FoundSecret] = []
        var taken = TakenRanges(known.map(\.range))
        UnescapedText.forEach(of: bytes, isAny: true) { text in
            text.bytes.withUnsafeBytes { plain in
                let syntax = syntax == .script || syntax == .binary ? syntax : isMarkup ? .markup : .text
                for var found in FieldScanner.plainSecrets(in: plain, syntax, names)
                where EscapedFields.isEscaped(found.range, in: plain, text) {
                    found.range = text.source(of: found.range)
                    if !taken.overlap(found.range) { further.append(found) }
                }
            }
            taken = TakenRanges((known + further).map(\.range))
        }
        return further
    }

    /// Whether the quote or the tag before a value is an escaped one; an element is to have its end.
    private static func isEscaped(_ value: Range<Int>, in plain: UnsafeRawBufferPointer, _ text: UnescapedText) -> Bool
    {
        let least = max(0, value.lowerBound - mostBefore)
        guard var sign = plain[least..<value.lowerBound].lastIndex(where: { "\"'>[".utf8.contains($0) }) else {
            return false
        }
        let isElement = plain[sign] == UInt8(ascii: ">")
        var end = value.upperBound
        if plain[sign] == UInt8(ascii: "[") {
            let section = Array("<![CDATA[".utf8)
            guard sign + 1 >= section.count, plain[(sign + 1 - section.count)...].starts(with: section) else {
                return false
            }
            sign -= section.count - 1
            if plain[end...].starts(with: "]]>".utf8) { end += 3 }
        }
        guard text.source(of: sign..<sign + 1).count > 1 else { return false }
        guard isElement || end > value.upperBound else { return true }
        while end < plain.count, plain[end] <= 0x20 { end += 1 }
        return plain[end...].starts(with: "</".utf8)
    }
}

/// Ranges that were taken, to find out whether another one overlaps any of them.
private struct TakenRanges {
    /// In order of their beginnings, with the last end of all up to them.
    private let ranges: [(start: Int, lastEnd: Int)]

    init(_ ranges: [Range<Int>]) {
        var lastEnd = 0
        self.ranges = ranges.sorted { $0.lowerBound < $1.lowerBound }.map { range in
            lastEnd = max(lastEnd, range.upperBound)
            return (range.lowerBound, lastEnd)
        }
    }

    func overlap(_ range: Range<Int>) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].start < range.upperBound { low = middle + 1 } else { high = middle }
        }
        return low > 0 && ranges[low - 1].lastEnd > range.lowerBound
    }
}
