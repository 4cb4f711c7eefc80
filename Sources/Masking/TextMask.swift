package import HTTPModel

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
        /// Its first characters.
        package let beginning: String
    }

    /// As many suspects are listed; more are only counted.
    package static let mostSuspects = 1_000
    private static let deepestBase64 = 2

    let names: SecretNames
    private let patterns: Set<MaskRules.Pattern>
    package let book = SecretBook()
    /// Whether secrets are still being looked for: nothing is replaced before all are known.
    private(set) var isCollecting = true
    private var candidates: [(suspect: Suspect, digest: Int)] = []
    private var candidateDigests: Set<Int> = []

    // Where the bytes are from that are looked at.
    var exchange = ExchangeID(0)
    var host = ""
    var part = ""

    package init(_ rules: MaskRules = MaskRules()) {
        names = SecretNames(also: rules.also, except: rules.except)
        patterns = rules.patterns
    }

    /// Says that every exchange was read.
    package func endCollecting() { isCollecting = false }

    /// What looks like a secret and is none that was found.
    package var suspects: [Suspect] {
        candidates.filter { !book.knows($0.digest) }.map(\.suspect)
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
        var marks: [Mark] = []
        for found in secrets(in: bytes, syntax, depth: 0, isContinued: isContinued, cutRun: cutRun) {
            if cutRun == 0 || found.range.upperBound < bytes.count { note(found) }
            guard !isCollecting else { continue }
            marks.append(Mark(found.range, book.placeholder(of: found.secret, found.kind), isNumber: found.isNumber))
        }
        guard !isCollecting else { return [] }
        book.needles.forEach(in: bytes) { range, entry in
            marks.append(Mark(range, book.entries[Int(entry)].placeholder))
        }
        return Mark.merged(marks)
    }

    func note(_ found: FoundSecret) {
        book.note(found.secret, found.kind, name: found.name, host: host, isSought: isCollecting && found.isSought)
    }

    private func secrets(
        in bytes: UnsafeRawBufferPointer,
        _ syntax: ScanSyntax?,
        depth: Int,
        isContinued: Bool = false,
        cutRun: Int = 0
    ) -> [FoundSecret] {
        var suspected: [Range<Int>] = []
        let named = syntax.map { FieldScanner.secrets(in: bytes, $0, names) } ?? (found: [], exempt: [])
        var runs = RunScanner(
            bytes,
            patterns: syntax == nil ? [] : patterns,
            isContinued: isContinued,
            cutRun: cutRun,
            holdsSecret: { [self] bytes, isText in
                depth < TextMask.deepestBase64
                    && bytes.withUnsafeBytes { isText ? holdsSecret($0, depth: depth + 1) : holdsKnown($0) }
            },
            suspect: { range in suspected.append(range) }
        )
        runs.scan()
        let found = named.found + runs.found
        guard isCollecting, depth == 0, syntax != nil else { return found }
        for range in suspected
        where !found.contains(where: { $0.range.overlaps(range) }) && !named.exempt.contains(where: range.overlaps) {
            suspect(bytes, range)
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
        guard !isCollecting else { return false }
        var isHit = false
        book.needles.forEach(in: bytes) { _, _ in isHit = true }
        return isHit
    }

    private func suspect(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        guard isCollecting, candidates.count < TextMask.mostSuspects else { return }
        let digest = NeedleTable.digest(UnsafeRawBufferPointer(rebasing: bytes[range]))
        guard candidateDigests.insert(digest).inserted else { return }
        let beginning = String(decoding: bytes[range.prefix(6)], as: UTF8.self)
        candidates.append((Suspect(exchange: exchange, part: part, beginning: beginning), digest))
    }
}

/// A place in bytes and what stands there instead.
struct Mark {
    var range: Range<Int>
    var placeholder: Placeholder

    /// Whether it stands for a number of JSON.
    var isNumber = false

    init(_ range: Range<Int>, _ placeholder: Placeholder, isNumber: Bool = false) {
        (self.range, self.placeholder, self.isNumber) = (range, placeholder, isNumber)
    }

    /// In order, without those that are inside others; where two overlap, the first has both.
    static func merged(_ marks: [Mark]) -> [Mark] {
        guard marks.count > 1 else { return marks }
        let sorted = marks.sorted {
            ($0.range.lowerBound, -$0.range.upperBound) < ($1.range.lowerBound, -$1.range.upperBound)
        }
        var merged = [sorted[0]]
        for mark in sorted.dropFirst() {
            let last = merged[merged.count - 1].range
            if mark.range.lowerBound >= last.upperBound {
                merged.append(mark)
            } else if mark.range.upperBound > last.upperBound {
                merged[merged.count - 1].range = last.lowerBound..<mark.range.upperBound
            }
        }
        return merged
    }

    /// The bytes with the placeholders in them; each as long as what it stands for where `keepsLength`.
    ///
    /// In commands and programs a placeholder says the form of its secret, and nothing keeps its length.
    static func replaced(
        _ marks: some Collection<Mark>,
        in bytes: Slice<UnsafeRawBufferPointer>,
        keepsLength: Bool,
        _ book: SecretBook
    ) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var place = bytes.startIndex
        for mark in marks {
            output += bytes[place..<mark.range.lowerBound]
            if book.isForPrograms {
                let form = UnsafeRawBufferPointer(rebasing: bytes[mark.range])
                output += book.placeholder(mark.placeholder, for: form).text.utf8
            } else if mark.isNumber {
                output += mark.placeholder.digits.utf8
            } else {
                output += mark.placeholder.bytes(fitting: keepsLength ? mark.range.count : nil)
            }
            place = mark.range.upperBound
        }
        return output + bytes[place...]
    }
}

extension TextMask {
    /// A text with its secrets replaced, and whether there were any.
    func masked(_ text: String, _ syntax: ScanSyntax) -> String? {
        var copy = text
        return copy.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            let marks = marks(in: bytes, syntax)
            return marks.isEmpty
                ? nil : String(decoding: Mark.replaced(marks, in: bytes[...], keepsLength: false, book), as: UTF8.self)
        }
    }
}
