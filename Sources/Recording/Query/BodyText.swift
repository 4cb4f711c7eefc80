import Content
import HTTPModel
import NIOCore

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

struct BodyText: Sendable {
    /// In lower case if case does not count.
    let bytes: [UInt8]
    /// In upper case if case does not count. A letter is unchanged if its two cases have different lengths in UTF-8.
    private let others: [UInt8]
    /// Whether there are letters of two bytes or more; a false match could mix the bytes of both cases.
    private let hasLongLetters: Bool
    let isASCII: Bool
    /// For each byte, how far the search may advance if the byte ends no match.
    private let jumps: [Int]

    /// An empty text is found at once.
    init(_ glob: Glob) {
        var (bytes, others): ([UInt8], [UInt8]) = ([], [])
        if glob.ignoresCase {
            for scalar in String(decoding: glob.literalBytes, as: UTF8.self).unicodeScalars {
                let lower = Array(scalar.properties.lowercaseMapping.utf8)
                let upper = Array(scalar.properties.uppercaseMapping.utf8)
                let hasCases = lower.count == upper.count && lower.count == UTF8.width(scalar)
                bytes += hasCases ? lower : Array(String(scalar).utf8)
                others += hasCases ? upper : Array(String(scalar).utf8)
            }
        } else {
            (bytes, others) = (glob.literalBytes, glob.literalBytes)
        }
        var jumps = [Int](repeating: max(1, bytes.count), count: 256)
        for index in bytes.indices.dropLast() {
            jumps[Int(bytes[index])] = bytes.count - 1 - index
            jumps[Int(others[index])] = bytes.count - 1 - index
        }
        hasLongLetters = zip(bytes, others).contains { $0 != $1 && $0 >= 0x80 }
        isASCII = bytes.allSatisfy { $0 < 0x80 }
        (self.bytes, self.others, self.jumps) = (bytes, others, jumps)
    }

    func isFound(in text: UnsafeRawBufferPointer) -> Bool { end(in: text) != nil }

    /// Where the first match ends that begins at `start` or later; `nil` if there is no match. Looks at the byte under
    /// the last byte of the text, and advances as far as that byte allows (Horspool's search).
    func end(in text: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
        let count = bytes.count
        guard count > 0 else { return start }
        guard text.count - start >= count else { return nil }
        return bytes.withUnsafeBufferPointer { bytes in
            others.withUnsafeBufferPointer { others in
                jumps.withUnsafeBufferPointer { jumps in
                    var last = start + count - 1
                    while last < text.count {
                        var back = 0
                        while back < count {
                            let (byte, place) = (text[last - back], count - 1 - back)
                            if byte != bytes[place], byte != others[place] { break }
                            back += 1
                        }
                        if back == count, !hasLongLetters || isWhole(text[(last - count + 1)...last]) {
                            return last + 1
                        }
                        last += jumps[Int(text[last])]
                    }
                    return nil
                }
            }
        }
    }

    /// Whether each character of a match is in one case.
    private func isWhole(_ match: Slice<UnsafeRawBufferPointer>) -> Bool {
        var start = 0
        while start < bytes.count {
            var end = start + 1
            while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
            let found = match.dropFirst(start).prefix(end - start)
            guard found.elementsEqual(bytes[start..<end]) || found.elementsEqual(others[start..<end]) else {
                return false
            }
            start = end
        }
        return true
    }
}

/// A text or a regular expression to find in a body.
enum BodyQuestion: Sendable {
    case text(BodyText)
    case expression(FilterExpression)
}

