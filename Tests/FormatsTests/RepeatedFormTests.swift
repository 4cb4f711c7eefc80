import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Description
@testable import Formats

/// The forms are run, and what arrives is compared with what was recorded.
@Suite("Forms that send a request again", .serialized)
struct RepeatedFormTests {
    /// Requests that every form can repeat; bodies of all kinds.
    private static let cases: [CurlCase] = {
        let hostile: [[UInt8]] = [
            Array("{\"it's\": \"\\\"$HOME`id`%s\\\\n!\"}".utf8), Array("a\r\nb\tc\n\n".utf8),
            [0, 1, 0xFF, 0x27, 0x25, 0x5C],
            (0...255).map { UInt8($0) }, Array("-n caf\u{E9} \u{1F600}\u{202E}</script>".utf8), Array("\u{FEFF}x".utf8),
            Array(repeating: 0xE9, count: 70_000),
            Array("--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n".utf8),
        ]
        return [CurlCase("no body", "GET", "/a?b=c&d=%20", CurlCase.plain + ["X-Empty:", "X: it's \"q\" $x %d \\ ;"])]
            + [
                CurlCase(
                    "DELETE",
                    "DELETE",
                    "/a",
                    CurlCase.plain + ["Cookie: a=1; b=\"2\"", "Authorization: Basic dTpw"]
                )
            ]
            + hostile.enumerated().map { index, body in
                CurlCase("body \(index)", "PUT", "/p", CurlCase.json).with {
                    $0.body = body
                    $0.fields.append(Array("Content-Length: \(body.count)".utf8))
                }
            }
    }()

    private func check(_ form: CopyForm, _ program: [String]) async throws {
        try await blocking {
            for one in RepeatedFormTests.cases {
                let server = try EchoServer()
                let folder = try TemporaryFolder()
                let source = MemorySource()
                let host = "127.0.0.1:\(server.port)"
                var head = Array("\(one.method) ".utf8) + one.target + Array(" HTTP/1.1\r\n".utf8)
                for field in one.fields { head += field.filling(host) + [13, 10] }
                let url = "http://\(host)\(one.target.text)"
                let exchange = try source.add(url, requestBytes: head + [13, 10], requestBody: one.body)
                let files = BodyDirectory(path: "\(folder.path)/bodies")
                let text = try #require(try form.text(exchange, source: source, files: files))
                try files.finish()
                let script = "\(folder.path)/script"
                try Data(text.utf8).write(to: URL(filePath: script))
                let child = try folder.run(program[0], program.dropFirst() + [script])
                let received = try Result { try server.receive() }.getReporting(text)
                #expect(child.wait() == 0, "\(form) \(one.name)")
                #expect(received.body == one.body, "\(form) \(one.name): \(text.prefix(500))")
                #expect(received.requestLine.text == "\(one.method) \(one.target.text) HTTP/1.1", "\(form) \(one.name)")
                let ignored = ["host", "content-length", "connection"]
                let added = ["accept-language", "sec-fetch-mode", "accept-encoding"]
                let fields = { (lines: [[UInt8]]) in
                    lines.map(\.text).map { line -> String in
                        let name = String(line.prefix { $0 != ":" }).lowercased()
                        return name + ":" + line.dropFirst(name.count + 1).trimmingPrefix { $0 == " " }
                    }.filter { line in
                        !ignored.contains { line.hasPrefix("\($0):") }
                            && (form != .fetch || !added.contains { line.hasPrefix("\($0):") })
                    }
                }
                let (got, wanted) = (fields(received.fields), fields(one.fields))
                #expect(got == wanted, "\(form) \(one.name): \(text.prefix(500))")
            }
        }
    }

    @Test func `as fetch, in Node`() async throws { try await check(.fetch, ["node"]) }

    @Test func `in Python`() async throws { try await check(.python, [try PeerEnvironment.program("python")]) }

