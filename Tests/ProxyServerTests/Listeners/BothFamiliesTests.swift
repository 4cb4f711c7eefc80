import HTTPModel
import NIOCore
import Support
import Testing

@testable import ProxyServer

@Suite("Listeners of IPv6 that take IPv4, too")
struct BothFamiliesTests {
    private static let hasIPv6 = ((try? System.enumerateDevices()) ?? []).contains { $0.address?.protocol == .inet6 }

    @Test(
        "A client of IPv4 at [::] is served, and recorded with its address of IPv4",
        .enabled(if: hasIPv6),
        arguments: ["127.0.0.1", "::1"]
    )
    func recorded(host: String) async throws {
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
        try await LoopbackProxy.run(host: "::") { proxy in
            let client = try await LoopbackClient(port: proxy.port, host: host)
            try await client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
            try await client.receives("ok")
            let connection = try #require(proxy.recorder.connections.first { $0.leg == .client })
            let name = host.contains(":") ? "[\(host)]" : host
            #expect(connection.peerAddress.hasPrefix("\(name):"), "\(connection)")
            #expect(connection.localAddress == "\(name):\(proxy.port)", "\(connection)")
        }
    }
}