/// Decodes and searches a body that arrives in pieces; a match may cross pieces. A body in an encoding other than UTF-8
/// is collected and converted if it could contain the text.
struct BodySearch {
    static let charsetName = BodyText(Glob(containing: "charset", ignoringCase: true))
    /// How many bytes are kept until the decoder returns some, to search them undecoded if it fails.
    private static let longestHeld = 1 << 20
    /// How many bytes of the stored body were read.
    private(set) var end: Int64 = 0
    private let question: BodyQuestion
    private var decoder: ContentDecoder?
    /// How many bytes the decoder returned.
    private var decodedCount = 0
    /// Stored bytes that are kept until the decoder returns some.
    private var held = ByteBuffer()
    /// The last decoded bytes, one fewer than the text has, for a match across pieces.
    private var tail: [UInt8] = []
    /// All decoded bytes, if a regular expression needs the whole body or the body is converted: at most
    /// ``FilterFunctions/searchLimit``.
    private var whole: [UInt8] = []
    /// The message's head, which names the type of the body.
    private let head: UnsafeRawBufferPointer
    /// The encoding to convert from; `nil` before the first bytes.
    private var charset: Charset?

    /// `head` must stay valid until the search ends.
    init(
        _ question: BodyQuestion,
        coding: String? = nil,
        head: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) {
        (self.question, self.head) = (question, head)
        decoder = coding.map { ContentDecoder(codings: ContentCoding.list($0), limit: FilterFunctions.searchLimit) }
    }

    /// Reads the next piece; returns whether a match is complete.
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
        // The body does not have the coding that its head names.
        self.decoder = nil
        let body = held
        return body.withUnsafeReadableBytes { search($0) }
    }

    /// Whether the collected body has a match; called after its last piece.
    mutating func findsAtEnd(of exchange: Int64) -> Bool {
        if let charset, charset != .utf8 {
            whole = Array(TextDecoder.decode(ByteBuffer(bytes: whole), as: charset).text.utf8)
        }
        return whole.withUnsafeBytes { bytes in
            switch question {
            case .expression(let expression): UnfinishedSearches.finds(expression, in: bytes, of: exchange)
            case .text(let text): !bytes.isEmpty && text.isFound(in: bytes)
            }
        }
    }

    /// The encoding of a body, or UTF-8 if the encoding does not matter. ASCII text has the same bytes in all encodings
    /// except UTF-16 and UTF-32, which contain NULs; a body of only ASCII bytes has only ASCII text in any encoding.
    private func charset(of beginning: UnsafeRawBufferPointer) -> Charset {
        let isASCII = if case .text(let text) = question { text.isASCII } else { false }
        let start = UnsafeRawBufferPointer(rebasing: beginning.prefix(64 << 10))
        guard start.has(0) || !isASCII && (start.hasHighByte || start.has(0x1B)) else { return .utf8 }
        // Images contain NULs, too, and their heads name no charset.
        let isNamed = BodySearch.charsetName.isFound(in: head)
        if isASCII, !isNamed, ![0xFE, 0xFF].contains(start[0]) { return .utf8 }
        let type = StoredHead.fields(ByteBuffer(bytes: head)).value(of: .contentType).flatMap { MediaType($0) }
        let bytes = ByteBuffer(bytes: start)
        let charset = Charset.detect(in: bytes, mediaType: type)
        let isWide = ["utf-16", "utf-32", "ucs-"].contains { charset.name.hasPrefix($0) }
        if isASCII { return isWide ? charset : .utf8 }
        // Binary data has no encoding unless the head names one.
        return isWide || type?.parameter("charset") != nil || TextDecoder.isText(bytes) ? charset : .utf8
    }

    private mutating func search(_ piece: UnsafeRawBufferPointer) -> Bool {
        if charset == nil, !piece.isEmpty { charset = charset(of: piece) }
        guard case .text(let text) = question, charset == .utf8 else {
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

extension UnsafeRawBufferPointer {
    /// Uses `memchr`, which is faster than a loop.
    func has(_ byte: UInt8) -> Bool { baseAddress.map { memchr($0, CInt(byte), count) != nil } ?? false }

    fileprivate var hasHighByte: Bool {
        let whole = count & ~7
        for place in stride(from: 0, to: whole, by: 8)
        where loadUnaligned(fromByteOffset: place, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
            return true
        }
        return self[whole...].contains { $0 >= 0x80 }
    }
}
