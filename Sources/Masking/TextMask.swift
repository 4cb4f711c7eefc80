package import HTTPModel

/// Finds the secrets of all exchanges, then replaces them wherever they are. Use it on one thread.
package final class TextMask {
    package struct Suspect: Sendable, Hashable {
        package let exchange: ExchangeID
        /// For example `response body`.
        package let part: String
        /// The field, member or element; may be empty.
        package let name: String
        package let beginning: String
    }

    /// Further suspects are not kept.
    package static let mostSuspects = 1_000
    private static let mostFieldNames = 1_024
    private static let mostSettledLines = 4_096
    private static let mostSoughtAtOnce = 4_096

    let names: SecretNames
    private let patterns: Set<MaskRules.Pattern>
    package let book: SecretBook
    /// Secrets that the rules name.
    private let given: [String]
    /// Nothing is replaced before all secrets are known.
    private(set) var isCollecting = true
    private var isAtOnce = false
    private var fieldNames: [String: FieldNameFacts] = [:]
    /// Hashes of header lines without secrets, as long as so many secrets are sought.
    private var settledLines: Set<Int> = []
    private var settledCount = 0
    /// Suspects before the last check, because a later secret may be in their text.
    var candidates: [(suspect: Suspect, text: [UInt8])] = [] { didSet { settledSuspects = nil } }
    private var settledSuspects: [Suspect]?
    var candidateTexts: Set<[UInt8]> = []
    var findings: Findings?
    /// The number of secrets before the rules were read.
    private var ownCount: Int?
    /// Bodies that were not searched: compressed data, or not decodable.
    package internal(set) var unreadCount = 0

    var exchange = ExchangeID(0)
    var host = ""
    var part = ""
    /// Empty outside of header fields.
    var field = ""
    var origin = OrdinaryValue.Origin.response
    var suspectsNothing = false

    package convenience init(_ rules: MaskRules = MaskRules()) {
        self.init(rules: rules)
        seekGiven()
    }

    private init(rules: MaskRules) {
        names = SecretNames(also: rules.also, except: rules.except)
        patterns = rules.patterns
        given = rules.secrets
        book = SecretBook()
    }

    private func seekGiven() {
        for secret in given { book.note(Array(secret.utf8), .named, name: "vars", host: "", isSought: true) }
    }

    /// For a store: replaces secrets as soon as they are found, and gives them labels.
    package convenience init(_ rules: MaskRules, label: @escaping ([UInt8]) -> UInt32) {
        self.init(rules: rules)
        book.label = label
        seekGiven()
        replaceAtOnce()
    }

    /// A mask for another thread: it collects findings for ``add(_:)``, then replaces the same secrets.
    package init(_ copy: Copy) {
        (names, patterns, isCollecting, given) = (copy.names, copy.patterns, copy.isCollecting, [])
        book = SecretBook(closed: copy.secrets)
        if isCollecting { findings = Findings() }
    }

    package struct Copy: Sendable {
        fileprivate let names: SecretNames
        fileprivate let patterns: Set<MaskRules.Pattern>
        fileprivate let isCollecting: Bool
        fileprivate let secrets: SecretBook.Contents
    }

    package var copy: Copy {
        Copy(names: names, patterns: patterns, isCollecting: isCollecting, secrets: book.contents)
    }

    package func endCollecting() {
        isCollecting = false
        settledLines = []
        book.close()
    }

    /// Secrets in the texts after this call belong to no exchange and do not count.
    package func beginRules() { ownCount = book.entries.count }

    package var secretCount: Int { ownCount ?? book.entries.count }

    package var secrets: [SecretBook.Entry] { book.entries.prefix(secretCount).map(book.shown) }

    /// Replaces secrets as soon as they are found, in a single pass.
    func replaceAtOnce() { (isCollecting, isAtOnce) = (false, true) }

    /// Limits memory in a single pass; known secrets keep their placeholders.
    package func boundWhatIsSought() {
        guard isAtOnce, book.soughtCount > TextMask.mostSoughtAtOnce + given.count else { return }
        book.seekNothing()
        settledLines = []
        seekGiven()
    }

    func begin(_ record: ExchangeRecord) { (exchange, host) = (record.id, record.url.host) }

    func addUnread() { if isCollecting { unreadCount += 1 } }

    /// Header lines often repeat: those without secrets are searched once, and again when another secret is known.
    func marks(inLine line: UnsafeRawBufferPointer, _ find: () -> [Mark]) -> [Mark] {
        if !isCollecting, settledCount != book.soughtCount { (settledLines, settledCount) = ([], book.soughtCount) }
        var hasher = Hasher()
        hasher.combine(origin == .request)
        hasher.combine(bytes: line)
        let hash = hasher.finalize()
        if settledLines.contains(hash) { return [] }
        let marks = find()
        guard marks.isEmpty else { return marks }
        if settledLines.count >= TextMask.mostSettledLines { settledLines = [] }
        settledLines.insert(hash)
        return []
    }

    func facts(ofField label: String) -> FieldNameFacts {
        if let known = fieldNames[label] { return known }
        if fieldNames.count >= TextMask.mostFieldNames { fieldNames = [:] }
        let facts = FieldNameFacts(label, names)
        fieldNames[label] = facts
        return facts
    }

    /// The replacements in order; `named` was found before. A secret at the end of cut bytes may be longer, and gets no
    /// number yet.
    func marks(
        in bytes: UnsafeRawBufferPointer,
        _ syntax: ScanSyntax?,
        named: [FoundSecret] = [],
        isCut: Bool = false,
        isBinary: Bool = false
    ) -> [Mark] {
        noteEarlier(in: bytes)
        var found = named
        if let syntax { found += StructureScanner(names: names, origin: origin, bytes: bytes).secrets(syntax) }
        found += SecretPatterns.secrets(in: bytes, isBinary ? [] : patterns)
        // The first occurrence decides the kind of a secret, however the bytes are divided.
        if found.count > 1 { found.sort { $0.range.lowerBound < $1.range.lowerBound } }
        for found in found where !isCut || found.range.upperBound < bytes.count { note(found) }
        guard !isCollecting else {
            if !isBinary, !suspectsNothing { noteSuspects(in: bytes, besides: found) }
            return []
        }
        var marks = found.map {
            Mark(range: $0.range, placeholder: book.placeholder(of: $0.secret, $0.kind), isNumber: $0.isNumber)
        }
        book.forEachSought(in: bytes) { range, entry in
            marks.append(Mark(range: range, placeholder: book.placeholder(at: entry)))
        }
        guard !marks.isEmpty else { return [] }
        if syntax == .text || syntax == .multipart {
            for (index, mark) in marks.enumerated() {
                guard let number = JSONNumber.range(around: mark.range, in: bytes) else { continue }
                marks[index] = Mark(range: number, placeholder: mark.placeholder, isNumber: true)
            }
        }
        return Mark.merged(marks)
    }

    func masked(_ text: String, _ syntax: ScanSyntax?) -> String? {
        var copy = text
        return copy.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            let marks = marks(in: bytes, syntax)
            guard !marks.isEmpty else { return nil }
            return String(decoding: Mark.replaced(marks, in: bytes[...], keepsLength: false, book), as: UTF8.self)
        }
    }

    func note(_ found: FoundSecret) {
        let isSought =
            (isCollecting || isAtOnce) && found.isSought && !found.secret.withUnsafeBytes(OrdinaryValue.isCommonWord)
        guard findings == nil else {
            findings?.add(found, host, isSought)
            return
        }
        book.note(found.secret, found.kind, name: found.name, host: host, isSought: isSought)
    }

    package var suspects: [Suspect] {
        if let settledSuspects { return settledSuspects }
        let suspects = candidates.filter { _, text in
            !book.knows(text) && (isCollecting || text.withUnsafeBytes { marks(in: $0, .text).isEmpty })
        }
        .map(\.suspect)
        if !isCollecting, book.isClosed { settledSuspects = suspects }
        return suspects
    }

    private func noteSuspects(in bytes: UnsafeRawBufferPointer, besides found: [FoundSecret]) {
        guard candidates.count < TextMask.mostSuspects else { return }
        SuspectScanner(bytes: bytes, names: names).scan { range, name in
            guard !found.contains(where: { $0.range.overlaps(range) }) else { return }
            let beginning = String(decoding: bytes[range.prefix(6)], as: UTF8.self)
            let suspect = Suspect(exchange: exchange, part: part, name: name ?? field, beginning: beginning)
            add(suspect, Array(bytes[range]))
        }
    }

    func add(_ suspect: Suspect, _ text: [UInt8]) {
        guard candidates.count < TextMask.mostSuspects, candidateTexts.insert(text).inserted else { return }
        candidates.append((suspect, text))
    }
}
