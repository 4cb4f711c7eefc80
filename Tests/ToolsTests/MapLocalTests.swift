import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Map local")
struct MapLocalTests {
    private func play(
        _ folder: TestFolder,
        _ keys: String,
        _ url: String,
        method: String = "GET",
        _ fields: [(name: String, value: String)] = []
    ) throws -> DryRunExchange {
        let profile = try RuleProfile("version: 1\nmap-local: { \(keys) }", file: "\(folder.path)/p.yaml")
        var dryRun = DryRun(profile)
        var request = try #require(DryRunRequest(method: method, target: url))
        request.fields = fields
        return dryRun.play(request, DryRunResponse(status: 299))
    }

    /// Status and body, or `server` where the server was asked.
    private func answer(_ exchange: DryRunExchange) -> String {
        guard let answer = exchange.answered, exchange.sent == nil else { return "server" }
        return "\(answer.head.status) \(String(buffer: answer.body))"
    }

    @Test("A directory is searched for what the location leaves of the path")
    func directory() throws {
        let folder = TestFolder([
            "f/users.json": "[]", "f/a/b.txt": "ab", "f/index.html": "<i>", "f/a/index.html": "<a>", "f/café x": "é",
        ])
        for (url, expected) in [
            ("https://a.example/v1/users.json", "200 []"), ("https://a.example/v1/users.json?x=1", "200 []"),
            ("https://a.example/v1/a/b.txt", "200 ab"), ("https://a.example/v1/", "200 <i>"),
            ("https://a.example/v1/a/", "200 <a>"), ("https://a.example/v1/a", "200 <a>"),
            ("https://a.example/v1/caf%C3%A9%20x", "200 é"), ("https://a.example/v1/%61/b.txt", "200 ab"),
            ("https://a.example/v1/none", "server"), ("https://a.example/v1/users.json/", "server"),
            ("https://a.example/v2/users.json", "server"),
        ] {
            #expect(try answer(play(folder, "from: 'https://a.example/v1/*', to: f/", url)) == expected, "\(url)")
        }
        let found = try play(folder, "from: 'https://a.example/v1/*', to: f", "https://a.example/v1/users.json")
        #expect(found.trace.map(\.text) == ["answered from f/users.json (200, 2 bytes)"])
        #expect(found.record.flags == [.answeredLocally])
        #expect(
            found.answered?.head.fields.description
                == "Content-Type: application/json\nAccept-Ranges: bytes\nContent-Length: 2"
        )
    }

    @Test(
        "With on-miss: next the rules that match are asked one after the other, as directories that lie over each other"
    )
    func next() throws {
        let folder = TestFolder(["mine/a": "my a", "all/a": "a", "all/b": "b", "rest/c": "c"])
        func play(_ path: String, _ miss: String) throws -> DryRunExchange {
            let rule = "from: 'http://a.example/*'"
            let profile = try RuleProfile(
                "version: 1\nmap-local: [{ name: mine, \(rule), to: mine/, on-miss: \(miss) }, { from: b.example, to: mine/ },"
                    + " { name: all, \(rule), to: all/, on-miss: 404 }, { name: rest, \(rule), to: rest/ }]",
                file: "\(folder.path)/p.yaml"
            )
            var dryRun = DryRun(profile)
            return dryRun.play(try #require(DryRunRequest("http://a.example/\(path)")), DryRunResponse())
        }
        #expect(answer(try play("a", "next")) == "200 my a")
        let second = try play("b", "next")
        #expect(answer(second) == "200 b")
        #expect(
            second.trace.map(\.text) == [
                "mine: looked for mine/b: there is no 'b'; the next rule was asked",
                "answered from all/b (200, 1 bytes)",
            ]
        )
        #expect(second.trace.map(\.rule) == [nil, "all"])
        #expect(answer(try play("c", "next")).hasPrefix("404 ") == true)
        #expect(answer(try play("b", "pass")) == "server")
    }

    @Test("With on-miss: next in the last rule that matches, the server is asked")
    func nextOfNone() throws {
        let exchange = try play(
            TestFolder(["f/a": "a"]),
            "from: a.example, to: f/, on-miss: next",
            "http://a.example/b"
        )
        #expect(answer(exchange) == "server")
        #expect(
            exchange.trace.map(\.text)
                == ["rule 1: looked for f/b: there is no 'b'; the request went on to the server"]
        )
    }

    @Test("A file answers every request that matches, whatever its method; methods can be chosen")
    func file() throws {
        let folder = TestFolder(["one.txt": "1"])
        for method in ["GET", "POST", "OPTIONS", "PROPFIND"] {
            let exchange = try play(folder, "from: a.example, to: one.txt", "http://a.example/x/y?z", method: method)
            #expect(answer(exchange) == "200 1")
            #expect(exchange.answered?.head.fields.value(of: .contentType) == "text/plain; charset=utf-8")
        }
        let posted = try play(folder, "from: a.example, to: one.txt, method: GET", "http://a.example/", method: "POST")
        #expect(answer(posted) == "server")
    }

    @Test("HEAD has the fields of GET and no body")
    func head() throws {
        let folder = TestFolder(["one.txt": "12345"])
        let exchange = try play(
            folder,
            "from: a.example, to: one.txt",
            "http://a.example/",
            method: "HEAD",
            [("Range", "bytes=0-1")]
        )
        #expect(answer(exchange) == "200 ")
        #expect(exchange.answered?.head.fields.value(of: .contentLength) == "5")
    }

    @Test("Large files are streamed, not held in memory, and read by ranges")
    func large() throws {
        let folder = TestFolder()
        let bytes = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        try folder.write("big.bin", bytes)
        let whole = try play(folder, "from: a.example, to: big.bin", "http://a.example/")
        #expect(whole.answered.map { Data($0.body.readableBytesView) } == bytes)
        #expect(whole.answered?.head.fields.value(of: .contentLength) == "700000")
        #expect(whole.trace.map(\.text) == ["answered from big.bin (200, 700,000 bytes)"])
        let part = try play(
            folder,
            "from: a.example, to: big.bin",
            "http://a.example/",
            [("Range", "bytes=100000-499999")]
        )
        #expect(part.answered?.head.status == 206)
        #expect(part.answered.map { Data($0.body.readableBytesView) } == bytes[100_000..<500_000])
        #expect(part.answered?.head.fields.value(of: "content-range") == "bytes 100000-499999/700000")
    }

    @Test("One range, several, none that is there; If-Range is never met, conditions count for nothing")
    func ranges() throws {
        let folder = TestFolder(["d.txt": "0123456789"])
        func get(_ fields: [(name: String, value: String)]) throws -> DryRunExchange {
            try play(folder, "from: a.example, to: d.txt", "http://a.example/", fields)
        }
        let one = try get([("Range", "bytes=2-4")])
        #expect(answer(one) == "206 234")
        #expect(one.answered?.head.fields.value(of: "content-range") == "bytes 2-4/10")
        #expect(one.trace.map(\.text) == ["answered from d.txt (206, 3 bytes, bytes 2-4/10)"])
        let none = try get([("Range", "bytes=10-")])
        #expect(answer(none) == "416 ")
        #expect(none.answered?.head.fields.value(of: "content-range") == "bytes */10")
        let several = try get([("Range", "bytes=0-1,-1")])
        let type = try #require(several.answered?.head.fields.value(of: .contentType))
        #expect(type.hasPrefix("multipart/byteranges; boundary="))
        let boundary = type.dropFirst("multipart/byteranges; boundary=".count)
        let body = """
            --\(boundary)\r
            Content-Type: text/plain; charset=utf-8\r
            Content-Range: bytes 0-1/10\r
            \r
            01\r
            --\(boundary)\r
            Content-Type: text/plain; charset=utf-8\r
            Content-Range: bytes 9-9/10\r
            \r
            9\r
            --\(boundary)--\r

            """
        #expect(answer(several) == "206 \(body)")
        #expect(several.answered?.head.fields.value(of: .contentLength) == "\(body.utf8.count)")
        #expect(try answer(get([("Range", "bytes=2-4"), ("If-Range", "\"x\"")])) == "200 0123456789")
        #expect(try answer(get([("If-None-Match", "*")])) == "200 0123456789")
        #expect(try answer(get([("If-Modified-Since", "Sun, 06 Nov 2094 08:49:37 GMT")])) == "200 0123456789")
        #expect(try answer(get([("If-Match", "\"x\"")])) == "200 0123456789")
    }

    @Test("Status and headers come from the rule, then from NAME.headers, then from the file")
    func sidecar() throws {
        let folder = TestFolder([
            "f/u.json": "{}",
            "f/u.json.headers":
                "404 Gone fishing\nContent-Type: application/problem+json\nSet-Cookie: a=1\nSet-Cookie: b=2\nX\n",
        ])
        let plain = try play(folder, "from: 'a.example/*', to: f", "http://a.example/u.json", [("Range", "bytes=0-0")])
        #expect(answer(plain) == "404 {}")
        #expect(plain.answered?.head.reason == "Gone fishing")
        #expect(
            plain.answered?.head.fields.description
                == "Content-Type: application/problem+json\nSet-Cookie: a=1\nSet-Cookie: b=2\nContent-Length: 2"
        )
        #expect(
            plain.trace.map(\.text) == [
                "answered from f/u.json (404, 2 bytes)",
                "rule 1: f/u.json.headers: line 5 is neither a status nor 'Name: value'; it was ignored",
            ]
        )
        let keys =
            "from: 'a.example/*', to: f, status: 503, headers: { set-cookie: [c=3, d=4], content-type: '', Retry-After: 5 }"
        let ruled = try play(folder, keys, "http://a.example/u.json")
        #expect(answer(ruled) == "503 {}")
        #expect(ruled.answered?.head.reason == "Service Unavailable")
        #expect(
            ruled.answered?.head.fields.description
                == "set-cookie: c=3\nset-cookie: d=4\nRetry-After: 5\nContent-Length: 2"
        )
        let file = try play(folder, "from: 'a.example/*', to: f/u.json", "http://a.example/x")
        #expect(answer(file) == "404 {}")
        let empty = try play(folder, "from: 'a.example/*', to: f/u.json, status: 204", "http://a.example/x")
        #expect(answer(empty) == "204 ")
        #expect(try answer(play(folder, "from: 'a.example/*', to: f", "http://a.example/u.json.headers")) == "server")
    }

    @Test("The file is read anew for each request")
    func fresh() throws {
        let folder = TestFolder(["f/a": "1"])
        let profile = try RuleProfile("version: 1\nmap-local: { from: '*', to: f }", file: "\(folder.path)/p.yaml")
        var dryRun = DryRun(profile)
        let request = try #require(DryRunRequest("http://a.example/a"))
        #expect(answer(dryRun.play(request)) == "200 1")
        try folder.write("f/a", Data("22".utf8))
        #expect(answer(dryRun.play(request)) == "200 22")
        try FileManager.default.removeItem(atPath: "\(folder.path)/f")
        let gone = dryRun.play(request)
        #expect(answer(gone) == "server")
        #expect(
            gone.trace.map(\.text) == ["rule 1: looked for f: it does not exist; the request went on to the server"]
        )
    }

    @Test("A miss goes to the server, is a 404, or is an error that says what was looked for")
    func misses() throws {
        let folder = TestFolder(["f/Users.json": "[]"])
        let pass = try play(folder, "from: 'a.example/*', to: f", "http://a.example/x/y")
        #expect(answer(pass) == "server")
        #expect(
            pass.trace.map(\.text) == ["rule 1: looked for f/x/y: there is no 'x'; the request went on to the server"]
        )
        let missing = try play(folder, "from: 'a.example/*', to: f/, on-miss: 404", "http://a.example/x")
        #expect(
            answer(missing) == "404 Sluice: There is no such file\n\nThere is no file for http://a.example/x in f/.\n"
        )
        #expect(missing.trace.map(\.text) == ["looked for f/x: there is no 'x'; answered 404"])
        let keys = "from: '*', to: f/, on-miss: 404, headers: { Access-Control-Allow-Origin: '*', Content-Type: x/y }"
        let crossOrigin = try play(folder, keys, "http://a.example/x")
        #expect(crossOrigin.answered?.head.fields.value(of: "access-control-allow-origin") == "*")
        #expect(crossOrigin.answered?.head.fields.value(of: .contentType) == "text/plain; charset=utf-8")
        let error = try play(
            folder,
            "name: n, from: 'a.example/*', to: f, on-miss: error",
            "http://a.example/users.json",
            [("Accept", "text/html")]
        )
        #expect(answer(error).hasPrefix("502 <!doctype html>"))
        #expect(
            error.trace.map(\.text) == [
                "looked for f/users.json: there is no 'users.json', only 'Users.json' (see 'case-sensitive: false'); answered 502"
            ]
        )
        let index = try play(folder, "from: 'a.example/*', to: f", "http://a.example/")
        #expect(
            index.trace.map(\.text) == [
                "rule 1: looked for f/index.html: there is no 'index.html'; the request went on to the server"
            ]
        )
    }

    @Test("Case counts, unless the rule says that it does not")
    func letterCase() throws {
        let folder = TestFolder(["f/Dir/Users.JSON": "[]", "f/É.txt": "e"])
        #expect(try answer(play(folder, "from: 'a.example/*', to: f", "http://a.example/dir/Users.JSON")) == "server")
        #expect(try answer(play(folder, "from: 'a.example/*', to: f", "http://a.example/Dir/Users.JSON")) == "200 []")
        let keys = "from: 'a.example/*', to: f, case-sensitive: false"
        let found = try play(folder, keys, "http://a.example/dir/users.json")
        #expect(answer(found) == "200 []")
        #expect(found.answered?.head.fields.value(of: .contentType) == "application/json")
        #expect(try answer(play(folder, keys, "http://a.example/%C3%A9.TXT")) == "200 e")
    }

    @Test("Links are followed as long as they stay within the directory")
    func links() throws {
        let folder = TestFolder(["f/real/a.txt": "a", "f/b.txt": "b", "secret.txt": "s", "out/c.txt": "c"])
        try folder.link("f/inside", to: "real")
        try folder.link("f/real/up.txt", to: "../b.txt")
        try folder.link("f/chain", to: "./inside/../inside")
        try folder.link("f/absolute.txt", to: "\(folder.path)/f/b.txt")
        try folder.link("f/escape.txt", to: "../secret.txt")
        try folder.link("f/escape", to: "../out")
        try folder.link("f/far.txt", to: "\(folder.path)/secret.txt")
        try folder.link("f/sneaky.txt", to: "real/../../secret.txt")
        try folder.link("f/prefix.txt", to: "\(folder.path)/f/../secret.txt")
        try folder.link("f/loop", to: "loop")
        try folder.link("g", to: "f")
        for (path, expected) in [
            ("inside/a.txt", "200 a"), ("real/up.txt", "200 b"), ("inside/up.txt", "200 b"), ("chain/a.txt", "200 a"),
            ("absolute.txt", "200 b"), ("escape.txt", "server"), ("escape/c.txt", "server"), ("far.txt", "server"),
            ("sneaky.txt", "server"), ("prefix.txt", "server"), ("loop", "server"), ("loop/x", "server"),
        ] {
            for root in ["f", "g"] {
                let exchange = try play(folder, "from: 'a.example/*', to: \(root)", "http://a.example/\(path)")
                #expect(answer(exchange) == expected, "\(root)/\(path)")
            }
        }
        let escape = try play(folder, "from: 'a.example/*', to: f", "http://a.example/escape.txt")
        #expect(
            escape.trace.first?.text.hasPrefix("rule 1: looked for f/escape.txt: '..' is outside the directory")
                == true
        )
    }

    @Test("Pipes, sockets and devices are no files, and are not waited for", .timeLimit(.minutes(5)))
    func specials() throws {
        let folder = TestFolder(["f/a": "a"])
        #expect(mkfifo("\(folder.path)/f/pipe", 0o600) == 0)
        try folder.link("f/null", to: "/dev/null")
        let pipe = try play(folder, "from: 'a.example/*', to: f", "http://a.example/pipe")
        #expect(
            pipe.trace.map(\.text) == [
                "rule 1: looked for f/pipe: 'pipe' is neither a file nor a directory; the request went on to the server"
            ]
        )
        #expect(try answer(play(folder, "from: 'a.example/*', to: f", "http://a.example/null")) == "server")
        #expect(try answer(play(folder, "from: 'a.example/*', to: f/pipe", "http://a.example/x")) == "server")
        #expect(try answer(play(folder, "from: 'a.example/*', to: /dev/zero", "http://a.example/x")) == "server")
    }

    @Test("What a file may not be read for is said")
    func unreadable() throws {
        guard getuid() != 0 else { return }
        let folder = TestFolder(["f/a": "a"])
        #expect(chmod("\(folder.path)/f/a", 0) == 0)
        let exchange = try play(folder, "from: 'a.example/*', to: f", "http://a.example/a")
        #expect(exchange.trace.first?.text.contains("'a' cannot be read") == true)
    }

    @Test("The first rule that matches decides, even if it has no file")
    func first() throws {
        let folder = TestFolder(["f/a": "a", "g/b": "b"])
        let profile = try RuleProfile(
            "version: 1\nmap-local: [{ from: 'a.example/*', to: f }, { from: 'a.example/*', to: g, method: GET }]",
            file: "\(folder.path)/p.yaml"
        )
        var dryRun = DryRun(profile)
        #expect(answer(dryRun.play(try #require(DryRunRequest("http://a.example/a")))) == "200 a")
        #expect(answer(dryRun.play(try #require(DryRunRequest("http://a.example/b")))) == "server")
    }

    @Test("A tunnel that is not decrypted is nothing for files")
    func tunnels() throws {
        let folder = TestFolder(["a": "a"])
        let profile = try RuleProfile("version: 1\nmap-local: { from: '*', to: a }", file: "\(folder.path)/p.yaml")
        #expect(outcome(profile, "a.example:443", kind: .tunnel) == "passed")
    }

    @Test(
        "What is wrong is said with its place",
        arguments: [
            ("{ from: a.example }", "2:12 a map-local rule needs 'to' or 'answer'"),
            (
                "{ from: 'a.example/*', to: f, on-miss: 500 }",
                "2:51 on-miss must be pass or next or 404 or error, not '500'"
            ),
            ("{ from: 'a.example/*', to: f, index: a/b }", "2:49 index is the name of a file, without a directory"),
            ("{ from: 'a.example/*', to: f, status: 99 }", "2:50 status must be from 200 to 599, not 99"),
            ("{ from: 'a.example/*', to: f, status: 200.5 }", "2:50 status must be a whole number"),
            (
                "{ from: 'a.example/*', to: f, headers: [] }",
                "2:51 headers must be a mapping of names to values, not a list"
            ),
            (
                "{ from: 'a.example/*', to: f, headers: { X Y: z } }",
                "2:58 headers has 'X Y', which cannot be the name of a header"
            ),
            (
                "{ from: 'a.example/*', to: f, headers: { Content-Length: 1 } }",
                "2:69 headers has Content-Length, which only Sluice sets"
            ),
            (
                "{ from: a.example/v1/users, to: f }",
                "2:44 lint 'a.example/v1/users' names one path, for which the directory's index answers; to search files in the directory, end it with *"
            ),
        ]
    )
    func issues(rule: String, issue: String) {
        let folder = TestFolder(["f/a": "a"])
        let text = "version: 1\nmap-local: \(rule)".replacing("to: f", with: "to: \(folder.path)/f")
        let shift = folder.path.utf8.count + 1
        let found = Support.issues(text).map { found in
            guard rule.contains("to: f,"), let colon = found.firstIndex(of: ":"),
                let blank = found.firstIndex(of: " "), let column = Int(found[found.index(after: colon)..<blank])
            else { return found }
            return "\(found[...colon])\(column - shift)\(found[blank...])"
        }
        #expect(found == [issue])
    }

    @Test("A file that is not there is a lint")
    func missingFile() {
        #expect(
            Support.issues("version: 1\nmap-local: { from: a.example, to: /nowhere/x.json }") == [
                "2:35 lint there is no file or directory '/nowhere/x.json'; until it exists, requests go to the server"
            ]
        )
    }
}
