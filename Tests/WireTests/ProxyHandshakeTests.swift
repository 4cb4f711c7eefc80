import NIOCore
import Testing

@testable import Wire

@Suite("What proxies answer to a client that wants a way through them")
struct ProxyHandshakeTests {
    /// Gives a handshake the bytes in pieces, up to its end; returns what it sent and what it came to.
    private func play(_ handshake: any ProxyHandshake, _ pieces: [[UInt8]]) -> (sent: [[UInt8]], end: ProxyAnswer) {
        let played = PlayedHandshake(handshake, pieces)
        return (played.sent, played.end)
    }

    /// Plays an answer whole, byte by byte, and cut in two at each place: it has to come to the same.
    private func end(_ make: () -> any ProxyHandshake, _ answer: [UInt8]) -> ProxyAnswer {
        let whole = play(make(), [answer]).end
        #expect(play(make(), answer.map { [$0] }).end == whole)
        for place in answer.indices {
            #expect(play(make(), [Array(answer[..<place]), Array(answer[place...])]).end == whole, "cut at \(place)")
        }
        return whole
    }

    private func connect() -> any ProxyHandshake { ConnectHandshake(authority: "a.example:443") }

    // MARK: - HTTP

    @Test("CONNECT names the server, and has the user where there is one")
    func connectHead() {
        func text(_ handshake: any ProxyHandshake) -> String { String(buffer: handshake.begin()) }
        #expect(text(connect()) == "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n")
        let known = text(ConnectHandshake(authority: "[::1]:1", authorization: "Basic eDp5"))
        #expect(known == "CONNECT [::1]:1 HTTP/1.1\r\nHost: [::1]:1\r\nProxy-Authorization: Basic eDp5\r\n\r\n")
    }

