import HTTPModel
import NIOCore
import Testing
import Wire

/// Fields for one connection only, and whether that connection goes on.
@Suite struct HopByHopTests {
    private func stripped(
        _ fields: [(String, String)],
        keeping kept: HopByHop.Kept = [],
        usual: FieldName? = nil
    ) -> (left: [String], removed: [String]) {
        var section = RequestHead(method: "GET", target: "/", fields: fields).fields
        let removed = HopByHop.strip(from: &section, keeping: kept, usual: usual)
        return (section.map { "\($0.name): \($0.value)" }, removed)
    }

    @Test("Connection goes with every field it names, and so do the usual ones")
    func usual() {
        let result = stripped([
            ("Host", "a"), ("connection", "close, X-Hop ,, x-other"), ("X-HOP", "1"), ("Keep", "2"), ("X-Hop", "3"),
            ("Keep-Alive", "timeout=5"), ("Proxy-Connection", "keep-alive"), ("TE", "gzip"), ("Upgrade", "h2c"),
            ("Proxy-Authorization", "Basic x"), ("Proxy-Authenticate", "Basic"), ("Transfer-Encoding", "chunked"),
        ])
        #expect(result.left == ["Host: a", "Keep: 2", "Proxy-Authenticate: Basic", "Transfer-Encoding: chunked"])
        #expect(
            Set(result.removed) == [
                "connection", "X-HOP", "X-Hop", "Keep-Alive", "Proxy-Connection", "TE", "Upgrade",
                "Proxy-Authorization",
            ]
        )
    }

    @Test("Connection cannot remove what is for the final recipient")
    func protected() {
        let fields = [
            ("Host", "a"), ("Content-Length", "5"), ("Transfer-Encoding", "chunked"), ("Authorization", "x"),
            ("Cookie", "a=b"), ("Content-Type", "text/plain"), ("X-Forwarded-For", "::1"),
            ("Cache-Control", "no-store"),
        ]
        let names = fields.map(\.0).joined(separator: ",")
        let result = stripped(fields + [("Connection", names)])
        #expect(result.left == fields.map { "\($0): \($1)" })
        #expect(result.removed == ["Connection"])
    }

    @Test("the field that is usual on a side goes without a word")
    func usualField() {
        let fields = [("Proxy-Connection", "keep-alive"), ("Keep-Alive", "timeout=5"), ("X", "1")]
        let result = stripped(fields, usual: .proxyConnection)
        #expect(result.left == ["X: 1"])
        #expect(result.removed == ["Keep-Alive"])
    }

    @Test("an Upgrade that is kept stays with its option")
    func upgrade() {
        let fields = [("Connection", "keep-alive, Upgrade"), ("Upgrade", "websocket")]
        #expect(stripped(fields, keeping: .upgrade).left == ["Connection: Upgrade", "Upgrade: websocket"])
        #expect(
            stripped(fields, keeping: [.upgrade, .keepAlive]).left == [
                "Connection: keep-alive, Upgrade", "Upgrade: websocket",
            ]
        )
        #expect(stripped(fields, keeping: [.upgrade, .keepAlive]).removed == [])
        #expect(stripped(fields).left == [])
        #expect(stripped([("Connection", "Upgrade")], keeping: .upgrade).left == [])
    }

    @Test("TE stays as far as it says trailers")
    func trailers() {
        #expect(stripped([("Connection", "TE"), ("TE", "trailers")]).left == ["Connection: TE", "TE: trailers"])
        #expect(
            stripped([("Connection", "TE, close"), ("te", "gzip, Trailers")]).left == [
                "Connection: TE", "te: trailers",
            ]
        )
        #expect(stripped([("Connection", "TE"), ("TE", "gzip;q=0.5")]).left == [])
        #expect(stripped([("TE", "Trailers")]).removed == [])
    }

    @Test("several Connection fields are taken together")
    func severalConnections() {
        let fields = [("Connection", "keep-alive"), ("A", "1"), ("Connection", "B"), ("B", "2"), ("Connection", "")]
        #expect(stripped(fields).left == ["A: 1"])
        #expect(stripped(fields, keeping: .keepAlive).left == ["Connection: keep-alive", "A: 1"])
    }

    @Test("a message without such fields is not changed")
    func nothing() throws {
        var parser = HTTP1RequestParser()
        parser.receive(
            ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nTE: trailers\r\n\r\n")
        )
        guard case .head(var head, _)? = try parser.next() else {
            Issue.record("no head")
            return
        }
        #expect(HopByHop.strip(from: &head.fields, keeping: .keepAlive) == [])
        #expect(!head.isChanged)
    }
}

