import Content
import Foundation
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Sharing

/// Masked commands are run with their secrets in the environment, and what arrives is what was recorded.
@Suite("Forms without their secrets", .serialized)
struct MaskedFormTests {
    private static let secrets = [
        "Bearer tok-5f4dcc3b5aa765d6": "SLUICE_TOKEN_1=tok-5f4dcc3b5aa765d6",
        "sid=5e551017c00c1e": "SLUICE_SESSION_1=5e551017c00c1e",
        // The same key in the query and in a field, each as its place needs it.
        "api_key=k3y%2Fvalue%2B17": "SLUICE_KEY_1_ENCODED=k3y%2Fvalue%2B17",
        "X-Api-Key: k3y/value+17": "SLUICE_KEY_1=k3y/value+17",
        #""password":"hun'ter2""#: "SLUICE_PASSWORD_1=hun'ter2",
        #""pin":4711"#: "SLUICE_PASSWORD_2=4711",
    ]

    private static func masked(_ source: MemorySource, _ exchange: RecordedExchange) throws -> MaskedSource {
        let masked = MaskedSource(source, TextMask())
        try masked.collectAll(exchange)
        masked.mask.endCollecting()
        masked.mask.book.isForPrograms = true
        return masked
    }

    private static func exchange(_ source: MemorySource, _ host: String, _ body: String) throws -> RecordedExchange {
        let head = """
            PUT /login?a=1&api_key=k3y%2Fvalue%2B17 HTTP/1.1\r\nHost: \(host)\r\nUser-Agent: mine\r\nAccept: */*\r\n\
            Accept-Encoding: gzip\r\nAuthorization: Bearer tok-5f4dcc3b5aa765d6\r\nCookie: sid=5e551017c00c1e\r\n\
            X-Api-Key: k3y/value+17\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n
            """
        return try source.add(
            "http://\(host)/login?a=1&api_key=k3y%2Fvalue%2B17",
            request: head,
            requestBody: Array(body.utf8)
        )
    }

