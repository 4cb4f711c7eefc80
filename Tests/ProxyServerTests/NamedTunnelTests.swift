import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing
import Wire

@testable import ProxyServer

@Suite("Tunnels to a name, inside which another name is used", .timeLimit(.minutes(1)))
struct NamedTunnelTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Refuses what is for `localhost`, as a block list does.
    private static let blocking = ProxyRules(
        chain: StageChain([
            ScriptedStage.on(.blockList) { handler in
                handler.onRequestHead = { _, exchange in
                    guard exchange.url.host == "localhost" else { return .forward }
                    return .respond(LocalAnswer(status: 403, contentType: "text/plain", text: "blocked"))
                }
            }
        ])
    )

    /// Opens a tunnel to `localhost`.
    private func open(_ proxy: LoopbackProxy, _ port: Int) async throws -> EndingClient {
        let client = try await EndingClient(port: proxy.port)
        if proxy.server.listening.first?.mode == .socks5 {
            try await client.send("\u{5}\u{1}\u{0}")
            let bytes = [UInt8(5), 1, 0, 3, 9] + Array("localhost".utf8) + [UInt8(port >> 8), UInt8(port & 255)]
            try await client.send(bytes)
            try await client.receives("\u{5}\u{0}\u{5}\u{0}\u{0}\u{1}")
        } else {
            try await client.send("CONNECT localhost:\(port) HTTP/1.1\r\nHost: three.test\r\n\r\n")
            try await client.receives("\r\n\r\n")
        }
        return client
    }

    @Test("Rules and record have the tunnel's host, over HTTP and SOCKS", arguments: [ListenerMode.regular, .socks5])
    func rules(mode: ListenerMode) async throws {
        let origin = try await LoopbackOrigin { _ in Self.answer }
        try await LoopbackProxy.run(rules: Self.blocking, mode: mode) { proxy in
            let client = try await open(proxy, origin.port)
            try await client.send("GET /x HTTP/1.1\r\nHost: three.test:\(origin.port)\r\n\r\n")
            try await client.receives("HTTP/1.1 403 ")
            #expect(origin.heads.isEmpty)
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let url = proxy.recorder.finished.first?.record.url.description
            #expect(url == "http://localhost:\(origin.port)/x")
        }
    }

    @Test("The exchange says that Host or TLS names another host; Host goes out as it came", arguments: [false, true])
    func remarks(isSecure: Bool) async throws {
        let authority = isSecure ? try CertificateAuthority.generate(label: "origin") : nil
        let origin = try await EndingOrigin(answer: Self.answer, end: .clean, authority: authority)
        try await LoopbackProxy.run { proxy in
            let client = try await open(proxy, origin.port)
            if isSecure { try await client.beginTLS(["http/1.1"], host: "three.test") }
            try await client.send("GET /x HTTP/1.1\r\nHost: Three.test\r\n\r\n")
            try await client.receives("ok")
            #expect(origin.log.text.contains("Host: Three.test\r\n"))
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let (record, messages) = try #require(proxy.recorder.finished.first)
            #expect(record.url.description == "\(isSecure ? "https" : "http")://localhost:\(origin.port)/x")
            let trace = messages.trace.map(\.text)
            let places = ["the request names three.test"] + (isSecure ? ["the client's TLS names three.test"] : [])
            for place in places {
                #expect(trace.contains { $0.hasPrefix(place) && $0.contains("asked for localhost") }, "\(trace)")
            }
        }
    }

    /// Opens a tunnel to the address of `localhost`.
    private func openByAddress(_ proxy: LoopbackProxy, _ port: Int) async throws -> EndingClient {
        let client = try await EndingClient(port: proxy.port)
        if proxy.server.listening.first?.mode == .socks5 {
            try await client.send("\u{5}\u{1}\u{0}")
            try await client.send([5, 1, 0, 1, 127, 0, 0, 1, UInt8(port >> 8), UInt8(port & 255)])
            try await client.receives("\u{5}\u{0}\u{5}\u{0}\u{0}\u{1}")
        } else {
            try await client.send("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\n\r\n")
            try await client.receives("\r\n\r\n")
        }
        return client
    }

    /// Begins TLS with `localhost` in a tunnel to its address.
    private func tunnelOfTLS(
        _ rules: ProxyRules,
        _ mode: ListenerMode,
        _ go: (LoopbackProxy, EndingClient, EndingOrigin) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority.generate(label: "origin")
        let origin = try await EndingOrigin(answer: Self.answer, end: .clean, authority: authority)
        try await LoopbackProxy.run(rules: rules, mode: mode) { proxy in
            let client = try await openByAddress(proxy, origin.port)
            try await client.beginTLS(["http/1.1"], host: "localhost")
            try await go(proxy, client, origin)
        }
    }

    @Test(
        "In a tunnel to an address the name in TLS is the host for rules and record",
        arguments: [ListenerMode.regular, .socks5]
    )
    func namedByTLS(mode: ListenerMode) async throws {
        try await tunnelOfTLS(Self.blocking, mode) { proxy, client, origin in
            try await client.send("GET /x HTTP/1.1\r\nHost: three.test:\(origin.port)\r\n\r\n")
            try await client.receives("HTTP/1.1 403 ")
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let (record, messages) = try #require(proxy.recorder.finished.first)
            #expect(record.url.description == "https://localhost:\(origin.port)/x")
            let remark = "the request names three.test, but its TLS names localhost: the rules and the URL go by that"
            #expect(messages.trace.contains { $0.text == remark }, "\(messages.trace)")
        }
    }

    @Test(
        "In a tunnel to an address TLS of a host that is not to be decrypted passes unread",
        arguments: [ListenerMode.regular, .socks5]
    )
    func notDecrypted(mode: ListenerMode) async throws {
        let rules = ProxyRules(decrypts: { host, _, address in
            #expect(address == "127.0.0.1")
            return host != "localhost"
        })
        try await tunnelOfTLS(rules, mode) { proxy, client, _ in
            try await client.send("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try await client.receives("ok")
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let record = try #require(proxy.recorder.finished.first?.record)
            #expect(record.kind == .tunnel && record.flags.contains(.notIntercepted), "\(record)")
        }
    }

    @Test("There is nothing to say where they name the tunnel's host", arguments: [false, true])
    func ordinary(isSecure: Bool) async throws {
        let authority = isSecure ? try CertificateAuthority.generate(label: "origin") : nil
        for host in ["localhost", "LocalHost."] {
            let origin = try await EndingOrigin(answer: Self.answer, end: .clean, authority: authority)
            try await LoopbackProxy.run { proxy in
                let client = try await open(proxy, origin.port)
                if isSecure { try await client.beginTLS(["http/1.1"], host: "localhost") }
                try await client.send("GET /x HTTP/1.1\r\nHost: \(host):\(origin.port)\r\n\r\n")
                try await client.receives("ok")
                try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
                let trace = proxy.recorder.finished.flatMap { $0.messages.trace.map(\.text) }
                #expect(!trace.contains { $0.contains("asked for") }, "\(trace)")
            }
        }
    }
}
