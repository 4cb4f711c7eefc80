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

    struct Contents: Sendable {
        fileprivate var rows: [Entry] = []
        /// The highest numbers of an earlier export; new ones continue after them.
        fileprivate var earlier: [SecretKind: Int] = [:]
        fileprivate var places: [[UInt8]: Int32] = [:]
        fileprivate var counts: [SecretKind: Int] = [:]
        fileprivate var isFull = false
        fileprivate var finder = SecretFinder()
        fileprivate var sought: Set<Int32> = []
    }

    /// Gives placeholders of a store their digits.
    var label: (([UInt8]) -> UInt32)?
    /// In shell commands each form of a secret has its own variable, so that the same bytes are sent.
    var isForCommands = false
    /// Read once the book is closed.
    private lazy var hosts = Dictionary(entries.map { ($0.placeholder, $0.host) }) { host, _ in host }
    private var encodings: [Placeholder: [[UInt8]: Int]] = [:]
    private(set) var contents = Contents()
    private(set) var isClosed = false

    package var entries: [Entry] {
        contents.rows.map { Entry(placeholder: placeholder(of: $0), name: $0.name, host: $0.host) }
    }
    package var isFull: Bool { contents.isFull }
    var longestSought: Int { contents.finder.longest }
    var soughtCount: Int { contents.sought.count }

    package init() {}

    /// A copy for another thread. It adds no secrets, so that each number means one secret.
    init(closed contents: Contents) { (self.contents, isClosed) = (contents, true) }

    func forEachSought(in bytes: UnsafeRawBufferPointer, _ found: (Range<Int>, Int32) -> Void) {
        contents.finder.forEach(in: bytes, found)
    }

    func seekNothing() { (contents.finder, contents.sought) = (SecretFinder(), []) }

    func close() { isClosed = true }

    func add(earlier placeholder: Placeholder) {
        guard !isClosed else { return }
        contents.earlier[placeholder.kind] = max(placeholder.number, contents.earlier[placeholder.kind, default: 0])
    }

    func note(_ secret: [UInt8], _ kind: SecretKind, name: String, host: String, isSought: Bool) {
        guard !secret.isEmpty, !isClosed else { return }
        let entry: Int32
        if let known = contents.places[secret] {
            entry = known
        } else {
            guard contents.rows.count < SecretBook.most else {
                contents.isFull = true
                return
            }
            let number = contents.counts[kind, default: 0] + 1
            contents.counts[kind] = number
            entry = Int32(contents.rows.count)
            contents.places[secret] = entry
            let placeholder = Placeholder(kind: kind, number: number, label: label?(secret))
            contents.rows.append(Entry(placeholder: placeholder, name: String(name.prefix(64)), host: host))
        }
        guard isSought, (SecretBook.shortestSought...SecretForms.longest).contains(secret.count),
            contents.sought.insert(entry).inserted
        else { return }
        for form in SecretForms.plain(of: secret) { contents.finder.add(form, entry, standsAlone: true) }
        for form in SecretForms.base64(secret) { contents.finder.add(form, entry, standsAlone: false) }
    }

    /// With number 0 if the book does not have the secret.
    func placeholder(of secret: [UInt8], _ kind: SecretKind) -> Placeholder {
        contents.places[secret].map(placeholder(at:)) ?? Placeholder(kind: kind, number: 0, label: label?(secret))
    }

    func placeholder(at entry: Int32) -> Placeholder { placeholder(of: contents.rows[Int(entry)]) }

    private func placeholder(of row: Entry) -> Placeholder {
        let (kind, label) = (row.placeholder.kind, row.placeholder.label)
        let number = row.placeholder.number + contents.earlier[kind, default: 0]
        return Placeholder(kind: kind, number: number, label: label)
    }

    func knows(_ text: [UInt8]) -> Bool { contents.places[text] != nil }

    /// The host where a secret was found first; empty if it has a secret or cannot be in a command.
    func host(of placeholder: Placeholder) -> String {
        let host = hosts[placeholder.ofSecret] ?? ""
        let bytes = Array(host.utf8)
        var isPlain = bytes.allSatisfy(Placeholder.isOfHost)
        bytes.withUnsafeBytes { forEachSought(in: $0) { _, _ in isPlain = false } }
        return isPlain ? host : ""
    }

    func placeholder(_ placeholder: Placeholder, for form: UnsafeRawBufferPointer) -> Placeholder {
        let form = Array(form)
        guard placeholder.number > 0, contents.places[form].map({ self.placeholder(at: $0) }) != placeholder else {
            return placeholder
        }
        let known = encodings[placeholder, default: [:]]
        let encoding = known[form] ?? known.count + 1
        encodings[placeholder, default: [:]][form] = encoding
        return Placeholder(
            kind: placeholder.kind,
            number: placeholder.number,
            encoding: encoding,
            label: placeholder.label
        )
    }

    func isIssued(_ placeholder: Placeholder) -> Bool {
        let (kind, number) = (placeholder.kind, placeholder.number)
        let own = number - contents.earlier[kind, default: 0]
        return (number == 0 && isFull || own > 0 && own <= contents.counts[kind, default: 0])
            && (0...encodings[placeholder.ofSecret, default: [:]].count).contains(placeholder.encoding)
    }
}
