import HTTPModel
import NIOCore
import ProxyServer
import Support
import Testing

@Suite("The connection to an upstream proxy that opens no way", .timeLimit(.minutes(1)))
struct ProxyConnectionTests {
    /// Asks for a tunnel that goes through an upstream proxy, and looks at its record.
    private func tunnel(
        through upstream: UpstreamProxy,
        _ look: (ExchangeRecord, LoopbackProxy) throws -> Void
    ) async throws {
        var rules = ProxyRules(decrypts: { _, _, _ in false })
        rules.route = { _ in .through(upstream, reason: "test") }
        try await LoopbackProxy.run(rules: rules) { proxy in
            let client = try await proxy.connect()
            try await client.send("CONNECT h.example:443 HTTP/1.1\r\nHost: h.example\r\n\r\n")
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let record = try #require(proxy.recorder.finished.first?.record)
            try look(record, proxy)
        }
    }

    @Test(
        "is that of the exchange, whatever the proxy answers",
        arguments: ["HTTP/1.1 403 Filtered\r\nContent-Length: 0\r\n\r\n", "220 mail.example ESMTP\r\n"]
    )
    func refused(answer: String) async throws {
        let other = try await LoopbackOrigin { _ in answer }
        let upstream = try UpstreamProxy("http://127.0.0.1:\(other.port)")
        try await tunnel(through: upstream) { record, proxy in
            #expect(record.failure?.code == .upstreamProxy, "\(record)")
            #expect(record.serverAddress == "127.0.0.1:\(other.port)")
            #expect(record.upstreamVersion == nil && record.timings.connect != nil)
            let connection = try #require(proxy.recorder.connections.last { $0.leg == .upstream })
            #expect(record.upstreamConnection == connection.id)
            #expect(connection.proxy == "http://127.0.0.1:\(other.port)" && connection.closedAt != nil)
        }
    }

    @Test("is none where nobody listens")
    func unreachable() async throws {
        // Nobody has this port (tcpmux).
        let upstream = try UpstreamProxy("http://127.0.0.1:1")
        try await tunnel(through: upstream) { record, _ in
            #expect(record.failure?.code == .upstreamProxy && record.upstreamConnection == nil, "\(record)")
        }
    }
}
