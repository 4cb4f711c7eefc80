import Content
import HTTPModel
import NIOCore

/// Masks a body that comes in pieces, without its content coding.
///
/// As much of it is in memory as the longest secret needs, at the most `longestWindow`. How it is cut into pieces
/// changes nothing.
final class BodyMask {
    /// So many bytes are looked at together.
    static let window = 256 * 1024
    /// A secret that is longer is masked by the bytes that can end it.
    private let longestWindow: Int
    /// A text in base64 that is longer is cut.
    private let longestBase64: Int
    /// What was written already and is looked at again, as a name before its value.
    private static let context = 2 * 1024
    private static let reserve = 16 * 1024

    private let mask: TextMask
    private let mediaType: MediaType?
    private let window: Int
    /// So many bytes are waited for.
    private var wanted: Int
    private var syntax: ScanSyntax?
    private var isBinary = false
    private var hasBegun = false
    private var wide: WideText?
    private var bytes: [UInt8] = []
    /// How many of the bytes are context.
    private var contextCount = 0
    /// Whether the bytes go on in a secret that was too long to be had whole.
    private var isInSecret = false
    /// How many secrets were replaced.
    private(set) var count = 0

    init(_ mask: TextMask, _ mediaType: MediaType?, window: Int = BodyMask.window) {
        (self.mask, self.mediaType, self.window) = (mask, mediaType, window)
        (longestWindow, longestBase64) = (window * 16, window * 4)
        wanted = window
    }

    /// Takes a piece; gives what can be written by now.
    func add(_ piece: UnsafeRawBufferPointer, isLast: Bool, _ output: ([UInt8]) throws -> Void) rethrows {
        if !hasBegun {
            bytes += piece
            guard isLast || bytes.count >= 4_096 else { return }
            hasBegun = true
            let beginning = bytes
            bytes = []
            wide = WideText(mediaType, beginning)
            if wide == nil { (syntax, isBinary) = BodySyntax.of(mediaType, beginning) } else { syntax = .text }
            return try beginning.withUnsafeBytes { try take($0, isLast: isLast, output) }
        }
        try take(piece, isLast: isLast, output)
    }

    private func take(_ piece: UnsafeRawBufferPointer, isLast: Bool, _ output: ([UInt8]) throws -> Void) rethrows {
        guard wide != nil else { return try fill(piece, isLast: isLast, output) }
        let narrow = wide?.narrowed(piece) ?? []
        try narrow.withUnsafeBytes { narrow in
            try fill(narrow, isLast: isLast) { try output(wide?.widened($0) ?? $0) }
        }
        if isLast, !mask.isCollecting, let remainder = wide?.remainder, !remainder.isEmpty { try output(remainder) }
    }

    private func fill(_ piece: UnsafeRawBufferPointer, isLast: Bool, _ output: ([UInt8]) throws -> Void) rethrows {
        var rest = piece[...]
        repeat {
            let taken = rest.prefix(max(0, wanted - (bytes.count - contextCount)))
            bytes += taken
            rest = rest.dropFirst(taken.count)
            let isEnd = isLast && rest.isEmpty
            guard isEnd || bytes.count - contextCount >= wanted else { return }
            if let end = try bytes.withUnsafeBytes({ try settle($0, isLast: isEnd, output) }) {
                keep(from: end)
                wanted = window
            } else {
                wanted *= 2
            }
        } while !rest.isEmpty
    }

    /// Writes what no later byte can change; returns up to where, `nil` where more is needed.
    private func settle(
        _ bytes: UnsafeRawBufferPointer,
        isLast: Bool,
        _ output: ([UInt8]) throws -> Void
    ) rethrows -> Int? {
        var start = contextCount
        let wasInSecret = isInSecret
        if isInSecret {
            start = bytes[start...].firstIndex(where: BodyMask.endsSecret) ?? bytes.count
            isInSecret = start == bytes.count
        }
        var marks = mask.marks(
            in: bytes,
            syntax,
            isContinued: contextCount > 0,
            cutRun: isLast || bytes.count - contextCount >= longestWindow ? 0 : longestBase64
        )
        marks.removeAll { $0.range.upperBound <= start }
        if let first = marks.first, first.range.lowerBound < start {
            marks[0].range = start..<first.range.upperBound
        }
        var end = isLast ? bytes.count : cut(bytes)
        if !isLast {
            for mark in marks where mark.range.lowerBound < end && mark.range.upperBound > end {
                end = mark.range.lowerBound
            }
            if end <= contextCount {
                guard bytes.count - contextCount >= longestWindow else { return nil }
                end = bytes.count
                isInSecret = marks.last?.range.upperBound == end
            }
        }
        // What ends the secret is looked at again with the bytes after it.
        if wasInSecret, start > end { isInSecret = true }
        let settled = marks.prefix { $0.range.upperBound <= end }
        count += settled.count
        if !mask.isCollecting {
            let start = min(start, end)
            try output(Mark.replaced(settled, in: bytes[start..<end], keepsLength: isBinary, mask.book))
        }
        return end
    }

    /// Where no text in base64 is cut, and no character of UTF-8.
    private func cut(_ bytes: UnsafeRawBufferPointer) -> Int {
        let most = max(contextCount, bytes.count - max(min(BodyMask.reserve, window / 2), mask.book.needles.longest))
        var end = most
        while end > contextCount, most - end < longestBase64, RunScanner.isOfRun[Int(bytes[end - 1])] {
            end -= 1
        }
        // Of a run that is longer than what is looked at, the beginning is written.
        if end == contextCount || most - end >= longestBase64 {
            end = bytes.count - contextCount >= longestBase64 ? most : end
        }
        let characters = max(contextCount, end - 3)...max(contextCount, end)
        return characters.last { bytes[$0] & 0xC0 != 0x80 } ?? end
    }

    private static func endsSecret(_ byte: UInt8) -> Bool { "\"'&<>\r\n".utf8.contains(byte) }

    private func keep(from end: Int) {
        let start = max(0, end - BodyMask.context)
        bytes.removeFirst(start)
        contextCount = end - start
    }
}

/// How a body's names and values are written, by its media type and its beginning.
enum BodySyntax {
    private static let lookedAt = 4_096

    /// Of bytes without a type.
    static func of(_ bytes: UnsafeRawBufferPointer) -> (ScanSyntax?, isBinary: Bool) {
        of(nil, Array(bytes.prefix(lookedAt)))
    }

    static func of(_ mediaType: MediaType?, _ beginning: [UInt8]) -> (ScanSyntax?, isBinary: Bool) {
        let essence = mediaType?.essence ?? ""
        if essence == "application/x-www-form-urlencoded" { return (FormSyntax.of(beginning), false) }
        if mediaType?.type == "multipart" { return (.multipart, false) }
        let scripts = ["javascript", "ecmascript", "typescript", "/jsx", "/tsx", "/x-vue", "/css"]
        if scripts.contains(where: { essence.hasSuffix($0) }) { return (.script, false) }
        if essence.hasSuffix("html") || essence.hasSuffix("xml") || essence.hasSuffix("+xml") {
            return (.markup, false)
        }
        let isText = mediaType?.isTextual == true || TextDecoder.isText(ByteBuffer(bytes: beginning.prefix(lookedAt)))
        if isText { return (.text, false) }
        let isPicture = ["image", "video", "audio", "font"].contains(mediaType?.type)
        return (isPicture ? nil : .binary, true)
    }
}
