import Content
import Foundation
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Sharing

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
        let body = "a!\n!b 'c'\n\t!!^x\n^a^b^\n\n^\n"
        let head = "POST /!!?! HTTP/1.1\r\nHost: h\r\nA: !z\r\nContent-Type: text/plain\r\n\r\n"
        let several = try source.add("http://h/!!?!", request: head, requestBody: Array(body.utf8))
        for form in [CopyForm.curl, .httpie] {
            let text = try text(form, several, source)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == 7 && !text.contains("!") && !lines.contains { $0.hasPrefix("^") }, "\(text)")
            let one = try source.add("http://h/!!?!", request: head, requestBody: Array("a!b".utf8))
            #expect(try self.text(form, one, source).count { $0 == "!" } == 5, "\(text)")
        }
        for bytes in [Array(body.utf8), Array("\n!".utf8) + [0xFF], Array("^!".utf8)] {
            let word = try #require(ShellWord.quoted(bytes, keepsTabs: true, followsLines: true))
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
        let name = "\u{7F}" + #"!!"\$(touch-x)`touch-x`}{'.password"#
        let body = String(decoding: try JSONSerialization.data(withJSONObject: [name: "hunter2-Xk93"]), as: UTF8.self)
        let type = ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
        let recorded = try exchange(source, type, body: body)
        let masked = MaskedSource(source, TextMask())
        try masked.collectAll(recorded)
        masked.mask.endCollecting()
        masked.mask.book.isForPrograms = true
        var needed: [Placeholder] = []
        let command = try CopyForm.curl.text(masked.masked(recorded), source: masked, files: nil) { needed = $0 }
        #expect(command?.contains("\"$SLUICE_PASSWORD_1\"") == true, "\(command ?? "")")
        let guards = CopyForm.guards(needed, masked)
        #expect(guards.hasPrefix(": \"${SLUICE_PASSWORD_1:?set the password of "), "\(guards)")
        #expect(guards.filter { "!\\`\u{7F}'(".contains($0) }.allSatisfy { $0 == "(" }, "\(guards)")
        #expect(guards.filter { $0 == "$" }.count == 1 && guards.filter { $0 == "\"" }.count == 2, "\(guards)")
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
        masked.mask.book.isForPrograms = true
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
}