    @Test func `as HTTPie`() async throws {
        let programs = URL(filePath: try PeerEnvironment.program("http")).deletingLastPathComponent().path
        let path = "PATH=\(programs):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        // HTTPie looks for a newer one of itself on the network where its settings do not say otherwise.
        let settings = try TemporaryFolder()
        try Data(#"{"disable_update_warnings": true}"#.utf8).write(to: URL(filePath: "\(settings.path)/config.json"))
        for shell in ["bash", "dash"] {
            try await check(.httpie, [path, "HTTPIE_CONFIG_DIR=\(settings.path)", shell])
        }
    }

    @Test func `as cURL, of bodies that anything may be`() async throws {
        for shell in ["bash", "dash"] { try await check(.curl, [shell]) }
    }

    @Test func `what HTTPie cannot send is said in a comment`() throws {
        let source = MemorySource()
        func comments(_ head: [UInt8]) throws -> [Substring] {
            let exchange = try source.add("http://h/", requestBytes: head)
            let text = try #require(try CopyForm.httpie.text(exchange, source: source, files: nil))
            return text.split(separator: "\n").filter { $0.hasPrefix("# ") }
        }
        let latin1 = try comments(Array("GET / HTTP/1.1\r\nHost: h\r\nX-N: caf".utf8) + [0xE9, 13, 10, 13, 10])
        #expect(latin1 == ["# HTTPie cannot send the value of X-N, which is not UTF-8"])
        #expect(try comments(Array("GET / HTTP/1.1\r\nHost: h\r\nX-N: caf\u{E9}\r\n\r\n".utf8)).isEmpty)
    }

    @Test func `a request that a form cannot send is a comment in the program, without a call`() throws {
        let source = MemorySource()
        func program(_ language: ProgramExport.Language, _ lines: [String]) throws -> (text: String, skipped: [String])
        {
            var text = ByteBuffer()
            var export = ProgramExport(language, source: source, files: NamedBodies()) { text.writeImmutableBuffer($0) }
            for line in lines + ["GET /last HTTP/1.1"] {
                try export.add(source.add("http://h/", request: "\(line)\r\nHost: h\r\n\r\n"))
            }
            try export.finish()
            return (String(buffer: text), export.skipped.map(\.reason))
        }
        let trace = try program(
            .fetch,
            ["TRACE / HTTP/1.1", "track / HTTP/1.1", "GET / HTTP/1.1\r\nA(b): 1", "GET / HTTP/1.1\r\nA: 1\u{1}"]
        )
        let reasons = [
            "the method TRACE", "the method track", "the header 'A(b)', whose name is no token",
            "the value of A, which has a control character",
        ].map { "fetch cannot send \($0)" }
        #expect(trace.skipped == reasons)
        #expect(reasons.allSatisfy { trace.text.contains(" left out: \($0)\n") }, "\(trace.text)")
        #expect(trace.text.components(separatedBy: "await fetch(").count == 2)

        let odd = try program(.httpie, ["M-SEARCH / HTTP/1.1", "FOO.BAR! / HTTP/1.1"])
        let methods = ["M-SEARCH", "FOO.BAR!"]
        #expect(odd.skipped == methods.map { "HTTPie cannot send the method \($0): it takes letters only" })
        #expect(odd.text.components(separatedBy: "\nhttp ").count == 2, "\(odd.text)")
        #expect(try program(.python, ["TRACE / HTTP/1.1", "M-SEARCH / HTTP/1.1"]).skipped.isEmpty)
    }

    @Test func `a URL that a library writes in its own way is told`() throws {
        let source = MemorySource()
        func tells(_ form: CopyForm, _ target: String) throws -> Bool {
            let exchange = try source.add("http://h\(target)", request: "GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
            let text = try #require(try form.text(exchange, source: source, files: nil))
            return text.contains(" writes some characters of this URL in its own way\n")
        }
        for target in ["/dots/../a", "/a%20b?e=%zz", "/a?b[]=1", "/%7ea", "/a%2fb", "/a|b", "/a?b=100%", "/a?"] {
            #expect(try tells(.python, target), "\(target)")
        }
        for target in ["/", "/a%20b%2F?c=d&e='f'", "/a:@!$&()*+,;=-._~", "/a/.b?c=/../d", "/a??"] {
            #expect(try !tells(.python, target), "\(target)")
        }
        #expect(try tells(.fetch, "/dots/../a") && !tells(.fetch, "/a%20b?e=%zz"))
    }

    @Test func `a target that only cURL can send is said in a comment`() throws {
        let source = MemorySource()
        let whole = try source.add("http://h/", request: "OPTIONS http://h HTTP/1.1\r\nHost: h\r\n\r\n")
        let marked = try source.add("http://h/a", request: "GET http://h/a#b HTTP/1.1\r\nHost: h\r\n\r\n")
        for (form, sign) in [(CopyForm.httpie, "#"), (.fetch, "//"), (.python, "#")] {
            let ofWhole = try #require(try form.text(whole, source: source, files: nil))
            let words = "the target * (the whole server) cannot be sent, so / is"
            // zsh would read the brackets.
            #expect(ofWhole.contains("\(sign) \(form == .httpie ? "\"\(words)\"" : words)\n"), "\(ofWhole)")
            let ofMarked = try #require(try form.text(marked, source: source, files: nil))
            #expect(ofMarked.contains("\(sign) # and what follows it in the target is left out\n"), "\(ofMarked)")
        }
    }

    @Test func `placeholders that were recorded are told`() throws {
        let source = MemorySource()
        let head = "GET /?a=sluice-key-2 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer sluice-token-1\r\n\r\n"
        let exchange = try source.add("http://h/?a=sluice-key-2", request: head)
        let words = "put the secret in place of sluice-key-2, sluice-token-1"
        for form in [CopyForm.httpie, .fetch, .python] {
            let text = try #require(try form.text(exchange, source: source, files: nil))
            #expect(text.contains(" \(words)\n"), "\(text)")
        }
        var script = ByteBuffer()
        var export = CurlExport(source: source, form: .script) { script.writeImmutableBuffer($0) }
        try export.add(exchange)
        try export.finish()
        let ofCurl = "# put the secret in place of sluice-token-1, sluice-key-2\n"
        #expect(String(buffer: script).contains(ofCurl))
        let plain = try source.add("http://h/", request: "GET / HTTP/1.1\r\nHost: sluice-x\r\nA: sluice-token\r\n\r\n")
        #expect(try CopyForm.httpie.text(plain, source: source, files: nil)?.contains("put the secret") == false)
    }

    @Test func `header lines of one name stay apart or are joined`() throws {
        let source = MemorySource()
        let head = "GET / HTTP/1.1\r\nHost: h\r\nX: 1\r\nx: 2\r\nCookie: a=1\r\nCookie: b=2\r\n\r\n"
        let exchange = try source.add("http://h/", request: head)
        let fetch = try #require(try CopyForm.fetch.text(exchange, source: source, files: nil))
        #expect(fetch.contains("[\"X\", \"1\"],\n    [\"x\", \"2\"]"))
        let python = try #require(try CopyForm.python.text(exchange, source: source, files: nil))
        #expect(
            python.contains("\"X\": \"1, 2\"") && python.contains("\"Cookie\": \"a=1; b=2\"")
                && python.contains("\n# header lines")
        )
        let httpie = try #require(try CopyForm.httpie.text(exchange, source: source, files: nil))
        #expect(httpie.hasSuffix("GET http://h/ X:1 x:2 Cookie:a=1 Cookie:b=2 User-Agent: Accept-Encoding: Accept:"))
        #expect(try CopyForm.cookies.text(exchange, source: source, files: nil) == "a=1\nb=2")
        #expect(
            try CopyForm.requestHeaders.text(exchange, source: source, files: nil)?.hasPrefix("Host: h\nX: 1") == true
        )
    }

