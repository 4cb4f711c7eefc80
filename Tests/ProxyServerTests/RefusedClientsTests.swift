import NIOCore
import Testing

@testable import ProxyServer

@Suite("Clients that are refused, as they are told of")
struct RefusedClientsTests {
    private func address(_ host: String, _ port: Int = 1) throws -> SocketAddress {
        try SocketAddress(ipAddress: host, port: port)
    }

    @Test("Each address is told once, whatever its port, and one of IPv4 as such")
    func once() throws {
        let clients = RefusedClients()
        #expect(clients.new(try address("192.0.2.1", 1_000)) == "192.0.2.1")
        #expect(clients.new(try address("192.0.2.1", 2_000)) == nil)
        #expect(clients.new(try address("::ffff:192.0.2.1", 3_000)) == nil)
        #expect(clients.new(try address("192.0.2.2", 1_000)) == "192.0.2.2")
        #expect(clients.new(try address("2001:db8::1", 1_000)) == "[2001:db8::1]")
        #expect(clients.new(try address("2001:db8::1", 2_000)) == nil)
        #expect(clients.new(nil) == nil)
    }

    @Test("A thousand addresses are told of and kept, and no more")
    func bounded() throws {
        let clients = RefusedClients()
        var told = 0
        for number in 0..<3_000 where clients.new(try address("10.0.\(number / 250).\(number % 250)")) != nil {
            told += 1
        }
        #expect(told == 1_000)
    }
}
