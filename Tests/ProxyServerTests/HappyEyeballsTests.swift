import Foundation
import HTTPModel
import Logging
import NIOCore
import NIOPosix
import Support
import Synchronization
import Testing
import Wire

@testable import ProxyServer

/// Addresses for names, one by one, from a test.
private final class Names: Sendable {
    struct Answer {
        var addresses: [String] = []
        /// How long it takes; `nil` for no answer at all.
        var delay: TimeInterval? = 0
    }

    private let answers: [AddressFamily: Answer]
    let asked = Mutex<[AddressFamily]>([])
    private let end = DispatchSemaphore(value: 0)

    init(v6: Answer, v4: Answer) { answers = [.v6: v6, .v4: v4] }

    @Sendable
    func lookUp(_ host: String, _ family: AddressFamily) throws -> [SocketAddress] {
        asked.withLock { $0.append(family) }
        let answer = answers[family] ?? Answer()
        guard let delay = answer.delay else {
            end.wait()
            throw ExchangeFailure(.dns, "stopped")
        }
        if delay > 0 { _ = end.wait(timeout: .now() + delay) }
        guard !answer.addresses.isEmpty else { throw ExchangeFailure(.dns, "There is no such name.") }
        return try answer.addresses.map { try SocketAddress(ipAddress: $0, port: 0) }
    }

    func stop() { for _ in 0..<8 { end.signal() } }
}

/// A port of an address on which connections are never answered: its queue is full.
private final class BlackHole: Sendable {
    let port: Int
    private let listener: CInt
    private let fillers: [CInt]

    init(port: Int) throws {
        self.port = port
        let listener = socket(AF_INET6, CInt(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var on: CInt = 1
        setsockopt(listener, CInt(IPPROTO_IPV6), IPV6_V6ONLY, &on, socklen_t(MemoryLayout<CInt>.size))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = UInt16(port).bigEndian
        address.sin6_addr = in6addr_loopback
        let length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, length) }
        }
        guard bound == 0, listen(listener, 0) == 0 else { throw ChannelError.unknownLocalAddress }
        fillers = (0..<4).map { _ in
            let filler = socket(AF_INET6, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            _ = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(filler, $0, length) }
            }
            return filler
        }
    }

    deinit { for descriptor in fillers + [listener] { close(descriptor) } }
}

@Suite("Connections to servers with addresses of both families (RFC 8305)", .timeLimit(.minutes(1)))
struct HappyEyeballsTests {
    private static let hasIPv6 =
        (try? System.enumerateDevices())?.contains { $0.address?.ipAddress == "::1" } == true

    /// How a server was reached.
    private struct Way {
        var peer: String
        var local: String
        var seconds: Double
        /// How long connecting took, in microseconds.
        var connect: Int64
        var trace: [String]
    }

