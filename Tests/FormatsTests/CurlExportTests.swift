import Formats
import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("cURL export", .serialized)
struct CurlExportTests {
    @Test("real curl repeats every request exactly, in bash and in dash", arguments: CurlCase.all)
    func repeats(_ one: CurlCase) async throws {
        try await blocking {
            for shell in ["bash", "dash"] {
                let server = try EchoServer()
                let folder = try TemporaryFolder()
                let source = MemorySource()
                let exchange = try source.add(one, port: server.port)
                let export = try folder.export([exchange], source)
                let program = try folder.run(shell, [export.path])
                let received = try Result { try server.receive() }.getReporting(export.text)
                let status = program.wait()

                let host = "127.0.0.1:\(server.port)"
                let target = (one.expectedTarget ?? one.target).filling(host)
                #expect(
                    received.requestLine == Array("\(one.method) ".utf8) + target + Array(" \(one.version)".utf8),
                    "\(shell)"
                )
                let expected = (one.expectedFields ?? one.fields).map { $0.filling(host) }
                #expect(
                    received.fields.map(\.text) == hostFirst(expected).map(\.text),
                    "\(shell): \(export.text.prefix(2000))"
                )
                #expect(received.body == one.body, "\(shell)")
                #expect(status == 0, "\(shell)")
            }
        }
    }

    @Test("several exchanges become one script that runs them in order, from any directory")
    func script() async throws {
        try await blocking {
            for shell in ["bash", "dash"] {
                let server = try EchoServer()
                let folder = try TemporaryFolder()
                let source = MemorySource()
                let cases = CurlCase.bodies.filter { $0.body.count < 200_000 }
                let exchanges = try cases.map { try source.add($0, port: server.port) }
                let export = try folder.export(exchanges, source)
                #expect(export.text.hasPrefix("#!/bin/sh\n"))
                let program = try folder.run(shell, [export.path])
                for one in cases {
                    let received = try server.receive()
                    #expect(received.body == one.body, "\(shell) \(one.name)")
                }
                #expect(program.wait() == 0)
            }
        }
    }

    @Test("a script prints a line for each request, keeps bodies to itself, and ends with the worst status")
    func report() async throws {
        try await blocking {
            // Nothing listens on port 1.
            let runs: [(statuses: [String?], code: Int32)] = [
                (["200", "302"], 0), (["404", "200"], 4), (["503", "404"], 5), (["404", nil], 9),
            ]
            for (statuses, code) in runs {
                let server = try EchoServer()
                let folder = try TemporaryFolder()
                let source = MemorySource()
                var (exchanges, lines): ([RecordedExchange], String) = ([], "")
                for (index, status) in statuses.enumerated() {
                    // The first body is piped into curl.
                    let method = index == 0 ? "POST" : "GET"
                    let one = CurlCase("\(index)", method, "/\(index)", body: index == 0 ? "a\0b" : "")
                    let port = status == nil ? 1 : server.port
                    exchanges.append(try source.add(one, port: port))
                    lines += "\(index + 1) \(method) \(status ?? "000") http://127.0.0.1:\(port)/\(index)\n"
                }
                let export = try folder.export(exchanges, source)
                let program = try folder.run("sh", ["-c", "SAVE=. sh script.sh >lines 2>errors"])
                for status in statuses.compactMap(\.self) {
                    _ = try server.receive(answer: "\(status) Answer\r\nContent-Length: 0")
                }
                #expect(program.wait() == code)
                let printed = try String(contentsOfFile: folder.path + "/lines", encoding: .utf8)
                #expect(printed == lines, "\(export.text)")
                #expect(FileManager.default.fileExists(atPath: folder.path + "/1"))
            }
        }
    }

    @Test("a comment says what came of each request, and which rule answered")
    func comments() throws {
        let source = MemorySource()
        let folder = try TemporaryFolder()
        let flaky = try source.add("http://h/a", request: "GET /a HTTP/1.1\r\nHost: h\r\n\r\n") {
            ($0.record.status, $0.record.flags) = (503, [.answeredLocally])
            $0.messages.trace = [TraceEntry(stage: "block", rule: "flaky", outcome: .fired, text: "x; answered 503")]
        }
        let failed = try source.add("http://h/b", request: "GET /b HTTP/1.1\r\nHost: h\r\n\r\n") {
            $0.record.failure = ExchangeFailure(.dns, "No such name.")
        }
        let text = try folder.export([flaky, failed], source).text
        #expect(text.contains("\n# 1 GET http://h/a was 503 by rule flaky\n"), "\(text)")
        #expect(text.contains("\n# 2 GET http://h/b failed: dns\n"), "\(text)")
    }

    @Test("a HEAD with a body ends by itself, though curl waits for a body, and what follows is sent")
    func headWithBody() async throws {
        try await blocking {
            let server = try EchoServer()
            let folder = try TemporaryFolder()
            let source = MemorySource()
            let head = CurlCase("HEAD", "HEAD", "/a", CurlCase.json, body: "xyz")
            let exchanges = try [head, CurlCase("GET", "GET", "/b")].map { try source.add($0, port: server.port) }
            let export = try folder.export(exchanges, source)
            #expect(export.text.contains("\n# curl waits for a body after HEAD with a body"), "\(export.text)")
            let program = try folder.run("dash", [export.path])
            #expect(try server.receive(answer: "200 OK\r\nContent-Length: 50", stays: true).body == head.body)
            #expect(try server.receive().requestLine == Array("GET /b HTTP/1.1".utf8))
            #expect(program.wait() == 0)
        }
    }

    @Test("NUL-separated commands each run by themselves")
    func nulSeparated() async throws {
        try await blocking {
            let server = try EchoServer()
            let folder = try TemporaryFolder()
            let source = MemorySource()
            let cases = [CurlCase.bodies[8], CurlCase.bodies[13], CurlCase.targets[11]]
            let exchanges = try cases.map { try source.add($0, port: server.port) }
            let export = try folder.export(exchanges, source, form: .nulSeparated)
            let commands = export.bytes.split(separator: 0)
            #expect(export.bytes.last == 0)
            #expect(commands.count == cases.count)
            for (command, one) in zip(commands, cases) {
                let program = try folder.run("dash", ["-c", String(decoding: command, as: UTF8.self)])
                let received = try server.receive()
                program.wait()
                #expect(received.body == one.body)
                #expect(received.requestLine.starts(with: Array(one.method.utf8)))
            }
        }
    }

    @Test("a body too long for curl's memory is uploaded from its file")
    func upload() async throws {
        try await blocking {
            let server = try EchoServer()
            let folder = try TemporaryFolder()
            let source = MemorySource()
            var one = CurlCase("long", "POST", "/dir/?q=1", CurlCase.plain + ["Content-Type: a/b"])
            one.body = [UInt8](repeating: 0x21, count: (64 << 20) + 1)
            one.fields.append(Array("Content-Length: \(one.body.count)".utf8))
            let export = try folder.export([try source.add(one, port: server.port)], source)
            #expect(export.text.contains("--upload-file"))
            let program = try folder.run("dash", [export.path])
            let received = try server.receive()
            program.wait()
            #expect(received.requestLine.text == "POST /dir/?q=1 HTTP/1.1")
            #expect(received.fields.map(\.text) == one.fields.map { $0.filling("127.0.0.1:\(server.port)").text })
            #expect(received.body == one.body)
        }
    }

    @Test("a tunnel is left out and said so, also in a script")
    func tunnel() throws {
        let source = MemorySource()
        let folder = try TemporaryFolder()
        let tunnel = try source.add("https://h/", request: "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n") {
            $0.record.kind = .tunnel
        }
        let page = try source.add("https://h/a", request: "GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
        let export = try folder.export([tunnel, page], source)
        #expect(export.text.contains("# 1 left out: no HTTP request"))
        #expect(export.text.contains("curl --http1.1 -H 'Host: h'"))
        #expect(throws: (any Error).self) { try CurlExport.command(for: tunnel, source: source) }
    }

    @Test("the command has Charles' shape")
    func shape() throws {
        let source = MemorySource()
        let head = """
            GET /api/v2/items?page=1 HTTP/2\r\nuser-agent: okhttp/4.9.1\r\naccept-encoding: gzip\r\naccept: */*\r\n\r\n
            """
        let exchange = try source.add("https://qiita.com/api/v2/items?page=1", request: head)
        #expect(
            try CurlExport.command(for: exchange, source: source)
                == "curl --http2 -H 'user-agent: okhttp/4.9.1' -H 'accept-encoding: gzip' -H 'accept: */*' --compressed "
                + "'https://qiita.com/api/v2/items?page=1'"
        )
    }

    @Test("a body that no argument can carry is piped; too long for a command it is refused where there is no file")
    func noPlace() throws {
        let source = MemorySource()
        let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n"
        let exchange = try source.add("http://h/", request: head, requestBody: Array("-%\\'\n\r\t\0\u{202E}".utf8))
        let command = try CurlExport.command(for: exchange, source: source)
        #expect(command.hasPrefix("printf '\\055%%\\\\\\047\\n\\r\\t\\000\\342\\200\\256' | curl "))
        #expect(command.contains(" --data-binary '@-' "))
        let long = try source.add("http://h/", request: head, requestBody: repeatElement(0, count: 200_000))
        #expect(throws: (any Error).self) { try CurlExport.command(for: long, source: source) }
    }

    @Test("a body above 64 KiB goes to a file, also one that is plain text")
    func file() throws {
        let folder = try TemporaryFolder()
        let source = MemorySource()
        let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n"
        for (size, isInFile) in [(65_536, false), (65_537, true)] {
            let exchange = try source.add("http://h/", request: head, requestBody: repeatElement(0x61, count: size))
            #expect(try folder.export([exchange], source).text.contains("body.bin") == isInFile)
        }
    }

    @Test("body files are there once the export has ended; one that ends early leaves none, and none of its directory")
    func early() throws {
        let folder = try TemporaryFolder()
        let source = MemorySource()
        let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n"
        func files() throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        }
        func export(isCurl: Bool, ends: Bool) throws {
            let exchange = try source.add("http://h/", request: head, requestBody: repeatElement(0, count: 70_000))
            let bodies = BodyDirectory(path: "\(folder.path)/b", referredToAs: "b")
            var export: any ExchangeExport =
                isCurl
                ? CurlExport(source: source, files: bodies) { _ in }
                : ProgramExport(.httpie, source: source, files: bodies) { _ in }
            try export.add(exchange)
            #expect(try !files().contains("b/exchange-\(exchange.record.id)-body.bin"))
            if ends { try export.finish() }
        }
        try export(isCurl: true, ends: false)
        #expect(try files().isEmpty)
        try export(isCurl: true, ends: true)
        #expect(try files() == ["b", "b/exchange-2-body.bin"])
        try export(isCurl: false, ends: false)
        #expect(try files() == ["b", "b/exchange-2-body.bin"])
        try export(isCurl: false, ends: true)
        #expect(try files() == ["b", "b/exchange-2-body.bin", "b/exchange-4-body.bin"])
    }

    @Test("a line break in a comment cannot become a command")
    func comment() throws {
        let source = MemorySource()
        let folder = try TemporaryFolder()
        let first = try source.add("http://h/", request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n") {
            $0.record.url.path = "/\ntouch /tmp/x"
        }
        let second = try source.add("http://h/", request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        let export = try folder.export([first, second], source)
        #expect(!export.text.contains("\ntouch"))
    }

    private func hostFirst(_ fields: [[UInt8]]) -> [[UInt8]] {
        guard let index = fields.firstIndex(where: { $0.text.lowercased().hasPrefix("host:") }) else { return fields }
        var fields = fields
        fields.insert(fields.remove(at: index), at: 0)
        return fields
    }
}

