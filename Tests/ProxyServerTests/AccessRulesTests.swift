import Foundation
import NIOCore
import NIOPosix
import ProxyServer
import Support
import Testing

@Suite("Who may use the proxy")
struct AccessRulesTests {
    @Test(
        "A network holds its addresses and no others",
        arguments: [
            ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.1", false),
            ("192.168.1.0/24", "192.168.1.255", true),
            ("192.168.1.0/24", "192.168.2.1", false), ("192.168.1.128/25", "192.168.1.127", false),
            ("192.168.1.128/25", "192.168.1.128", true), ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.4", false),
            ("10.1.2.3/32", "10.1.2.2", false), ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "2001:db8::1", false),
            ("::/0", "2001:db8::1", true), ("::/0", "203.0.113.9", false), ("2001:db8::/33", "2001:db8:7fff::1", true),
            ("2001:db8::/33", "2001:db8:8000::1", false), ("fe80::/10", "fe80::1", true),
            ("10.0.0.0/8", "::ffff:10.1.1.1", true), ("::ffff:10.0.0.0", "10.0.0.0", true),
        ]
    )
    func networks(network: String, address: String, isAllowed: Bool) throws {
        let rules = AccessRules(networks: [try #require(AccessRules.Network(network))])
        #expect(rules.allows(try SocketAddress(ipAddress: address, port: 1)) == isAllowed)
    }

    @Test(
        "This machine may always",
        arguments: [
            ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("10.0.0.1", false),
            ("::2", false),
        ]
    )
    func loopback(address: String, isAllowed: Bool) throws {
        #expect(AccessRules().allows(try SocketAddress(ipAddress: address, port: 1)) == isAllowed)
    }

    @Test("A client without an address may not")
    func unknown() throws {
        let rules = AccessRules(networks: try ["0.0.0.0/0", "::/0"].map { try #require(AccessRules.Network($0)) })
        #expect(!rules.allows(nil))
        #expect(!rules.allows(try SocketAddress(unixDomainSocketPath: "/socket")))
    }

    @Test(
        "What is no network is refused",
        arguments: [
            "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0/8", "::/129", "localhost",
            "10.0.0.0/a",
            " 10.0.0.0", "*",
        ]
    )
    func noNetwork(text: String) { #expect(AccessRules.Network(text) == nil) }

    /// An address of this machine that is not the loopback's.
    private static let ownAddress: String? = {
        let addresses = (try? System.enumerateDevices())?.compactMap(\.address) ?? []
        return addresses.first { $0.protocol == .inet && $0.ipAddress?.hasPrefix("127.") == false }?.ipAddress
    }()

    @Test("Who resets a connection before it is accepted is not let in either", .enabled(if: ownAddress != nil))
    func reset() async throws {
        let address = try #require(Self.ownAddress)
        try await LoopbackProxy.run(host: "0.0.0.0") { proxy in
            for _ in 0..<100 {
                let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .channelInitializer { channel in
                        (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                            ?? channel.eventLoop.makeSucceededVoidFuture()
                    }
                    .connect(host: address, port: proxy.port)
                    .get()
                let request = ByteBuffer(string: "GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: x\r\n\r\n")
                channel.writeAndFlush(request, promise: nil)
                // It may have been closed on already.
                try? await channel.close()
            }
            // Connections are dealt out to both loops in turn.
            for _ in 0..<4 {
                let client = try await proxy.connect()
                try await client.send("GET x HTTP/1.1\r\n\r\n")
                try await client.receives("HTTP/1.1 400 ")
            }
            try await eventually("those that were answered are recorded") { proxy.recorder.begun >= 4 }
            #expect(proxy.recorder.begun == 4)
        }
    }

    @Test("The rules may allow further networks, and take that back", .enabled(if: ownAddress != nil))
    func rulesAllow() async throws {
        let address = try #require(Self.ownAddress)
        let network = try #require(AccessRules.Network(address))
        let proxy = try await LoopbackProxy(host: "0.0.0.0")
        /// Whether a client at that address gets any answer.
        func isServed() async throws -> Bool {
            let client = try await LoopbackClient(port: proxy.port, host: address)
            // Whoever may not use the proxy is closed on, perhaps before it has said anything.
            try? await client.send("GET / HTTP/1.1\r\nHost: \(address):\(proxy.port)\r\n\r\n")
            try await eventually("an answer or the end") { client.isClosed || client.text.contains("\r\n\r\n") }
            return client.text.hasPrefix("HTTP/1.1 200 ")
        }
        do {
            #expect(try await !isServed())
            await proxy.server.replaceRules(ProxyRules(access: AccessRules(networks: [network])))
            #expect(try await isServed())
            await proxy.server.replaceRules(ProxyRules())
            #expect(try await !isServed())
        } catch {
            await proxy.server.stop(grace: .zero)
            throw error
        }
        await proxy.server.stop(grace: .zero)
    }
}
