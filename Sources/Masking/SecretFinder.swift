import Foundation

/// Finds known texts by their first eight bytes, their length and their content.
struct SecretFinder: Sendable {
    static let shortest = 8
    private static let filterBits = 20

    private struct Form {
        let start: Int
        let count: Int32
        let entry: Int32
        /// Whether a short match must be a whole word.
        let standsAlone: Bool
    }

    private var texts: [UInt8] = []
    private var forms: [Form] = []
    /// Indices in `forms` by the hashes of their texts.
    private var slots: [Int: Int32] = [:]
    /// The lengths of texts with the same first eight bytes, longest first.
    private var lengths: [UInt64: [Int32]] = [:]
    /// A Bloom filter of the first eight bytes.
    private var filter: [UInt64] = []
    private(set) var longest = 0

    mutating func add(_ text: [UInt8], _ entry: Int32, standsAlone: Bool) {
        guard text.count >= SecretFinder.shortest else { return }
        if filter.isEmpty { filter = Array(repeating: 0, count: 1 << (SecretFinder.filterBits - 6)) }
        text.withUnsafeBytes { text in
            let slot = slot(of: text)
            guard slots[slot] == nil else { return }
            slots[slot] = Int32(forms.count)
            forms.append(Form(start: texts.count, count: Int32(text.count), entry: entry, standsAlone: standsAlone))
            texts.append(contentsOf: text)
            longest = max(longest, text.count)
            let key = text.loadUnaligned(as: UInt64.self)
            let bit = SecretFinder.bit(key)
            filter[bit >> 6] |= 1 << UInt64(bit & 63)
            let known = lengths[key] ?? []
            let place = known.firstIndex { Int($0) <= text.count } ?? known.count
            guard known.dropFirst(place).first != Int32(text.count) else { return }
            lengths[key, default: []].insert(Int32(text.count), at: place)
        }
    }

    private func slot(of text: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: text)
        var hash = hasher.finalize()
        // Texts with the same hash take consecutive slots.
        while let form = slots[hash], !isForm(Int(form), text) { hash &+= 1 }
        return hash
    }

    private func isForm(_ index: Int, _ text: UnsafeRawBufferPointer) -> Bool {
        let form = forms[index]
        guard Int(form.count) == text.count, let other = text.baseAddress else { return false }
        return texts.withUnsafeBytes { texts in
            texts.baseAddress.map { memcmp($0 + form.start, other, text.count) == 0 } ?? false
        }
    }

    private static func bit(_ key: UInt64) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - filterBits))
    }

    /// Calls `found` with each match in order. Of overlapping matches only the first counts, and the longest there.
    func forEach(in bytes: UnsafeRawBufferPointer, _ found: (Range<Int>, Int32) -> Void) {
        guard !forms.isEmpty, bytes.count >= SecretFinder.shortest else { return }
        filter.withUnsafeBufferPointer { filter in
            var place = 0
            let last = bytes.count - SecretFinder.shortest
            while place <= last {
                let key = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                let bit = SecretFinder.bit(key)
                guard filter[bit >> 6] & (1 << UInt64(bit & 63)) != 0, let form = form(at: place, key, bytes) else {
                    place += 1
                    continue
                }
                found(place..<place + Int(form.count), form.entry)
                place += Int(form.count)
            }
        }
    }

    private func form(at place: Int, _ key: UInt64, _ bytes: UnsafeRawBufferPointer) -> Form? {
        for length in lengths[key] ?? [] {
            let count = Int(length)
            guard place + count <= bytes.count else { continue }
            let text = bytes.part(place..<place + count)
            guard let form = slots[slot(of: text)].map({ forms[Int($0)] }) else { continue }
            if form.standsAlone, count < 16, isPartOfWord(place..<place + count, bytes) { continue }
            return form
        }
        return nil
    }

    private func isPartOfWord(_ range: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> Bool {
        func joins(_ left: Int) -> Bool {
            bytes[left].isLetterOrDigit && bytes[left + 1].isLetterOrDigit
        }
        let (start, end) = (range.lowerBound, range.upperBound)
        return start > 0 && joins(start - 1) && !SecretPatterns.endsEscape(bytes, start)
            || end < bytes.count && joins(end - 1)
    }
}

enum SecretForms {
    /// In bytes. Longer secrets are masked only at their names.
    static let longest = 4_096

    static func plain(of secret: [UInt8]) -> [[UInt8]] {
        guard secret.contains(where: { !$0.isLetterOrDigit && !"-._".utf8.contains($0) }) else {
            return [secret]
        }
        var forms = [secret]
        func add(_ form: [UInt8]) { if !forms.contains(form) { forms.append(form) } }
        for digits in ["0123456789ABCDEF", "0123456789abcdef"].map({ Array($0.utf8) }) {
            for (spared, space) in [("-._~", "%20"), ("-._*", "+"), ("-._~/:@!$'()*,;", "%20")] {
                let form = secret.flatMap { byte -> [UInt8] in
                    if byte == 0x20 { return Array(space.utf8) }
                    if byte.isLetterOrDigit || spared.utf8.contains(byte) { return [byte] }
                    return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
                }
                add(form)
            }
        }
        let escapes: [UInt8: String] = [0x22: "\\\"", 0x5C: "\\\\", 0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"]
        add(escaped(secret, escapes))
        add(escaped(secret, escapes.merging([0x2F: "\\/"]) { $1 }))
        add(escaped(secret, escapes.merging([0x26: "\\u0026", 0x3C: "\\u003c", 0x3E: "\\u003e"]) { $1 }))
        return forms
    }

    private static func escaped(_ secret: [UInt8], _ escapes: [UInt8: String]) -> [UInt8] {
        secret.flatMap { byte in escapes[byte].map { Array($0.utf8) } ?? [byte] }
    }

    /// Base64 digits of the secret within a longer text (RFC 4648), for each of the three positions in a group.
    static func base64(_ secret: [UInt8]) -> [[UInt8]] {
        [(0, 0), (1, 2), (2, 3)].flatMap { before, dropped -> [[UInt8]] in
            let bytes = Array(repeating: UInt8(0), count: before) + secret
            let digits = Array(Data(bytes).base64EncodedString().utf8.prefix(bytes.count * 8 / 6).dropFirst(dropped))
            let other = digits.map {
                $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
            }
            return digits == other ? [digits] : [digits, other]
        }
    }
}
