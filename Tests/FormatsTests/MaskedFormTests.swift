import Content
import Foundation
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Formats

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
            masked.marksSecrets = form.isCommand
            let command = try form.text(masked.masked(exchange), source: masked, files: nil)
            let text = try #require(command)
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

    private static let text = #"{"user":"it's","password":"hun'ter2","pin":4711}"#
    /// The variables with which HTTPie is found, and says nothing of newer versions; the folder has its settings.
    private func variablesOfHTTPie(_ settings: TemporaryFolder) throws -> [String] {
        let programs = URL(filePath: try PeerEnvironment.program("http")).deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        try Data(#"{"disable_update_warnings": true}"#.utf8).write(to: URL(filePath: "\(settings.path)/config.json"))
        return ["PATH=\(programs):\(path)", "HTTPIE_CONFIG_DIR=\(settings.path)"]
    }

    @Test func `as HTTPie`() async throws {
        let settings = try TemporaryFolder()
        try await check(.httpie, variablesOfHTTPie(settings) + ["dash", "-eu"], body: MaskedFormTests.text)
    }

    @Test func `as cURL`() async throws { try await check(.curl, ["dash", "-eu"], body: MaskedFormTests.text) }

    @Test("Programs have placeholders, and say so", arguments: [CopyForm.fetch, .python])
    func programs(_ form: CopyForm) throws {
        let source = MemorySource()
        let exchange = try MaskedFormTests.exchange(source, "h", MaskedFormTests.text)
        let masked = try MaskedFormTests.masked(source, exchange)
        let text = try #require(try form.text(masked.masked(exchange), source: masked, files: nil))
        for secret in ["tok-5f4dcc", "5e551017", "k3y", "hun'ter2", "ter2", "4711"] { #expect(!text.contains(secret)) }
        #expect(text.contains("put the secret in place of sluice-key-1, sluice-token-1, "), "\(text)")
        #expect(text.contains("Bearer sluice-token-1") && !text.contains("SLUICE_"), "\(text)")
    }

    @Test(
        "A secret that is the name of a field, too, is a variable there",
        arguments: [CopyForm.curl]
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
            masked.marksSecrets = true
            let text = try #require(try form.text(masked.masked(exchange), source: masked, files: nil))
            #expect(!text.contains("5f4dcc3b5aa"), "\(text)")
            let script = "\(folder.path)/script"
            try Data(text.utf8).write(to: URL(filePath: script))
            let child = try folder.run("env", ["SLUICE_KEY_1=Tok5f4dcc3b5aa", "dash", "-eu", script])
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
            let bodies = [MaskedFormTests.text]
            for body in bodies { _ = try MaskedFormTests.exchange(source, "127.0.0.1:\(server.port)", body) }
            try source.add("https://h/", request: "CONNECT h:443 HTTP/1.1\r\n\r\n") { $0.record.kind = .tunnel }
            let masked = MaskedSource(source, TextMask())
            for exchange in source.exchanges { try masked.collectAll(exchange) }
            masked.mask.endCollecting()
            masked.marksSecrets = true
            var output = ByteBuffer()
            var export = ProgramExport(language, source: masked, files: NamedBodies()) {
                output.writeImmutableBuffer($0)
            }
            for exchange in source.exchanges { try export.add(masked.masked(exchange)) }
            try export.finish()
            #expect(export.skipped.map(\.id) == [ExchangeID(2)])
            let text = String(buffer: output)
            #expect(text.contains(" 2 left out: ") && !text.contains("ter2") && !text.contains("k3y"))
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
}
