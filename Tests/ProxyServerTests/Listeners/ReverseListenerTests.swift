import ExchangeCore
import HTTPModel
import NIOCore
import NIOPosix
import Support
import Synchronization
import Testing

@testable import ProxyServer

@Suite("Listeners that stand in for a server")
struct ReverseListenerTests {
    private static func target(_ origin: LoopbackOrigin, _ transport: ReverseTarget.Transport = .http) -> ListenerMode {
        .reverse(ReverseTarget(transport, host: "127.0.0.1", port: origin.port))
    }

    private static func answer(_ fields: String = "", body: String = "hello") -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
    }

    @Test("The server gets its own name, tools see it, and the head stays recorded as received")
    func host() async throws {
        let origin = try await LoopbackOrigin { _ in Self.answer() }
        let seen = Seen()
        let stage = ScriptedStage.on(.rewrite) { handler in
            handler.onRequestHead = { head, exchange in
                seen.add("\(head.fields.value(of: .host) ?? "") \(exchange.url)")
                return .forward
            }
        }
        try await LoopbackProxy.run(rules: ProxyRules(chain: StageChain([stage])), mode: Self.target(origin)) { proxy in
            let client = try await proxy.connect()
            try await client.send("GET /a?b HTTP/1.1\r\nHost: localhost:\(proxy.port)\r\n\r\n")
            try await client.receives("hello")
            #expect(origin.heads == ["GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n"])
            #expect(seen.all == ["127.0.0.1:\(origin.port) http://127.0.0.1:\(origin.port)/a?b"])
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let (record, messages) = try #require(proxy.recorder.finished.first)
            #expect(record.url.description == "http://127.0.0.1:\(origin.port)/a?b")
            #expect(record.sentURL == nil)
            #expect(record.extras.listeningMode == "reverse:http://127.0.0.1:\(origin.port)")
            #expect(
                messages.requestHead.map { String(buffer: $0) }?.contains("Host: localhost:\(proxy.port)\r\n") == true
            )
            #expect(
                messages.requestHeadSent.map { String(buffer: $0) }?.contains("Host: 127.0.0.1:\(origin.port)\r\n")
                    == true
            )
            #expect(messages.trace.map(\.text).contains { $0.contains("--reverse-keep-host") })
        }
    }

    @Test("A client that names the server itself is passed on as it came")
    func sameHost() async throws {
        let origin = try await LoopbackOrigin { _ in Self.answer() }
        try await LoopbackProxy.run(mode: Self.target(origin)) { proxy in
            let client = try await proxy.connect()
            try await client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            try await client.receives("hello")
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let (record, messages) = try #require(proxy.recorder.finished.first)
            #expect(messages.requestHeadSent == nil && messages.trace.isEmpty)
            #expect(!record.flags.contains(.requestChanged))
        }
    }

    @Test("Redirects to the server lead to the listener behind the tools; others stay")
    func redirects() async throws {
        let origin = try await LoopbackOrigin { head in
            let path = head.split(separator: " ")[1]
            let place = path == "/away" ? "http://other.example/x" : "http://127.0.0.1:\(head.port)/b?c#d"
            return Self.answer("Location: \(place)\r\n", body: "")
        }
        let seen = Seen()
        let stage = ScriptedStage.on(.rewrite) { handler in
            handler.onResponseHead = { head, _ in
                seen.add(head.fields.value(of: "location") ?? "")
                return .forward
            }
        }
        try await LoopbackProxy.run(rules: ProxyRules(chain: StageChain([stage])), mode: Self.target(origin)) { proxy in
            let client = try await proxy.connect()
            try await client.send("GET /here HTTP/1.1\r\nHost: localhost:\(proxy.port)\r\n\r\n")
            try await client.receives("Location: http://localhost:\(proxy.port)/b?c#d\r\n")
            try await client.send("GET /away HTTP/1.1\r\nHost: localhost:\(proxy.port)\r\n\r\n")
            try await client.receives("Location: http://other.example/x\r\n")
            #expect(seen.all == ["http://127.0.0.1:\(origin.port)/b?c#d", "http://other.example/x"])
            try await eventually("both are recorded") { proxy.recorder.finished.count == 2 }
            let sent = proxy.recorder.finished.map { $0.messages.responseHeadSent == nil }
            #expect(sent == [false, true])
        }
    }

    @Test("What was made for a forward proxy is refused in words, and recorded as the server's")
    func misuse() async throws {
        let origin = try await LoopbackOrigin { _ in Self.answer() }
        for request in [
            "GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n",
            "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n",
        ] {
            try await LoopbackProxy.run(mode: Self.target(origin)) { proxy in
                let client = try await proxy.connect()
                try await client.send(request)
                try await client.receives("stands in for http://127.0.0.1:\(origin.port)")
                #expect(client.text.hasPrefix("HTTP/1.1 400 "))
                try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
                let (record, _) = try #require(proxy.recorder.finished.first)
                #expect(record.kind == .malformed && record.url.port == origin.port)
            }
        }
        #expect(origin.heads.isEmpty)
    }

    @Test("A page's name that leads here is as good as any (DNS rebinding), and the record shows it")
    func rebinding() async throws {
        let origin = try await LoopbackOrigin { _ in Self.answer() }
        try await LoopbackProxy.run(mode: Self.target(origin)) { proxy in
            let client = try await proxy.connect()
            let host = "evil.example:\(proxy.port)"
            try await client.send("GET / HTTP/1.1\r\nHost: \(host)\r\nOrigin: http://\(host)\r\n\r\n")
            try await client.receives("hello")
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let head = proxy.recorder.finished.first?.messages.requestHead.map { String(buffer: $0) } ?? ""
            #expect(head.contains("Host: \(host)\r\n") && head.contains("Origin: http://\(host)\r\n"), "\(head)")
        }
    }

    @Test(
        "TLS to a server that is not to be read passes to it, but not where its client would have to say who it is",
        arguments: [ReverseTarget.Transport.https, .tls],
        [false, true]
    )
    func unread(transport: ReverseTarget.Transport, asks: Bool) async throws {
        let origin = try await LoopbackOrigin { _ in nil }
        let rules = ProxyRules(decrypts: { _, _, _ in false })
        let authentication = asks ? ProxyAuthentication(ProxyUsers()) : nil
        try await LoopbackProxy.run(
            rules: rules,
            mode: Self.target(origin, transport),
            authentication: authentication
        ) { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await client.beginTLS(["http/1.1"])
            func reachesServer() -> Bool { proxy.recorder.connections.contains { $0.leg == .upstream } }
            guard asks else { return try await eventually("the server is reached") { reachesServer() } }
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let record = try #require(proxy.recorder.finished.first?.record)
            #expect(record.kind == .failedHandshake && record.failure?.code == .clientTLS, "\(record)")
            #expect(record.failure?.message.contains("--proxy-auth") == true, "\(record)")
            try await eventually("the connection is closed") {
                proxy.recorder.connections.contains { $0.leg == .client && $0.closedAt != nil }
            }
            #expect(!reachesServer() && proxy.recorder.finished.count == 1)
        }
    }

    @Test("tcp:// passes on what comes, HTTP too, and the server may speak first")
    func bytes() async throws {
        let origin = try await LoopbackOrigin { head in "you said \(head.utf8.count)" }
        try await LoopbackProxy.run(mode: Self.target(origin, .tcp)) { proxy in
            let client = try await proxy.connect()
            try await client.send("GET / HTTP/1.1\r\n\r\n")
            try await client.receives("you said 18")
            try await client.close()
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let (record, _) = try #require(proxy.recorder.finished.first)
            #expect(record.kind == .tunnel)
            #expect(record.url == RequestURL(scheme: "tunnel", host: "127.0.0.1", port: origin.port, path: ""))
            #expect((record.sizes.requestBody, record.sizes.responseBody) == (18, 11))
            #expect(record.extras.listeningMode == "reverse:tcp://127.0.0.1:\(origin.port)")
            #expect(origin.heads == ["GET / HTTP/1.1\r\n\r\n"])
        }
    }

    @Test("A listener that stands in for itself is stopped", arguments: [ReverseTarget.Transport.http, .tcp])
    func itself(transport: ReverseTarget.Transport) async throws {
        // A port that is free now is the listener's a moment later.
        let taken = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = taken.localAddress?.port ?? 0
        try await taken.close()
        let mode = ListenerMode.reverse(ReverseTarget(transport, host: "0.0.0.0", port: port))
        try await LoopbackProxy.run(mode: mode, port: port) { proxy in
            let client = try await proxy.connect()
            try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            if transport == .http { try await client.receives("leads back to this proxy") }
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            #expect(proxy.recorder.finished.map(\.record.failure?.code) == [.loop])
        }
    }
}

/// What stages saw.
private final class Seen: Sendable {
    private let texts = Mutex<[String]>([])

    func add(_ text: String) { texts.withLock { $0.append(text) } }
    var all: [String] { texts.withLock { $0 } }
}

extension String {
    /// The port in a head's Host field.
    fileprivate var port: String {
        split(separator: "\r\n").first { $0.hasPrefix("Host: ") }?.split(separator: ":").last.map(String.init) ?? ""
    }
}
