import Content
import Foundation
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Formats

/// A peer chooses what a request is made of; whoever runs a script of it runs nothing of the peer.
@Suite("No field of a request acts on what is made of it", .serialized)
struct HostileFieldTests {
    private func exchange(_ source: MemorySource, _ lines: [String], body: String = "") throws -> RecordedExchange {
        let head = (["POST /a HTTP/1.1", "Host: h"] + lines).joined(separator: "\r\n") + "\r\n\r\n"
        return try source.add("http://h/a", request: head, requestBody: Array(body.utf8))
    }

    private func text(_ form: CopyForm, _ exchange: RecordedExchange, _ source: MemorySource) throws -> String {
        try #require(try form.text(exchange, source: source, files: nil))
    }

    /// Runs a text as a command of each shell, in a folder of its own; returns what is in the folder then.
    private func run(_ text: String, _ shells: [String] = ["dash", "bash"]) async throws -> [String] {
        try await blocking {
            try shells.flatMap { shell in
                let folder = try TemporaryFolder()
                _ = try folder.run(shell, ["-c", text]).wait()
                return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            }
        }
    }

    private static let acting = [
        "$(touch x)", "`touch x`", "a;touch x", "a&touch x", "a|touch x", "a>x", "';touch x;'", "\";touch x;\"",
        "\\';touch x;'",
        "a\\\";touch x", "a'$(touch x)'", "\"$(touch x)\"", "\n touch x", "\r\ntouch x", "\u{2028}touch x",
        "!$(touch x)",
        "it's \"$(touch x)\"", "'\"`touch x`\"'",
    ]

    /// zsh takes the sign of a comment for the name of a command, where one is typed or pasted.
    @Test(arguments: acting) func `a comment that is executed does nothing`(_ text: String) async throws {
        let comment = ShellWord.comment(text)
        try #require(comment.hasPrefix("# ") && comment.filter { $0.isNewline }.count == 1)
        #expect(try await run("true" + comment.dropFirst()).isEmpty, "\(comment)")
        #expect(try await run(comment).isEmpty, "\(comment)")
        try await blocking {
            let folder = try TemporaryFolder()
            try Data("\(comment)true >ran\nexit\n".utf8).write(to: URL(filePath: "\(folder.path)/in"))
            _ = try folder.run("sh", ["-c", "zsh -fi <in >out 2>&1"]).wait()
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(files == ["in", "out", "ran"], "\(comment)")
        }
    }

    @Test func `a comment is in quotes only where a shell could act on it`() {
        #expect(ShellWord.comment("7 GET http://h/a?b=[1]#é") == "# 7 GET http://h/a?b=[1]#é\n")
        #expect(ShellWord.comment("it's (so); a&b") == "# \"it's (so); a&b\"\n")
        #expect(ShellWord.comment("it's $x") == "# 'it'\\''s $x'\n")
    }

