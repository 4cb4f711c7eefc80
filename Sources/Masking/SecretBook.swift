/// The found secrets with their placeholders. Use it on one thread.
package final class SecretBook {
    /// Further secrets are masked only at their names, without a number.
    package static let most = 65_536
    /// Shorter secrets are masked only at their names.
    static let shortestSought = SecretFinder.shortest

    package struct Entry: Sendable {
        package let placeholder: Placeholder
        /// Where it was found first.
        package let name: String
        package let host: String
    }

    /// The entries in their order. The same names and hosts come again and again, so each is stored once.
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
        /// The highest numbers of an earlier export; new ones continue after them.
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

    /// Shared with other threads.
    struct Contents: Sendable {
        fileprivate var entries = Entries()
        fileprivate var places: [[UInt8]: Int32] = [:]
        fileprivate var counts: [SecretKind: Int] = [:]
        fileprivate var isFull = false
        fileprivate var finder = SecretFinder()
        fileprivate var sought: Set<Int32> = []
    }

    /// In shell commands each form of a secret has its own variable, so that the same bytes are sent.
    var isForCommands = false
    private var issued: [Placeholder: Int] = [:]
    private var encodings: [Placeholder: [[UInt8]: Int]] = [:]
    private(set) var contents = Contents()
    private(set) var isClosed = false

    package var entries: Entries { contents.entries }
    package var isFull: Bool { contents.isFull }
    var longestSought: Int { contents.finder.longest }
    var soughtCount: Int { contents.sought.count }

    package init() {}

    /// A book for another thread, which adds no secrets: each number means one secret.
    init(closed contents: Contents) { (self.contents, isClosed) = (contents, true) }

    func forEachSought(in bytes: UnsafeRawBufferPointer, _ found: (Range<Int>, Int32) -> Void) {
        contents.finder.forEach(in: bytes, found)
    }

    func seekNothing() { (contents.finder, contents.sought) = (SecretFinder(), []) }

    func close() { isClosed = true }

    func add(earlier placeholder: Placeholder) {
        let known = contents.entries.earlier[placeholder.kind, default: 0]
        if !isClosed, placeholder.number > known { contents.entries.earlier[placeholder.kind] = placeholder.number }
    }

    func note(_ secret: [UInt8], _ kind: SecretKind, name: String, host: String, isSought: Bool) {
        guard !secret.isEmpty, !isClosed else { return }
        let entry: Int32
        if let known = contents.places[secret] {
            entry = known
        } else {
            guard contents.entries.count < SecretBook.most else {
                contents.isFull = true
                return
            }
            let number = contents.counts[kind, default: 0] + 1
            contents.counts[kind] = number
            entry = Int32(contents.entries.count)
            contents.places[secret] = entry
            contents.entries.append(kind, number, name: name, host: host)
        }
        guard isSought, (SecretBook.shortestSought...SecretForms.longest).contains(secret.count),
            contents.sought.insert(entry).inserted
        else { return }
        for form in SecretForms.plain(of: secret) { contents.finder.add(form, entry, standsAlone: true) }
        for form in SecretForms.base64(secret) { contents.finder.add(form, entry, standsAlone: false) }
    }

    /// Number 0 if the book has none.
    func placeholder(of secret: [UInt8], _ kind: SecretKind) -> Placeholder {
        contents.places[secret].map(placeholder(at:)) ?? Placeholder(kind: kind, number: 0)
    }

    func placeholder(at entry: Int32) -> Placeholder { contents.entries.placeholder(Int(entry)) }

    func knows(_ text: [UInt8]) -> Bool { contents.places[text] != nil }

    func place(of placeholder: Placeholder) -> Int? {
        // Numbers may change until the book is closed.
        guard isClosed else { return entries.indices.first { contents.entries.placeholder($0) == placeholder } }
        if issued.isEmpty { for place in entries.indices { issued[contents.entries.placeholder(place)] = place } }
        return issued[placeholder]
    }

    /// The placeholder for the given form of a secret.
    func placeholder(_ placeholder: Placeholder, for form: UnsafeRawBufferPointer) -> Placeholder {
        let form = Array(form)
        guard placeholder.number > 0, contents.places[form].map({ self.placeholder(at: $0) }) != placeholder else {
            return placeholder
        }
        let next = encodings[placeholder, default: [:]].count + 1
        var encoded = placeholder
        encoded.encoding = encodings[placeholder, default: [:]][form] ?? next
        encodings[placeholder, default: [:]][form] = encoded.encoding
        return encoded
    }

    func isIssued(_ placeholder: Placeholder) -> Bool {
        let (kind, number) = (placeholder.kind, placeholder.number)
        let own = number - contents.entries.earlier[kind, default: 0]
        return (number == 0 && isFull || own > 0 && own <= contents.counts[kind, default: 0])
            && (0...encodings[placeholder.ofSecret, default: [:]].count).contains(placeholder.encoding)
    }
}