    /// A server on one address, and a proxy whose names are the test's; returns the server's address that was used.
    private func ask(
        _ names: Names,
        on host: String = "127.0.0.1",
        prepare: (Int) throws -> AnyObject? = { _ in nil }
    ) async throws -> Way {
        defer { names.stop() }
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Hello()) }
            }
            .bind(host: host, port: 0).get()
        defer { server.close(promise: nil) }
        let port = try #require(server.localAddress?.port)
        let prepared = try prepare(port)
        var configuration = ProxyConfiguration(authority: try CertificateAuthority.generate(label: "test"))
        configuration.listeners = [Listener(.regular, host: "127.0.0.1", port: 0)]
        configuration.lookUp = names.lookUp
        let recorder = CollectingOutlet()
        let proxy = try await ProxyServer.start(
            configuration,
            makeOutlet: { _ in recorder.submit },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let client = try await LoopbackClient(port: proxy.address.port ?? 0)
        let start = ContinuousClock.now
        try await client.send("GET http://server.example:\(port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
        try await eventually("it is answered") { client.text.contains("\r\n\r\n") }
        let spent = (ContinuousClock.now - start) / .seconds(1)
        #expect(client.text.contains("hello"), "\(client.text)")
        try await eventually("it is recorded") { recorder.finished.count == 1 }
        await proxy.stop(grace: .zero)
        withExtendedLifetime(prepared) {}
        let connection = try #require(recorder.upstreamConnections.first)
        let trace = recorder.finished.first?.messages.trace.map(\.text) ?? []
        return Way(
            peer: connection.peerAddress,
            local: connection.localAddress,
            seconds: spent,
            connect: connection.connect ?? 0,
            trace: trace
        )
    }

    private final class Hello: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        }
    }

    /// The first of five tries that takes less than some seconds, or the last.
    private func fastest(
        below limit: Double,
        _ ask: () async throws -> Way
    ) async throws -> Way {
        var way = try await ask()
        for _ in 1..<5 where way.seconds >= limit { way = try await ask() }
        return way
    }

    @Test("IPv6 comes first, and both ends are recorded", .enabled(if: hasIPv6))
    func sixFirst() async throws {
        let names = Names(v6: .init(addresses: ["::1"]), v4: .init(addresses: ["127.0.0.1"]))
        let way = try await ask(names, on: "::1")
        #expect(way.peer.hasPrefix("[::1]:") && way.local.hasPrefix("[::1]:"), "\(way)")
        #expect(Set(names.asked.withLock { $0 }) == [.v4, .v6])
    }

    @Test("A server without IPv4, or without IPv6, is reached by the other", .enabled(if: hasIPv6))
    func oneFamily() async throws {
        let six = try await ask(Names(v6: .init(addresses: ["::1"]), v4: .init()), on: "::1")
        #expect(six.peer.hasPrefix("[::1]:"))
        let four = try await ask(Names(v6: .init(), v4: .init(addresses: ["127.0.0.1"])))
        #expect(four.peer.hasPrefix("127.0.0.1:"))
    }

    @Test("Where IPv6 refuses, IPv4 is tried at once", .enabled(if: hasIPv6))
    func refused() async throws {
        let names = Names(v6: .init(addresses: ["::1"]), v4: .init(addresses: ["127.0.0.1"]))
        // The fastest of some counts, as the machine may be busy with other things.
        let way = try await fastest(below: 0.24) { try await ask(names) }
        #expect(way.peer.hasPrefix("127.0.0.1:") && way.seconds < 0.24, "\(way)")
        let account = try #require(way.trace.first { $0.hasPrefix("addresses tried: ") }, "\(way)")
        #expect(account.contains("[::1]:") && account.contains("(refused), 127.0.0.1:"), "\(account)")
        #expect(account.hasSuffix("(connected)"), "\(account)")
    }

    #if os(Linux)
    @Test(
        "Of an address to which there is no way from here the trace says nothing where another one takes the connection"
    )
    func unreachable() async throws {
        // Linux connects to no broadcast address (ENETUNREACH), and the loopback network has one.
        let names = Names(v6: .init(), v4: .init(addresses: ["127.255.255.255", "127.0.0.1"]))
        let way = try await ask(names)
        #expect(way.peer.hasPrefix("127.0.0.1:"), "\(way)")
        #expect(!way.trace.contains { $0.hasPrefix("addresses tried") }, "\(way)")
    }

    @Test("Where IPv6 does not answer, IPv4 is tried after a quarter of a second", .enabled(if: hasIPv6))
    func blackHole() async throws {
        let names = Names(v6: .init(addresses: ["::1", "::1"]), v4: .init(addresses: ["127.0.0.1"]))
        let way = try await fastest(below: 0.49) { try await ask(names) { try BlackHole(port: $0) } }
        #expect(way.peer.hasPrefix("127.0.0.1:"))
        // The families take turns: of two addresses that lead nowhere, one is waited for.
        #expect(way.seconds >= 0.24 && way.seconds < 0.49, "\(way)")
        // What was waited for was a connection, and the record says for which.
        #expect(way.connect >= 240_000, "\(way)")
        let account = try #require(way.trace.first { $0.hasPrefix("addresses tried: ") }, "\(way)")
        #expect(account.contains("[::1]:") && account.contains("(did not answer), 127.0.0.1:"), "\(account)")
        #expect(account.hasSuffix("(connected)"), "\(account)")
    }

    @Test(
        "Where no address takes the connection, the trace has each once, and the times have both phases",
        arguments: [["127.0.0.2"], ["127.0.0.2", "127.0.0.2"], ["::1"]]
    )
    func noneTakes(addresses: [String]) async throws {
        let isSilent = addresses == ["::1"]
        if isSilent, !Self.hasIPv6 { return }
        // It keeps the port, on which another address of this machine refuses then.
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        defer { server.close(promise: nil) }
        let port = try #require(server.localAddress?.port)
        let hole = isSilent ? try BlackHole(port: port) : nil
        let found = Names.Answer(addresses: addresses)
        let names = isSilent ? Names(v6: found, v4: .init()) : Names(v6: .init(), v4: found)
        defer { names.stop() }
        var configuration = ProxyConfiguration(authority: try CertificateAuthority.generate(label: "test"))
        configuration.listeners = [Listener(.regular, host: "127.0.0.1", port: 0)]
        configuration.lookUp = names.lookUp
        if isSilent { configuration.timeouts.connect = .seconds(2) }
        let recorder = CollectingOutlet()
        let proxy = try await ProxyServer.start(
            configuration,
            makeOutlet: { _ in recorder.submit },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let client = try await LoopbackClient(port: proxy.address.port ?? 0)
        try await client.send("GET http://server.example:\(port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
        try await eventually("it is recorded") { recorder.finished.count == 1 }
        await proxy.stop(grace: .zero)
        withExtendedLifetime(hole) {}
        let finished = try #require(recorder.finished.first)
        #expect(finished.record.status == (isSilent ? 504 : 502))
        let account = isSilent ? "[::1]:\(port) (did not answer)" : "127.0.0.2:\(port) (refused)"
        #expect(finished.messages.trace.map(\.text).contains("addresses tried: \(account)"))
        let timings = finished.record.timings
        #expect(timings.dns != nil && timings.connect != nil && timings.tls == nil && timings.blocked != nil)
        if isSilent { #expect((timings.connect ?? 0) >= 1_900_000) }
    }

    @Test("Addresses that come late are tried too", .enabled(if: hasIPv6))
    func late() async throws {
        let names = Names(v6: .init(addresses: ["::1"]), v4: .init(addresses: ["127.0.0.1"], delay: 0.4))
        let way = try await ask(names) { try BlackHole(port: $0) }
        #expect(way.peer.hasPrefix("127.0.0.1:") && way.seconds >= 0.39, "\(way)")
    }
    #endif

    @Test("A name server that is silent about IPv6 delays IPv4 by 50 ms and no more")
    func silentName() async throws {
        let way = try await ask(Names(v6: .init(delay: nil), v4: .init(addresses: ["127.0.0.1"])))
        #expect(way.peer.hasPrefix("127.0.0.1:"))
        #expect(way.seconds >= 0.045 && way.seconds < 5, "\(way)")
    }

    @Test("IPv6 addresses that come within that time are preferred", .enabled(if: hasIPv6))
    func within() async throws {
        let names = Names(v6: .init(addresses: ["::1"], delay: 0.01), v4: .init(addresses: ["127.0.0.1"]))
        let way = try await ask(names, on: "::1")
        #expect(way.peer.hasPrefix("[::1]:"))
    }

    @Test("A name of which one address is the proxy itself leads back", .enabled(if: hasIPv6))
    func ownAddress() async throws {
        for delay in [0, 0.2] {
            let names = Names(v6: .init(addresses: ["::1"]), v4: .init(addresses: ["127.0.0.1"], delay: delay))
            defer { names.stop() }
            var configuration = ProxyConfiguration(authority: try CertificateAuthority.generate(label: "test"))
            configuration.listeners = [Listener(.regular, host: "127.0.0.1", port: 0)]
            configuration.lookUp = names.lookUp
            let recorder = CollectingOutlet()
            let proxy = try await ProxyServer.start(
                configuration,
                makeOutlet: { _ in recorder.submit },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
            let port = proxy.address.port ?? 0
            let client = try await LoopbackClient(port: port)
            try await client.send("GET http://server.example:\(port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
            try await client.receives("leads back to this proxy")
            #expect(client.text.hasPrefix("HTTP/1.1 508 "))
            try await eventually("it is recorded") { recorder.finished.count == 1 }
            #expect(recorder.finished.first?.record.failure?.code == .loop)
            await proxy.stop(grace: .zero)
        }
    }

    @Test("The families take turns, beginning with IPv6, and each address has one")
    func turns() throws {
        var queue = AddressQueue()
        let texts = ["1.1.1.1", "1.1.1.2", "1.1.1.1", "1.1.1.3", "::1", "::2", "::1"]
        queue.add(try texts.map { try SocketAddress(ipAddress: $0, port: 1) })
        var order: [String] = []
        while let address = queue.next() {
            if order.count == 2 {
                // What could not even be tried is tried again before others.
                queue.putBack(address)
                #expect(queue.next() == address)
                queue.add(try ["::1", "::3"].map { try SocketAddress(ipAddress: $0, port: 1) })
            }
            order.append(address.ipAddress ?? "")
        }
        #expect(order == ["::1", "1.1.1.1", "::2", "1.1.1.2", "::3", "1.1.1.3"])
        #expect(queue.isEmpty)
    }
}

extension CollectingOutlet {
    fileprivate var upstreamConnections: [ConnectionRecord] {
        connections.filter { $0.leg == .upstream }
    }
}
