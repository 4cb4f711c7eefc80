import HTTPModel
import NIOCore
import ProxyServer
import Support
import Testing

@Suite("Clients that begin something and do not end it", .timeLimit(.minutes(1)))
struct BeginningTests {
    private static let hello = "\u{16}\u{3}\u{1}\u{20}\u{0}\u{1}\u{0}\u{1F}\u{7C}\u{3}\u{3}"
    private static let preface = "PRI * HTTP/2.0\r\n\r\nSM"

    /// A beginning, and what is said once its time is over.
    private static let beginnings = [
        (hello, "TLS handshake was not complete 4 s"),
        ("\u{16}", "TLS handshake was not complete 4 s"),
        ("G", "request head was not complete 4 s"),
        ("GET /x HTT", "request head was not complete 4 s"),
        ("GET /x HTTP/1.1\r\nX: y\r\n", "request head was not complete 4 s"),
        (preface, "HTTP/2 preface was not complete 4 s"),
    ]

    enum Way: CaseIterable, Sendable {
        case listener, connect, socks, reverse

        func mode(_ port: Int) -> ListenerMode {
            switch self {
            case .listener, .connect: .regular
            case .socks: .socks5
            case .reverse: .reverse(ReverseTarget(.tls, host: "127.0.0.1", port: port))
            }
        }

        func open(_ proxy: LoopbackProxy, _ port: Int) async throws -> EndingClient {
            let client = try await EndingClient(port: proxy.port)
            switch self {
            case .listener, .reverse: break
            case .connect: try await client.tunnel(to: port)
            case .socks:
                try await client.send([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, UInt8(port >> 8), UInt8(port & 255)])
                try await client.receives("\u{5}\u{0}\u{5}\u{0}\u{0}\u{1}")
            }
            return client
        }
    }

    @Test(
        "What may still become a TLS hello or a head has the time for a head, and no server sees it",
        arguments: Way.allCases
    )
    func time(way: Way) async throws {
        let origin = try await LoopbackOrigin { _ in nil }
        var timeouts = ProxyConfiguration.Timeouts()
        // More than the 3 s after which the server of a client that is silent may be heard.
        timeouts.requestHead = .seconds(4)
        timeouts.serverFirst = .seconds(60)
        try await LoopbackProxy.run(timeouts: timeouts, mode: way.mode(origin.port)) { proxy in
            var clients: [EndingClient] = []
            for (beginning, _) in Self.beginnings {
                let client = try await way.open(proxy, origin.port)
                try await client.send(beginning)
                clients.append(client)
            }
            try await eventually("all are recorded") { proxy.recorder.finished.count == Self.beginnings.count }
            let records = proxy.recorder.finished.map(\.record)
            #expect(records.allSatisfy { $0.kind == .malformed || $0.kind == .failedHandshake }, "\(records)")
            for (text, count) in [("TLS handshake", 2), ("request head", 3), ("HTTP/2 preface", 1)] {
                let said = records.filter { $0.failure?.message.contains("\(text) was not complete 4 s") == true }
                #expect(said.count == count, "\(text): \(records.compactMap(\.failure?.message))")
            }
            #expect(!proxy.recorder.connections.contains { $0.leg == .upstream })
            for (client, beginning) in zip(clients, Self.beginnings) {
                try await eventually("the connection of \(beginning) ends") { client.log.end != nil }
                let isHead = beginning.1.contains("head")
                #expect(client.log.text.contains("HTTP/1.1 408 ") == isHead, "\(beginning): \(client.log.text)")
            }
        }
    }

    @Test("A client that closes in the middle of a hello or a preface is recorded as that", arguments: Way.allCases)
    func closes(way: Way) async throws {
        let origin = try await LoopbackOrigin { _ in nil }
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.serverFirst = .seconds(60)
        try await LoopbackProxy.run(timeouts: timeouts, mode: way.mode(origin.port)) { proxy in
            for (beginning, kind, words) in Self.cut {
                let client = try await way.open(proxy, origin.port)
                try await client.send(beginning)
                try await client.end(.clean)
                try await eventually("\(kind) is recorded") {
                    proxy.recorder.finished.contains { $0.record.kind == kind }
                }
                let record = try #require(proxy.recorder.finished.last?.record)
                #expect(record.state == .failed, "\(record)")
                #expect(record.failure?.message == "The client closed the connection \(words).", "\(record)")
            }
            #expect(!proxy.recorder.connections.contains { $0.leg == .upstream })
        }
    }