    @Test(arguments: acting) func `comments of commands are such comments`(_ text: String) throws {
        let source = MemorySource()
        let one = try source.add("http://h/", request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n") {
            $0.record.url.path = "/\(text)"
        }
        try source.add("http://h/", request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n") { $0.record.kind = .tunnel }
        var output = ByteBuffer()
        let sink = { (piece: ByteBuffer) in _ = output.writeImmutableBuffer(piece) }
        var curl = CurlExport(source: source, form: .scriptFile) { sink($0) }
        try curl.add(one)
        try curl.finish()
        var httpie = ProgramExport(.httpie, source: source, files: NamedBodies()) { sink($0) }
        try httpie.add(one)
        try httpie.finish()
        let comment = ShellWord.comment("1 GET \(one.record.url)")
        #expect(String(buffer: output).components(separatedBy: "\n\(comment)").count == 3, "\(String(buffer: output))")
    }

    /// bash before 5.0 looks for references to its history in each line by itself, whatever quotes are open.
    @Test func `no later line of a command refers to the history of the shell`() async throws {
        let source = MemorySource()
        let body = "a!\n!b 'c'\n !!^x\n^a^b^\n\n^\n"
        let head = "POST /!!?! HTTP/1.1\r\nHost: h\r\nA: !z\r\nContent-Type: text/plain\r\n\r\n"
        let several = try source.add("http://h/!!?!", request: head, requestBody: Array(body.utf8))
        for form in [CopyForm.curl, .httpie] {
            let text = try text(form, several, source)
            let lines = text.split(separator: "\n")
            #expect(lines.count == 1 && text.contains("printf "), "\(text)")
            let lined = try source.add("http://h/!!?!", request: head, requestBody: Array("a\n^\u{301}b".utf8))
            #expect(try self.text(form, lined, source).hasPrefix("printf 'a\\n^\u{301}b' | "))
            let plain = try source.add("http://h/!!?!", request: head, requestBody: Array("a\nb".utf8))
            let ofPlain = try self.text(form, plain, source)
            #expect(ofPlain.contains("'a\nb'") && !ofPlain.contains("!"), "\(ofPlain)")
            let one = try source.add("http://h/!!?!", request: head, requestBody: Array("a!b".utf8))
            #expect(try self.text(form, one, source).count { $0 == "!" } == 5, "\(text)")
        }
        #expect(ShellWord.quoted(Array("^a\n^b".utf8))?.text == "'^a\n'\"$(printf '\\136')\"'b'")
        for bytes in [Array(body.utf8), Array("\n!".utf8) + [0xFF], Array("^!".utf8)] {
            let word = try #require(ShellWord.quoted(bytes, followsLines: true))
            #expect(!word.contains(UInt8(ascii: "!")))
            try await blocking {
                for shell in ["dash", "bash"] {
                    let folder = try TemporaryFolder()
                    #expect(try folder.run(shell, ["-c", "printf %s \(word.text) >out"]).wait() == 0)
                    #expect(try Data(contentsOf: URL(filePath: "\(folder.path)/out")) == Data(bytes), "\(word.text)")
                }
            }
        }
    }

    @Test func `a name of a secret acts on nothing where it is told`() throws {
        let source = MemorySource()
        let name = #"!!"\$(touch-x)`touch-x`}{'.password"#
        let body = String(decoding: try JSONSerialization.data(withJSONObject: [name: "hunter2-Xk93"]), as: UTF8.self)
        let type = ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
        let recorded = try exchange(source, type, body: body)
        let masked = MaskedSource(source, TextMask())
        try masked.collectAll(recorded)
        masked.mask.endCollecting()
        masked.marksSecrets = true
        let command = try CopyForm.curl.text(masked.masked(recorded), source: masked, files: nil)
        #expect(command?.contains("'\"${SLUICE_PASSWORD_1:?password of h}\"'") == true, "\(command ?? "")")
    }

    @Test(arguments: ["h$(touch x)", "h\"", "H", "h}x"])
    func `a host acts on nothing where its secret is`(_ host: String) throws {
        let source = MemorySource()
        let head = "GET / HTTP/1.1\r\nHost: h\r\nX-Api-Key: kJ8sd7Fh2lQp9\r\n\r\n"
        let one = try source.add("http://h/", request: head) { $0.record.url.host = host }
        let masked = try masked(source, [one])
        let text = try CopyForm.curl.text(masked.masked(one), source: masked, files: nil)
        #expect(text?.contains("\"${SLUICE_KEY_1:?key}\"") == true, "\(text ?? "")")
    }

    @Test func `HTTPie takes no header for an option or a file`() throws {
        let source = MemorySource()
        let option = try text(.httpie, exchange(source, ["-ofile: x", "--download: y"]), source)
        #expect(option.hasSuffix(" -- POST http://h/a -ofile:x --download:y User-Agent: Accept-Encoding: Accept:"))
        #expect(try !text(.httpie, exchange(source, ["A: -- b"]), source).contains(" -- POST"))
        for name in ["a=@/etc/passwd", "a b", "a@b", "é"] {
            let odd = try exchange(source, ["\(name): x"])
            #expect(throws: CurlError.self, "\(name)") { try text(.httpie, odd, source) }
        }
        let lost = try text(.httpie, exchange(source, [#"A: c:\=x"#, #"B: c\d"#, #"C: \;"#]), source)
        #expect(lost.hasPrefix("# HTTPie may leave out a backslash of the value of A, C\n"), "\(lost)")
    }

    @Test(arguments: ["tunnel", "-o", "file"]) func `no scheme makes the URL an option`(_ scheme: String) throws {
        let source = MemorySource()
        let one = try source.add("http://h/", request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n") {
            $0.record.url = RequestURL(scheme: scheme, host: "--output=x", port: 80, path: "/")
        }
        for form in [CopyForm.httpie, .fetch, .python] {
            #expect(throws: CurlError.self) { try text(form, one, source) }
        }
        #expect(try text(.curl, one, source).contains(" 'http://--output=x"))
    }

    @Test func `curl takes no header for a file`() throws {
        let source = MemorySource()
        let file = try exchange(source, ["@/etc/passwd: x"])
        #expect(throws: CurlError.self) { try text(.curl, file, source) }
        #expect(try text(.curl, exchange(source, ["A: @b"]), source).contains("-H 'A: @b'"))
    }

    @Test func `the name of an object's prototype is one of a header`() throws {
        let source = MemorySource()
        let call = try text(.fetch, exchange(source, ["A: b", "__proto__: c"]), source)
        #expect(call.contains(#"["__proto__", "c"]"#) && call.contains(#"["A", "b"]"#), "\(call)")
    }

    /// A comment in the first two lines names the encoding (PEP 263), in which `+AAo-` may be a line feed.
    @Test func `a comment names no encoding of a Python program`() async throws {
        let source = MemorySource()
        let name = "password coding:utf-7 +AAo-import os+ADs-os.mkdir(+ACI-x+ACI-)+AAo-"
        let body = "{\"\(name)\":\"hunter2-Xk93\"}"
        let lines = ["Content-Type: application/json", "Content-Encoding: coding:utf-7 +AAo-x"]
        let recorded = try exchange(source, lines + ["Content-Length: \(body.utf8.count)"], body: body)
        let masked = MaskedSource(source, TextMask())
        try masked.collectAll(recorded)
        masked.mask.endCollecting()
        let maskedText = try #require(
            try CopyForm.python.text(masked.masked(recorded), source: masked, files: nil)
        )
        let plain = try text(.python, recorded, source)
        try await blocking {
            for program in [maskedText, plain] {
                let folder = try TemporaryFolder()
                try Data(program.utf8).write(to: URL(filePath: "\(folder.path)/program.py"))
                let read = "import sys, tokenize; sys.exit(tokenize.open('program.py').encoding != 'utf-8')"
                #expect(try folder.run("python3", ["-c", read]).wait() == 0, "\(program)")
            }
        }
        #expect(maskedText.contains("coding:utf-7"), "\(maskedText)")
    }

    // MARK: Placeholders

    private func masked(_ source: MemorySource, _ exchanges: [RecordedExchange]) throws -> MaskedSource {
        let masked = MaskedSource(source, TextMask())
        for exchange in exchanges { try masked.collectAll(exchange) }
        masked.mask.endCollecting()
        masked.marksSecrets = true
        return masked
    }

    /// A peer writes what looks like the placeholder of somebody else's secret, as it is or by a digit behind his own.
    @Test(arguments: [CopyForm.curl, .httpie])
    func `no request has a secret that it did not have`(_ form: CopyForm) throws {
        let source = MemorySource()
        func add(_ host: String, _ target: String, _ lines: [String], body: String = "") throws -> RecordedExchange {
            let head = ["POST \(target) HTTP/1.1", "Host: \(host)"] + lines + ["Content-Length: \(body.utf8.count)"]
            return try source.add(
                "http://\(host)\(target)",
                request: head.joined(separator: "\r\n") + "\r\n\r\n",
                requestBody: Array(body.utf8)
            )
        }
        let own = "AttackerOwnToken0987zz"
        var all = [try add("evil", "/own", ["Authorization: Bearer \(own)"])]
        for number in 0..<12 {
            all.append(try add("bank", "/", ["Authorization: Bearer kJ8sd7Fh2lQp9ZxV4\(number)Nm"]))
        }
        let near = "\(own)2 sluice-token-0 sluice-token-12 sluice-token-12e1 sluice-token-900000 sluice-token-900001"
        let evil = try add("evil", "/\(own)2?x=\(own)2e1&y=sluice-token-900012", ["X-A: \(near)"], body: near)
        let masked = try masked(source, all + [evil])
        func variables(_ text: String) -> Set<Substring> {
            Set(text.matches(of: /\$\{SLUICE_TOKEN_[0-9]+:/).map(\.output))
        }
        let text = try #require(try form.text(masked.masked(evil), source: masked, files: nil))
        #expect(variables(text).count == 1, "\(text)")
        #expect(text.contains("sluice-token-12e1") && text.contains("sluice-token-900001") && !text.contains(own))
        #expect(!text.contains(/sluice-[a-z]{16}-/), "\(text)")
        // And everyone's own is there.
        let bank = try #require(try form.text(masked.masked(all[5]), source: masked, files: nil))
        #expect(variables(bank).count == 1 && variables(bank).isDisjoint(with: variables(text)), "\(bank)")
    }

    @Test(arguments: [CopyForm.curl, .httpie])
    func `where no variable can stand, a placeholder is as anyone reads it`(_ form: CopyForm) throws {
        let source = MemorySource()
        let target = "/?access_token=kJ8sd7Fh2lQp9ZxV4Nm"
        let one = try source.add("http://h\(target)", request: "GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
        let tunnel = try source.add("http://h\(target)", request: "GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n") {
            $0.record.kind = .tunnel
        }
        let masked = try masked(source, [one, tunnel])
        var output = ByteBuffer()
        let sink = { (piece: ByteBuffer) in _ = output.writeImmutableBuffer(piece) }
        if form == .curl {
            var export = CurlExport(source: masked, form: .scriptFile) { sink($0) }
            for exchange in [one, tunnel] { try export.add(masked.masked(exchange)) }
            try export.finish()
        } else {
            var export = ProgramExport(.httpie, source: masked, files: NamedBodies()) { sink($0) }
            for exchange in [one, tunnel] { try export.add(masked.masked(exchange)) }
            try export.finish()
        }
        let text = String(buffer: output)
        #expect(text.contains("# 1 GET http://h/?access_token=sluice-token-1\n"), "\(text)")
        #expect(text.contains("access_token='\"${SLUICE_TOKEN_1:?token of h}\""), "\(text)")
        #expect(!text.contains(/sluice-[a-z]{16}-/), "\(text)")
    }

    @Test func `a command that a shell of its own executes ends where a variable is not set`() async throws {
        let source = MemorySource()
        let head = "GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer kJ8sd7Fh2lQp9ZxV4Nm\r\n\r\n"
        let one = try source.add("http://h/", request: head)
        let masked = try masked(source, [one])
        var output = ByteBuffer()
        var export = CurlExport(source: masked, form: .nulSeparated) { output.writeImmutableBuffer($0) }
        try export.add(masked.masked(one))
        try export.finish()
        let command = String(buffer: output).dropLast()
        #expect(command.contains("\"${SLUICE_TOKEN_1:?token of h}\""), "\(command)")
        #expect(try await run("curl() { touch x; }\n\(command)").isEmpty)
        #expect(try await run("curl() { touch x; }\nSLUICE_TOKEN_1=a\n\(command)") == ["x", "x"])
    }

    // MARK: Other programs' own ideas

    @Test func `HTTPie takes the value of no variable for another kind of item`() throws {
        let source = MemorySource()
        let head = "GET / HTTP/1.1\r\nHost: h\r\nX-Api-Key: @kJ8sd7Fh2lQp9ZxV4Nm\r\nA: =b\r\nC: :d\r\n\r\n"
        let one = try source.add("http://h/", request: head)
        let masked = try masked(source, [one])
        let text = try #require(try CopyForm.httpie.text(masked.masked(one), source: masked, files: nil))
        #expect(text.contains(" 'X-Api-Key: '\"${SLUICE_KEY_1:?key of h}\" 'A: =b' 'C: :d' "), "\(text)")
        #expect(text.contains("--ignore-netrc"))
    }

    @Test func `Python sends no password of the user's own`() async throws {
        try await blocking {
            let server = try EchoServer()
            let folder = try TemporaryFolder()
            let source = MemorySource()
            let head = "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nAuthorization: Bearer recorded\r\n\r\n"
            let one = try source.add("http://127.0.0.1:\(server.port)/", request: head)
            try Data("default login me password mine\n".utf8).write(to: URL(filePath: "\(folder.path)/.netrc"))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder.path)/.netrc")
            for (form, name) in [(CopyForm.python, "python"), (.httpie, "http")] {
                let file = "\(folder.path)/program"
                try Data(try text(form, one, source).utf8).write(to: URL(filePath: file))
                let program = try PeerEnvironment.program(name)
                let path = "PATH=\(URL(filePath: program).deletingLastPathComponent().path):/usr/bin:/bin"
                let home = ["HOME=\(folder.path)", "HTTPIE_CONFIG_DIR=\(folder.path)", path]
                let child = try folder.run("env", home + [form == .python ? program : "sh", file])
                let received = try server.receive()
                #expect(child.wait() == 0)
                #expect(
                    received.fields.map(\.text).contains("Authorization: Bearer recorded"),
                    "\(received.fields.map(\.text))"
                )
            }
        }
    }

    // MARK: Terminals

    /// A terminal in its canonical mode drops what is beyond 4,095 bytes of a line, a closing quote perhaps.
    @Test(arguments: [CopyForm.curl, .httpie])
    func `no line is so long that a terminal cuts it`(_ form: CopyForm) async throws {
        let source = MemorySource()
        let bodies = [
            String(repeating: "A", count: 3_990) + "'" + String(repeating: "B", count: 9_000),
            String(repeating: "'", count: 9_000),
            String(repeating: "%\\\t'", count: 4_000), String(repeating: "é\u{202E}", count: 4_000), "short",
            String(repeating: "x\n", count: 5_000),
        ]
        for body in bodies {
            let long = (0..<9).map {
                "X-\($0): " + String(repeating: $0 == 5 ? "a" : "it's ", count: 150 * $0 * ($0 == 5 ? 9 : 1)) + "."
            }
            let one = try exchange(
                source,
                long + ["Content-Type: text/plain", "Content-Length: \(body.utf8.count)"],
                body: body
            )
            let text = try text(form, one, source)
            let lines = text.utf8.split(separator: 0x0A)
            #expect(lines.allSatisfy { $0.count < 4_000 }, "\(lines.map(\.count))")
            guard form == .curl else { continue }
            // Read again it is the same.
            let request = try CurlCommandReader.read(text)
            #expect(request.body { _ in [] } == Array(body.utf8), "\(text.prefix(5_000))")
            let values = request.fields.filter { $0.name.hasPrefix("X-") }.map { "\($0.name): \($0.value)" }
            #expect(values == long)
            try await blocking {
                for shell in ["dash", "bash"] {
                    let folder = try TemporaryFolder()
                    let script = "curl() { printf '%s\\n' \"$@\" >words; cat >in; }\n\(text) </dev/null\n"
                    let isPiped = text.hasPrefix("printf ")
                    try Data((isPiped ? script.replacing(" </dev/null", with: "") : script).utf8)
                        .write(to: URL(filePath: "\(folder.path)/script"))
                    #expect(try folder.run(shell, ["\(folder.path)/script"]).wait() == 0, "\(script.prefix(300))")
                    let read = { (name: String) in
                        try String(decoding: Data(contentsOf: URL(filePath: "\(folder.path)/\(name)")), as: UTF8.self)
                    }
                    let words = try read("words")
                    #expect(words.contains("\n-H\n\(long[8])\n") && (isPiped || words.contains("\n\(body)\n")))
                    if isPiped { #expect(try read("in") == body) }
                }
            }
        }
    }

    /// dash ends with a fault where a word has some thousands of commands.
    @Test func `a word of many hidden characters has few commands`() async throws {
        let texts: [[UInt8]] = [
            Array(String(repeating: "é\u{202E}%\\'-$!", count: 6_000).utf8),
            Array(repeatElement([0xE9, 0x2D], count: 9_000).joined()),
            Array((String(repeating: "é\u{202E}", count: 60) + "-x").utf8),
        ]
        for bytes in texts {
            let word = try #require(ShellWord.quoted(bytes, followsLines: true))
            #expect(!word.contains(UInt8(ascii: "!")))
            #expect(word.text.components(separatedBy: "$(").count < 99 && !word.contains { $0 == 0xE2 })
            #expect(word.split(separator: 0x0A).allSatisfy { $0.count < 2_000 })
            try await blocking {
                for shell in ["dash", "bash"] {
                    let folder = try TemporaryFolder()
                    try Data(Array("printf %s ".utf8) + word + Array(" >out".utf8)).write(
                        to: URL(filePath: "\(folder.path)/script")
                    )
                    #expect(try folder.run(shell, ["\(folder.path)/script"]).wait() == 0)
                    #expect(try Data(contentsOf: URL(filePath: "\(folder.path)/out")) == Data(bytes))
                }
            }
            let head = Array("GET / HTTP/1.1\r\nHost: h\r\nX: ".utf8) + bytes + Array("\r\n\r\n".utf8)
            let source = MemorySource()
            let request = try CurlCommandReader.read(text(.curl, source.add("http://h/", requestBytes: head), source))
            let line = try #require(request.fields.first { $0.name == "X" })
            #expect(line.valueBytes ?? Array(line.value.utf8) == bytes)
        }
    }

    @Test func `a masked command has no long lines either`() async throws {
        let source = MemorySource()
        let secrets = (0..<300).map { "T\(10_000 + $0)abcdefghijKLM" }
        let body = secrets.map { "token=\($0)" }.joined(separator: "&")
        let cookies = secrets.prefix(150).map { "c\u{200B}=\($0)" }.joined(separator: "; ")
        func head(_ cookies: String) -> String {
            [
                "POST /a HTTP/1.1", "Content-Length: \(body.utf8.count)", "Host: h", "Cookie: \(cookies)",
                "Content-Type: application/x-www-form-urlencoded",
            ]
            .joined(separator: "\r\n") + "\r\n\r\n"
        }
        let one = try source.add("http://h/a", request: head(cookies), requestBody: Array(body.utf8))
        let most = try source.add(
            "http://h/a",
            request: head(secrets.map { "c\u{200B}=\($0)" }.joined(separator: "; ")),
            requestBody: Array(body.utf8)
        )
        let masked = try masked(source, [one, most])
        for form in [CopyForm.curl, .httpie] {
            let text = try #require(try form.text(masked.masked(one), source: masked, files: nil))
            let lines = text.utf8.split(separator: 0x0A)
            #expect(lines.count > 4 && lines.allSatisfy { $0.count < 4_000 }, "\(lines.map(\.count))")
            #expect(throws: CurlError.self) { try form.text(masked.masked(most), source: masked, files: nil) }
        }
        let text = try #require(try CopyForm.curl.text(masked.masked(one), source: masked, files: nil))
        // The cookies come first, and the rest is under another name.
        let values = text.matches(of: /\{SLUICE_([A-Z]+)_([0-9]+):/).map { match in
            let place = (Int(match.output.2) ?? 0) - 1 + (match.output.1 == "TOKEN" ? 150 : 0)
            return "SLUICE_\(match.output.1)_\(match.output.2)=\(secrets[place])\n"
        }
        .joined()
        try await blocking {
            for shell in ["dash", "bash", "zsh"] {
                let folder = try TemporaryFolder()
                let script = "curl() { printf '%s\\n' \"$@\" >words; }\n\(values)\(text)\n"
                try Data(script.utf8).write(to: URL(filePath: "\(folder.path)/script"))
                #expect(try folder.run(shell, ["\(folder.path)/script"]).wait() == 0)
                let words = try String(decoding: Data(contentsOf: URL(filePath: "\(folder.path)/words")), as: UTF8.self)
                #expect(words.contains("\nCookie: \(cookies)\n") && words.contains("\n\(body)\n"), "\(shell)")
            }
        }
    }

    @Test func `a comment is cut where it is long`() {
        #expect(ShellWord.comment(String(repeating: "a'", count: 3_000)).utf8.count < 2_000)
    }

    @Test func `commands whose bodies are printed are read again`() throws {
        let source = MemorySource()
        let text = try text(.curl, exchange(source, ["Content-Length: 3"], body: "a\tb"), source)
        #expect(text.hasPrefix("printf 'a\\tb' | curl "))
        #expect(
            ArchiveFormat(beginning: Array(text.utf8)) == .curl
                && ArchiveFormat(beginning: Array("printf the page".utf8)) == nil
        )
        #expect(try CurlCommandReader.read(text).body { _ in [] } == Array("a\tb".utf8))
    }

    @Test func `a masked URL is sent as it was recorded, whatever its secrets have`() throws {
        let source = MemorySource()
        func command(_ secret: String) throws -> String {
            let target = "/reset?access_token=\(secret)&x=1"
            let one = try source.add("http://h\(target)", request: "GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
            let masked = try masked(source, [one])
            return try #require(try CopyForm.curl.text(masked.masked(one), source: masked, files: nil))
        }
        let list = try command("{kJ8sd7Fh2lQp9Zx,V4NmkJ8sd7Fh2lQp9}")
        #expect(list.contains("--globoff") && list.contains("${SLUICE_TOKEN_1:?"), "\(list)")
    }

    @Test func `a header whose name is a secret is no option of HTTPie`() throws {
        let source = MemorySource()
        let head =
            "GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer -o-kJ8sd7Fh2lQp9ZxV4Nm\r\n-o-kJ8sd7Fh2lQp9ZxV4Nm: v\r\n\r\n"
        let one = try source.add("http://h/", request: head)
        let masked = try masked(source, [one])
        let text = try #require(try CopyForm.httpie.text(masked.masked(one), source: masked, files: nil))
        #expect(text.contains(" -- GET ") && text.contains(" \"${SLUICE_TOKEN_1:?token of h}\"':v'"), "\(text)")
    }

    @Test(arguments: [CopyForm.curl, .httpie]) func `no tab completes a name`(_ form: CopyForm) throws {
        let source = MemorySource()
        let one = try exchange(
            source,
            ["Content-Type: text/plain", "A: b\tc"],
            body: "/etc/hostnam\t; touch x; echo '"
        )
        let text = try text(form, one, source)
        #expect(!text.contains("\t") && text.hasPrefix("printf '/etc/hostnam\\t; "), "\(text)")
    }

    @Test func `no host asks for several URLs`() throws {
        let source = MemorySource()
        let one = try source.add(
            "http://h/",
            requestBytes: Array("GET /".utf8) + [0xFF] + Array(" HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        ) {
            $0.record.url.host = "{a,b}"
        }
        let text = try text(.curl, one, source)
        #expect(text.contains("--globoff") && text.contains("--request-target"), "\(text)")
    }

    // MARK: Signs with combining marks

    /// Such a sign is another character to Swift, and the sign to whoever reads the text.
    @Test func `a combining mark hides no quote and no brace`() async throws {
        let comment = ShellWord.comment("$'\u{301}\ntouch x;'\u{301}")
        #expect(try await run("true" + comment.dropFirst()).isEmpty)
        #expect(comment == "# '$'\\''\u{301}^Jtouch x;'\\''\u{301}'\n")
        #expect(CSVExport.cell("x\"\u{301},=1+1") == "\"x\"\"\u{301},=1+1\"")
        #expect(PathTemplate("/users/{\u{301}x}\u{301}/12345").text == "/users/%7B\u{301}x%7D\u{301}/{xId}")
        let form = try CurlCommandReader.read("curl -F $'a\"\u{301}\\r\\nX: y=1' http://h/")
        let body = String(decoding: form.body { _ in [] }, as: UTF8.self)
        #expect(body.contains("name=\"a%22\u{301}%0D%0AX: y\"\r\n"), "\(body)")
    }
}