/// A folder that goes away with the test.
final class TemporaryFolder {
    struct Export {
        var path: String
        var bytes: [UInt8]
        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a cURL export with its body files beside it.
    func export(
        _ exchanges: [RecordedExchange],
        _ source: MemorySource,
        form: CurlExport.Form = .script
    ) throws -> Export {
        var output = ByteBuffer()
        let files = BodyDirectory(path: "\(path)/it's bodies", referredToAs: "it's bodies")
        var export = CurlExport(source: source, form: form, files: files) { output.writeImmutableBuffer($0) }
        for exchange in exchanges { try export.add(exchange) }
        try export.finish()
        let bytes = Array(output.readableBytesView)
        let script = "\(path)/script.sh"
        try Data(bytes).write(to: URL(filePath: script))
        return Export(path: script, bytes: bytes)
    }

    /// Starts a program in the folder; its output is thrown away.
    func run(_ program: String, _ arguments: [String]) throws -> ChildProgram {
        try ChildProgram("/usr/bin/env", [program] + arguments, directory: path)
    }
}

extension MemorySource {
    func add(_ one: CurlCase, port: Int) throws -> RecordedExchange {
        let host = "127.0.0.1:\(port)"
        var head = Array("\(one.method) ".utf8) + one.target.filling(host) + Array(" \(one.version)\r\n".utf8)
        for field in one.fields { head += field.filling(host) + [13, 10] }
        head += [13, 10]
        return try add("http://\(host)/", requestBytes: head, requestBody: one.body)
    }
}

extension [UInt8] {
    var text: String { String(fieldBytes: self) }

    /// The bytes with `HOST` replaced.
    func filling(_ host: String) -> [UInt8] {
        let mark = Array("HOST".utf8)
        guard let start = indices.first(where: { self[$0...].starts(with: mark) }) else { return self }
        return self[..<start] + Array(host.utf8) + self[(start + mark.count)...]
    }
}

extension Result {
    /// The value; where there is none, the error is recorded with a text.
    func getReporting(_ text: String) throws -> Success {
        if case .failure(let error) = self { Issue.record(error, "\(text.prefix(3000))") }
        return try get()
    }
}
