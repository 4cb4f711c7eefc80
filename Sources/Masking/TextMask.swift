import Content
package import HTTPModel
import NIOCore

/// Finds the secrets of a session and replaces them: first every exchange is read for them, then they are replaced
/// wherever they are.
///
/// Use it on one thread.
package final class TextMask {
    /// A text that looks like a secret and is not known as one.
    package struct Suspect: Sendable, Hashable {
        package let exchange: ExchangeID
        /// The part of the exchange, for example `response body`.
        package let part: String
        /// The name of its field, member or element; empty if it has none.
        package let name: String
        package let beginning: String
    }

    /// A suspect as it was found: a secret that is found later may be in it, and then it is masked.
    struct Candidate: Sendable {
        let suspect: Suspect
        let text: [UInt8]
    }

    /// As many suspects are listed; more are only counted.
    package static let mostSuspects = 1_000
    private static let mostFieldNames = 1_024
    private static let mostSettledLines = 4_096
    private static let mostSoughtAtOnce = 4_096

    let names: SecretNames
    private let patterns: Set<MaskRules.Pattern>
    package let book: SecretBook
    /// Whether secrets are still being looked for: nothing is replaced before all are known.
    private(set) var isCollecting = true
    private var isAtOnce = false
    private var fieldNames: [String: FieldNameFacts] = [:]
    /// The hashes of lines of heads in which nothing more is found, and nothing replaced.
    private var settledLines: Set<Int> = []
    var candidates: [Candidate] = [] { didSet { settledSuspects = nil } }
    private var settledSuspects: [Suspect]?
    var candidateTexts: Set<[UInt8]> = []
    /// The secrets found for another mask, which takes them over.
    var findings: Findings?
    /// How many secrets the exchanges have; `nil` as long as only exchanges were read.
    private var ownCount: Int?
    /// How many bodies were not looked through, as they are compressed data that no coding names, or cannot be decoded.
    package internal(set) var unreadCount = 0

    // Where the bytes are from that are looked at.
    var exchange = ExchangeID(0)
    var host = ""
    var part = ""
    /// The name of the field of a head that is looked at; empty elsewhere.
    var field = ""
    /// Whether they are of a request.
    var origin = OrdinaryValue.Origin.response
    /// Whether the exchange says that an earlier export masked it: then what has the form of its placeholders is
    /// one, also a number, or one that was cut to a length.
    var wasMasked = false
    /// Whether what looks like a secret is ordinary in the field that is looked at.
    var suspectsNothing = false

    package init(_ rules: MaskRules = MaskRules()) {
        names = SecretNames(also: rules.also, except: rules.except)
        patterns = rules.patterns
        book = SecretBook()
    }

    /// A mask for another thread. While secrets are collected it adds none: what it finds is for the mask
    /// that was copied, by ``takeFindings()`` and ``add(_:)``. After that it replaces the same secrets as that mask.
    package init(_ copy: Copy) {
        (names, patterns, isCollecting) = (copy.names, copy.patterns, copy.isCollecting)
        book = SecretBook(closed: copy.secrets)
        if isCollecting { findings = Findings() }
    }

    /// What another thread needs to know of a mask.
    package struct Copy: Sendable {
        fileprivate let names: SecretNames
        fileprivate let patterns: Set<MaskRules.Pattern>
        fileprivate let isCollecting: Bool
        fileprivate let secrets: SecretBook.Contents
    }

    package var copy: Copy {
        Copy(names: names, patterns: patterns, isCollecting: isCollecting, secrets: book.contents)
    }

    /// Ends the first reading: from now on secrets are replaced, and no others get a number.
    package func endCollecting() {
        isCollecting = false
        settledLines = []
        book.close()
    }

    /// From now on texts are read that belong to no exchange: their secrets are replaced, and do not count.
    package func beginRules() { ownCount = book.entries.count }

    package var secretCount: Int { ownCount ?? book.entries.count }

    package var secrets: [SecretBook.Entry] { book.entries.prefix(secretCount).map(book.shown) }

    /// Has secrets replaced as they are found, if there is one reading only, and looked for from then on.
    func replaceAtOnce() { (isCollecting, isAtOnce) = (false, true) }

    /// Forgets the secrets that are looked for if they are many and secrets are replaced as they come; they keep their placeholders.
    func boundWhatIsSought() {
        if isAtOnce, book.soughtCount > TextMask.mostSoughtAtOnce { book.seekNothing() }
    }

    func begin(_ record: ExchangeRecord) {
        (exchange, host, wasMasked) = (record.id, record.url.host, !record.extras.masked.isEmpty)
    }

    func addUnread() { if isCollecting { unreadCount += 1 } }

    // MARK: Lines of heads

    /// What is replaced in a line of a head, by `find`; the same lines come again and again, and are searched once.
    func marks(inLine line: UnsafeRawBufferPointer, _ find: () -> [Mark]) -> [Mark] {
        // While more secrets are added, a line that had none may have one.
        guard isCollecting || book.isClosed else { return find() }
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

    /// What the name of a field says, remembered as the same names come again and again.
    func facts(ofField label: String) -> FieldNameFacts {
        if let known = fieldNames[label] { return known }
        if fieldNames.count >= TextMask.mostFieldNames { fieldNames = [:] }
        let facts = FieldNameFacts(label, names)
        fieldNames[label] = facts
        return facts
    }

    // MARK: Finding and replacing

    /// What is replaced in these bytes, in order; `named` was found in them already. If the bytes are cut, a secret that goes up to
    /// their end is not known whole, and gets no number yet.
    func marks(
        in bytes: UnsafeRawBufferPointer,
        _ syntax: ScanSyntax?,
        named: [FoundSecret] = [],
        isCut: Bool = false,
        isBinary: Bool = false
    ) -> [Mark] {
        noteEarlier(in: bytes)
        var found = named
        if let syntax { found += StructureScanner.secrets(in: bytes, syntax, names, origin) }
        found += SecretPatterns.secrets(in: bytes, isBinary ? [] : patterns)
        // The first place of a secret says its kind, however the bytes are split.
        if found.count > 1 { found.sort { $0.range.lowerBound < $1.range.lowerBound } }
        if wasMasked { found.removeAll { isEarlier($0, bytes, isBinary: isBinary) } }
        var marks: [Mark] = []
        for found in found {
            if !isCut || found.range.upperBound < bytes.count { note(found) }
            guard !isCollecting else { continue }
            marks.append(Mark(found.range, book.placeholder(of: found.secret, found.kind), isNumber: found.isNumber))
        }
        guard !isCollecting else {
            if !isBinary, !suspectsNothing { noteSuspects(in: bytes, syntax, besides: found) }
            return []
        }
        book.forEachSought(in: bytes) { range, entry in marks.append(Mark(range, book.placeholder(at: entry))) }
        guard !marks.isEmpty else { return [] }
        if syntax == .text || syntax == .multipart {
            for (index, mark) in marks.enumerated() {
                guard let number = JSONNumber.range(around: mark.range, in: bytes) else { continue }
                marks[index] = Mark(number, mark.placeholder, isNumber: true)
            }
        }
        return Mark.merged(marks)
    }

    /// A text with its secrets replaced; `nil` if it has none.
    func masked(_ text: String, _ syntax: ScanSyntax?) -> String? {
        var copy = text
        return copy.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            let marks = marks(in: bytes, syntax)
            return marks.isEmpty
                ? nil : String(decoding: Mark.replaced(marks, in: bytes[...], keepsLength: false, book), as: UTF8.self)
        }
    }

    /// Adds a secret to the book, or to the findings for another mask.
    func note(_ found: FoundSecret) {
        let isSought =
            (isCollecting || isAtOnce) && found.isSought && !found.secret.withUnsafeBytes(OrdinaryValue.isCommonWord)
        guard findings == nil else {
            findings?.add(found, host, isSought)
            return
        }
        book.note(found.secret, found.kind, name: found.name, host: host, isSought: isSought)
    }

    // MARK: Suspects

    /// The texts that look like a secret and are none that was found.
    package var suspects: [Suspect] {
        if let settledSuspects { return settledSuspects }
        let suspects = candidates.filter { candidate in
            !book.knows(candidate.text)
                && candidate.text.withUnsafeBytes { isCollecting || marks(in: $0, .text).isEmpty }
        }
        .map(\.suspect)
        if !isCollecting, book.isClosed { settledSuspects = suspects }
        return suspects
    }

    private func noteSuspects(in bytes: UnsafeRawBufferPointer, _ syntax: ScanSyntax?, besides found: [FoundSecret]) {
        guard candidates.count < TextMask.mostSuspects else { return }
        SuspectScanner.forEach(in: bytes, names) { range, name in
            guard candidates.count < TextMask.mostSuspects, !found.contains(where: { $0.range.overlaps(range) }),
                candidateTexts.insert(Array(bytes[range])).inserted
            else { return }
            let suspect = Suspect(
                exchange: exchange,
                part: part,
                name: name ?? field,
                beginning: String(decoding: bytes[range.prefix(6)], as: UTF8.self)
            )
            candidates.append(Candidate(suspect: suspect, text: Array(bytes[range])))
        }
    }
}
