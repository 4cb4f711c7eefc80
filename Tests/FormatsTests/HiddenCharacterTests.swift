import Content
import Description
import Formats
import Foundation
import HTTPModel
import NIOCore
import Support
import Testing
import Text

@Suite("What is recorded reaches no terminal raw")
struct HiddenCharacterTests {
    /// Control characters, C1 controls, and what turns text or hides in it; no line feed, tab or NUL.
    static let hidden = String(
        String.UnicodeScalarView(
            [0x01...0x08, 0x0B...0x1F, 0x7F...0x9F, 0x200B...0x200F, 0x2028...0x202E, 0x2066...0x2069].joined()
                .compactMap { Unicode.Scalar(UInt32($0)) } + ["\u{AD}", "\u{FEFF}", "\u{E0041}", "\u{FE0F}"]
        )
    )

    /// The same without those that no field and no target can hold.
    private static let inFields = String(hidden.unicodeScalars.filter { $0.value >= 0x80 }.map(Character.init))

    /// An exchange with hidden characters wherever a peer can put them.
    private func hostile(_ source: MemorySource) throws -> RecordedExchange {
        let (any, field) = (HiddenCharacterTests.hidden, HiddenCharacterTests.inFields)
        return try source.add(
            "http://h\(field)/\(field)?\(field)",
            request:
                "POST /\(field)?\(field) HTTP/1.1\r\nHost: h\(field)\r\nX: \(field)\r\nContent-Type: text/plain\r\n\r\n",
            requestBody: Array("one\t\(field)\ntwo".utf8),
            response: "HTTP/1.1 200 \(field)\r\nContent-Type: text/plain\r\n\r\n",
            responseBody: Array("\(any)\u{85}\u{2028}\n".utf8)
        ) {
            $0.record.mediaType = "text/\(any)"
            $0.record.method = any
            $0.record.failure = ExchangeFailure(.reset, any, hint: any)
            $0.record.sentURL = $0.record.url
            $0.record.grpc = GRPCOutcome(status: 2, message: any)
            $0.messages.trace = [TraceEntry(stage: any, rule: any, outcome: .fired, text: "\(any)\n")]
            $0.messages.responseTrailers = ByteBuffer(string: "T: \(any)\r\n")
            var client = ConnectionRecord(
                id: ConnectionID(1),
                leg: .client,
                openedAt: 0,
                localAddress: any,
                peerAddress: any
            )
            client.tls = TLSDetails(protocolVersion: any, cipherSuite: any, verificationFailure: any)
            client.tls?.serverName = any
            $0.client = client
        }
    }

    private func expectPlain(_ text: String, tabs: Bool = false) {
        let raw = text.unicodeScalars.filter { VisibleText.isHidden($0) && $0 != "\n" && !(tabs && $0 == "\t") }
        #expect(raw.isEmpty, "\(raw.map { String($0.value, radix: 16) })")
    }

    @Test("Lists and reports show each by what it is")
    func prose() throws {
        let source = MemorySource()
        let exchange = try hostile(source)
        expectPlain(ExchangeLine.human(exchange.record))
        #expect(!ExchangeLine.human(exchange.record).contains("\n"))
        let report = ExchangeReport.text(exchange, source: source)
        expectPlain(report, tabs: true)
        #expect(report.contains("<U+202E>") && report.contains("<U+009B>") && report.contains("one <U+0080>"))
    }

    @Test("JSON, HAR and list lines escape them, and their values stay exact")
    func json() throws {
        let source = MemorySource()
        let exchange = try hostile(source)
        expectPlain(ExchangeLine.json(exchange.record))
        var (json, har) = (ByteBuffer(), ByteBuffer())
        var export = JSONExport(source: source) { json.writeImmutableBuffer($0) }
        try export.add(exchange)
        try export.finish()
        var archive = HARExport(source: source) { har.writeImmutableBuffer($0) }
        try archive.add(exchange)
        try archive.finish()
        for text in [String(buffer: json), String(buffer: har)] {
            expectPlain(text)
            #expect(text.contains("\\u009b") && text.contains("\\u202e") && text.contains("\\udb40\\udc41"))
        }
        let objects = try #require(JSONSerialization.jsonObject(with: Data(json.readableBytesView)) as? [[String: Any]])
        let body = (objects.first?["response"] as? [String: Any])?["body"] as? [String: Any]
        #expect(body?["text"] as? String == "\(HiddenCharacterTests.hidden)\u{85}\u{2028}\n")
        #expect(objects.first?["url"] as? String == exchange.record.url.description)
    }

    @Test("In a long body they are escaped wherever its pieces end", arguments: 0..<4)
    func pieces(offset: Int) throws {
        let source = MemorySource()
        let text = String(repeating: "a", count: offset) + String(repeating: "\u{202E}\u{9B}日\u{E0041}😀", count: 20_000)
        let exchange = try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n",
            responseBody: Array(text.utf8)
        )
        var output = ByteBuffer()
        var export = JSONExport(source: source) { output.writeImmutableBuffer($0) }
        try export.add(exchange)
        try export.finish()
        expectPlain(String(buffer: output))
        let objects = try #require(
            JSONSerialization.jsonObject(with: Data(output.readableBytesView)) as? [[String: Any]]
        )
        let body = (objects.first?["response"] as? [String: Any])?["body"] as? [String: Any]
        #expect(body?["text"] as? String == text)
    }

    @Test("A cURL script has them in octal, its comments by name")
    func curl() throws {
        let source = MemorySource()
        let exchange = try hostile(source)
        try source.add("http://h/", request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        var output = ByteBuffer()
        let files = BodyDirectory(path: "/nowhere")
        var export = CurlExport(source: source, files: files) { output.writeImmutableBuffer($0) }
        for exchange in source.exchanges { try export.add(exchange) }
        try export.finish()
        let script = String(buffer: output)
        expectPlain(script)
        #expect(script.contains("'X: '\"$(printf '\\302\\200"))
        #expect(script.contains("printf 'one\\t\\"))
        #expect(script.contains("\n# '1 ^A^B"))
        #expect(try CurlExport.command(for: exchange, source: source).contains("\\342\\200\\256"))
    }

    @Test("A body for a terminal is made visible whole, however it is cut", arguments: [1, 2, 3, 5, 64])
    func visible(size: Int) {
        let text = String(repeating: "a", count: 5_000) + "\u{1B}]0;x\u{7}\ttab\n日\u{202E}👩‍👩‍👧\u{9B}31m"
        let bytes = Array(text.utf8) + [0x9B, 0xE2, 0x80]
        var pieces = VisiblePieces()
        var output = ByteBuffer()
        for start in stride(from: 0, to: bytes.count, by: size) {
            output.writeImmutableBuffer(pieces.add(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)])))
        }
        output.writeImmutableBuffer(pieces.finish())
        let shown = String(buffer: output)
        expectPlain(shown.replacing("👩‍👩‍👧", with: ""), tabs: true)
        #expect(shown.contains("a^[]0;x^G\ttab\n日<U+202E>") && shown.contains("<U+009B>31m\u{FFFD}\u{FFFD}"))
        #expect(pieces.hasChanged)
    }

    @Test("A body that is plain text goes to a terminal as it is")
    func plain() {
        var pieces = VisiblePieces()
        let text = ByteBuffer(string: "grüße, 日本\n\ttab\n")
        var output = pieces.add(text)
        output.writeImmutableBuffer(pieces.finish())
        #expect(output == text && !pieces.hasChanged)
    }
}
