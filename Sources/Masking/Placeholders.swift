import Expressions
import Foundation

struct PlaceholderReading {
    let placeholder: Placeholder
    let range: Range<Int>
    /// Whether it is a ``Placeholder/markedText(host:)``.
    let isMarked: Bool
    let host: String
    /// After the number of the encoded form (`e2`), if it has one.
    let end: Int

    private static let expression = try? RegularExpression(
        #"\A\#(Placeholder.prefix)(?:(\#(Placeholder.mark))-)?(\#(SecretKind.allCases.map(\.rawValue).joined(separator: "|")))"#
            + #"-([0-9a-f]{6}(?![0-9a-z])|\d{1,9})(?(1)e(\d{1,9})-([a-z0-9.-]*)_|(?:e\d{1,9})?)"#,
        isCaseSensitive: true,
        takesAnyBytes: true
    )
    /// In bytes, with a host.
    private static let longest = 512

    init?(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        guard bytes[start...].starts(with: Placeholder.prefix.utf8) else { return nil }
        let text = bytes.part(start..<min(bytes.count, start + PlaceholderReading.longest))
        var groups: [Range<Int>?] = []
        try? PlaceholderReading.expression?.forEachMatch(in: text) { match in
            groups = (0...5).map { match.group($0) }
            return false
        }
        func word(_ group: Int) -> String? { groups[group].map { String(decoding: text[$0], as: UTF8.self) } }
        guard !groups.isEmpty, let whole = groups[0], let digits = groups[3], let text = word(3),
            let kind = word(2).flatMap({ SecretKind(rawValue: $0) })
        else { return nil }
        isMarked = groups[1] != nil
        host = word(5) ?? ""
        // The label of a store that has only decimal digits is read as a number.
        let label = Int(text) == nil ? UInt32(text, radix: 16) : nil
        let encoding = word(4).flatMap { Int($0) } ?? 0
        placeholder = Placeholder(kind: kind, number: Int(text) ?? 0, encoding: encoding, label: label)
        range = start..<start + (isMarked ? whole : digits).upperBound
        end = start + whole.upperBound
    }

    static func all(in bytes: UnsafeRawBufferPointer) -> some Sequence<PlaceholderReading> {
        sequence(state: 0) { place in
            while place < bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + place, CInt(UInt8(ascii: "-")), bytes.count - place)
            {
                let end = base.distance(to: UnsafeRawPointer(found)) + 1
                let start = end - Placeholder.prefix.utf8.count
                let reading = start >= 0 ? PlaceholderReading(bytes, at: start) : nil
                place = reading?.range.upperBound ?? end
                if let reading { return reading }
            }
            return nil
        }
    }
}

extension Placeholder {
    /// Whether a value is a placeholder of an earlier export.
    static func isOne(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.firstIndex(where: { !"\"'\\".utf8.contains($0) }),
            let reading = PlaceholderReading(bytes, at: start)
        else { return false }
        // Hyphens may fill it up to the length of its secret; quotes and brackets may be around it.
        return bytes[reading.end...].allSatisfy { "-\"'\\)]}".utf8.contains($0) }
    }

    /// The unmarked placeholders, each once and in order.
    package static func all(in bytes: [UInt8], most: Int) -> [Placeholder] {
        var found: [Placeholder] = []
        bytes.withUnsafeBytes { bytes in
            for reading in PlaceholderReading.all(in: bytes) where found.count < most {
                if !reading.isMarked, !found.contains(reading.placeholder) { found.append(reading.placeholder) }
            }
        }
        return found
    }
}

extension TextMask {
    private static let highestNumber = 900_000

    /// Notes the placeholders of an earlier export: new ones get higher numbers.
    func noteEarlier(in bytes: UnsafeRawBufferPointer) {
        guard isCollecting else { return }
        for reading in PlaceholderReading.all(in: bytes) where !reading.isMarked {
            if (1...TextMask.highestNumber).contains(reading.placeholder.number) { add(earlier: reading.placeholder) }
        }
    }
}

extension SecretBook {
    /// How many different placeholders or variables of this book are in a text.
    package func placeholderCount(in text: String) -> Int {
        var found: Set<Placeholder> = []
        Array(text.utf8).withUnsafeBytes { bytes in
            for reading in PlaceholderReading.all(in: bytes) where isIssued(reading.placeholder) {
                found.insert(reading.placeholder.ofSecret)
            }
        }
        let variables = text.matches(of: /\$\{(SLUICE_[A-Z_]+?_[0-9]+)(?:_ENCODED(?:_[0-9]+)?)?:\?/).map(\.output.1)
        return found.count + Set(variables).count
    }

    /// The name or host of an entry may contain another secret, for example in the name of a cookie.
    func shown(_ entry: Entry) -> Entry {
        Entry(placeholder: entry.placeholder, name: shown(entry.name), host: shown(entry.host))
    }

    private func shown(_ text: String) -> String {
        guard text.utf8.count >= SecretBook.shortestSought else { return text }
        var copy = text
        return copy.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            var marks: [Mark] = []
            forEachSought(in: bytes) { marks.append(Mark(range: $0, placeholder: placeholder(at: $1))) }
            guard !marks.isEmpty else { return text }
            let shown = Mark.replaced(marks, in: bytes[...], keepsLength: false, isPlain: true, self)
            return String(decoding: shown, as: UTF8.self)
        }
    }
}
