import Content
package import HTTPModel
import NIOCore

/// Finds the secrets of a session and replaces them: first every exchange is read for them, then they are replaced
/// wherever they stand.
///
/// Use it on one thread.
package final class TextMask {
    /// A text that looks like a secret and is not known as one.
    package struct Suspect: Sendable, Hashable {
        package let exchange: ExchangeID
        /// The part of the exchange, for example `response body`.
        package let part: String
        /// The name of the field, member or element that has it; empty where there is none.
        package let name: String
        /// Its first characters.
        package let beginning: String
    }

    /// A suspect as it was found: a secret of another exchange may be in it, and then it is masked.
    struct Candidate: Sendable {
        let suspect: Suspect
        let digest: Int
        let text: [UInt8]
    }

    /// As many suspects are listed; more are only counted.
    package static let mostSuspects = 1_000
    private static let deepestBase64 = 2
    private static let mostFieldNames = 1_024
    private static let mostSettledLines = 4_096

    let names: SecretNames
    private let patterns: Set<MaskRules.Pattern>
    package let book: SecretBook
    /// Whether secrets are still being looked for: nothing is replaced before all are known.
    private(set) var isCollecting = true
    private var isAtOnce = false
    private var fieldNames: [String: FieldNameFacts] = [:]
    /// The digests of lines of heads in which nothing more is to be found, and nothing to be replaced.
    private var settledLines: Set<Int> = []
    var candidates: [Candidate] = [] { didSet { settledSuspects = nil } }
    private var settledSuspects: [Suspect]?
    var candidateDigests: Set<Int> = []
    /// How many compressed texts in base64 are being looked through, one inside the other.
    private var packedDepth = 0
    /// What was found, where it is for another mask.
    var findings: Findings?
    /// The digests of what was found lately for another mask, which does nothing with it again.
    private var known = RecentDigests()
    /// What stands in the exchanges that are exported, where others are read for secrets, too.
    private var occurrences: Occurrences?
    /// Whether the exchanges that are read now are not exported.
    private(set) var isAtOthers = false
    /// How many secrets were found in what is exported; `nil` where no other exchanges were read.
    private var ownCount: Int?
    /// The secrets that only other exchanges show, and that stand in what is exported.
    private var foundAgain: Set<Int32> = []
    /// Of how many other exchanges the bodies were not read for secrets.
    package internal(set) var unreadCount = 0

    // Where the bytes are from that are looked at.
    var exchange = ExchangeID(0)
    var host = ""
    var part = ""
    /// The name of the field of a head that is looked at; empty elsewhere.
    var field = ""
    /// Whether the exchange that is looked at says that an earlier export masked it: then what has the form of its placeholders is
    /// one, also a number, or one that was cut to a length.
    var wasMasked = false
    /// Whether what looks like a secret is ordinary in the field that is looked at.
    var suspectsNothing = false

    package init(_ rules: MaskRules = MaskRules()) {
        names = SecretNames(also: rules.also, except: rules.except)
        patterns = rules.patterns
        book = SecretBook()
    }

    /// A mask for another thread. While secrets are collected it knows none and adds none: what it finds is for the mask
    /// that was copied, by ``takeFindings()`` and ``add(_:)``. After that it replaces the same secrets as that mask.
    package init(_ copy: Copy) {
        (names, patterns, isCollecting) = (copy.names, copy.patterns, copy.isCollecting)
        (occurrences, isAtOthers, ownCount) = (copy.occurrences, copy.isAtOthers, copy.ownCount)
        book = SecretBook(closed: copy.secrets)
        if isCollecting { findings = Findings() }
    }

    /// What another thread needs to know of a mask.
    package struct Copy: Sendable {
        fileprivate let names: SecretNames
        fileprivate let patterns: Set<MaskRules.Pattern>
        fileprivate let isCollecting: Bool
        fileprivate let secrets: SecretBook.Contents
        fileprivate let occurrences: Occurrences?
        fileprivate let isAtOthers: Bool
        fileprivate let ownCount: Int?
    }

    package var copy: Copy {
        Copy(
            names: names,
            patterns: patterns,
            isCollecting: isCollecting,
            secrets: book.contents,
            occurrences: occurrences,
            isAtOthers: isAtOthers,
            ownCount: ownCount
        )
    }

    /// Says that other exchanges will be read than those that are exported, which come first.
    package func expectOthers() { occurrences = Occurrences() }

    /// Says that a text is masked together with what is exported: the rules of the session in a bundle.
    package func expect(_ text: String) {
        var text = text
        text.withUTF8 { remember(UnsafeRawBufferPointer($0)) }
    }

    /// Says that what is exported was read: of the exchanges that are read from now on only those secrets count that may
    /// stand in it.
    package func beginOthers() {
        guard !isAtOthers else { return }
        isAtOthers = true
        ownCount = book.entries.count
        settledLines = []
    }

    /// Counts other exchanges whose bodies are not read for secrets.
    package func add(unread count: Int) { unreadCount += count }

    /// Says that every exchange was read: from now on secrets are replaced, and no others get a number.
    package func endCollecting() {
        (isCollecting, isAtOthers, occurrences) = (false, false, nil)
        settledLines = []
        book.close()
    }

    /// How many ``secrets`` there are.
    package var secretCount: Int { ownCount.map { $0 + foundAgain.count } ?? book.entries.count }

    /// The secrets of what is exported, and those of other exchanges that stood in what was masked so far.
    package var secrets: [SecretBook.Entry] {
        let entries = book.entries
        guard let ownCount else { return entries.map(book.shown) }
        return entries[..<ownCount].map(book.shown) + foundAgain.sorted().map { book.shown(entries[Int($0)]) }
    }

    /// Which secrets of other exchanges were found again since this was asked last.
    func takeFoundAgain() -> Set<Int32> {
        defer { foundAgain = [] }
        return foundAgain
    }

    func add(foundAgain found: Set<Int32>) { foundAgain.formUnion(found) }

    /// Has secrets replaced as they are found, where there is one reading only, and looked for from then on.
    func replaceAtOnce() { (isCollecting, isAtOnce) = (false, true) }

    /// Forgets what is looked for where it is much and secrets are replaced as they come; they keep their placeholders.
    func boundWhatIsSought() {
        if isAtOnce, book.soughtCount > TextMask.mostSoughtAtOnce { book.seekNothing() }
    }

    private static let mostSoughtAtOnce = 4_096

    /// What looks like a secret and is none that was found. Once all secrets are known, it is found out once.
    package var suspects: [Suspect] {
        if let settledSuspects { return settledSuspects }
        let suspects = findSuspects()
        if !isCollecting, book.isClosed { settledSuspects = suspects }
        return suspects
    }

    private func findSuspects() -> [Suspect] {
        candidates.filter { candidate in
            !book.knows(candidate.digest)
                && candidate.text.withUnsafeBytes { isCollecting || marks(in: $0, .text).isEmpty }
        }.map(\.suspect)
    }

    /// What is replaced in a line of a head, by `find`; the same lines come again and again, and are searched once.
    func marks(inLine line: UnsafeRawBufferPointer, _ find: () -> [Mark]) -> [Mark] {
        // While more secrets are added, a line that had none may have one.
        guard isCollecting || book.isClosed else { return find() }
        let digest = NeedleTable.digest(line)
        if settledLines.contains(digest) { return [] }
        let marks = find()
        guard marks.isEmpty else { return marks }
        if settledLines.count >= TextMask.mostSettledLines { settledLines = [] }
        settledLines.insert(digest)
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

    /// What is replaced in these bytes, in order.
    ///
    /// Where the bytes are cut, a secret that goes up to their end is not known whole, and has no number yet; runs up to
    /// a length of `cutRun` wait there for their end.
    func marks(
        in bytes: UnsafeRawBufferPointer,
        _ syntax: ScanSyntax?,
        isContinued: Bool = false,
        cutRun: Int = 0
    ) -> [Mark] {
        remember(bytes)
        noteEarlier(in: bytes)
        var marks: [Mark] = []
        for found in secrets(in: bytes, syntax, depth: 0, isContinued: isContinued, cutRun: cutRun) {
            if cutRun == 0 || found.range.upperBound < bytes.count { note(found) }
            guard !isCollecting else { continue }
            marks.append(Mark(found.range, placeholder(of: found), isNumber: found.isNumber))
        }
        guard !isCollecting else { return [] }
        let mayHaveNumbers = syntax?.mayHaveNumbers == true
        forEachKnown(in: bytes) { range, placeholder, isList in
            let isNumber = isList && mayHaveNumbers && JSONNumber.isInList(range, in: bytes)
            marks.append(Mark(range, placeholder, isNumber: isNumber))
        }
        guard !marks.isEmpty else { return [] }
        if mayHaveNumbers {
            for (index, mark) in marks.enumerated() {
                guard let number = JSONNumber.range(around: mark.range, in: bytes) else { continue }
                marks[index] = Mark(number, mark.placeholder, isNumber: true)
            }
        }
        return Mark.merged(marks)
    }

    /// Calls `body` with each place where a secret of the session stands, as it is, with escapes or spelled otherwise; and whether it
    /// stands there as a list of numbers.
    private func forEachKnown(in bytes: UnsafeRawBufferPointer, _ body: (Range<Int>, Placeholder, Bool) -> Void) {
        guard !book.needles.isEmpty else { return }
        func found(_ entry: Int32, _ range: Range<Int>, _ isList: Bool = false) {
            if let ownCount, entry >= ownCount { foundAgain.insert(entry) }
            body(range, book.placeholder(at: entry), isList)
        }
        func look(in text: UnsafeRawBufferPointer, _ source: (Range<Int>) -> Range<Int>) {
            book.forEachSought(in: text) { range, entry in found(entry, source(range)) }
            RespelledText.forEach(of: text) { respelled in
                respelled.bytes.withUnsafeBytes { plain in
                    book.forEachSought(in: plain) { range, entry in
                        found(entry, source(respelled.source(of: range)), respelled.isDecimal)
                    }
                }
            }
        }
        look(in: bytes) { $0 }
        UnescapedText.forEach(of: bytes) { text in text.bytes.withUnsafeBytes { look(in: $0) { text.source(of: $0) } } }
    }

    /// Remembers what stands in the bytes of an exchange that is exported, as ``forEachKnown(in:_:)`` will look at them.
    private func remember(_ bytes: UnsafeRawBufferPointer) {
        guard let occurrences, isCollecting, !isAtOthers else { return }
        func add(_ text: UnsafeRawBufferPointer) {
            occurrences.add(text)
            RespelledText.forEach(of: text) { $0.bytes.withUnsafeBytes { occurrences.add($0) } }
        }
        add(bytes)
        UnescapedText.forEach(of: bytes) { $0.bytes.withUnsafeBytes { add($0) } }
    }

    /// The placeholder of a secret, and of a text in base64 that of the secret inside.
    private func placeholder(of found: FoundSecret) -> Placeholder {
        let own = book.placeholder(of: found.secret, found.kind)
        return own.number > 0 ? own : placeholder(insideOf: found.secret, depth: 0) ?? own
    }

    private func placeholder(insideOf base64: [UInt8], depth: Int) -> Placeholder? {
        // Where the padding is wrong, or a digit is left over, the digits before it were read.
        let digits = base64.prefix { $0 != UInt8(ascii: "=") }
        guard depth < TextMask.deepestBase64,
            let content = Base64Content(base64) ?? Base64Content(digits.dropLast(digits.count % 4 == 1 ? 1 : 0))
        else { return nil }
        return content.unpacked.flatMap { placeholder(in: $0, depth: depth) }
            ?? placeholder(in: content.bytes, depth: depth)
    }

    private func placeholder(in bytes: [UInt8], depth: Int) -> Placeholder? {
        bytes.withUnsafeBytes { bytes in
            for found in secrets(in: bytes, .text, depth: depth + 1) {
                let own = book.placeholder(of: found.secret, found.kind)
                if own.number > 0 { return own }
                if let inside = placeholder(insideOf: found.secret, depth: depth + 1) { return inside }
            }
            var first: Placeholder?
            forEachKnown(in: bytes) { _, placeholder, _ in first = first ?? placeholder }
            return first
        }
    }

    /// Takes a secret in, and what is one together with it (``HeldSecrets``).
    func note(_ found: FoundSecret) {
        let isSought =
            (isCollecting || isAtOnce) && found.isSought && !found.secret.withUnsafeBytes(ValueShape.isCommonWord)
        guard !isAtOthers || isSought && found.secret.count >= SecretBook.shortestSought else { return }
        guard isSought else { return note(found, isSought: false) }
        let held = HeldSecrets(found)
        var found = found
        if found.other == nil { found.other = held.reading }
        note(found, isSought: true)
        for part in held.parts where !part.secret.withUnsafeBytes(ValueShape.isCommonWord) {
            guard !isAtOthers || part.secret.count >= SecretBook.shortestSought else { continue }
            note(part, isSought: true)
        }
    }

    private func note(_ found: FoundSecret, isSought: Bool) {
        guard findings != nil else {
            if isAtOthers, !mayStand(found) { return }
            return book.note(
                found.secret,
                found.kind,
                name: found.name,
                host: host,
                isSought: isSought,
                other: found.other
            )
        }
        let digest = found.other.map { NeedleTable.digest(found.secret + [0] + $0) } ?? NeedleTable.digest(found.secret)
        guard known.insert(isSought ? digest : ~digest) else { return }
        if isAtOthers, !mayStand(found) { return }
        findings?.add(found, host, isSought)
    }

    /// Whether a secret of another exchange may stand in what is exported.
    private func mayStand(_ found: FoundSecret) -> Bool {
        guard let occurrences else { return true }
        return occurrences.mayHold(found.secret) || found.other.map { occurrences.mayHold($0) } ?? false
    }

    private func secrets(
        in bytes: UnsafeRawBufferPointer,
        _ syntax: ScanSyntax?,
        depth: Int,
        isContinued: Bool = false,
        cutRun: Int = 0
    ) -> [FoundSecret] {
        var suspected: [Range<Int>] = []
        let look = QuickLook(bytes)
        var named: (found: [FoundSecret], exempt: [Range<Int>]) = ([], [])
        if let syntax, look.hasSeparator {
            named =
                syntax == .binary
                ? (FieldScanner.secretsOfTexts(in: bytes, names), []) : FieldScanner.secrets(in: bytes, syntax, names)
            if wasMasked { named.found.removeAll { isEarlier($0, bytes, syntax) } }
        }
        let isText = syntax != nil && syntax != .binary
        guard look.hasRun || look.mayHaveKey || isText && !patterns.isEmpty else { return named.found }
        var runs = RunScanner(
            bytes,
            patterns: isText ? patterns : [],
            isContinued: isContinued,
            cutRun: cutRun,
            holdsSecret: { [self] bytes, isText in
                depth < TextMask.deepestBase64
                    && bytes.withUnsafeBytes {
                        isText ? holdsSecret($0, depth: depth + 1) : holdsKnown($0) || holdsPacked($0)
                    }
            },
            suspect: { range in suspected.append(range) }
        )
        runs.scan()
        let found = named.found + runs.found
        guard isCollecting, depth == 0, isText, !suspectsNothing, let syntax else { return found }
        for range in suspected
        where !found.contains(where: { $0.range.overlaps(range) }) && !named.exempt.contains(where: range.overlaps) {
            suspect(bytes, range, syntax)
        }
        return found
    }

    /// Whether a text that was in base64 has secrets in it, which are then known.
    private func holdsSecret(_ bytes: UnsafeRawBufferPointer, depth: Int) -> Bool {
        let found = secrets(in: bytes, .text, depth: depth)
        for found in found { note(found) }
        return !found.isEmpty || holdsKnown(bytes)
    }

    private func holdsKnown(_ bytes: UnsafeRawBufferPointer) -> Bool {
        remember(bytes)
        guard !isCollecting else { return false }
        var isHit = false
        forEachKnown(in: bytes) { _, _, _ in isHit = true }
        return isHit
    }

    /// Whether bytes that were in base64 are compressed, and have secrets in them or too much to look through.
    private func holdsPacked(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard packedDepth < TextMask.deepestBase64,
            let packing = PackedBody.packing(of: bytes, nil, FieldSection())
        else { return false }
        packedDepth += 1
        defer { packedDepth -= 1 }
        let limit = bytes.count * Base64Content.mostGrowth
        return PackedBody.replacement(of: bytes, packing, self, unpackedLimit: limit) != nil
    }

    private func suspect(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ syntax: ScanSyntax) {
        guard isCollecting, !isAtOthers, candidates.count < TextMask.mostSuspects else { return }
        let digest = NeedleTable.digest(UnsafeRawBufferPointer(rebasing: bytes[range]))
        guard candidateDigests.insert(digest).inserted else { return }
        let suspect = Suspect(
            exchange: exchange,
            part: part,
            name: FieldScanner.name(of: range, in: bytes, syntax, names) ?? field,
            beginning: String(decoding: bytes[range.prefix(6)], as: UTF8.self)
        )
        candidates.append(Candidate(suspect: suspect, digest: digest, text: Array(bytes[range])))
    }
}
