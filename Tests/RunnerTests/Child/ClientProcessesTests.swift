import Foundation
import HTTPModel
import NIOCore
import NIOPosix
import Support
import Synchronization
import Testing

@testable import Runner

#if os(Linux)
@Suite("The processes of clients")
struct ClientProcessesTests {
    private final class Found: Sendable {
        let processes = Mutex<[ClientProcess?]>([])
        var count: Int { processes.withLock { $0.count } }
    }

    private func wait(_ isDone: () -> Bool) async throws -> Bool {
        for _ in 0..<200 {
            if isDone() { return true }
            try await Task.sleep(for: .milliseconds(20))
        }
        return isDone()
    }

    @Test("are found by the client's end of a connection, many by one scan, and none for other ends")
    func found() async throws {
        let source = try #require(ClientProcesses())
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(server.localAddress)
        var clients: [any Channel] = []
        for _ in 0..<20 { clients.append(try await ClientBootstrap(group: group).connect(to: address).get()) }
        let found = Found()
        for client in clients {
            source.find(client: try #require(client.localAddress), proxy: address) { process in
                found.processes.withLock { $0.append(process) }
            }
        }
        #expect(try await wait { found.count == 20 })
        #expect(found.processes.withLock { $0.allSatisfy { $0?.id == getpid() && $0?.name.isEmpty == false } })
        let none = Found()
        source.find(client: try SocketAddress(ipAddress: "192.0.2.1", port: 5), proxy: address) { process in
            none.processes.withLock { $0.append(process) }
        }
        source.find(client: try SocketAddress(ipAddress: "127.0.0.1", port: 1), proxy: address) { process in
            none.processes.withLock { $0.append(process) }
        }
        // That nothing is found is said, too.
        #expect(try await wait { none.count == 2 })
        #expect(none.processes.withLock { $0 } == [nil, nil])
        for client in clients { try await client.close() }
        try await server.close()
    }

    @Test(
        "are found for one connection, over IPv4, IPv6, and IPv4 by a socket of IPv6",
        arguments: ["127.0.0.1", "::1", "mapped"]
    )
    func families(family: String) async throws {
        let source = try #require(ClientProcesses())
        let group = MultiThreadedEventLoopGroup.singleton
        let host = family == "::1" ? "::1" : "127.0.0.1"
        let server = try await ServerBootstrap(group: group).bind(host: host, port: 0).get()
        let port = try #require(server.localAddress?.port)
        let target = try SocketAddress(ipAddress: family == "mapped" ? "::ffff:127.0.0.1" : host, port: port)
        let client = try await ClientBootstrap(group: group).connect(to: target).get()
        let found = Found()
        // As the proxy sees it.
        let seen = try SocketAddress(ipAddress: host, port: #require(client.localAddress?.port))
        source.find(client: seen, proxy: try #require(server.localAddress)) { process in
            found.processes.withLock { $0.append(process) }
        }
        #expect(try await wait { found.count == 1 })
        #expect(found.processes.withLock { $0.first }??.id == getpid())
        try await client.close()
        try await server.close()
    }

    @Test("that have closed their end are told from those that have only ended their sending side")
    func hasClosed() async throws {
        let source = try #require(ClientProcesses())
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await ServerBootstrap(group: group)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .bind(host: "127.0.0.1", port: 0)
            .get()
        let address = try #require(server.localAddress)
        let client = try await ClientBootstrap(group: group)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(to: address)
            .get()
        let seen = try #require(client.localAddress)
        #expect(!source.hasClosed(client: seen, proxy: address))
        try await client.close(mode: .output)
        #expect(!source.hasClosed(client: seen, proxy: address))
        try await client.close()
        // The server has not closed its own end, so the kernel keeps the client's.
        #expect(try await wait { source.hasClosed(client: seen, proxy: address) })
        #expect(!source.hasClosed(client: try SocketAddress(ipAddress: "127.0.0.1", port: 1), proxy: address))
        try await server.close()
    }

    @Test("are looked up again at once, and rarely only if that has taken a tenth of a second of late")
    func allowance() {
        var allowance = ScanAllowance()
        let start: UInt64 = 1_000_000_000_000
        for number in 0..<100 as Range<UInt64> {
            #expect(allowance.pause(after: 1_000_000, now: start + number * 1_000_000) == 0)
        }
        // 100 ms and a twentieth of 99, less 100, are left: ten more are used.
        let pause = allowance.pause(after: 14_950_000, now: start + 99_000_000)
        #expect(pause == 10_000_000 * 20)
        #expect(allowance.pause(after: 0, now: start + 99_000_000 + pause) == 0)
        // What is not used does not add up.
        #expect(allowance.pause(after: 101_000_000, now: start * 10) == 20_000_000)
        // A clock that goes back is no time that passed.
        #expect(allowance.pause(after: 0, now: start) == 20_000_000)
    }

    @Test("are left out where more connections come than can wait, without a queue that grows")
    func bounded() async throws {
        let source = try #require(ClientProcesses())
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 9)
        let start = ContinuousClock.now
        for number in 0..<50_000 {
            source.find(client: try SocketAddress(ipAddress: "127.0.0.1", port: 1 + number % 60_000), proxy: address) {
                _ in
            }
        }
        #expect(ContinuousClock.now - start < .seconds(5))
    }
}
#endif