    private static let cut: [(String, ExchangeRecord.Kind, String)] = [
        (hello, .failedHandshake, "in the middle of its TLS hello"),
        (preface, .malformed, "in the middle of the HTTP/2 preface"),
    ]

    @Test("So is one that resets there")
    func resets() async throws {
        let origin = try await LoopbackOrigin { _ in nil }
        try await LoopbackProxy.run { proxy in
            let client = try await EndingClient(port: proxy.port)
            // The answer to CONNECT shows that what came with it was read.
            try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n" + Self.hello)
            try await client.receives("\r\n\r\n")
            try await client.end(.reset)
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let failure = proxy.recorder.finished.first?.record.failure
            #expect(failure?.message == "The client's connection broke in the middle of its TLS hello.")
        }
    }

    /// Beginnings inside a tunnel, and how the end of the client's connection is told.
    private static let begun = [
        (hello, "its TLS hello"), (preface, "the HTTP/2 preface"), ("GET http", "a request head"),
        ("GET /x HTTP/1.1\r\nX: y\r\n", "a request head"),
    ]

    /// Clients of which the proxy has read a beginning.
    private func begin(_ proxy: LoopbackProxy, _ port: Int) async throws -> [EndingClient] {
        var clients: [EndingClient] = []
        for (beginning, _) in Self.begun {
            let client = try await EndingClient(port: proxy.port)
            // The answer to CONNECT shows that what came with it was read.
            try await client.send("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\nHost: x\r\n\r\n" + beginning)
            try await client.receives("\r\n\r\n")
            clients.append(client)
        }
        return clients
    }

    private func check(_ proxy: LoopbackProxy, _ code: ExchangeFailure.Code, _ words: (String) -> String) {
        let finished = proxy.recorder.finished.filter { $0.record.kind != .http }
        #expect(finished.count == Self.begun.count)
        for (beginning, place) in Self.begun {
            let found = finished.filter { $0.record.failure?.message == words(place) }
            #expect(found.count == Self.begun.count { $0.1 == place }, "\(finished.map(\.record.failure))")
            #expect(found.allSatisfy { $0.record.failure?.code == code && $0.record.state == .failed })
            guard place != "its TLS hello" else { continue }
            #expect(found.contains { $0.messages.requestHead == ByteBuffer(string: beginning) })
        }
    }

    @Test("Whom Sluice closes for another client, in the middle of a beginning, has not broken off")
    func closedForOthers() async throws {
        let origin = try await LoopbackOrigin { _ in nil }
        let limits = ConnectionLimits(inAll: Self.begun.count)
        try await LoopbackProxy.run(connections: limits) { proxy in
            let clients = try await begin(proxy, origin.port)
            var others: [LoopbackClient] = []
            try await eventually("all are closed") {
                if clients.allSatisfy({ $0.log.end != nil }) { return true }
                // Where only some have been silent for long enough, others take their places.
                others.append(try await proxy.connect())
                try await Task.sleep(for: .milliseconds(100))
                return false
            }
            try await eventually("all are recorded") {
                proxy.recorder.finished.count { $0.record.kind != .http } == Self.begun.count
            }
            check(proxy, .clientTimeout) {
                "Sluice closed the connection in the middle of \($0), to make room for another client."
            }
        }
    }

    @Test("Nor has one that is in the middle of it when Sluice is stopped")
    func stopped() async throws {
        let origin = try await LoopbackOrigin { _ in nil }
        let proxy = try await LoopbackProxy()
        let clients = try await begin(proxy, origin.port)
        await proxy.server.stop(grace: .zero)
        withExtendedLifetime(clients) {}
        check(proxy, .stopped) { "Sluice was stopped in the middle of \($0)." }
    }

    @Test("What goes on otherwise than the preface of HTTP/2 is not said to be turned off")
    func wrongPreface() async throws {
        try await LoopbackProxy.run { proxy in
            let client = try await proxy.connect()
            try await client.send("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n")
            try await client.receives("differs later")
            #expect(client.text.hasPrefix("HTTP/1.1 505 ") && !client.text.contains("--http2"), "\(client.text)")
        }
    }
}
