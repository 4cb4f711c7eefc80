package import NIOCore

/// A body as text, or the kind of binary data.
package struct BodyPreview: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        case empty
        case text(String, charset: Charset)
        /// Bytes that are not text, described in a few words, for example `PNG image`.
        case binary(String)
    }

    package private(set) var content = Content.empty
    private let mediaType: MediaType?
    /// What is wrong with the text or its type.
    package private(set) var notes: [String] = []

    /// `bytes` have no content coding.
    package init(_ bytes: ByteBuffer, contentType: String?) {
        mediaType = contentType.flatMap { MediaType($0) }
        if contentType != nil, mediaType == nil { notes.append("the Content-Type is not a media type") }
        guard bytes.readableBytes > 0 else { return }
        if mediaType?.isTextual == true || TextDecoder.isText(bytes), !looksBinary(bytes) {
            content = text(bytes)
        } else {
            content = .binary(BinaryKind.describe(bytes, mediaType: mediaType))
        }
    }

    /// A body with NUL bytes is binary, unless its encoding uses them, or they are very few in valid UTF-8.
    private func looksBinary(_ bytes: ByteBuffer) -> Bool {
        let charset = Charset.detect(in: bytes, mediaType: mediaType).name
        if charset.hasPrefix("utf-16") || charset.hasPrefix("utf-32") { return false }
        let beginning = bytes.readableBytesView.prefix(4096)
        let controls = beginning.lazy.filter { $0 < 0x20 && !(0x09...0x0D).contains($0) && $0 != 0x1B }.count
        let isStray = controls <= 1 || controls * 50 <= beginning.count
        return beginning.contains(0) && !(isStray && UTF8Check.isValid(beginning, allowingCutEnd: true))
    }

    private mutating func text(_ bytes: ByteBuffer) -> Content {
        let asked = Charset.detect(in: bytes, mediaType: mediaType)
        let decoded = TextDecoder.decode(bytes, as: asked)
        if decoded.isFallback { notes.append("the charset '\(asked)' is unknown; read as \(decoded.charset)") }
        if decoded.invalidCount > 0 {
            let places = decoded.invalidCount == 1 ? "1 place is" : "\(decoded.invalidCount) places are"
            notes.append("\(places) no valid \(decoded.charset)")
        }
        return .text(decoded.text, charset: decoded.charset)
    }
}

/// Recognises kinds of binary content by their first bytes.
enum BinaryKind {
    private static let signatures: [(prefix: [UInt8], name: String)] = [
        ([0x89, 0x50, 0x4E, 0x47], "PNG image"), ([0xFF, 0xD8, 0xFF], "JPEG image"), (Array("GIF8".utf8), "GIF image"),
        (Array("%PDF-".utf8), "PDF document"), ([0x50, 0x4B, 0x03, 0x04], "ZIP archive"), ([0x1F, 0x8B], "gzip data"),
        ([0x28, 0xB5, 0x2F, 0xFD], "zstd data"), (Array("wOF2".utf8), "WOFF2 font"), (Array("wOFF".utf8), "WOFF font"),
        (Array("OggS".utf8), "Ogg media"), (Array("ID3".utf8), "MP3 audio"), ([0x00, 0x61, 0x73, 0x6D], "WebAssembly"),
        ([0x00, 0x00, 0x01, 0x00], "icon image"), ([0x7F, 0x45, 0x4C, 0x46], "ELF binary"),
        (Array("SQLite format 3".utf8), "SQLite database"), (Array("bplist".utf8), "binary property list"),
    ]

    static func isKnown(_ bytes: ByteBuffer) -> Bool { describe(bytes, mediaType: nil) != unknown }

    private static let unknown = "binary data"

    static func describe(_ bytes: ByteBuffer, mediaType: MediaType?) -> String {
        let start = Array(bytes.readableBytesView.prefix(16))
        if let known = signatures.first(where: { start.starts(with: $0.prefix) }) { return known.name }
        if start.starts(with: "RIFF".utf8), start.count >= 12 {
            if start[8..<12].elementsEqual("WEBP".utf8) { return "WebP image" }
            if start[8..<12].elementsEqual("WAVE".utf8) { return "WAVE audio" }
        }
        if start.count >= 12, start[4..<8].elementsEqual("ftyp".utf8) {
            return start[8..<12].elementsEqual("avif".utf8) ? "AVIF image" : "MP4 media"
        }
        return mediaType.map { "\($0.essence) data" } ?? unknown
    }
}
