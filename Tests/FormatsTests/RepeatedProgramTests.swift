import Content
import Foundation
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Formats

/// Programs of several requests are run against servers that refuse them or answer with what cannot be decoded.
@Suite("Programs that send requests again go on after an error", .serialized)
struct RepeatedProgramTests {
    private func program(_ language: ProgramExport.Language, _ source: MemorySource) throws -> String {
        var text = ByteBuffer()
        var export = ProgramExport(language, source: source, files: NamedBodies()) { text.writeImmutableBuffer($0) }
        for exchange in source.exchanges { try export.add(exchange) }
        try export.finish()
        return String(buffer: text)
    }

    @Test(arguments: [ProgramExport.Language.fetch, .python])
    func `each is tried, errors are told, and the end is 1`(_ language: ProgramExport.Language) async throws {
        try await blocking {
            let server = try EchoServer()
            let source = MemorySource()
            // Port 9 of the loopback has nobody who listens.
            for (port, path) in [(server.port, "a"), (9, "b"), (server.port, "c")] {
                let head = "GET /\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept-Encoding: gzip\r\n\r\n"
                try source.add("http://127.0.0.1:\(port)/\(path)", request: head)
            }
            let folder = try TemporaryFolder()
            let name = language == .fetch ? "program.mjs" : "program.py"
            let text = try program(language, source)
            try Data(text.utf8).write(to: URL(filePath: "\(folder.path)/\(name)"))
            let runner = language == .fetch ? "node" : try PeerEnvironment.program("python")
            let words = "\(runner) \(name) > out 2> err"
            let child = try folder.run("sh", ["-c", words])
            let coded = "200 OK\r\nContent-Encoding: gzip\r\n\r\nno gzip"
            #expect(try server.receive(answer: coded).requestLine.text == "GET /a HTTP/1.1", "\(text)")
            #expect(try server.receive(answer: coded).requestLine.text == "GET /c HTTP/1.1", "\(text)")
            #expect(child.wait() == 1)
            let read = { (file: String) in try String(contentsOfFile: "\(folder.path)/\(file)", encoding: .utf8) }
            let (output, errors) = (try read("out"), try read("err"))
            #expect(output == "1 200\n3 200\n", "\(errors)")
            #expect(errors.hasPrefix("2 GET http://127.0.0.1:9/b ") && errors.split(separator: "\n").count == 1)
        }
    }

