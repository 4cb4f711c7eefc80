import Foundation

/// The secrets that were found, as digests: which placeholder each has, and how to find it again anywhere.
///
/// Not the secrets themselves are kept, but of each a keyed digest and of each that can be looked for a mark of its first
/// eight bytes. Use it on one thread.
package final class SecretBook {
    /// More different secrets than this are masked where their names are, and have no number.
    package static let most = 65_536
    /// A shorter secret is masked where its name is only: elsewhere the same letters are a word.
    static let shortestSought = 8
    /// A secret is looked for in pieces of at most this many bytes.
    static let longestPiece = 4_096

    /// What is known of a secret.
    package struct Entry: Sendable {
        package let placeholder: Placeholder
        /// The name of the field, parameter or cookie where it was found first.
        package let name: String
        /// The host of that exchange.
        package let host: String
    }

    /// What is known of secrets, in their order: sixteen bytes each, as the same names and hosts come again and again.
    package struct Entries: RandomAccessCollection, Sendable {
        private struct Row: Sendable {
            var kind: SecretKind
            var number: Int32
            var name: UInt32
            var host: UInt32
        }

        private var rows: [Row] = []
        private var words: [String] = []
        private var wordNumbers: [String: UInt32] = [:]
        /// The highest numbers that an earlier export gave, in what is masked now; those from here on come after them.
        fileprivate var earlier: [SecretKind: Int] = [:]

        package var startIndex: Int { 0 }
        package var endIndex: Int { rows.count }

        package subscript(position: Int) -> Entry {
            let row = rows[position]
            return Entry(placeholder: placeholder(position), name: words[Int(row.name)], host: words[Int(row.host)])
        }

        fileprivate func placeholder(_ position: Int) -> Placeholder {
            let kind = rows[position].kind
            return Placeholder(kind: kind, number: Int(rows[position].number) + earlier[kind, default: 0])
        }

        fileprivate mutating func append(_ kind: SecretKind, _ number: Int, name: String, host: String) {
            let (name, host) = (word(String(name.prefix(64))), word(host))
            rows.append(Row(kind: kind, number: Int32(number), name: name, host: host))
        }

        private mutating func word(_ text: String) -> UInt32 {
            if let known = wordNumbers[text] { return known }
            let number = UInt32(words.count)
            words.append(text)
            wordNumbers[text] = number
            return number
        }
    }

    /// What is known of all secrets.
    struct Contents: Sendable {
        fileprivate var entries = Entries()
        /// By the digests of secrets twice the places of their entries, and one more for another reading of the same secret.
        fileprivate var indices = DigestTable()
        fileprivate var counts: [SecretKind: Int] = [:]
        fileprivate var isFull = false
        fileprivate var needles = NeedleTable()
        /// A bit for each entry that is among the needles.
        fileprivate var sought: [UInt64] = []
        fileprivate var soughtCount = 0

        fileprivate func index(of digest: Int) -> Int? { indices[digest].map { $0 >> 1 } }

        fileprivate mutating func seek(_ entry: Int) -> Bool {
            if sought.isEmpty { sought = Array(repeating: 0, count: SecretBook.most / 64) }
            let bit: UInt64 = 1 << UInt64(entry & 63)
            guard sought[entry >> 6] & bit == 0 else { return false }
            sought[entry >> 6] |= bit
            soughtCount += 1
            return true
        }
    }

    /// Whether commands and programs are written: there each form of a secret has a variable of its own, so that they send
    /// the same bytes.
    package var isForPrograms = false
    /// The encoded forms of secrets, by the digest of their bytes.
    private var encodings: [Placeholder: [Int: Int]] = [:]
    /// The places of entries by their placeholders, once somebody asked for one.
    private var places: [Placeholder: Int] = [:]

    private(set) var contents: Contents
    /// Whether no secret is added any more.
    private(set) var isClosed: Bool

    package var entries: Entries { contents.entries }
    /// Whether there were more secrets than can be numbered.
    package var isFull: Bool { contents.isFull }
    var needles: NeedleTable { contents.needles }

    package init() {
        contents = Contents()
        isClosed = false
    }

    /// A book of the same secrets for another thread, where no others are added: so that a number means one secret.
    init(closed contents: Contents) {
        self.contents = contents
        isClosed = true
    }

    /// Calls `found` for each place where a secret that is looked for stands in bytes.
    func forEachSought(in bytes: UnsafeRawBufferPointer, _ found: (Range<Int>, Int32) -> Void) {
        contents.needles.forEach(in: bytes, found)
    }

    /// How many secrets are looked for.
    var soughtCount: Int { contents.soughtCount }

    /// Looks for no secret any more but those that are taken in from now on, and again.
    func seekNothing() { (contents.needles, contents.sought, contents.soughtCount) = (NeedleTable(), [], 0) }

    /// Says that no more secrets are added.
    func close() { isClosed = true }

    /// Says that a placeholder of an earlier export stands in what is masked: no other secret gets its number.
    func add(earlier placeholder: Placeholder) {
        let known = contents.entries.earlier[placeholder.kind, default: 0]
        if !isClosed, placeholder.number > known { contents.entries.earlier[placeholder.kind] = placeholder.number }
    }

    /// Takes a secret at its place in; again for one that is known. `other` is the same secret read otherwise, where its place
    /// leaves that open.
    func note(
        _ secret: [UInt8],
        _ kind: SecretKind,
        name: String,
        host: String,
        isSought: Bool,
        other: [UInt8]? = nil
    ) {
        guard !secret.isEmpty, !isClosed else { return }
        let readings = [secret] + (other.map { [$0] } ?? [])
        let digests = readings.map { NeedleTable.digest($0) }
        var index = digests.lazy.compactMap { self.contents.index(of: $0) }.first
        if index == nil {
            guard contents.entries.count < SecretBook.most else {
                contents.isFull = true
                return
            }
            let number = contents.counts[kind, default: 0] + 1
            contents.counts[kind] = number
            _ = contents.indices.add(contents.entries.count << 1, for: digests[0])
            index = contents.entries.count
            contents.entries.append(kind, number, name: name, host: host)
        }
        guard let index else { return }
        let areNew = digests.map { contents.indices.add(index << 1 | 1, for: $0) }
        guard isSought else { return }
        let isFirst = secret.count >= SecretBook.shortestSought && contents.seek(index)
        for (reading, isNew) in zip(readings, areNew) where isFirst || isNew { seek(reading, Int32(index)) }
    }

    private func seek(_ secret: [UInt8], _ entry: Int32) {
        guard secret.count >= SecretBook.shortestSought else { return }
        for form in SecretForms.all(of: secret) { contents.needles.add(form, entry) }
        guard secret.count <= SecretBook.longestPiece else { return }
        for form in SecretForms.encoded(secret) { contents.needles.add(form, entry, standsAlone: false) }
    }

    /// The placeholder of a secret; one without a number of its own where the book is full.
    func placeholder(of secret: [UInt8], _ kind: SecretKind) -> Placeholder {
        let entry = contents.index(of: NeedleTable.digest(secret))
        return entry.map { contents.entries.placeholder($0) } ?? Placeholder(kind: kind, number: 0)
    }

    /// The place of the entry that has a placeholder.
    func place(of placeholder: Placeholder) -> Int? {
        // Before the end of collecting numbers may change.
        guard isClosed else { return entries.indices.first { entries.placeholder($0) == placeholder } }
        if places.isEmpty { for place in entries.indices { places[entries.placeholder(place)] = place } }
        return places[placeholder]
    }

    /// The placeholder of an entry.
    func placeholder(at entry: Int32) -> Placeholder { contents.entries.placeholder(Int(entry)) }

    /// The placeholder of a secret for the form that it has in these bytes.
    func placeholder(_ placeholder: Placeholder, for form: UnsafeRawBufferPointer) -> Placeholder {
        guard placeholder.number > 0 else { return placeholder }
        let digest = NeedleTable.digest(form)
        if let number = contents.indices[digest], number & 1 == 0,
            contents.entries.placeholder(number >> 1) == placeholder
        {
            return placeholder
        }
        let next = encodings[placeholder, default: [:]].count + 1
        var encoded = placeholder
        encoded.encoding = encodings[placeholder, default: [:]][digest] ?? next
        encodings[placeholder, default: [:]][digest] = encoded.encoding
        return encoded
    }

    func isIssued(_ placeholder: Placeholder) -> Bool {
        let (kind, number) = (placeholder.kind, placeholder.number)
        let own = number - contents.entries.earlier[kind, default: 0]
        return (number == 0 && isFull || own > 0 && own <= contents.counts[kind, default: 0])
            && (0...encodings[placeholder.ofSecret, default: [:]].count).contains(placeholder.encoding)
    }

    func knows(_ digest: Int) -> Bool { contents.indices[digest] != nil }
}