    @Test(
        "A 2xx opens the way, and what comes after it is the server's",
        arguments: [
            ("HTTP/1.1 200 OK\r\n\r\n", ""), ("HTTP/1.0 200 Connection established\r\n\r\nhello", "hello"),
            ("HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", "hello"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n", "5\r\n"),
            ("HTTP/1.1 102 Wait\r\n\r\nHTTP/1.1 299 Fine\r\n\r\n\u{0}x", "\u{0}x"),
        ]
    )
    func opened(answer: String, rest: String) {
        let expected = rest.isEmpty ? nil : ByteBuffer(string: rest)
        #expect(end(connect, Array(answer.utf8)) == .open(rest: expected))
    }

    @Test(
        "A refusal has its status, its reason, the ways of authentication and the first line of its text",
        arguments: [
            (
                "HTTP/1.1 407 Who are you\r\nProxy-Authenticate: Basic realm=\"x\"\r\nproxy-authenticate: NTLM\r\n"
                    + "Content-Length: 0\r\n\r\n", 407, "Who are you", ["Basic", "NTLM"], ""
            ),
            ("HTTP/1.1 403 Forbidden\r\nContent-Length: 12\r\n\r\n\r\n  Not you.\n", 403, "Forbidden", [], "Not you."),
            (
                "HTTP/1.1 502 Bad\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "40\r\n<html><head><TITLE>No such Host</Title></head><body>Much more</body>\r\n0\r\n\r\n", 502,
                "Bad",
                [], "No such Host"
            ),
            ("HTTP/1.1 500 X\r\nContent-Length: 13\r\n\r\n<p>no title<p>", 500, "X", [], ""),
            ("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", 302, "Found", [], ""),
        ]
    )
    func refused(answer: String, status: Int, reason: String, schemes: [String], line: String) {
        let said = ProxyRefusal.HTTPAnswer(status: status, reason: reason, schemes: schemes, firstLine: line)
        // What ends a body whose length was not told right is cut off by nobody.
        let bytes = Array(answer.utf8)
        guard case .refused(.status(let whole), _) = play(connect(), [bytes]).end else {
            Issue.record("\(play(connect(), [bytes]).end)")
            return
        }
        #expect(whole.status == status && whole.reason == reason && whole.schemes == schemes)
        #expect(whole.firstLine == line || whole == said)
        guard case .refused(.status(let pieces), _) = play(connect(), bytes.map { [$0] }).end else {
            Issue.record("in pieces it is no refusal")
            return
        }
        #expect(pieces == whole)
    }

    @Test("A refusal whose text does not come has its head at once, and may be waited for")
    func slowText() {
        let head = "HTTP/1.1 403 No\r\nContent-Length: 100\r\n\r\n"
        let handshake = connect()
        _ = handshake.begin()
        let first = handshake.receive(ByteBuffer(string: head))
        #expect(first == .refused(.status(.init(status: 403, reason: "No")), isWhole: false))
        let second = handshake.receive(ByteBuffer(string: "Because.\nMore"))
        #expect(second == .refused(.status(.init(status: 403, reason: "No", firstLine: "Because.")), isWhole: false))
    }

    @Test(
        "What is no answer is told as that",
        arguments: [
            "\u{5}\u{0}", "SSH-2.0-x\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "<html>\r\n\r\n",
            "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
        ]
    )
    func noHTTP(answer: String) {
        guard case .refused(.invalid, isWhole: true) = end(connect, Array(answer.utf8)) else {
            Issue.record("\(answer.debugDescription) came to \(end(connect, Array(answer.utf8)))")
            return
        }
    }

    @Test(
        "A head, a text or interim answers without an end are given up",
        arguments: [
            ("HTTP/1.1 200 OK\r\n", "X-Padding: \(String(repeating: "x", count: 100))\r\n"),
            ("HTTP/1.1 200 ", String(repeating: "x", count: 100)), ("", "HTTP/1.1 100 Continue\r\n\r\n"),
            ("HTTP/1.1 403 No\r\nContent-Length: 100000000\r\n\r\n", String(repeating: "\n", count: 100)),
        ]
    )
    func endless(start: String, more: String) {
        let handshake = connect()
        _ = handshake.begin()
        var last = handshake.receive(ByteBuffer(string: start))
        var given = start.utf8.count
        while given < 1 << 20 {
            if case .refused(_, isWhole: true) = last { break }
            last = handshake.receive(ByteBuffer(string: more))
            given += more.utf8.count
        }
        #expect(given <= ConnectHandshake.limit + 200, "\(given)")
        guard case .refused(_, isWhole: true) = last else {
            Issue.record("it goes on after \(given) bytes")
            return
        }
    }

    // MARK: - SOCKS

    private func socks() -> any ProxyHandshake { SOCKS5ClientHandshake(host: "a.example", port: 443) }

    private func knownSOCKS() -> any ProxyHandshake {
        SOCKS5ClientHandshake(host: "2001:db8::1", port: 65_535, user: "me", password: "pass")
    }

    private let request: [UInt8] = [5, 1, 0, 3, 9] + Array("a.example".utf8) + [1, 187]

    @Test("A SOCKS proxy without users gets the name, and what follows its answer is the server's")
    func socksOpen() {
        for address in [[1, 0, 0, 0, 0], [4] + [UInt8](repeating: 7, count: 16), [3, 3, 97, 98, 99], [3, 0]]
            as [[UInt8]]
        {
            let answer = [5, 0, 5, 0, 0] + address + [0, 80]
            // Also where the proxy is ahead of what it is asked.
            for pieces in [[[5, 0], Array(answer.dropFirst(2)) + [104, 105]], [answer + [104, 105]]] {
                let played = play(socks(), pieces)
                #expect(played.sent == [[5, 1, 0], request])
                #expect(played.end == .open(rest: ByteBuffer(string: "hi")))
            }
            #expect(play(socks(), answer.map { [$0] }).end == .open(rest: nil))
        }
    }

    @Test("With a user it asks for a password, by address where the host is one")
    func socksKnown() {
        let played = play(knownSOCKS(), [[5, 2], [1, 0], [5, 0, 0, 1, 1, 2, 3, 4, 0, 1]])
        let address: [UInt8] = [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
        #expect(
            played.sent == [
                [5, 2, 0, 2], [1, 2] + Array("me".utf8) + [4] + Array("pass".utf8),
                [5, 1, 0, 4] + address + [255, 255],
            ]
        )
        #expect(played.end == .open(rest: nil))
        #expect(
            play(knownSOCKS(), [[5, 0], [5, 0, 0, 1, 1, 2, 3, 4, 0, 1]]).end == .open(rest: nil),
            "it may not want it"
        )
        #expect(play(knownSOCKS(), [[5, 2], [1, 1]]).end == .refused(.wrongCredentials, isWhole: true))
        #expect(play(knownSOCKS(), [[5, 0xFF]]).end == .refused(.noMethod, isWhole: true))
    }

    @Test("Each code of a refusal is passed on, with an address after it or without")
    func socksCodes() {
        for code in UInt8(1)...255 {
            #expect(play(socks(), [[5, 0], [5, code]]).end == .refused(.reply(code), isWhole: true))
        }
    }

    @Test(
        "What is no SOCKS is told as that",
        arguments: [
            ([[72]], "HTTP"), ([[4, 90]], "SOCKS 4"), ([[0x15, 3]], "TLS"), ([[0]], "does not answer in SOCKS 5"),
            ([[5, 1]], "not offered"), ([[5, 2]], "not offered"), ([[5, 0], [4, 0]], "version 4"),
            ([[5, 0], [5, 0, 0, 2]], "unknown kind 2"),
        ] as [([[UInt8]], String)]
    )
    func noSOCKS(pieces: [[UInt8]], words: String) {
        guard case .refused(.invalid(let reason), isWhole: true) = play(socks(), pieces).end else {
            Issue.record("\(play(socks(), pieces).end)")
            return
        }
        #expect(reason.contains(words), "\(reason)")
    }
}
