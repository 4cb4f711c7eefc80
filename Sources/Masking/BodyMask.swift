import Content
import NIOCore

/// Masks a decoded body that arrives in pieces. How it is divided does not change the result. At most 16 windows are in
/// memory.
final class BodyMask {
    typealias Output = ([UInt8]) throws -> Void

    static let window = 256 * 1024
    /// The number of written bytes that are kept, because the name of the next value may be in them.
    private static let context = 2 * 1024
    private static let reserve = 16 * 1024

    private let mask: TextMask
    private let mediaType: MediaType?
    private let window: Int
    private var wanted: Int
    private var syntax: (ScanSyntax?, isBinary: Bool)?
    private var bytes: [UInt8] = []
    private var contextCount = 0
    /// Whether the bytes continue a secret that was too long to be read whole.
    private var isInSecret = false
    private(set) var count = 0

    init(_ mask: TextMask, _ mediaType: MediaType?, window: Int = BodyMask.window) {
        (self.mask, self.mediaType, self.window) = (mask, mediaType, window)
        wanted = window
    }

    func add(_ piece: UnsafeRawBufferPointer, isLast: Bool, _ output: Output) rethrows {
        var rest = piece[...]
        repeat {
            let taken = rest.prefix(max(0, wanted - (bytes.count - contextCount)))
            bytes += taken
            rest = rest.dropFirst(taken.count)
            let isEnd = isLast && rest.isEmpty
            guard isEnd || bytes.count - contextCount >= wanted else { return }
            if let end = try bytes.withUnsafeBytes({ try settle($0, isLast: isEnd, output) }) {
                let start = max(0, end - BodyMask.context)
                bytes.removeFirst(start)
                (contextCount, wanted) = (end - start, window)
            } else {
                wanted *= 2
            }
        } while !rest.isEmpty
    }

    /// Writes the bytes that later bytes cannot change. Returns their end, or `nil` if more bytes are needed.
    private func settle(_ bytes: UnsafeRawBufferPointer, isLast: Bool, _ output: Output) rethrows -> Int? {
        var start = contextCount
        let wasInSecret = isInSecret
        if isInSecret {
            start = bytes[start...].firstIndex { "\"'&<>\r\n".utf8.contains($0) } ?? bytes.count
            isInSecret = start == bytes.count
        }
        let (syntax, isBinary) = syntax ?? BodySyntax.of(mediaType, bytes)
        self.syntax = (syntax, isBinary)
        // A secret of more than 16 windows is masked up to the first byte that can end it.
        let mayGrow = !isLast && bytes.count - contextCount < 16 * window
        var marks = mask.marks(in: bytes, syntax, isCut: mayGrow, isBinary: isBinary)
        marks.removeAll { $0.range.upperBound <= start }
        if let first = marks.first, first.range.lowerBound < start { marks[0].range = start..<first.range.upperBound }
        var end = isLast ? bytes.count : cut(bytes)
        if !isLast {
            for mark in marks where mark.range.lowerBound < end && mark.range.upperBound > end {
                end = mark.range.lowerBound
            }
            if end <= contextCount {
                guard !mayGrow else { return nil }
                end = bytes.count
                isInSecret = marks.last?.range.upperBound == end
            }
        }
        // The end of the secret is not written yet, and is searched for again.
        if wasInSecret, start > end { isInSecret = true }
        let settled = marks.prefix { $0.range.upperBound <= end }
        count += settled.count
        if !mask.isCollecting {
            try output(Mark.replaced(settled, in: bytes[min(start, end)..<end], keepsLength: isBinary, mask.book))
        }
        return end
    }

    /// A white space near the end; without one, the beginning of a UTF-8 character.
    private func cut(_ bytes: UnsafeRawBufferPointer) -> Int {
        let most = max(contextCount, bytes.count - max(min(BodyMask.reserve, window / 2), mask.book.longestSought))
        if let space = bytes[max(contextCount, most - 4_096)..<most].lastIndex(where: { $0 <= 0x20 }) { return space }
        let characters = max(contextCount, most - 3)...most
        return characters.last { bytes[$0] & 0xC0 != 0x80 } ?? most
    }
}

/// The syntax of a body, by its media type and its beginning.
enum BodySyntax {
    private static let lookedAt = 4_096

    static func of(_ mediaType: MediaType?, _ body: some Collection<UInt8>) -> (ScanSyntax?, isBinary: Bool) {
        let essence = mediaType?.essence ?? ""
        if mediaType?.type == "multipart" { return (.multipart, false) }
        let scripts = ["javascript", "ecmascript", "typescript", "/jsx", "/tsx", "/css"]
        if scripts.contains(where: { essence.hasSuffix($0) }) { return (nil, false) }
        if essence.hasSuffix("html") || essence.hasSuffix("xml") { return (.markup, false) }
        let beginning = Array(body.prefix(lookedAt))
        let isForm = essence == "application/x-www-form-urlencoded"
        guard isForm || mediaType?.isTextual == true || TextDecoder.isText(ByteBuffer(bytes: beginning)) else {
            return (nil, true)
        }
        // `curl -d` labels everything as a form.
        let rest = beginning.drop { $0 <= 0x20 }
        let next = rest.dropFirst().first { $0 > 0x20 } ?? 0
        switch rest.first {
        case UInt8(ascii: "<") where next.isLetter || "?!".utf8.contains(next): return (.markup, false)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            return "\"{[".utf8.contains(next) ? (.text, false) : (isForm ? .form : .text, false)
        default: return (isForm || mediaType == nil && looksLikeForm(rest) ? .form : .text, false)
        }
    }

    private static func looksLikeForm(_ text: ArraySlice<UInt8>) -> Bool {
        let name = text.prefix { $0.isLetterOrDigit || "_-.[]%".utf8.contains($0) }
        return !name.isEmpty && text.dropFirst(name.count).first == UInt8(ascii: "=") && !text.contains(0x20)
    }

    static func isPacked(_ bytes: UnsafeRawBufferPointer) -> Bool {
        [[0x1F, 0x8B, 0x08], [0x28, 0xB5, 0x2F, 0xFD], [0x50, 0x4B, 0x03, 0x04]].contains {
            bytes.starts(with: $0 as [UInt8])
        }
    }
}
