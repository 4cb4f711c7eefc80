import Content
import Foundation
import HTTPModel
import NIOCore

/// A body as a JSON string: text or base64. A long body is read twice, so that it is never whole in memory.
struct JSONBody {
    enum Form {
        case empty
        case utf8(Int)
        case converted(String, Charset)
        case base64(Int)
    }

    /// Text in encodings other than UTF-8 is converted in memory, so only up to this size.
    private static let longestConversion = 8 << 20
    /// Begins the comment on a body that is written unchanged because it lacks the content coding that its head names.
    static let notDecoded = "Not decoded:"
    /// A decoded body of at most this size is kept in memory until it is written.
    private static let longestKept = 256 << 10

    let body: RecordedBody
    private var kept: ByteBuffer?
    let codings: [ContentCoding]
    private(set) var form = Form.empty
    private(set) var encodedSize = 0
    private(set) var decodedSize = 0
    private(set) var problem: DecodingProblem?
    private(set) var isCut = false

    init(
        _ exchange: RecordedExchange,
        _ side: BodySide,
        _ mediaType: MediaType?,
        _ fields: FieldSection,
        from source: any ExchangeSource,
        _ options: EntryOptions
    ) throws {
        body = RecordedBody(source: source, id: exchange.record.id, side: side)
        codings = fields.combinedValue(of: .contentEncoding).map { ContentCoding.list($0) } ?? []
        let most = options.bodyLimit ?? .max
        var check = UTF8Check()
        var prefix = ByteBuffer()
        var decoded = 0
        guard try !body.isEmpty else { return }
        let limit = codings.isEmpty ? .max : options.decodedLimit
        let (problem, size) = try body.forEachDecodedPiece(codings, limit: limit) { piece in
            check.feed(UnsafeRawBufferPointer(rebasing: piece.prefix(max(most - decoded, 0))))
            if prefix.readableBytes < JSONBody.longestConversion {
                prefix.writeBytes(piece.prefix(JSONBody.longestConversion - prefix.readableBytes))
            }
            decoded += piece.count
        }
        self.problem = problem
        let masked = body.source.recordedSizes(of: body.id, side: body.side)
        encodedSize = masked?.encoded ?? size
        decodedSize = masked?.decoded ?? decoded
        if decoded <= JSONBody.longestKept { kept = prefix }
        isCut = decoded > most
        let written = min(decoded, most)
        guard decoded > 0 else { return }
        if isCut ? check.isValidSoFar : check.isValid, !check.hasNUL {
            form = .utf8(written - check.unfinishedCount)
        } else if !isCut, decoded <= JSONBody.longestConversion, let converted = JSONBody.converted(prefix, mediaType) {
            form = .converted(converted.text, converted.charset)
        } else {
            form = .base64(written)
        }
    }

    var isBase64: Bool { if case .base64 = form { true } else { false } }

    /// Remarks on the body, in sentences; `nil` without remarks.
    var comment: String? {
        var sentences: [String] = []
        if let problem {
            let isAsReceived = problem.kind == .notCoded
            sentences.append("\(isAsReceived ? JSONBody.notDecoded : "Not decoded in whole:") \(problem).")
        }
        if isCut { sentences.append("Only the beginning of \(decodedSize) bytes is here.") }
        if case .converted(_, let charset) = form { sentences.append("Converted from \(charset).") }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    func write(into writer: inout JSONWriter) throws {
        switch form {
        case .empty: writer.value("")
        case .converted(let text, _): writer.value(text)
        case .utf8(let count):
            writer.beginString()
            try pieces(count) { try writer.stringPiece($0) }
            writer.endString()
        case .base64(let count): try writer.base64 { try pieces(count, $0) }
        }
    }

    private func pieces(_ count: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        if let kept {
            return try kept.withUnsafeReadableBytes { try body(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
        }
        var left = count
        _ = try self.body.forEachDecodedPiece(codings, limit: count) { piece in
            guard left > 0 else { return }
            let taken = piece.prefix(left)
            left -= taken.count
            try body(UnsafeRawBufferPointer(rebasing: taken))
        }
    }

    /// Text in a legacy encoding that the type or the content shows; `nil` if a byte is invalid in this encoding.
    private static func converted(_ bytes: ByteBuffer, _ mediaType: MediaType?) -> DecodedText? {
        guard mediaType?.isTextual == true, TextDecoder.isText(bytes) else { return nil }
        let charset = Charset.detect(in: bytes, mediaType: mediaType)
        guard charset != .utf8 else { return nil }
        let decoded = TextDecoder.decode(bytes, as: charset)
        return decoded.invalidCount == 0 && !decoded.isFallback ? decoded : nil
    }
}

extension JSONWriter {
    /// Writes bytes that come in pieces as a string in base64 (RFC 4648 §4).
    mutating func base64(_ forEachPiece: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws {
        // Up to two bytes wait for the next piece.
        var carry = Data()
        beginString()
        try forEachPiece { piece in
            carry.append(contentsOf: piece)
            let rest = carry.count % 3
            try carry.dropLast(rest).base64EncodedData().withUnsafeBytes { try stringPiece($0) }
            carry = Data(carry.suffix(rest))
        }
        try carry.base64EncodedData().withUnsafeBytes { try stringPiece($0) }
        endString()
    }
}