    private func check(_ form: CopyForm, _ program: [String], body: String) async throws {
        try await blocking {
            let server = try EchoServer()
            let folder = try TemporaryFolder()
            let source = MemorySource()
            let exchange = try MaskedFormTests.exchange(source, "127.0.0.1:\(server.port)", body)
            let masked = try MaskedFormTests.masked(source, exchange)
            var needed: [Placeholder] = []
            let command = try form.text(masked.masked(exchange), source: masked, files: nil) { needed += $0 }
            let text = (form.isCommand ? CopyForm.guards(needed, masked) : "") + (try #require(command))
            #expect(Set(needed.map(\.variable)).count == MaskedFormTests.secrets.count, "\(needed)")
            for secret in ["tok-5f4dcc", "5e551017", "k3y", "hun'ter2", "ter2", "4711"] {
                #expect(!text.contains(secret), "\(form): \(text)")
            }
            let script = "\(folder.path)/script"
            try Data(text.utf8).write(to: URL(filePath: script))
            // Without the variables nothing is sent.
            let refused = try folder.run(program[0], program.dropFirst() + [script])
            #expect(refused.wait() != 0, "\(form): \(text)")
            let variables = Array(MaskedFormTests.secrets.values)
            let child = try folder.run(variables[0], variables.dropFirst() + program + [script])
            let received = try Result { try server.receive() }.getReporting(text)
            #expect(child.wait() == 0, "\(form): \(text)")
            #expect(received.requestLine.text == "PUT /login?a=1&api_key=k3y%2Fvalue%2B17 HTTP/1.1")
            #expect(received.body == Array(body.utf8), "\(form): \(text)")
            let fields = received.fields.map { $0.text.lowercased() }
            #expect(fields.contains { $0.hasSuffix("authorization: bearer tok-5f4dcc3b5aa765d6") }, "\(fields)")
            #expect(fields.contains { $0.hasSuffix("cookie: sid=5e551017c00c1e") }, "\(fields)")
            #expect(fields.contains { $0.hasSuffix("x-api-key: k3y/value+17") }, "\(fields)")
        }
    }

    @Test(
        "A script sends no file of a body before its secrets are in it, and says what is otherwise as the body is masked"
    )
    func bodyFile() async throws {
        try await blocking {
            let folder = try TemporaryFolder()
            let source = MemorySource()
            let body = #"{"password":"hun'ter2word","fill":"\#(String(repeating: "x", count: 200_000))"}"#
            let packed = try ContentEncoder.encode(ByteBuffer(string: body), coding: .gzip)
            let exchange = try source.add(
                "http://h/login",
                request: """
                    POST /login HTTP/1.1\r\nHost: h\r\nContent-Length: \(packed.readableBytes)\r\nContent-Encoding: gzip\r\n\
                    Content-Type: application/json\r\n\r\n
                    """,
                requestBody: packed.readableBytesView
            )
            let masked = try MaskedFormTests.masked(source, exchange)
            var script = ByteBuffer()
            let bodies = BodyDirectory(path: "\(folder.path)/bodies")
            var export = CurlExport(source: masked, form: .scriptFile, files: bodies) {
                script.writeImmutableBuffer($0)
            }
            try export.add(masked.masked(exchange))
            try export.finish()
            let text = String(buffer: script)
            #expect(
                text.contains(
                    "# \"the body is sent without its Content-Encoding, gzip, as it is masked, unless SLUICE_BODY_1 "
                ),
                "\(text)"
            )
            let (path, curl) = ("\(folder.path)/script", "\(folder.path)/curl")
            try Data(text.utf8).write(to: URL(filePath: path))
            try Data("#!/bin/sh\necho ran >'\(folder.path)/ran'\necho 200 POST http://h/login\n".utf8).write(
                to: URL(filePath: curl)
            )
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: curl)
            let file = URL(filePath: "\(folder.path)/bodies/exchange-1-body.bin")
            func run(_ shell: String) throws -> Bool {
                let child = try folder.run("env", ["PATH=\(folder.path):/usr/bin:/bin", shell, path])
                let isWell = child.wait() == 0
                let hasRun = FileManager.default.fileExists(atPath: "\(folder.path)/ran")
                try? FileManager.default.removeItem(atPath: "\(folder.path)/ran")
                #expect(isWell == hasRun)
                return hasRun
            }
            let contents = try String(contentsOf: file, encoding: .utf8)
            #expect(contents.hasPrefix(#"{"password":"sluice-password-1","#))
            for shell in ["sh", "bash"] { #expect(try !run(shell)) }
            try Data(body.utf8).write(to: file)
            for shell in ["sh", "bash"] { #expect(try run(shell)) }
        }
    }

    private static let text = #"{"user":"it's","password":"hun'ter2","pin":4711}"#
    /// What a shell gets by `printf` only.
    private static let odd = "{\"x\":\"%d\\\\\u{1}\",\"password\":\"hun'ter2\",\"pin\":4711}"

    /// The variables with which HTTPie is found, and says nothing of newer versions; the folder has its settings.
    private func variablesOfHTTPie(_ settings: TemporaryFolder) throws -> [String] {
        let programs = URL(filePath: try PeerEnvironment.program("http")).deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        try Data(#"{"disable_update_warnings": true}"#.utf8).write(to: URL(filePath: "\(settings.path)/config.json"))
        return ["PATH=\(programs):\(path)", "HTTPIE_CONFIG_DIR=\(settings.path)"]
    }

    @Test(arguments: [text, odd]) func `as HTTPie`(_ body: String) async throws {
        let settings = try TemporaryFolder()
        try await check(.httpie, variablesOfHTTPie(settings) + ["dash", "-eu"], body: body)
    }

    @Test(arguments: [text, odd]) func `as cURL`(_ body: String) async throws {
        try await check(.curl, ["dash", "-eu"], body: body)
    }

    @Test func `as fetch, in Node`() async throws { try await check(.fetch, ["node"], body: MaskedFormTests.text) }

    @Test func `in Python`() async throws {
        try await check(.python, [try PeerEnvironment.program("python")], body: MaskedFormTests.text)
    }

    @Test(
        "A secret that is the name of a field, too, is a variable there",
        arguments: [CopyForm.curl, .fetch, .python]
    )
    func names(_ form: CopyForm) async throws {
        try await blocking {
            let server = try EchoServer()
            let folder = try TemporaryFolder()
            let source = MemorySource()
            let exchange = try source.add(
                "http://127.0.0.1:\(server.port)/",
                request: """
                    GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nUser-Agent: a\r\nAccept: */*\r\n\
                    X-Tok5f4dcc3b5aa: yes\r\nX-Api-Key: Tok5f4dcc3b5aa\r\n\r\n
                    """
            )
            let masked = try MaskedFormTests.masked(source, exchange)
            let text = try #require(try form.text(masked.masked(exchange), source: masked, files: nil))
            #expect(!text.contains("5f4dcc3b5aa"), "\(text)")
            let script = "\(folder.path)/script"
            try Data(text.utf8).write(to: URL(filePath: script))
            let program =
                switch form {
                case .fetch: ["node"]
                case .python: [try PeerEnvironment.program("python")]
                default: ["dash", "-eu"]
                }
            let child = try folder.run("env", ["SLUICE_KEY_1=Tok5f4dcc3b5aa"] + program + [script])
            let received = try Result { try server.receive() }.getReporting(text)
            #expect(child.wait() == 0, "\(text)")
            let fields = received.fields.map { $0.text.lowercased() }
            #expect(
                fields.contains("x-tok5f4dcc3b5aa: yes") && fields.contains("x-api-key: tok5f4dcc3b5aa"),
                "\(fields)"
            )
        }
    }

    /// Exports two requests and a tunnel as a program, and runs it without its variables and with them.
    private func check(_ language: ProgramExport.Language, _ file: String, _ program: [String]) async throws {
        try await blocking {
            let server = try EchoServer()
            let folder = try TemporaryFolder()
            let source = MemorySource()
            let bodies = [MaskedFormTests.text, MaskedFormTests.odd]
            for body in bodies { _ = try MaskedFormTests.exchange(source, "127.0.0.1:\(server.port)", body) }
            try source.add("https://h/", request: "CONNECT h:443 HTTP/1.1\r\n\r\n") { $0.record.kind = .tunnel }
            let masked = MaskedSource(source, TextMask())
            for exchange in source.exchanges { try masked.collectAll(exchange) }
            masked.mask.endCollecting()
            masked.mask.book.isForPrograms = true
            var output = ByteBuffer()
            var export = ProgramExport(language, source: masked, files: NamedBodies()) {
                output.writeImmutableBuffer($0)
            }
            var rehearsal = export.rehearsal
            for exchange in source.exchanges { try rehearsal.add(masked.masked(exchange)) }
            export.begin(after: rehearsal)
            for exchange in source.exchanges { try export.add(masked.masked(exchange)) }
            try export.finish()
            #expect(export.skipped.map(\.id) == [ExchangeID(3)])
            let text = String(buffer: output)
            #expect(text.contains(" 3 left out: ") && !text.contains("ter2") && !text.contains("k3y"))
            let script = "\(folder.path)/\(file)"
            try Data(text.utf8).write(to: URL(filePath: script))
            let refused = try folder.run(program[0], program.dropFirst() + [script])
            #expect(refused.wait() != 0, "\(text)")
            let child = try folder.run("env", Array(MaskedFormTests.secrets.values) + program + [script])
            for body in bodies {
                let received = try Result { try server.receive() }.getReporting(text)
                #expect(received.requestLine.text == "PUT /login?a=1&api_key=k3y%2Fvalue%2B17 HTTP/1.1")
                #expect(received.body == Array(body.utf8), "\(text)")
            }
            #expect(child.wait() == 0, "\(text)")
        }
    }

    @Test func `a program for Node`() async throws { try await check(.fetch, "all.mjs", ["node"]) }

    @Test func `a program for Python`() async throws {
        try await check(.python, "all.py", [try PeerEnvironment.program("python")])
    }

    @Test func `a script of HTTPie commands`() async throws {
        let settings = try TemporaryFolder()
        try await check(.httpie, "all.sh", ["env"] + variablesOfHTTPie(settings) + ["dash", "-eu"])
    }

    @Test func `what is shown is masked even where a value stands without its name`() throws {
        let source = MemorySource()
        let exchange = try MaskedFormTests.exchange(source, "h", MaskedFormTests.text)
        let masked = try MaskedFormTests.masked(source, exchange)
        #expect(masked.masked(shown: "hun'ter2") == "sluice-password-1")
        #expect(masked.masked(shown: "sid  5e551017c00c1e; httponly") == "sid  sluice-session-1; httponly")
        #expect(masked.masked(shown: "Server  nginx\n  x") == "Server  nginx\n  x")
        #expect(masked.masked(shown: "") == "")
    }

    @Test func `a script of masked commands begins with the variables that it needs, and counts its places once`()
        throws
    {
        let source = MemorySource()
        let exchange = try MaskedFormTests.exchange(source, "h", MaskedFormTests.text)
        let masked = try MaskedFormTests.masked(source, exchange)
        var output = ByteBuffer()
        var export = CurlExport(source: masked, form: .scriptFile, files: NamedBodies()) {
            output.writeImmutableBuffer($0)
        }
        var rehearsal = export.rehearsal
        try rehearsal.add(masked.masked(exchange))
        #expect(output.readableBytes == 0)
        let places = masked.replacedCount
        masked.restartCount()
        export.begin(after: rehearsal)
        try export.add(masked.masked(exchange))
        try export.finish()
        let text = String(buffer: output)
        let guarded = try #require(text.firstRange(of: ": \"${SLUICE_TOKEN_1:?set the token of "))
        let used = try #require(text.firstRange(of: "\"$SLUICE_TOKEN_1\""))
        #expect(text.contains(":?set the password for h}"))
        #expect(guarded.lowerBound < used.lowerBound && places > 0 && masked.replacedCount == places)
    }
}
