import Content
import Foundation
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Formats

/// A session that has its secrets in places where few look, in every form of an export.
@Suite("Secrets in odd places, in every form")
struct OddPlaceTests {
    enum Format: String, CaseIterable, Sendable {
        case har, json, jsonl, csv, html, openapi, raw, curl, httpie, fetch, python
    }

    private static let known = "tok-5f4dcc3b5aa765d6"
    /// Each in one place of its own.
    private static let secrets: [String] = (0..<42).map { "Maple\($0)x7Otter\($0 * 7 + 3)Qz91" }

    private static func session() throws -> MemorySource {
        let source = MemorySource()
        var rest = secrets[...]
        func next() -> String { rest.popFirst() ?? "" }
        let body = #"{"password":"\#(next())","pin":[{"pin":48151623}],"list":["\#(known)"]}"#
        try source.add(
            "http://bob:x@h.example/a/\(known)?token=\(known)",
            request: """
                POST /a/\(known)?token=\(known) HTTP/1.1\r\nHost: h.example\r\nAuthorization: Bearer \(known)\r\n\
                \(known): 1\r\nCookie: \(known)=\(next())\r\nReferer: https://h.example/?api_key=\(next())\r\n\
                Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n
                """,
            requestBody: body.utf8,
            response: """
                HTTP/1.1 401 no /x?token=\(next()) for \(known)\r\nReport-To: {"token":"\(next())"}\r\n\
                Location: https://u:\(next())@h.example/?sig=\(next())&code=\(next())\r\nX-\(known): a\r\n\
                Content-Type: text/html\r\n\r\n
                """,
            responseBody: """
                <a href=/x?token=\(next())>x</a> <img srcset="/a?token=\(next()) 1x, /b?token=\(next()) 2x">
                <style>a { background: url(/x?token=\(next())) }</style>
                &lt; X-Api-Key: \(known)
                """.utf8
        ) {
            $0.messages.interimHeads = ByteBuffer(
                string: "HTTP/1.1 103 \(known)\r\nLink: </x?access_token=\(next())>; rel=preload\r\n\r\n"
            )
            $0.messages.requestTrailers = ByteBuffer(string: "X-Auth-Token: \(next())\r\n")
            $0.messages.responseTrailers = ByteBuffer(string: "X-Secret: \(next())\r\n\(known): 2\r\n")
            $0.messages.trace = [
                TraceEntry(stage: "rewrite", rule: "put \(known)", outcome: .fired, text: "asked /x?api_key=\(next())")
            ]
            $0.record.extras.annotation.comment = "the /x?password=\(next()) of \(known)"
            $0.record.failure = ExchangeFailure(
                .reset,
                "reset at /x?token=\(next())",
                hint: #"req.json.token is "\#(known)", recorded "\#(known)"."#
            )
            $0.record.flags.insert([.requestChanged, .responseChanged])
        }
        try source.add(
            "https://h.example/",
            request: """
                CONNECT h.example:443 HTTP/1.1\r\nHost: h.example\r\nProxy-Authorization: Basic \
                \(Data("u:\(next())".utf8).base64EncodedString())\r\nX-Api-Key: \(next())\r\n\r\n
                """,
            response: "HTTP/1.1 200 \(known)\r\nX-Session-Token: \(next())\r\n\r\n"
        ) { $0.record.kind = .tunnel }
        let socket = try source.add(
            "wss://h.example/chat?ticket=\(next())",
            request: """
                GET /chat HTTP/1.1\r\nHost: h.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                Sec-WebSocket-Protocol: token, \(known)\r\n\r\n
                """,
            response: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
        ) {
            $0.record.kind = .webSocket
            ($0.record.tally.fromClient, $0.record.tally.fromServer) = (1, 1)
        }
        func frame(_ opcode: UInt8, _ text: [UInt8]) -> [UInt8] { [0x80 | opcode, UInt8(text.count)] + text }
        source.setStream(
            socket,
            .responseReceived,
            [(1_000, frame(1, Array(#"{"token":"\#(next())"}"#.utf8)) + frame(8, [3, 0xE8] + Array(known.utf8)))]
        )
        try addChanged(to: source, next)
        #expect(rest.isEmpty, "\(rest.count) secrets have no place")
        return source
    }

    /// What rules changed, what was compressed, in parts, in HTTP/2, and malformed.
    private static func addChanged(to source: MemorySource, _ next: () -> String) throws {
        let packed = try ContentEncoder.encode(ByteBuffer(string: #"{"secret":"\#(next())"}"#), coding: .gzip)
        let part = "Content-Disposition: form-data; name="
        try source.add(
            "https://h.example/b",
            request: """
                POST /b?session_token=\(next()) HTTP/2\r\nhost: h.example\r\ncontent-type: multipart/form-data; boundary=b\r\n\
                x-amz-security-token: \(next())\r\n\r\n
                """,
            requestBody: """
                --b\r\n\(part)"password"\r\n\r\n\(next())\r\n--b\r\n\(part)"f"; filename="/x?token=\(next())"\r\n\
                Content-Type: application/json\r\n\r\n{"token":"\(next())"}\r\n--b--\r\n
                """.utf8,
            response: "HTTP/2 200 \r\ncontent-encoding: gzip\r\ncontent-type: application/json\r\n\r\n",
            responseBody: packed.readableBytesView
        ) {
            $0.messages.requestHeadSent = ByteBuffer(
                string: "POST /c?token=\(next()) HTTP/1.1\r\nHost: \(known).example\r\nX-Api-Key: \(next())\r\n\r\n"
            )
            $0.messages.responseHeadSent = ByteBuffer(
                string: "HTTP/1.1 200 /x?token=\(next())\r\nSet-Cookie: a=\(next()); Path=/?token=\(known)\r\n\r\n"
            )
            $0.record.sentURL = RequestURL("https://h.example/c?token=\(next())")
            $0.record.grpc = GRPCOutcome(status: 7, message: "no /x?password=\(next())")
            $0.record.flags.insert([.requestChanged, .responseChanged])
        }
        let events = "event: \(known)\nid: \(known)\ndata: {\"token\":\"\(next())\"}\n\ndata: /x?token=\(next())\n\n"
        try source.add(
            "https://h.example/events",
            request: "GET /events HTTP/1.1\r\nHost: h.example\r\nTE: \(known)\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
            responseBody: events.utf8
        )
        let inside = Data(#"{"client_secret":"\#(known)"}"#.utf8).base64EncodedString()
        try source.add(
            "https://h.example/\(inside)",
            request: "GET /\(inside)?x=\(inside) HTTP/1.1\r\nHost: h.example\r\nX-Data: \(inside)\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n",
            responseBody: "{\"token\":\"\(next())\"}\n{\"d\":\"\(inside)\",\"u\":\"db://u:\(next())@h\"}\n".utf8
        )
        try source.add(
            "http://h.example/",
            request: "GET /x?token=\(next()) and more\r\nX-Api-Key: \(next())\r\n\r\n{\"token\":\"\(next())\"}"
        ) { $0.record.kind = .malformed }
    }

    private func text(_ format: Format, _ source: any ExchangeSource, _ exchanges: [RecordedExchange]) throws -> String
    {
        var output = ByteBuffer()
        func sink(_ bytes: ByteBuffer) { output.writeImmutableBuffer(bytes) }
        var export: any ExchangeExport
        switch format {
        case .har: export = HARExport(source: source, options: .init(), sink: sink)
        case .json: export = JSONExport(source: source, sink: sink)
        case .jsonl:
            var options = EntryOptions()
            options.lines = true
            export = JSONExport(source: source, options: options, sink: sink)
        case .csv: export = CSVExport(source: source, sink: sink)
        case .html: export = PageExport(source: source, facts: SessionFacts(name: "a"), sink: sink)
        case .openapi: export = OpenAPIExport(source: source, version: "1", sink: sink)
        case .curl: export = CurlExport(source: source, form: .scriptFile, files: NamedBodies(), sink: sink)
        case .httpie: export = ProgramExport(.httpie, source: source, files: NamedBodies(), sink: sink)
        case .fetch: export = ProgramExport(.fetch, source: source, files: NamedBodies(), sink: sink)
        case .python: export = ProgramExport(.python, source: source, files: NamedBodies(), sink: sink)
        case .raw:
            for recorded in exchanges {
                let exchange = (source as? MaskedSource)?.masked(recorded) ?? recorded
                for part in RawMessage.Part.allCases {
                    try RawMessage(part, of: exchange, from: source)?.write { sink($0) }
                }
            }
            return String(buffer: output)
        }
        let masked = source as? MaskedSource
        for exchange in exchanges { try export.add(masked?.masked(exchange) ?? exchange) }
        try export.finish()
        return String(buffer: output)
    }

    @Test("Nothing leaks, and what is written can be read", arguments: Format.allCases)
    func leaks(format: Format) async throws {
        try await blocking {
            let source = try OddPlaceTests.session()
            let masked = MaskedSource(source, TextMask())
            for exchange in source.exchanges { try masked.collectAll(exchange) }
            masked.mask.endCollecting()
            masked.marksSecrets = [.curl, .httpie].contains(format)
            let text = try text(format, masked, source.exchanges)
            for secret in OddPlaceTests.secrets + [OddPlaceTests.known, "48151623"] {
                let place = text.range(of: secret).map { text[..<$0.lowerBound].suffix(80) }
                #expect(place == nil, "\(secret)")
                // As it stands in base64, but for the digits at its ends that others share.
                let digits = Data(secret.utf8).base64EncodedString().dropLast(4)
                #expect(text.range(of: digits) == nil, "\(secret) in base64")
            }
            try check(text, format)
        }
    }

    @Test("What was masked, opened and masked again has the same placeholders, but for numbers")
    func again() throws {
        func masked(_ source: MemorySource) throws -> (text: String, secrets: [String]) {
            let masked = MaskedSource(source, TextMask())
            for exchange in source.exchanges { try masked.collectAll(exchange) }
            masked.mask.endCollecting()
            let text = try text(.har, masked, source.exchanges)
            return (text, masked.mask.secrets.map { "\($0.placeholder.text) \($0.name)" })
        }
        let first = try masked(try OddPlaceTests.session()).text
        let fixture = ArchiveFixture(bytes: Array(first.utf8))
        let opened = MemorySource()
        for (record, messages, bodies) in fixture.records {
            try opened.add("http://h/", request: "GET / HTTP/1.1\r\n\r\n") {
                ($0.record, $0.messages) = (record, messages)
            }
            for (side, body) in bodies { opened.setBody(record.id, side, body.readableBytesView) }
        }
        let (second, secrets) = try masked(opened)
        #expect(secrets.allSatisfy { $0.hasSuffix(" pin") }, "\(secrets)")
        let entries = try [first, second].map { try OddPlaceTests.entries(of: $0) }
        #expect(entries[0].count == entries[1].count && entries[0].count > 5)
        for (before, after) in zip(entries[0], entries[1]) {
            for part in ["request", "response"] {
                let texts = [before, after].map { OddPlaceTests.placeholders(in: "\($0[part] ?? "")") }
                #expect(texts[0] == texts[1], "\(before[part] ?? "")")
            }
        }
    }

    private static func entries(of har: String) throws -> [[String: Any]] {
        let object = try JSONSerialization.jsonObject(with: Data(har.utf8)) as? [String: Any]
        return (object?["log"] as? [String: Any])?["entries"] as? [[String: Any]] ?? []
    }

    private static func placeholders(in text: String) -> Set<String> {
        Set(text.matches(of: /sluice-[a-z-]+-[0-9]+/).map { String($0.output) })
    }

    private func check(_ text: String, _ format: Format) throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/\(format == .fetch ? "a.mjs" : "a.py")"
        try Data(text.utf8).write(to: URL(filePath: file))
        let program: [String]
        switch format {
        case .har, .json, .openapi:
            _ = try JSONSerialization.jsonObject(with: Data(text.utf8))
            return
        case .jsonl:
            for line in text.split(separator: "\n") { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
            return
        case .csv, .html, .raw: return
        case .curl, .httpie: program = ["bash", "-n"]
        case .fetch: program = ["node", "--check"]
        case .python: program = [try PeerEnvironment.program("python"), "-m", "py_compile"]
        }
        #expect(try folder.run(program[0], program.dropFirst() + [file]).wait() == 0, "\(text)")
    }
}