    @Test func `a WebSocket's handshake ends by itself`() throws {
        let source = MemorySource()
        let exchange = try source.add("ws://h/", request: "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\n\r\n") {
            $0.record.kind = .webSocket
        }
        #expect(try CurlExport.command(for: exchange, source: source).contains(" --max-time '5' "))
        #expect(throws: CurlError.self) { try CopyForm.fetch.text(exchange, source: source, files: nil) }
    }

    @Test func `parts are copied by their names`() throws {
        let source = MemorySource()
        let exchange = try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\nHost: h\r\nCookie: s=1\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-A: 1\r\nx-a: 2\r\n\r\n",
            responseBody: Array(#"{"a":[{"b":"x"},{"b":2}]}"#.utf8)
        )
        let copy = { (form: CopyForm, name: String) in
            try CopyPart.text(form, name, exchange, source: source, DetailOptions(page: .response))
        }
        #expect(try copy(.value, "json.a[*].b") == "x\n2" && copy(.value, "res.json.a[0].b") == "x")
        #expect(try copy(.path, "json.a[*].b") == "res.json.a[0].b\nres.json.a[1].b")
        #expect(try copy(.value, "req.header.host") == "h" && copy(.header, "res.header.x-a") == "X-A: 1\nx-a: 2")
        #expect(try copy(.header, "x-A") == "X-A: 1\nx-a: 2")
        #expect(try copy(.value, "X-A") == "1\n2")
        #expect(try copy(.page, "").contains("X-A"))
        #expect(try copy(.value, "req.cookie.s") == "1" && copy(.value, "res.status") == "200")
        for (form, name) in [
            (CopyForm.value, "json.a.c"), (.value, ".a"), (.header, "none"), (.path, "x-a"), (.value, "req.query.q"),
        ] {
            #expect(throws: CurlError.self) { try copy(form, name) }
        }
    }
}
