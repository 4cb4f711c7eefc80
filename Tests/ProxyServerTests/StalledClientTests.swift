import HTTPModel
import NIOCore
import NIOPosix
import Support
import Testing

@testable import ProxyServer

@Suite("Where all connections are taken, those whose clients are still make room", .timeLimit(.minutes(2)))
struct StalledClientTests {
    private static let count = 3

    private func run(
        stall: TimeAmount = .milliseconds(100),
        idle: TimeAmount = .seconds(2),
        response: TimeAmount? = nil,
        rules: ProxyRules = ProxyRules(),
        _ body: (LoopbackProxy) async throws -> Void
    ) async throws {
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.stallForOthers = stall
        timeouts.idleForOthers = idle
        timeouts.silentForOthers = .milliseconds(20)
        timeouts.tunnelForOthers = .minutes(5)
        timeouts.response = response
        timeouts.serverFirst = .milliseconds(20)
        let limits = ConnectionLimits(inAll: Self.count)
        try await LoopbackProxy.run(rules: rules, timeouts: timeouts, connections: limits, body)
    }

    private func isServed(_ proxy: LoopbackProxy, by origin: LoopbackOrigin) async throws {
        let asking = try await proxy.ask(origin, "/normal")
        try await asking.receives("ok")
    }

    private func failure(_ proxy: LoopbackProxy) async throws -> ExchangeFailure {
        try await eventually("it is recorded") { proxy.recorder.finished.contains { $0.record.failure != nil } }
        return try #require(proxy.recorder.finished.lazy.compactMap(\.record.failure).first)
    }

    @Test("A client that does not send the rest of its request")
    func slowBody() async throws {
        let origin = try await LoopbackOrigin { head in
            head.hasPrefix("POST") ? nil : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        }
        try await run { proxy in
            var clients: [LoopbackClient] = []
            for _ in 0..<Self.count {
                let client = try await proxy.connect()
                try await client.send(
                    "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nab"
                )
                clients.append(client)
            }
            try await isServed(proxy, by: origin)
            #expect(clients.contains { !$0.isClosed })
            let failure = try await failure(proxy)
            #expect(failure.code == .clientTimeout && failure.message.contains("for another client"), "\(failure)")
            #expect(failure.hint.contains("--max-connections"), "\(failure)")
        }
    }

    @Test("A client that takes nothing of its response, or of what comes through its tunnel", arguments: [false, true])
    func slowReader(isTunnel: Bool) async throws {
        let body = String(repeating: "x", count: 30 << 20)
        let origin = try await LoopbackOrigin { head in
            head.contains("/normal ")
                ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                : "HTTP/1.1 200 OK\r\nContent-Length: \(30 << 20)\r\n\r\n\(body)"
        }
        let rules = ProxyRules(decrypts: { _, _, _ in !isTunnel })
        let place = "127.0.0.1:\(origin.port)"
        try await run(rules: rules) { proxy in
            for _ in 0..<Self.count {
                let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .channelOption(.autoRead, value: false)
                    .connect(host: "127.0.0.1", port: proxy.port).get()
                let head =
                    isTunnel
                    ? "CONNECT \(place) HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"
                    : "GET http://\(place)/ HTTP/1.1\r\nHost: x\r\n\r\n"
                try await client.writeAndFlush(ByteBuffer(string: head))
            }
            try await isServed(proxy, by: origin)
            #expect(try await failure(proxy).code == .clientTimeout)
        }
    }

    @Test("A client of HTTP/2 that gives no room", arguments: [100_000, 8 << 20])
    func closedWindow(size: Int) async throws {
        let body = String(repeating: "x", count: size)
        let origin = try await LoopbackOrigin { head in
            head.contains("/normal ")
                ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                : "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n\(body)"
        }
        try await run { proxy in
            var clients: [EndingStream] = []
            for _ in 0..<Self.count {
                let client = try await EndingStream(port: proxy.port, takesBodies: false)
                let head = RequestHead(method: "GET", target: "/", fields: [("Host", "127.0.0.1:\(origin.port)")])
                try await client.request(head, scheme: "http", isEnd: true)
                try await client.receives("200 ")
                clients.append(client)
            }
            try await isServed(proxy, by: origin)
            withExtendedLifetime(clients) {}
        }
    }

