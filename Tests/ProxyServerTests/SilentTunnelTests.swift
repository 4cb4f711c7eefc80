import HTTPModel
import NIOCore
import NIOPosix
import Support
import Testing

@testable import ProxyServer

@Suite("Clients that take nothing, and tunnels through which nothing comes", .timeLimit(.minutes(2)))
struct SilentTunnelTests {
    private static let unread = ProxyRules(decrypts: { _, _, _ in false })

    private func tunnel(_ proxy: LoopbackProxy, to origin: LoopbackOrigin) async throws -> LoopbackClient {
        let client = try await proxy.connect()
        try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
        try await client.receives("HTTP/1.1 200 ")
        return client
    }

    @Test("A client that takes nothing of its response is ended by Sluice, and the record says so")
    func stalledClient() async throws {
        let body = String(repeating: "x", count: 30 << 20)
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: \(30 << 20)\r\n\r\n\(body)" }
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.idle = .milliseconds(500)
        try await LoopbackProxy.run(timeouts: timeouts) { proxy in
            let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.autoRead, value: false)
                .connect(host: "127.0.0.1", port: proxy.port).get()
            try await client.writeAndFlush(
                ByteBuffer(string: "GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
            )
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let failure = try #require(proxy.recorder.finished.first?.record.failure)
            #expect(failure.code == .clientTimeout, "\(failure)")
            #expect(failure.message.contains("0.5 seconds") && failure.hint.contains("--idle-timeout"), "\(failure)")
            try? await client.close()
        }
    }

    @Test(
        "A stream of HTTP/2 that takes nothing is reset, whether or not its response is whole, and pings or not",
        arguments: [100_000, 8 << 20]
    )
    func stalledStream(size: Int) async throws {
        let body = String(repeating: "x", count: size)
        let origin = try await LoopbackOrigin { head in
            head.hasPrefix("GET /empty ")
                ? "HTTP/1.1 204 No Content\r\n\r\n" : "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n\(body)"
        }
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.idle = .milliseconds(500)
        try await LoopbackProxy.run(timeouts: timeouts) { proxy in
            let client = try await EndingStream(port: proxy.port, takesBodies: false)
            func head(_ path: String) -> RequestHead {
                RequestHead(method: "GET", target: path, fields: [("Host", "127.0.0.1:\(origin.port)")])
            }
            try await client.request(head("/"), scheme: "http", isEnd: true)
            try await client.receives("200 ")
            try await eventually("the stream is reset, pings or not") {
                try await client.ping()
                return client.log.end != nil
            }
            #expect(client.log.end == .streamReset(.cancel))
            try await client.request(head("/empty"), scheme: "http", isEnd: true)
            try await client.receives("204 ")
            try await eventually("both are recorded") { proxy.recorder.finished.count == 2 }
            // What Sluice could take whole counts as complete.
            let failure = proxy.recorder.finished.first?.record.failure
            #expect(failure?.code == (size == 100_000 ? nil : .clientTimeout), "\(failure as Any)")
        }
    }

    @Test("Where all streams of a server are taken, one of which a client takes nothing makes room for who waits")
    func stalledStreamForOthers() async throws {
        let origin = try await HTTP2Origin { $0 == "/small" ? 0 : 4 << 20 }
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.streamForOthers = .milliseconds(100)
        try await LoopbackProxy.run(timeouts: timeouts) { proxy in
            let client = try await EndingStream(port: proxy.port, takesBodies: false)
            func ask(_ path: String) async throws {
                let head = RequestHead(method: "GET", target: path, fields: [("Host", "127.0.0.1:\(origin.port)")])
                try await client.request(head, scheme: "http", isEnd: true)
            }
            for count in 1...ProxyLimits.connectionsToOrigin {
                try await ask("/large")
                try await client.receives(String(repeating: "200 ", count: count))
            }
            // While nobody waits they stay, however long; then one of them goes.
            #expect(proxy.recorder.finished.isEmpty)
            try await ask("/small")
            try await eventually("the one that waited is answered") {
                proxy.recorder.finished.contains { $0.record.url.path == "/small" && $0.record.failure == nil }
            }
            let ended = proxy.recorder.finished.filter { $0.record.url.path == "/large" }
            let failure = try #require(ended.first?.record.failure)
            #expect(failure.code == .clientTimeout && failure.message.contains("other requests waited"), "\(failure)")
            #expect(ended.count < ProxyLimits.connectionsToOrigin, "\(ended.count) were ended for one")
        }
    }

