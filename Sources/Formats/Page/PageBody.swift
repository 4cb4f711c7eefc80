import Content
import Description
import Foundation
import HTTPModel
import NIOCore

/// The part of a body that a page shows: text, an image that browsers decode safely, or bytes.
struct PageBody {
    /// A browser needs four bytes of memory for each pixel of an image, even if the file is small.
    private static let mostPixels = 16 << 20

    private enum Form {
        case text(String)
        case image(ImageHeader)
        case bytes
    }

    let loaded: LoadedBody
    let isCut: Bool
    private let form: Form
    private let shown: ByteBuffer
    private let notes: [String]

    init?(_ exchange: RecordedExchange, _ side: BodySide, source: any ExchangeSource, totals: inout PageTotals) {
        let limits = totals.limits
        let type = exchange.messages.fields(of: side).value(of: .contentType).flatMap { MediaType($0) }
        let limit = type?.type == "image" ? max(limits.image, limits.text) : limits.text
        loaded = LoadedBody(exchange, side, source: source, limit: limit)
        guard !loaded.isEmpty || loaded.failure != nil else { return nil }
        let bytes = loaded.bytes
        let room = max(0, limits.all - totals.written)
        var notes: [String] = []
        var isPart = loaded.isCut
        if let text = loaded.text, bytes.readableBytes > 0 {
            var part = PageBody.beginning(text.text, min(limits.text, room))
            // The bytes that were read may end within a character.
            if loaded.isCut, part.unicodeScalars.last == "\u{FFFD}" { part.unicodeScalars.removeLast() }
            (form, shown) = (.text(part), ByteBuffer(string: part))
            isPart = isPart || part.utf8.count < text.text.utf8.count
            notes += text.notes
        } else if let header = PageBody.drawable(loaded, min(limits.image, room)) {
            (form, shown) = (.image(header), bytes)
        } else {
            form = .bytes
            let length = min(bytes.readableBytes, limits.binary, room)
            shown = bytes.getSlice(at: bytes.readerIndex, length: length) ?? bytes
            isPart = isPart || length < bytes.readableBytes
        }
        totals.written += shown.readableBytes
        let problem = loaded.problem ?? source.problem(of: exchange.record.id, side: side)
        if let problem {
            notes.append("\(problem.kind == .notCoded ? "not decoded" : "not decoded in whole"): \(problem)")
        }
        if let failure = loaded.failure { notes.append("it cannot be read: \(failure)") }
        if bytes.readableBytes == 0, problem == nil, loaded.failure == nil {
            notes.append("its bytes were not recorded")
        }
        if room == 0 { notes.append("the page has as many bodies as it can hold") }
        (self.notes, isCut) = (notes, isPart)
        guard isCut else { return }
        totals.cutBodies += 1
        totals.cutBytes += max(0, loaded.recordedSize - Int64(shown.readableBytes))
    }

    func write(into writer: inout JSONWriter) throws {
        writer.member("size", loaded.recordedSize)
        if !loaded.isCut, loaded.bytes.readableBytes > 0 {
            writer.member("decodedSize", loaded.bytes.readableBytes)
        }
        writer.optionalMember("mediaType", loaded.mediaType?.essence)
        switch form {
        case .text(let text):
            writer.member("text", text)
            if loaded.mediaType?.isJSON == true { writer.member("isJSON", true) }
        case .image(let header):
            writer.member("image", PageBody.mediaTypes[header.format] ?? "")
            writer.member("width", header.width)
            writer.member("height", header.height)
            writer.member("base64", base64)
        case .bytes: writer.member("base64", base64)
        }
        if case .text = form {
        } else if loaded.bytes.readableBytes > 0 {
            writer.member("description", loaded.binaryDescription)
        }
        if isCut {
            writer.member("cut", true)
            writer.member("shown", shown.readableBytes)
        }
        if !notes.isEmpty { try writer.strings("notes", notes) }
    }

    private var base64: String { Data(shown.readableBytesView).base64EncodedString() }

    /// Image formats that browsers decode without running or loading anything, unlike SVG.
    private static let mediaTypes: [ImageHeader.Format: String] = [
        .png: "image/png", .jpeg: "image/jpeg", .gif: "image/gif", .webP: "image/webp",
    ]

    /// The header of an image that can be shown, else `nil`. Ignores the declared type.
    private static func drawable(_ body: LoadedBody, _ limit: Int) -> ImageHeader? {
        guard !body.isCut, body.bytes.readableBytes <= limit, let header = ImageHeader(body.bytes),
            mediaTypes[header.format] != nil, header.width > 0, header.height > 0
        else { return nil }
        let (pixels, isOver) = header.width.multipliedReportingOverflow(by: header.height)
        return isOver || pixels > mostPixels ? nil : header
    }

    /// At most `limit` bytes of a text; does not cut within a character.
    private static func beginning(_ text: String, _ limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: max(0, limit))
        while end.samePosition(in: text.unicodeScalars) == nil { text.utf8.formIndex(before: &end) }
        return String(text[..<end])
    }
}
