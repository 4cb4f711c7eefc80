import Content
import HTTPModel
import NIOCore

/// Text to be found in bodies.
struct BodyText: Sendable {
    /// The text's bytes; in lower case where case does not count.
    let bytes: [UInt8]
    /// Whether the case of ASCII letters does not count.
    private let ignoresCase: Bool
    /// How far a search may go on after a byte that ends no match, by that byte.
    private let jumps: [Int]

    /// Prepares a search for the literal text of a pattern; an empty one is found at once.
    init(_ glob: Glob) {
        bytes = glob.literalBytes
        ignoresCase = glob.ignoresCase
        var jumps = [Int](repeating: max(1, bytes.count), count: 256)
        for (index, byte) in bytes.dropLast().enumerated() {
            jumps[Int(byte)] = bytes.count - 1 - index
            if ignoresCase, byte &- 0x61 < 26 { jumps[Int(byte - 0x20)] = bytes.count - 1 - index }
        }
        self.jumps = jumps
    }

    private static func lower(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte + 0x20 : byte }

    /// Looks at the byte under the text's last one and goes on by as much as that one allows (Horspool's search).
    func isFound(in text: UnsafeRawBufferPointer) -> Bool {
        let count = bytes.count
        guard count > 0 else { return true }
        guard text.count >= count else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            jumps.withUnsafeBufferPointer { jumps in
                var end = count - 1
                while end < text.count {
                    var back = 0
                    while back < count {
                        let byte = text[end - back]
                        if (ignoresCase ? Self.lower(byte) : byte) != bytes[count - 1 - back] { break }
                        back += 1
                    }
                    if back == count { return true }
                    end += jumps[Int(text[end])]
                }
                return false
            }
        }
    }
}

/// What is looked for in a body.
enum BodyQuestion: Sendable {
    case text(BodyText)
    case expression(FilterExpression)

    /// `nil` where nothing is looked for in bodies.
    init?(_ search: SearchedText) {
        if let expression = search.expression {
            self = .expression(expression)
        } else if let text = search.bodyText {
            self = .text(text)
        } else {
            return nil
        }
    }
}

/// Searches a body that comes in pieces, its content codings undone; a match may lie across the pieces.
struct BodySearch {
    /// A coding that has given nothing for so many bytes is one.
    private static let longestHeld = 1 << 20
    /// How many bytes of the body, as stored, have come.
    private(set) var end: Int64 = 0
    private let question: BodyQuestion
    private var decoder: ContentDecoder?
    /// How many bytes the decoder gave.
    private var decodedCount = 0
    /// What came before it gave any.
    private var held = ByteBuffer()
    /// What came last of the decoded bytes, one byte less than a match has.
    private var tail: [UInt8] = []
    /// All that came of the decoded bytes, for an expression, which needs the whole: at most ``FilterFunctions/searchLimit``.
    private var whole: [UInt8] = []

    init(_ question: BodyQuestion, coding: String? = nil) {
        self.question = question
        decoder = coding.map { ContentDecoder(contentEncoding: $0, limit: FilterFunctions.searchLimit) }
    }

    /// Takes the next piece; returns whether a match is complete.
    mutating func finds(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let room = FilterFunctions.searchLimit - Int(end)
        end += Int64(bytes.count)
        guard let decoder else { return search(UnsafeRawBufferPointer(rebasing: bytes.prefix(max(0, room)))) }
        var isFound = false
        let coded = ByteBuffer(bytes: bytes)
        decoder.decode(coded) { piece in
            decodedCount += piece.count
            if !isFound { isFound = search(piece) }
        }
        guard decodedCount == 0, held.readableBytes < BodySearch.longestHeld else { return isFound }
        held.writeImmutableBuffer(coded)
        guard let problem = decoder.problem, problem.isAtBeginning(decoded: 0, held) else { return false }
        // It does not have the coding that its head names.
        self.decoder = nil
        let body = held
        return body.withUnsafeReadableBytes { search($0) }
    }

    /// Whether the body of an exchange is a match as a whole, after its last piece.
    mutating func findsAtEnd(of exchange: Int64) -> Bool {
        guard case .expression(let expression) = question else { return false }
        return whole.withUnsafeBytes { UnfinishedSearches.finds(expression, in: $0, of: exchange) }
    }

    private mutating func search(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard case .text(let text) = question else {
            whole += piece.prefix(max(0, FilterFunctions.searchLimit - whole.count))
            return false
        }
        let overlap = max(0, text.bytes.count - 1)
        if !tail.isEmpty {
            let seam = tail + piece.prefix(overlap)
            if seam.withUnsafeBytes({ text.isFound(in: $0) }) { return true }
        }
        if text.isFound(in: piece) { return true }
        tail = piece.count >= overlap ? Array(piece.suffix(overlap)) : Array((tail + piece).suffix(overlap))
        return false
    }
}
