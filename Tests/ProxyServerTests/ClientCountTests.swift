import NIOCore
import NIOEmbedded
import Support
import Testing

@testable import ProxyServer

@Suite("How many connections clients may have")
struct ClientCountTests {
    @Test("One client more than its number is closed at once, and has room again when one of its own ends")
    func perClient() async throws {
        let limits = ConnectionLimits(inAll: 100, perClient: 2)
        try await LoopbackProxy.run(connections: limits) { proxy in
            let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
            let first = try await proxy.ask(origin)
            let second = try await proxy.ask(origin)
            for client in [first, second] { try await client.receives("ok") }
            let third = try await proxy.connect()
            try await eventually("the third is closed") { third.isClosed }
            try await first.close()
            try await eventually("there is room") {
                // The proxy may not have seen yet that the first has gone.
                guard let client = try? await proxy.ask(origin) else { return false }
                try await eventually("it is answered or closed") { client.isClosed || client.text.contains("ok") }
                return client.text.contains("ok")
            }
        }
    }

    @Test("Where all have too many, an idle one makes room for a new one")
    func inAll() async throws {
        try await LoopbackProxy.run(connections: ConnectionLimits(inAll: 3)) { proxy in
            let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
            var clients: [LoopbackClient] = []
            for _ in 0..<6 {
                let client = try await proxy.ask(origin)
                try await client.receives("ok")
                clients.append(client)
            }
            #expect(clients.count { $0.isClosed } >= 2)
        }
    }

    @Test("A client of another machine has a number of its own; one of this machine has none")
    func foreign() throws {
        let limits = ConnectionLimits(inAll: 10)
        // Others have room beside it, however few there may be in all.
        for (inAll, number) in [(10, 5), (1, 1), (480, 240), (2_000, 1_000), (100_000, 1_000)] {
            let limits = ConnectionLimits(inAll: inAll)
            #expect(limits.perClient(try SocketAddress(ipAddress: "192.0.2.1", port: 1)) == number)
        }
        #expect(limits.perClient(try SocketAddress(ipAddress: "127.0.0.1", port: 1)) == .max)
        #expect(ConnectionLimits(perClient: 7).perClient(try SocketAddress(ipAddress: "::1", port: 1)) == 7)
        #expect(ConnectionLimits.half >= 16)
    }

    @Test("What bounds them is what is said: the option where it was given, else the descriptors")
    func words() {
        for (descriptors, number) in [(100, 18), (1_024, 480), (20, 16)] {
            #expect(ConnectionLimits.half(of: descriptors) == number)
        }
        let usual = ConnectionLimits()
        #expect(usual.reason.contains("'ulimit -n'") && !usual.reason.contains("--max-connections"))
        #expect(usual.hint.hasPrefix("Raise 'ulimit -n'"))
        var given = usual
        given.inAll = 7
        for limits in [given, ConnectionLimits(inAll: 7)] {
            #expect(limits.reason == "--max-connections allows no more")
            #expect(limits.hint.hasPrefix("Raise --max-connections"))
        }
        #expect(ClientCounts(given).bound == "clients have 7 connections, and --max-connections allows no more")
    }
}
