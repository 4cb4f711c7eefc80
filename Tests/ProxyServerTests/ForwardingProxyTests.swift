import HTTPModel
import NIOCore
import Support
import Testing

@testable import ProxyServer

@Suite("Plain HTTP through an upstream proxy that fails")
struct ForwardingProxyTests {
    /// The failure of a request through a proxy that answers so.
    private func failure(
        idle: TimeAmount = .seconds(60),
        _ answer: @escaping @Sendable (String) -> String?
    ) async throws -> ExchangeFailure {
        let upstream = try await LoopbackOrigin(answer)
        var rules = ProxyRules()
        let proxy = UpstreamProxy(kind: .http, host: "127.0.0.1", port: upstream.port)
        rules.route = { _ in .through(proxy, reason: "test") }
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.idle = idle
        var found: ExchangeFailure?
        try await LoopbackProxy.run(rules: rules, timeouts: timeouts) { loopback in
            let client = try await loopback.connect()
            try await client.send("GET http://server.example/ HTTP/1.1\r\nHost: server.example\r\n\r\n")
            try await eventually("it is recorded") { !loopback.recorder.finished.isEmpty }
            found = loopback.recorder.finished.first?.record.failure
        }
        let failure = try #require(found)
        #expect(failure.message.contains("upstream proxy http://127.0.0.1:\(upstream.port)"), "\(failure)")
        #expect(!failure.message.contains("of The"), "\(failure)")
        return failure
    }

    @Test("What is no answer of a proxy is told in the words of a CONNECT, and marked as one")
    func garbage() async throws {
        let failure = try await failure { _ in "220 mail.example ESMTP\r\n\r\n" }
        #expect(failure.code == .upstreamProxy)
        #expect(failure.message.contains("did not answer as a proxy does"), "\(failure)")
        #expect(failure.hint.contains("socks5://") && !failure.hint.contains("HTTP/2"), "\(failure)")
    }

    @Test("A proxy that wants other credentials is named to the client, but not the user that it was told of")
    func unauthorized() async throws {
        let upstream = try await LoopbackOrigin { _ in
            "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"
        }
        var rules = ProxyRules()
        let proxy = UpstreamProxy(kind: .http, host: "127.0.0.1", port: upstream.port, user: "wanda", password: "x")
        rules.route = { _ in .through(proxy, reason: "test") }
        try await LoopbackProxy.run(rules: rules) { loopback in
            let client = try await loopback.connect()
            try await client.send("GET http://server.example/ HTTP/1.1\r\nHost: server.example\r\n\r\n")
            try await client.receives("does not take the user that is set with this password")
            #expect(!client.text.contains("wanda"))
        }
    }

    @Test("A proxy that says nothing is named")
    func silent() async throws {
        let failure = try await failure(idle: .milliseconds(500)) { _ in nil }
        #expect(failure.code == .timeout && failure.message.contains("server.example"), "\(failure)")
    }
}
