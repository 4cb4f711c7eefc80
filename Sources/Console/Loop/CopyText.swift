import Content
import HTTPModel
import NIOCore
import Recording
import Sharing

enum CopyText {
    /// The longest text for a clipboard, in bytes.
    private static let longest = 8 << 20

    static func text(_ form: CopyForm, _ exchange: RecordedExchange, _ reader: SessionReader) throws -> String {
        switch form {
        case .url: return exchange.record.url.description
        case .curl: return try CurlExport.command(for: exchange, source: reader)
        case .httpie: return try HTTPieCommand.text(exchange, reader)
        case .response: return try body(exchange, .responseReceived, reader, isRaw: false)
        case .request: return try body(exchange, .requestReceived, reader, isRaw: false)
        case .raw:
            let heads = exchange.messages
            let request = try text(heads.requestHead) + body(exchange, .requestReceived, reader, isRaw: true)
            let response = try text(heads.responseHead) + body(exchange, .responseReceived, reader, isRaw: true)
            return request + "\n" + response
        }
    }

    private static func text(_ head: ByteBuffer?) -> String { head.map { String(buffer: $0) } ?? "" }

    static func body(
        _ exchange: RecordedExchange,
        _ side: BodySide,
        _ reader: SessionReader,
        isRaw: Bool
    ) throws -> String {
        var bytes = ByteBuffer()
        _ = try BodyExport.write(exchange, side: side, from: reader, raw: isRaw) { piece in
            guard bytes.readableBytes + piece.readableBytes <= longest else {
                throw ConsoleError("The body is too long to be copied; save-body writes it to a file.")
            }
            bytes.writeImmutableBuffer(piece)
        }
        guard TextDecoder.isText(bytes) || bytes.readableBytes == 0 else {
            throw ConsoleError("The body is no text; save-body writes it to a file.")
        }
        return String(buffer: bytes)
    }
}

enum HTTPieCommand {
    static func text(_ exchange: RecordedExchange, _ reader: SessionReader) throws -> String {
        let record = exchange.record
        guard record.kind == .http || record.kind == .upgraded else {
            throw ConsoleError("This exchange is no request that could be sent again.")
        }
        let fields = exchange.messages.fields(of: .requestReceived)
        let body = try CopyText.body(exchange, .requestReceived, reader, isRaw: true)
        var words = ["http"]
        if !body.isEmpty { words.append("--raw=" + quoted(body)) }
        words += [quoted(record.method), quoted(record.url.description)]
        let dropped: Set<String> = ["host", "content-length", "transfer-encoding", "connection", "proxy-connection"]
        for field in fields where !dropped.contains(field.name.lowercased()) && !field.name.hasPrefix(":") {
            // An empty value is written with a semicolon; a colon would remove the field.
            words.append(quoted(field.value.isEmpty ? "\(field.name);" : "\(field.name):\(field.value)"))
        }
        return words.joined(separator: " ")
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "-_./:=@%+,".utf8.contains(byte)
        }
        return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
