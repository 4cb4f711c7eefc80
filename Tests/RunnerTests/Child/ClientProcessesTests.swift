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
        let processes = Mutex<[ClientProcess]>([])
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
        #expect(found.processes.withLock { $0.allSatisfy { $0.id == getpid() && !$0.name.isEmpty } })
        let none = Found()
        source.find(client: try SocketAddress(ipAddress: "192.0.2.1", port: 5), proxy: address) { process in
            none.processes.withLock { $0.append(process) }
        }
        source.find(client: try SocketAddress(ipAddress: "127.0.0.1", port: 1), proxy: address) { process in
            none.processes.withLock { $0.append(process) }
        }
        try await Task.sleep(for: .milliseconds(300))
        #expect(none.count == 0)
        for client in clients { try await client.close() }
        try await server.close()
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