@Suite struct PersistenceTests {
    @Test(
        "a request's connection goes on unless one side's version or option says otherwise",
        arguments: [
            (HTTPVersion.http11, "", true), (.http11, "close", false), (.http11, "Keep-Alive, CLOSE", false),
            (.http11, "closed", true), (.http10, "", false), (.http10, "Keep-Alive", true),
            (.http10, "keep-alive, close", false), (.http2, "", true),
        ]
    )
    func requests(version: HTTPVersion, option: String, expected: Bool) {
        let fields = option.isEmpty ? [] : [("Connection", option)]
        #expect(
            Persistence.keepsAlive(RequestHead(method: "GET", target: "/", version: version, fields: fields))
                == expected
        )
        let response = ResponseHead(status: 200, version: version, fields: fields)
        #expect(Persistence.keepsAlive(response, framing: .length(0)) == expected)
        #expect(!Persistence.keepsAlive(response, framing: .untilClose))
    }

    @Test("Proxy-Connection can close a request's connection but not keep it")
    func proxyConnection() {
        let close = RequestHead(method: "GET", target: "/", fields: [("Proxy-Connection", "close")])
        #expect(!Persistence.keepsAlive(close))
        let keep = RequestHead(
            method: "GET",
            target: "/",
            version: .http10,
            fields: [("Proxy-Connection", "keep-alive")]
        )
        #expect(!Persistence.keepsAlive(keep))
    }
}

@Suite struct HostCheckTests {
    private func code(_ version: HTTPVersion, _ hosts: [String]) -> HTTP1ParseError.Code? {
        let head = RequestHead(method: "GET", target: "/", version: version, fields: hosts.map { ("Host", $0) })
        do throws(HTTP1ParseError) {
            try HostCheck.check(head)
            return nil
        } catch {
            #expect(error.status == 400)
            return error.code
        }
    }

    @Test(
        "a host with or without a port passes",
        arguments: ["a.example", "A_b.example:8080", "[::1]", "[fe80::1%25eth0]:443", "127.0.0.1:0", "a:", "", "x%41"]
    )
    func valid(host: String) {
        #expect(code(.http11, [host]) == nil)
    }

    @Test(
        "what is no host and port does not",
        arguments: [
            "a b", "a/b", "a@b", "a:b", "a:1:2", "a:65536", ":80", "[::1", "[]", "[::1]x", "http://a", "ä", "a?b",
            "a#b", "a\\b",
        ]
    )
    func invalid(host: String) {
        #expect(code(.http11, [host]) == .invalidHost)
    }

    @Test("a CONNECT has its target there, in whatever form")
    func connect() throws {
        for (host, isRight) in [("2001:db8::1:443", true), ("2001:db8::2:443", false)] {
            var head = RequestHead(method: "CONNECT", target: "2001:db8::1:443", version: .http11)
            head.fields.append("Host", host)
            let isAccepted = (try? HostCheck.check(head)) != nil
            #expect(isAccepted == isRight)
        }
    }

    @Test("there must be one, and only one")
    func count() {
        #expect(code(.http11, []) == .missingHost)
        #expect(code(.http10, []) == nil)
        #expect(code(.http11, ["a", "a"]) == .repeatedHost)
        #expect(code(.http10, ["a", "b"]) == .repeatedHost)
    }
}

@Suite struct HTTP1SnifferTests {
    @Test(
        "the first bytes tell HTTP from other protocols",
        arguments: [
            ("GET / HTTP/1.1\r\n", HTTP1Sniffer.Verdict.yes), ("\r\nPOST /x HTTP/1.0\r\n", .yes),
            ("FROB x HTTP/", .yes),
            ("GET /a b HTTP/1.1", .yes), ("", .needMore), ("\r", .needMore), ("\r\n", .needMore), ("GE", .needMore),
            ("GET", .needMore), ("GET /", .needMore), ("GET / HTT", .needMore), ("PRI * HT", .needMore),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .http2Preface), ("PRI * HTTP/2.0\r\n\r\nSM", .needMore),
            ("PRI * HTTP/1.1\r\n", .yes), ("\u{16}\u{3}\u{1}", .no), ("SSH-2.0-OpenSSH_9.2p1 Debian\r\n", .no),
            ("EHLO a\r\n", .no), ("GET /\r\n", .no), ("\n", .needMore), ("\rG", .needMore), (" GET", .needMore),
            ("\r\n\r\n", .needMore), ("\n \t\rGET  /\t HTTP/1.1", .yes), ("\r\n\u{16}", .no),
            ("\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .http2Preface),
            (String(repeating: "\n", count: 1_024), .needMore), (String(repeating: "\n", count: 1_025), .no),
            (String(repeating: "A", count: 256), .needMore), (String(repeating: "A", count: 257), .no),
            ("GET /" + String(repeating: "a", count: 2_000), .yes), ("GET\t/ HTTP/1.1", .yes),
        ]
    )
    func verdicts(text: String, expected: HTTP1Sniffer.Verdict) {
        #expect(HTTP1Sniffer.looksLikeHTTP(ByteBuffer(string: text)) == expected)
        // No prefix may decide otherwise.
        for count in 0..<text.utf8.count {
            let earlier = HTTP1Sniffer.looksLikeHTTP(ByteBuffer(bytes: text.utf8.prefix(count)))
            #expect(earlier == .needMore || earlier == expected)
        }
    }

    @Test("SSH is known by its first line, and by no less")
    func ssh() {
        #expect(HTTP1Sniffer.isSSH(ByteBuffer(string: "SSH-2.0-OpenSSH_9.2p1 Debian\r\n...")))
        for text in [
            "SSH-2.0-a", "ssh-2.0-a\r\n", " SSH-2.0-a\r\n", "SSH-" + String(repeating: "a", count: 251) + "\n",
        ] {
            #expect(!HTTP1Sniffer.isSSH(ByteBuffer(string: text)), "\(text)")
        }
    }
}
