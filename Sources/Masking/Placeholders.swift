import Foundation
import HTTPModel

struct PlaceholderReading {
    let placeholder: Placeholder
    let range: Range<Int>
    /// Whether it is a ``Placeholder/markedText(host:)``.
    let isMarked: Bool
    private(set) var host = ""
    /// The number of the encoded form (`e2`) and where it ends.
    let encoding: (number: Int, end: Int)?

    private static let prefix = Array(Placeholder.prefix.utf8)
    private static let mark = Array("\(Placeholder.mark)-".utf8)
    private static let hyphen = UInt8(ascii: "-")
    private static let words = SecretKind.allCases.map { (kind: $0, text: Array($0.rawValue.utf8) + [hyphen]) }
    private static let mostDigits = 9

    init?(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        guard bytes[start...].starts(with: PlaceholderReading.prefix) else { return nil }
        var rest = bytes[(start + PlaceholderReading.prefix.count)...]
        isMarked = rest.starts(with: PlaceholderReading.mark)
        if isMarked { rest = rest.dropFirst(PlaceholderReading.mark.count) }
        guard let (kind, text) = PlaceholderReading.words.first(where: { rest.starts(with: $0.text) }),
            let (number, end) = PlaceholderReading.number(bytes, at: rest.startIndex + text.count)
        else { return nil }
        let hasEncoding = end < bytes.count && bytes[end] == UInt8(ascii: "e")
        encoding = hasEncoding ? PlaceholderReading.number(bytes, at: end + 1) : nil
        var placeholder = Placeholder(kind: kind, number: number)
        if isMarked {
            guard let encoding, encoding.end < bytes.count, bytes[encoding.end] == PlaceholderReading.hyphen else {
                return nil
            }
            let host = bytes[(encoding.end + 1)...].prefix(while: Placeholder.isOfHost)
            guard host.endIndex < bytes.count, bytes[host.endIndex] == UInt8(ascii: "_") else { return nil }
            placeholder.encoding = encoding.number
            self.host = String(decoding: host, as: UTF8.self)
            range = start..<host.endIndex + 1
        } else {
            range = start..<end
        }
        self.placeholder = placeholder
    }

    static func forEach(in bytes: UnsafeRawBufferPointer, _ body: (PlaceholderReading) -> Bool) {
        guard let base = bytes.baseAddress else { return }
        var place = 0
        while let found = memchr(base + place, CInt(hyphen), bytes.count - place) {
            let end = base.distance(to: UnsafeRawPointer(found)) + 1
            let reading = end >= prefix.count ? PlaceholderReading(bytes, at: end - prefix.count) : nil
            if let reading, !body(reading) { return }
            place = reading?.range.upperBound ?? end
        }
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, at start: Int) -> (number: Int, end: Int)? {
        let digits = bytes[start...].prefix(mostDigits).prefix { $0 &- 0x30 < 10 }
        return digits.isEmpty ? nil : (digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }, digits.endIndex)
    }
}

extension Placeholder {
    /// Whether a value is a placeholder of an earlier export.
    static func isOne(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.firstIndex(where: { !"\"'\\".utf8.contains($0) }),
            let reading = PlaceholderReading(bytes, at: start)
        else { return false }
        // Hyphens pad it to a length; quotes and brackets may be around it.
        return bytes[max(reading.encoding?.end ?? 0, reading.range.upperBound)...].allSatisfy {
            "-\"'\\)]}".utf8.contains($0)
        }
    }

    /// The unmarked placeholders, each once and in order.
    package static func all(in bytes: [UInt8], most: Int) -> [Placeholder] {
        var found: [Placeholder] = []
        bytes.withUnsafeBytes { bytes in
            PlaceholderReading.forEach(in: bytes) { reading in
                let placeholder = reading.placeholder
                if !reading.isMarked, !found.contains(placeholder) { found.append(placeholder) }
                return found.count < most
            }
        }
        return found
    }
}

extension TextMask {
    private static let highestNumber = 900_000

    /// Keeps the numbers of placeholders from an earlier export.
    func noteEarlier(in bytes: UnsafeRawBufferPointer) {
        guard isCollecting else { return }
        PlaceholderReading.forEach(in: bytes) { reading in
            let isNumbered = (1...TextMask.highestNumber).contains(reading.placeholder.number)
            if isNumbered, !reading.isMarked { add(earlier: reading.placeholder) }
            return true
        }
    }
}

extension SecretBook {
    /// How many different placeholders or variables of this book are in a text.
    package func placeholderCount(in text: String) -> Int {
        var found: Set<Placeholder> = []
        let bytes = Array(text.utf8)
        bytes.withUnsafeBytes { bytes in
            PlaceholderReading.forEach(in: bytes) { reading in
                if isIssued(reading.placeholder) { found.insert(reading.placeholder.ofSecret) }
                return true
            }
        }
        let variables = text.matches(of: /\$\{(SLUICE_[A-Z_]+?_[0-9]+)(?:_ENCODED(?:_[0-9]+)?)?:\?/).map(\.output.1)
        return found.count + Set(variables).count
    }

    /// The host where a secret was found first; empty if it has a secret or cannot be in a command.
    func host(of placeholder: Placeholder) -> String {
        guard let place = place(of: placeholder.ofSecret) else { return "" }
        let host = Array(entries[place].host.utf8)
        var isPlain = host.allSatisfy(Placeholder.isOfHost)
        host.withUnsafeBytes { forEachSought(in: $0) { _, _ in isPlain = false } }
        return isPlain ? entries[place].host : ""
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
            forEachSought(in: bytes) { marks.append(Mark($0, placeholder(at: $1))) }
            guard !marks.isEmpty else { return text }
            let shown = Mark.replaced(marks, in: bytes[...], keepsLength: false, isPlain: true, self)
            return String(decoding: shown, as: UTF8.self)
        }
    }
}
