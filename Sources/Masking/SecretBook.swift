/// The found secrets with their placeholders. Use it on one thread.
package final class SecretBook {
    /// Further secrets are masked only at their names, without a number.
    package static let most = 65_536
    /// Shorter secrets are masked only at their names.
    static let shortestSought = SecretFinder.shortest

    package struct Entry: Sendable {
        package let placeholder: Placeholder
        package let name: String
        package let host: String
    }

    package struct Entries: RandomAccessCollection, Sendable {
        fileprivate var rows: [Entry] = []
        /// The highest numbers of an earlier export; new ones continue after them.
        fileprivate var earlier: [SecretKind: Int] = [:]

        package var startIndex: Int { 0 }
        package var endIndex: Int { rows.count }

        package subscript(position: Int) -> Entry {
            let row = rows[position]
            let number = row.placeholder.number + earlier[row.placeholder.kind, default: 0]
            let placeholder = Placeholder(kind: row.placeholder.kind, number: number)
            return Entry(placeholder: placeholder, name: row.name, host: row.host)
        }
    }

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
            let placeholder = Placeholder(kind: kind, number: number)
            contents.entries.rows.append(Entry(placeholder: placeholder, name: String(name.prefix(64)), host: host))
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

    func placeholder(at entry: Int32) -> Placeholder { contents.entries[Int(entry)].placeholder }

    func knows(_ text: [UInt8]) -> Bool { contents.places[text] != nil }

    func place(of placeholder: Placeholder) -> Int? {
        guard isClosed else { return entries.firstIndex { $0.placeholder == placeholder } }
        if issued.isEmpty { for (place, entry) in entries.enumerated() { issued[entry.placeholder] = place } }
        return issued[placeholder]
    }

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
