import Content
import HTTPModel
import NIOCore
import Text

extension ArchiveEntry.Message {
    private static let mostFields = 1_000

    /// Adds a field for each line of a value (``lines(of:)``). `bytes` is the value if it is not UTF-8.
    mutating func addField(_ name: String, _ value: String, bytes: [UInt8]? = nil, _ losses: ArchiveLosses) {
        for line in Self.lines(of: value) {
            guard fields.count < Self.mostFields else {
                losses.add(.field)
                continue
            }
            if let bytes { valueBytes[fields.count] = bytes }
            fields.append((name, line))
        }
    }

    func field(_ name: String) -> String? { fields.first { $0.name.lowercased() == name }?.value }

    /// The lines of a value; a line that begins with a blank continues the line before (RFC 9112 §5.2).
    private static func lines(of value: String) -> [String] {
        guard value.utf8.contains(0x0A) else { return [value] }
        // Splits bytes, because CR and LF together are one `Character`.
        var lines: [String] = []
        for part in value.utf8.split(separator: 0x0A) {
            let text = String(Substring(part).trimmingASCIIWhitespace)
            if let last = lines.indices.last, part.first == 0x20 || part.first == 0x09 {
                lines[last] += " " + text
            } else if !text.isEmpty {
                lines.append(text)
            }
        }
        return lines.isEmpty ? [""] : lines
    }

    /// Encodes the text, which archives have in Unicode, in the charset of its head, unless the charset lacks a
    /// character. In Sluice's archives (`isOurs`), only bodies whose comment says "converted" were not UTF-8.
    mutating func encodeText(isOurs: Bool, _ losses: ArchiveLosses) {
        guard bytes == nil, !isEncoded, !text.isEmpty, !isOurs || charset != nil else { return }
        let type = field("content-type").flatMap { MediaType($0) }
        let utf8 = ByteBuffer(string: text)
        let charset = charset ?? Charset.detect(in: utf8, mediaType: type)
        guard charset != .utf8 else { return }
        guard var encoded = TextEncoder.exactly(text, as: charset) else { return losses.add(.charset) }
        if let mark = ByteBuffer.mark(of: charset), length == encoded.readableBytes + mark.readableBytes {
            var marked = mark
            marked.writeBuffer(&encoded)
            encoded = marked
        }
        (bytes, isCoded, text) = (encoded, false, "")
    }

    /// The body's length by `Content-Length`; `nil` if it is unknown, or the body had a content coding.
    private var length: Int? { field("content-encoding") == nil ? field("content-length").flatMap { Int($0) } : nil }

    var codings: [ContentCoding] {
        fields.filter { $0.name.lowercased() == "content-encoding" }.flatMap { ContentCoding.list($0.value) }
    }

    /// A remark if the body lacks the content coding that its head names, and Sluice cannot apply it.
    var wordsOfCoding: String? {
        guard !isAsReceived, isCoded != true, !text.isEmpty || bytes.map({ $0.readableBytes > 0 }) == true,
            let coding = codings.first(where: { !$0.isKnown })
        else { return nil }
        return
            "The head names the content coding '\(VisibleText.of(String("\(coding)".prefix(40))))', which Sluice cannot apply:"
            + " the body is stored as the archive has it."
    }
}

extension ByteBuffer {
    /// The byte order mark of UTF-16, which text in an archive no longer has.
    fileprivate static func mark(of charset: Charset) -> ByteBuffer? {
        switch charset {
        case .utf16LittleEndian: ByteBuffer(bytes: [0xFF, 0xFE])
        case .utf16BigEndian: ByteBuffer(bytes: [0xFE, 0xFF])
        default: nil
        }
    }
}

extension HTTPVersion {
    /// Reads names from archives: `HTTP/1.1`, `1.1`, `h2`, `HTTP/2.0`, `h3-29` and the like; `nil` for other names.
    init?(archived text: String) {
        let text = text.lowercased()
        let name = text.hasPrefix("http/") ? text.dropFirst(5) : text[...]
        switch name {
        case "1.0": self = .http10
        case "1.1", "1": self = .http11
        case "h2", "h2c", "2", "2.0": self = .http2
        case "h3", "3", "3.0": self = .http3
        default:
            // Drafts of HTTP/3, and QUIC versions before them.
            guard name.hasPrefix("h3-") || name.contains("quic") else { return nil }
            self = .http3
        }
    }
}

extension ArchiveLosses {
    func check(_ messages: ArchiveEntry.Message...) {
        for version in messages.map(\.version) where !["", "unknown"].contains(version.lowercased()) {
            guard HTTPVersion(archived: version) == nil else { continue }
            add(.init("version{|s} 'NAME' that {is|are} not known: {it is|they are} HTTP/1.1 now", of: version))
        }
    }
}