    @Test(arguments: [CopyForm.curl, .fetch, .python, .httpie])
    func `bytes of a target that are not ASCII are sent as they were`(_ form: CopyForm) async throws {
        try await blocking {
            let server = try EchoServer()
            let folder = try TemporaryFolder()
            let source = MemorySource()
            let target: [UInt8] = Array("/u".utf8) + [0xC3, 0xA9, 0xFF] + Array("?".utf8) + [0xE9]
            let host = "127.0.0.1:\(server.port)"
            let head = Array("GET ".utf8) + target + Array(" HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8)
            let url = "http://\(host)/u\u{C3}\u{A9}\u{FF}?\u{E9}"
            let exchange = try source.add(url, requestBytes: head)
            let text = try #require(try form.text(exchange, source: source, files: nil))
            guard form != .curl else { return }
            #expect(text.contains("/u%C3%A9%FF?%E9") && !text.contains("own way"), "\(text)")
            let script = "\(folder.path)/script"
            try Data(text.utf8).write(to: URL(filePath: script))
            guard form != .httpie else { return }
            let runner = form == .fetch ? "node" : try PeerEnvironment.program("python")
            let child = try folder.run(runner, [script])
            #expect(try server.receive().requestLine.text == "GET /u%C3%A9%FF?%E9 HTTP/1.1", "\(text)")
            _ = child.wait()
        }
    }

    @Test(arguments: [CopyForm.curl, .fetch, .python, .httpie])
    func `a request that the client has cut is told`(_ form: CopyForm) throws {
        let source = MemorySource()
        func text(_ length: Int, _ state: ExchangeRecord.State, _ fields: String = "") throws -> String {
            let length = fields.isEmpty ? "Content-Length: \(length)\r\n" : fields
            let exchange = try source.add(
                "http://h/",
                request: "POST / HTTP/1.1\r\nHost: h\r\n\(length)\r\n",
                requestBody: Array("body".utf8)
            ) {
                $0.record.state = state
                if state == .failed { $0.record.failure = ExchangeFailure(.clientGone, "gone") }
            }
            guard form == .curl else { return try #require(try form.text(exchange, source: source, files: nil)) }
            let command = try CurlCommand(exchange, source: source, files: nil)
            return command.remarks.joined(separator: "\n")
        }
        let words = "the request did not come whole"
        #expect(try text(100, .failed).contains(words) && text(100, .interrupted).contains(words))
        #expect(try text(0, .failed, "Transfer-Encoding: chunked\r\n").contains(words))
        #expect(try !text(4, .failed).contains(words) && !text(100, .complete).contains(words))
    }

    @Test func `what a form sends otherwise is said`() throws {
        let source = MemorySource()
        let twice = try source.add("http://h/", request: "GET / HTTP/1.1\r\nHost: h\r\nX: 1\r\nx: 2\r\n\r\n")
        let fetch = try #require(try CopyForm.fetch.text(twice, source: source, files: nil))
        #expect(fetch.contains("// header lines of one name are joined, as fetch sends one\n"))

        func tells(_ target: String) throws -> Bool {
            let exchange = try source.add("http://h\(target)", request: "GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
            let text = try #require(try CopyForm.httpie.text(exchange, source: source, files: nil))
            return text.contains("# HTTPie writes some characters of this URL in its own way\n")
        }
        for target in ["/a|b", "/a%2fb", "/a?b[]=1", "/a?b=%7E", "/a?"] { #expect(try tells(target), "\(target)") }
        for target in ["/dots/../a", "/a%7Eb", "/a%20b?c=%20"] { #expect(try !tells(target), "\(target)") }
    }

    @Test(arguments: [CopyForm.fetch, .python, .httpie])
    func `a masked body without its coding is told`(_ form: CopyForm) throws {
        let source = MemorySource()
        let body = Array(#"{"password":"hunter2word"}"#.utf8)
        let exchange = try source.add(
            "http://h/",
            request: "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n",
            requestBody: Array(try ContentEncoder.encode(ByteBuffer(bytes: body), coding: .gzip).readableBytesView)
        )
        let masked = MaskedSource(source, TextMask())
        try masked.collect(exchange)
        masked.mask.endCollecting()
        let text = try #require(try form.text(masked.masked(exchange), source: masked, files: nil))
        #expect(text.contains(" the body is sent without its Content-Encoding, gzip, as it is masked\n"), "\(text)")
    }

    @Test(arguments: [CopyForm.curl, .fetch, .python, .httpie])
    func `a body with a coding and no secret goes as it was recorded`(_ form: CopyForm) throws {
        let source = MemorySource()
        let packed = try ContentEncoder.encode(ByteBuffer(string: #"{"plain":"no secret"}"#), coding: .gzip)
        let exchange = try source.add(
            "http://h/",
            request: """
                POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\
                Content-Length: \(packed.readableBytes)\r\nX-Api-Key: 9f3A7c21Bd08e6Qz\r\n\r\n
                """,
            requestBody: Array(packed.readableBytesView)
        )
        let masked = MaskedSource(source, TextMask())
        try masked.collect(exchange)
        masked.mask.endCollecting()
        let text = try #require(try form.text(masked.masked(exchange), source: masked, files: nil))
        #expect(!text.contains("as it is masked") && text.lowercased().contains("content-encoding"), "\(text)")
        #expect(!text.contains("9f3A7c21Bd08e6Qz"), "\(text)")
    }

    @Test(arguments: [CopyForm.curl, .fetch, .python, .httpie], [false, true])
    func `a body with a secret beside what is coded does not go as it was recorded`(
        _ form: CopyForm,
        isName: Bool
    ) throws {
        let source = MemorySource()
        let secret = Array("9f3A7c21Bd08e6Qz".utf8)
        let packed = try ContentEncoder.encode(ByteBuffer(string: #"{"plain":"no secret"}"#), coding: .gzip)
        var body = Array(packed.readableBytesView)
        if isName {
            // FNAME (RFC 1952 §2.3.1): a name behind the ten bytes of the header.
            body[3] |= 8
            body.insert(contentsOf: secret + [0], at: 10)
        } else {
            body += secret
        }
        let exchange = try source.add(
            "http://h/",
            request: "POST / HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nX-Api-Key: 9f3A7c21Bd08e6Qz\r\n\r\n",
            requestBody: body
        )
        let masked = MaskedSource(source, TextMask())
        try masked.collect(exchange)
        masked.mask.endCollecting()
        #expect(try !masked.isUnchanged(exchange.record.id, side: .requestReceived))
        let text = try #require(try form.text(masked.masked(exchange), source: masked, files: nil))
        #expect(!text.contains("9f3A7c21Bd08e6Qz"), "\(text)")
    }
}
