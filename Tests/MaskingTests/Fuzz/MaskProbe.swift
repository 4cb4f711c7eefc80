import Content
import HTTPModel
import Masking
import NIOCore
import Support

/// Masks an exchange with arbitrary heads and bodies, in which one secret stands that is known by its name elsewhere: it
/// never comes through, and what is read in pieces is what is read at once.
enum MaskProbe {
    static let secret = "Zk93hd72Lm4Qx81p"
    private static let types = [
        "application/json", "application/x-www-form-urlencoded", "text/html", "application/xml", "text/css",
        "multipart/form-data; boundary=x", "application/octet-stream", "application/grpc", "text/event-stream",
    ]

    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        let place = input.bytes.count * input.number(below: 256) / 256
        let body = Array(input.bytes[..<place]) + MaskProbe.secret.utf8 + input.bytes[place...]
        let source = Source(type: input.choose(types), line: line(input.bytes), body: body)
        let masked = MaskedSource(source, TextMask())
        masked.marksSecrets = input.choose([false, true])
        try masked.collect(source.recorded)
        masked.mask.endCollecting()
        let whole = try read(masked, source, limit: 1 << 20)

        try demand(!contains(whole, MaskProbe.secret), "the secret is in the body")
        try demand(read(masked, source, limit: 1 + input.number(below: 64)) == whole, "another body in pieces")
        let exchange = masked.masked(source.recorded)
        for head in [exchange.messages.requestHead, exchange.messages.responseHead] {
            let text = Array((head ?? ByteBuffer()).readableBytesView)
            try demand(!contains(text, MaskProbe.secret), "the secret is in a head")
        }
        try demand(!exchange.record.url.description.contains(MaskProbe.secret), "the secret is in the URL")
        _ = masked.masked(shown: String(decoding: input.bytes, as: UTF8.self))
        _ = (masked.mask.suspects, masked.maskedParts(of: source.recorded.record), masked.replacedCount)
    }

    /// The first line, as a field's value can be.
    private static func line(_ bytes: [UInt8]) -> [UInt8] {
        bytes.prefix { $0 != 0x0A }.filter { $0 >= 0x20 && $0 != 0x7F }
    }

    private static func read(_ masked: MaskedSource, _ source: Source, limit: Int) throws -> [UInt8] {
        _ = masked.masked(source.recorded)
        var body: [UInt8] = []
        while true {
            let id = source.recorded.record.id
            let piece = try masked.body(of: id, side: .responseReceived, offset: Int64(body.count), limit: limit)
            if piece.readableBytes == 0 { return body }
            body += piece.readableBytesView
        }
    }

    private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        let needle = Array(text.utf8)
        guard bytes.count >= needle.count else { return false }
        return (0...bytes.count - needle.count).contains { bytes[$0...].starts(with: needle) }
    }

    /// One exchange: its request names the secret, its answer is arbitrary.
    private struct Source: ExchangeSource {
        let recorded: RecordedExchange
        private let answer: ByteBuffer

        init(type: String, line: [UInt8], body: [UInt8]) {
            let value = String(decoding: line, as: UTF8.self)
            var messages = ExchangeMessages()
            let target = "/a/\(MaskProbe.secret)?q=\(MaskProbe.secret)"
            messages.requestHead = ByteBuffer(
                string: "GET \(target) HTTP/1.1\r\nAuthorization: Bearer \(MaskProbe.secret)\r\n\(value)\r\n\r\n"
            )
            messages.responseHead = ByteBuffer(
                string: "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nX: \(value)\r\nSet-Cookie: \(value)\r\n\r\n"
            )
            let record = ExchangeRecord(
                id: ExchangeID(1),
                kind: .http,
                startedAt: 0,
                method: "GET",
                url: RequestURL(
                    scheme: "https",
                    host: "a.example",
                    port: 443,
                    path: "/a/\(MaskProbe.secret)",
                    query: "\(value)&q=\(MaskProbe.secret)"
                ),
                clientConnection: ConnectionID(1)
            )
            recorded = RecordedExchange(record: record, messages: messages)
            answer = ByteBuffer(bytes: body)
        }

        func exchange(_ id: ExchangeID) -> RecordedExchange? { recorded }

        func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) -> ByteBuffer {
            guard side == .responseReceived, offset < answer.readableBytes else { return ByteBuffer() }
            let start = answer.readerIndex + Int(offset)
            return answer.getSlice(at: start, length: min(limit, answer.writerIndex - start)) ?? ByteBuffer()
        }
    }
}

/// Bodies for the fuzzer's corpus.
enum MaskSeeds {
    private static let bodies = [
        #"{"token":"a","apiKeys":["b",{"c":"\"d\\"}],"password": {"value":"x"},"n":"{\"pin\":\"1\"}","pin":4711}"#,
        "a=b&password=c%26d&user%5Bpassword%5D=e&u=%3Ftoken%3Df%26g&code=123456&key=h",
        "<a password='x'><password>y</password><entry key=\"secret\"><![CDATA[z]]></entry><x value=v name=token>",
        "--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\ny\r\n--x--\r\n",
        "data: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlIGlzIGhlcmU\r\n\r\n",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----", "sid=1; theme=\"d\\\"ark\"; a.sig==",
        "https://user:pass@host/p?access_token=1#frag ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "Basic dXNlcjp0b2tlbj1aazkzaGQ3MkxtNFF4ODFw", "PK\u{3}\u{4}\u{14}\0\0\0\u{8}\0", "\u{1F}\u{8B}\u{8}",
        "p\0a\0s\0s\0w\0o\0r\0d\0=\0x\0",
    ]

    static let all: [[UInt8]] = bodies.enumerated().map { place, body in
        FuzzInput.made(Array(body.utf8), [UInt8(place * 20), UInt8(place), UInt8(place % 2), 7])
    }
}
