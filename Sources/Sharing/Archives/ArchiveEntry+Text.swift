import Content
import HTTPModel
import NIOCore

extension ArchiveEntry.Message {
    /// Makes bytes of the text as its head says they were: an archive has Unicode, whatever passed. A text whose charset
    /// lacks one of its characters stays UTF-8.
    ///
    /// `isOurs`: what our own archives do not call converted was UTF-8, whatever the head says.
    mutating func encodeText(isOurs: Bool, _ losses: ArchiveLosses) {
        guard bytes == nil, !isEncoded, !text.isEmpty, !isOurs || charset != nil else { return }
        let type = fields.first { $0.name.lowercased() == "content-type" }.flatMap { MediaType($0.value) }
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

    /// How many bytes the body had, as its fields tell; `nil` where they do not, or where it had a content coding.
    private var length: Int? {
        func value(_ name: String) -> String? { fields.first { $0.name.lowercased() == name }?.value }
        return value("content-encoding") == nil ? value("content-length").flatMap { Int($0) } : nil
    }
}

extension ByteBuffer {
    /// The byte order mark of a character encoding, which its texts have not where they are read.
    fileprivate static func mark(of charset: Charset) -> ByteBuffer? {
        switch charset {
        case .utf16LittleEndian: ByteBuffer(bytes: [0xFF, 0xFE])
        case .utf16BigEndian: ByteBuffer(bytes: [0xFE, 0xFF])
        default: nil
        }
    }
}
