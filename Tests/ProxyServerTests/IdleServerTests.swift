import HTTPModel
import NIOCore
import ProxyServer
import Support
import Testing
import Wire

@Suite("Idle connections to servers")
struct IdleServerTests {
    @Test("They are closed when their time is over, in HTTP/1 and HTTP/2", arguments: [false, true])
    func closed(http2: Bool) async throws {
        let authority = try CertificateAuthority.generate(label: "origin")
        let server = try await HTTP2Origin(authority: authority) { _ in 3 }
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nxxx" }
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.pooled = .milliseconds(1)
        try await LoopbackProxy.run(timeouts: timeouts, loops: 1) { proxy in
            let url = http2 ? "https://127.0.0.1:\(server.port)/" : "http://127.0.0.1:\(origin.port)/"
            let client = try await EndingClient(port: proxy.port)
            try await client.send("GET \(url) HTTP/1.1\r\nHost: x\r\n\r\n")
            try await eventually("there is an answer") { client.log.text.contains("xxx") }
            try await eventually("the connection to the server is closed") {
                proxy.recorder.connections.contains { $0.leg == .upstream && $0.closedAt != nil }
            }
            #expect(proxy.recorder.connections.contains { $0.tls?.applicationProtocol == "h2" } == http2)
        }
    }
}