    @Test("Who waits for a stream says so, also where it began to wait before the last connection was made")
    func waitsForStream() async throws {
        let origin = try await HTTP2Origin { $0 == "/small" ? 0 : 4 << 20 }
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.streamForOthers = .milliseconds(100)
        try await LoopbackProxy.run(timeouts: timeouts) { proxy in
            let client = try await EndingStream(port: proxy.port, takesBodies: false)
            let paths =
                Array(repeating: "/large", count: ProxyLimits.connectionsToOrigin) + ["/small", "/small", "/small"]
            for path in paths {
                let head = RequestHead(method: "GET", target: path, fields: [("Host", "127.0.0.1:\(origin.port)")])
                try await client.request(head, scheme: "http", isEnd: true)
            }
            func small() -> [(record: ExchangeRecord, messages: ExchangeMessages)] {
                proxy.recorder.finished.filter { $0.record.url.path == "/small" }
            }
            try await eventually("those that waited are answered") { small().count == 3 }
            let waits = small().map { $0.messages.trace.count { $0.text.hasPrefix("waited for a free stream") } }
            #expect(waits == [1, 1, 1])
        }
    }

    @Test("A tunnel that is silent in both directions ends after its time; one that is not goes on")
    func limit() async throws {
        let origin = try await LoopbackOrigin { _ in "pong" }
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.tunnel = .seconds(2)
        try await LoopbackProxy.run(rules: Self.unread, timeouts: timeouts) { proxy in
            let silent = try await tunnel(proxy, to: origin)
            let busy = try await tunnel(proxy, to: origin)
            try await eventually("the silent one is closed") {
                try await busy.send("ping\r\n\r\n")
                return silent.isClosed
            }
            #expect(!busy.isClosed)
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let finished = proxy.recorder.finished
            #expect(finished.count == 1)
            let failure = try #require(finished.first?.record.failure)
            #expect(failure.code == .timeout && failure.hint.contains("--tunnel-timeout"), "\(failure)")
        }
    }

    @Test("Where all connections are taken, the tunnel that has been silent the longest makes room for who waits")
    func eviction() async throws {
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.tunnelForOthers = .milliseconds(100)
        let limits = ConnectionLimits(inAll: 3)
        try await LoopbackProxy.run(rules: Self.unread, timeouts: timeouts, connections: limits) { proxy in
            var tunnels: [LoopbackClient] = []
            for _ in 0..<3 { tunnels.append(try await tunnel(proxy, to: origin)) }
            let asking = try await proxy.ask(origin)
            try await asking.receives("ok")
            try await eventually("the first tunnel is closed") { tunnels[0].isClosed }
            #expect(!tunnels[2].isClosed)
            try await eventually("it is recorded") { !proxy.recorder.finished.allSatisfy { $0.record.kind != .tunnel } }
            let failure = try #require(proxy.recorder.finished.first { $0.record.kind == .tunnel }?.record.failure)
            #expect(failure.message.contains("for another client") && failure.hint.contains("--max-connections"))
        }
    }

    #if os(Linux)
    @Test("A tunnel stays where all connections are taken and nobody waits")
    func nobodyWaits() async throws {
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.tunnelForOthers = .zero
        timeouts.idle = .milliseconds(500)
        let limits = ConnectionLimits(inAll: 2)
        try await LoopbackProxy.run(rules: Self.unread, timeouts: timeouts, connections: limits) { proxy in
            let kept = try await tunnel(proxy, to: origin)
            // The listener looks once a second; an exchange that fails after half of one shows that time has passed.
            let silent = try await LoopbackOrigin { _ in nil }
            for count in 1...3 {
                let waiting = try await proxy.ask(silent)
                try await waiting.receives("HTTP/1.1 504 ")
                try await waiting.close()
                try await eventually("the proxy has seen its end") {
                    proxy.recorder.connections.count { $0.leg == .client && $0.closedAt != nil } == count
                }
            }
            #expect(!kept.isClosed)
        }
    }
    #endif
}
