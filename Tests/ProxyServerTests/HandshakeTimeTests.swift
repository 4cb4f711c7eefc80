import HTTPModel
import NIOCore
import Support
import Testing

@testable import ProxyServer

@Suite("The time that a client's TLS handshake takes", .timeLimit(.minutes(1)))
struct HandshakeTimeTests {
    @Test("It is counted from the beginning of TLS, not from that of the connection")
    func fromTLS() async throws {
        let silent = try await LoopbackOrigin { _ in nil }
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.idle = .milliseconds(500)
        try await LoopbackProxy.run(timeouts: timeouts) { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await eventually("its connection is there") { !proxy.recorder.connections.isEmpty }
            // The connection is some time older than its TLS.
            try await proxy.ask(silent).receives("HTTP/1.1 504 ")
            let start = ContinuousClock.now
            try await client.tunnel(to: silent.port, protocols: ["http/1.1"])
            try await eventually("the handshake is over") { proxy.recorder.connections.contains { $0.tls != nil } }
            let most = ContinuousClock.now - start
            let record = try #require(proxy.recorder.connections.last { $0.tls != nil && $0.leg == .client })
            let handshake = try #require(record.handshake)
            #expect(handshake >= 0 && .microseconds(handshake) <= most, "\(handshake) of \(most)")
        }
    }
}
