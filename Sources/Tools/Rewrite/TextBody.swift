import Content
import Expressions
import HTTPModel
import NIOCore
import Rules
import Text

struct BodyEdit: Sendable {
    /// The pattern to replace; `nil` for the whole body.
    let match: TextPattern?
    let replacement: Replacement
    let onlyFirst: Bool

    /// Edits a text and returns the change for the trace; `nil` if nothing changed. Throws
    /// ``RegularExpression/MatchLimitError``, or ``UnusableEditError`` if the text would become too large.
    func apply(to text: inout TextBody) throws -> String? {
        guard let match else { return text.replaceAll(with: Array(replacement.plain.utf8)) ? "replaced whole" : nil }
        let count = try text.replace(match, with: replacement, onlyFirst: onlyFirst)
        let matches = "\(count.grouped) match\(count == 1 ? "" : "es") of \(match.description)"
        return count == 0 ? nil : matches + (replacement.isEmpty ? " deleted" : " replaced")
    }

    /// Why the edit did not change a text.
    func absence(in text: TextBody) -> String { match?.absence(in: text.content) ?? "it already has this value" }
}

/// A body as text: decoded from its character encoding, edited as UTF-8, and encoded again. A UTF-8 body, the usual
/// case, is searched in place, and copied only if something in it is replaced.
struct TextBody {
    private enum Text {
        case received(ByteBuffer)
        case edited([UInt8])

        func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
            switch self {
            case .received(let bytes): try bytes.withUnsafeReadableBytes(body)
            case .edited(let bytes): try bytes.withUnsafeBytes(body)
            }
        }
    }

    private let received: ByteBuffer
    private let charset: Charset
    private let mark: [UInt8]
    private var text: Text
    private(set) var isEdited = false

    /// The maximum size of an edited text, in bytes.
    static let largest = PlaceWriter.longestBody

    /// Reads a body without content coding. Throws if it is not text, or not valid in its character encoding.
    init(_ body: ByteBuffer, mediaType: MediaType?) throws(UnusableEditError) {
        if body.readableBytes > 0, mediaType?.isTextual != true, !TextDecoder.isText(body) {
            throw UnusableEditError(reason: "it is not text (\(mediaType?.essence ?? "of no known type"))")
        }
        received = body
        let found = Charset.detect(in: body, mediaType: mediaType)
        mark = TextBody.byteOrderMark(body, found)
        let bytes = body.getSlice(at: body.readerIndex + mark.count, length: body.readableBytes - mark.count) ?? body
        if found == .utf8 {
            var check = UTF8Check()
            bytes.withUnsafeReadableBytes { check.feed($0) }
            if check.isValid {
                charset = found
                text = .received(bytes)
                return
            }
            guard mark.isEmpty, mediaType?.parameter("charset") == nil else {
                throw UnusableEditError(reason: "it is not valid UTF-8")
            }
        }
        // Text without a charset that is not UTF-8 is read as windows-1252, like in browsers; this keeps every byte.
        charset = found == .utf8 ? .windows1252 : found
        let decoded = TextDecoder.decode(bytes, as: charset)
        if decoded.isFallback { throw UnusableEditError(reason: "its charset '\(charset)' is not known") }
        if decoded.invalidCount > 0 { throw UnusableEditError(reason: "it is not valid \(charset)") }
        text = .edited(Array(decoded.text.utf8))
    }

    /// Replaces each match, or only the first; returns the number of matches. Throws
    /// ``RegularExpression/MatchLimitError``, or ``UnusableEditError`` if the text would become too large.
    mutating func replace(_ pattern: TextPattern, with replacement: Replacement, onlyFirst: Bool) throws -> Int {
        var result: [UInt8] = []
        var count = 0
        var end = 0
        try text.withBytes { subject in
            try pattern.forEachMatch(in: subject) { match in
                let whole = match.whole
                guard whole.lowerBound >= end else { return true }
                if count == 0 { result.reserveCapacity(subject.count + subject.count / 8) }
                count += 1
                result.append(contentsOf: UnsafeRawBufferPointer(rebasing: subject[end..<whole.lowerBound]))
                replacement.append(to: &result, match, subject)
                end = whole.upperBound
                return !onlyFirst && result.count <= TextBody.largest
            }
            if count > 0 { result.append(contentsOf: UnsafeRawBufferPointer(rebasing: subject[end...])) }
        }
        guard result.count <= TextBody.largest else {
            throw UnusableEditError(reason: "it would grow beyond \(TextBody.largest >> 20) MiB")
        }
        if count > 0 {
            text = .edited(result)
            isEdited = true
        }
        return count
    }

    /// Replaces all of the text; returns whether that changes anything.
    mutating func replaceAll(with bytes: [UInt8]) -> Bool {
        guard text.withBytes({ !$0.elementsEqual(bytes) }) else { return false }
        text = .edited(bytes)
        isEdited = true
        return true
    }

    /// The text as edited so far, in UTF-8.
    var bytes: [UInt8] { text.withBytes { Array($0) } }

    /// The text as edited so far.
    var content: String { text.withBytes { String(decoding: $0, as: UTF8.self) } }

    /// The body with the edited text, in its character encoding. Throws ``UnusableEditError`` if the encoding lacks a
    /// character, or if bytes that were not edited would change.
    func encoded() throws(UnusableEditError) -> ByteBuffer {
        guard isEdited, case .edited(let bytes) = text else { return received }
        var body = ByteBuffer(bytes: mark)
        if charset == .utf8 {
            body.writeBytes(bytes)
            return body
        }
        if !TextEncoder.hasOneForm(charset) {
            // Some encodings can write a text in several ways; Sluice must write it in the same way as the sender.
            let own = try write(Array(TextDecoder.decode(received, as: charset).text.utf8))
            guard received.readableBytesView.dropFirst(mark.count).elementsEqual(own) else {
                throw UnusableEditError(reason: "invalid bytes in it could not be kept in \(charset)")
            }
        }
        body.writeBytes(try write(bytes))
        return body
    }

    /// Encodes valid UTF-8 in the body's character encoding.
    private func write(_ utf8: [UInt8]) throws(UnusableEditError) -> [UInt8] {
        do throws(TextEncoder.Refusal) {
            return try TextEncoder.encode(utf8, as: charset)
        } catch {
            switch error {
            case .charset: throw UnusableEditError(reason: "its charset cannot be written: '\(charset)'")
            case .character(let scalar): throw UnusableEditError(reason: "'\(scalar)' cannot be written in \(charset)")
            }
        }
    }

    private static func byteOrderMark(_ body: ByteBuffer, _ charset: Charset) -> [UInt8] {
        let known: [UInt8] =
            switch charset {
            case .utf8: [0xEF, 0xBB, 0xBF]
            case .utf16LittleEndian: [0xFF, 0xFE]
            case .utf16BigEndian: [0xFE, 0xFF]
            default: []
            }
        return body.readableBytesView.starts(with: known) ? known : []
    }
}
