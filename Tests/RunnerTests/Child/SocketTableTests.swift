import Foundation
import NIOCore
import Support
import Testing

@testable import Runner

@Suite struct SocketTableTests {
    /// A message as the kernel sends it.
    private func message(
        family: Int32 = AF_INET,
        state: UInt8 = 1,
        local: (address: [UInt8], port: UInt16) = ([127, 0, 0, 1], 40_000),
        remote: (address: [UInt8], port: UInt16) = ([192, 0, 2, 1], 443),
        inode: UInt32 = 77,
        kind: UInt16 = 20
    ) -> [UInt8] {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
        func address(_ bytes: [UInt8]) -> [UInt8] { bytes + [UInt8](repeating: 0, count: 16 - bytes.count) }
        var body: [UInt8] = [UInt8(family), state, 0, 0]
        body += bytes(local.port.bigEndian) + bytes(remote.port.bigEndian)
        body += address(local.address) + address(remote.address) + [UInt8](repeating: 9, count: 12)
        body += [UInt8](repeating: 9, count: 16) + bytes(inode)
        return bytes(UInt32(16 + body.count)) + bytes(kind) + [UInt8](repeating: 0, count: 10) + body
    }

    private let done: [UInt8] = [20, 0, 0, 0, 3, 0, 2, 0] + [UInt8](repeating: 0, count: 12)

    private func rows(_ datagram: [UInt8]) -> (rows: [SocketRow], hasMore: Bool) {
        var rows: [SocketRow] = []
        let hasMore = SocketTable.parse(datagram[...]) { rows.append($0) }
        return (rows, hasMore)
    }

    @Test("Sockets are read out of the kernel's answer, until it says that it is done")
    func parsing() {
        let v6: [UInt8] = [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
        let mapped: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 9]
        let answer =
            message() + message(family: AF_INET6, state: 10, local: (v6, 80), remote: (mapped, 8_080), inode: 78)
        let (found, hasMore) = rows(answer)
        #expect(hasMore)
        #expect(found.map(\.local.text) == ["127.0.0.1", "2001:db8::1"])
        #expect(found.map(\.local.port) == [40_000, 80])
        #expect(found.map(\.remote.text) == ["192.0.2.1", "192.0.2.9"])
        #expect(found.map(\.remote.port) == [443, 8_080])
        #expect(found.map(\.state) == [1, 10])
        #expect(found.map(\.inode) == [77, 78])
        let (first, isMore) = rows(message() + done + message())
        #expect(first.count == 1)
        #expect(!isMore)
    }

    @Test("An error, another kind of message or a short one gives no socket")
    func otherMessages() {
        for (bytes, isMore) in [(message(kind: 2), false), (message(kind: 99), true), ([], true)] {
            let (found, hasMore) = rows(bytes)
            #expect(found == [])
            #expect(hasMore == isMore)
        }
        var short = message()
        short.removeLast(20)
        short[0] = UInt8(short.count)
        #expect(rows(short).rows == [])
    }

    @Test("No answer, however mutilated, is read past its end")
    func mutilated() {
        let seed: UInt64 = 0x510C_E005
        var generator = SplitMix(seed)
        let whole = message() + message(family: AF_INET6) + done
        for _ in 0..<5_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator))
            #expect(rows(bytes).rows.count <= 10, "seed \(seed)")
        }
    }

    @Test("Loopback addresses are known as such", arguments: ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
    func loopback(text: String) throws {
        let endpoint = try #require(SocketEndpoint(SocketAddress(ipAddress: text, port: 1)))
        #expect(endpoint.isLoopback)
        #expect(!endpoint.isUnspecified)
    }

    @Test("Other addresses are not", arguments: ["128.0.0.1", "::", "0.0.0.0", "fe80::1", "2001:db8::1"])
    func notLoopback(text: String) throws {
        let endpoint = try #require(SocketEndpoint(SocketAddress(ipAddress: text, port: 1)))
        #expect(!endpoint.isLoopback)
        #expect(endpoint.isUnspecified == ["::", "0.0.0.0"].contains(text))
    }
}