    @Test("Clients that have never sent anything, soonest of all, and all of them as others wait")
    func silent() async throws {
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
        try await run(stall: .minutes(5), idle: .minutes(5)) { proxy in
            var clients: [LoopbackClient] = []
            for _ in 0..<(3 * Self.count) { clients.append(try await proxy.connect()) }
            try await isServed(proxy, by: origin)
            #expect(clients.prefix(Self.count).allSatisfy { $0.isClosed })
        }
    }

    @Test("A tunnel that nobody uses, sooner than one that is stalled")
    func unusedTunnel() async throws {
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
        try await run(stall: .minutes(5), idle: .milliseconds(100)) { proxy in
            var clients: [LoopbackClient] = []
            for _ in 0..<Self.count {
                let client = try await proxy.connect()
                try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
                try await client.receives("HTTP/1.1 200 ")
                clients.append(client)
            }
            try await isServed(proxy, by: origin)
            #expect(clients.contains { !$0.isClosed })
        }
    }

    @Test("A tunnel that was used keeps its connection while it is silent")
    func usedTunnel() async throws {
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
        let place = "127.0.0.1:\(origin.port)"
        let rules = ProxyRules(decrypts: { _, _, _ in false })
        try await run(stall: .zero, idle: .milliseconds(500), response: .seconds(1), rules: rules) { proxy in
            var tunnels: [LoopbackClient] = []
            for _ in 0..<(Self.count - 1) {
                let client = try await proxy.connect()
                try await client.send(
                    "CONNECT \(place) HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"
                )
                try await client.receives("\r\n\r\nok")
                tunnels.append(client)
            }
            // What fails after a second shows that the tunnels have been silent for that long.
            let silent = try await LoopbackOrigin { _ in nil }
            let waiting = try await proxy.ask(silent)
            try await waiting.receives("HTTP/1.1 504 ")
            try await waiting.close()
            let slow = try await proxy.connect()
            try await slow.send("POST http://\(place)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nab")
            try await isServed(proxy, by: origin)
            try await eventually("the slow one is closed") { slow.isClosed }
            #expect(tunnels.allSatisfy { !$0.isClosed })
        }
    }

    @Test("A client that waits for its server keeps its connection")
    func waitsForServer() async throws {
        let silent = try await LoopbackOrigin { _ in nil }
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
        try await run(stall: .zero) { proxy in
            var waiting: [LoopbackClient] = []
            for _ in 0..<(Self.count - 1) { waiting.append(try await proxy.ask(silent)) }
            let slow = try await proxy.connect()
            try await slow.send(
                "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nab"
            )
            try await isServed(proxy, by: origin)
            try await eventually("the slow one is closed") { slow.isClosed }
            #expect(waiting.allSatisfy { !$0.isClosed })
        }
    }

    @Test("No more connections are open than may be, however fast they come")
    func bound() async throws {
        let limits = ConnectionLimits(inAll: 7)
        try await LoopbackProxy.run(connections: limits) { proxy in
            let group = MultiThreadedEventLoopGroup.singleton
            let coming = (0..<100).map { _ in
                ClientBootstrap(group: group).connect(host: "127.0.0.1", port: proxy.port)
            }
            let clients = try await EventLoopFuture.whenAllSucceed(coming, on: group.any()).get()
            try await eventually("some are taken") { !proxy.recorder.connections.isEmpty }
            let open = proxy.recorder.connections.count { $0.leg == .client && $0.closedAt == nil }
            #expect(open <= 7, "\(open)")
            for client in clients { client.close(promise: nil) }
        }
    }
}