/// The forms in which one secret stands in messages.
enum SecretForms {
    /// The secret as it is and, where they differ, percent-encoded, as JSON and XML escape it, and in ISO 8859-1.
    static func all(of secret: [UInt8]) -> [[UInt8]] {
        // Most are the same in all of them.
        guard secret.contains(where: { !ValueShape.isLetterOrDigit($0) && !"-._".utf8.contains($0) }) else {
            return secret.count < SecretBook.shortestSought ? [] : [secret]
        }
        var forms = [secret]
        func add(_ form: [UInt8]) { if !forms.contains(form) { forms.append(form) } }
        for alphabet in ["0123456789ABCDEF", "0123456789abcdef"] {
            let digits = Array(alphabet.utf8)
            for spared in ["-._~", "-._~/:@!$'()*,;", "-._*"] {
                let kept = Array(spared.utf8)
                add(
                    secret.flatMap { byte -> [UInt8] in
                        if ValueShape.isLetterOrDigit(byte) || kept.contains(byte) { return [byte] }
                        if byte == 0x20, spared == "-._*" { return [UInt8(ascii: "+")] }
                        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
                    }
                )
            }
        }
        // A space of a form, beside whatever else is percent-encoded.
        add(escaped(secret, [0x20: "+"]))
        // JSON and JavaScript.
        let controls: [UInt8: String] = [0x5C: "\\\\", 0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"]
        for escapes: [UInt8: String] in [[0x22: "\\\""], [0x22: "\\\"", 0x2F: "\\/"], [0x27: "\\'"]] {
            add(escaped(secret, controls.merging(escapes) { $1 }))
        }
        add(
            escaped(
                secret,
                [0x26: "\\u0026", 0x3C: "\\u003c", 0x3D: "\\u003d", 0x3E: "\\u003e", 0x27: "\\u0027", 0x2B: "\\u002b"]
            )
        )
        // XML and HTML.
        let signs: [UInt8: String] = [0x26: "&amp;", 0x3C: "&lt;", 0x3E: "&gt;"]
        for escapes: [UInt8: String] in [
            [0x22: "&quot;", 0x27: "&#39;"], [0x22: "&quot;", 0x27: "&apos;"], [0x22: "&quot;"],
            [0x22: "&quot;", 0x3E: ">"], [:],
        ] { add(escaped(secret, signs.merging(escapes) { $1 })) }
        // Quotes that are doubled, in CSV, YAML and SQL.
        add(escaped(secret, [0x22: "\"\""]))
        add(escaped(secret, [0x27: "''"]))
        // Shells, between single quotes and between double ones.
        add(escaped(secret, [0x27: "'\\''"]))
        add(escaped(secret, [0x27: "'\"'\"'"]))
        add(escaped(secret, [0x22: "\\\"", 0x24: "\\$", 0x60: "\\`", 0x5C: "\\\\"]))
        // Quoted-printable.
        add(printed(secret))
        if let narrow = narrow(secret) { add(narrow) }
        return forms.filter { $0.count >= SecretBook.shortestSought }
    }

    /// The secret inside a longer text in hexadecimal or base64 (RFC 4648): of base64 the digits that do not change with
    /// what stands before and behind, for each of the three places where it can begin in a group.
    static func encoded(_ secret: [UInt8]) -> [[UInt8]] {
        var forms = ["0123456789ABCDEF", "0123456789abcdef"].map { alphabet in
            let digits = Array(alphabet.utf8)
            return secret.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        }
        for (before, dropped) in [(0, 0), (1, 2), (2, 3)] {
            let bytes = Array(repeating: UInt8(0), count: before) + secret
            let digits = Data(bytes).base64EncodedString().utf8.prefix(bytes.count * 8 / 6).dropFirst(dropped)
            forms.append(Array(digits))
            if digits.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }) {
                forms.append(
                    digits.map {
                        $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
                    }
                )
            }
        }
        return forms
    }

    /// A text of UTF-8 in ISO 8859-1; `nil` where that has not all of its characters, or it has ASCII only. What is cut at its
    /// ends is left out.
    private static func narrow(_ secret: [UInt8]) -> [UInt8]? {
        guard secret.contains(where: { $0 >= 0x80 }) else { return nil }
        var rest = secret.drop { $0 & 0xC0 == 0x80 }
        var narrow: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case ..<0x80: narrow.append(byte)
            case 0xC2, 0xC3:
                guard let next = rest.popFirst() else { return narrow }
                guard next & 0xC0 == 0x80 else { return nil }
                narrow.append((byte & 3) << 6 | next & 0x3F)
            default: return nil
            }
        }
        return narrow
    }

    private static func printed(_ secret: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return secret.flatMap { byte -> [UInt8] in
            guard byte == UInt8(ascii: "=") || byte >= 0x7F || byte < 0x20 else { return [byte] }
            return [UInt8(ascii: "="), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }

    private static func escaped(_ secret: [UInt8], _ escapes: [UInt8: String]) -> [UInt8] {
        secret.flatMap { byte in escapes[byte].map { Array($0.utf8) } ?? [byte] }
    }
}
