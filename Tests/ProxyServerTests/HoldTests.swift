import ExchangeCore
import HTTPModel
import NIOCore
import ProxyServer
import Support
import Testing

@Suite("Messages that wait for a decision, through a real proxy")
struct HoldTests {
    private let origin: LoopbackOrigin

    init() async throws {
        origin = try await LoopbackOrigin { head in
            let path = String(head.split(separator: " ")[1])
            return "HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)"
        }
    }

    /// Holds every request head, every response head, or both.
    private static func rules(request: Bool = false, response: Bool = false) -> ProxyRules {
        let stage = ScriptedStage.on(.breakpoints) { handler in
            if request { handler.onRequestHead = { _, _ in .pause(.decision(nil)) } }
            if response { handler.onResponseHead = { _, _ in .pause(.decision(nil)) } }
        }
        return ProxyRules(chain: StageChain([stage]))
    }

    private func held(_ proxy: LoopbackProxy) async throws -> HoldBoard.Held {
        try await eventually("a message is held") { !proxy.server.holds.all.isEmpty }
        return try #require(proxy.server.holds.all.first)
    }

    @Test("A held request waits, and goes on as edited")
    func executeRequest() async throws {
        try await LoopbackProxy.run(rules: Self.rules(request: true)) { proxy in
            let client = try await proxy.ask(origin, "/before")
            let held = try await held(proxy)
            guard case .request(var head, _, let destination) = held.message else {
                Issue.record("a response is held")
                return
            }
            #expect(head.target == "/before")
            #expect(origin.heads.isEmpty)
            head.target = "/after"
            head.fields.append("X-Edited", "yes")
            #expect(proxy.server.holds.resolve(held.id, .execute(.request(head, body: nil, destination: destination))))
            try await client.receives("\r\n\r\n/after")
            #expect(origin.heads.first?.contains("X-Edited: yes\r\n") == true)
            #expect(proxy.server.holds.all.isEmpty)
            try await eventually("it is recorded") { proxy.recorder.finished.count == 1 }
            #expect(proxy.recorder.finished.first?.record.flags.contains(.held) == true)
        }
    }

    @Test("A held response waits, and goes on as edited")
    func executeResponse() async throws {
        try await LoopbackProxy.run(rules: Self.rules(response: true)) { proxy in
            let client = try await proxy.ask(origin, "/x")
            let held = try await held(proxy)
            guard case .response(var head, _) = held.message else {
                Issue.record("a request is held")
                return
            }
            #expect(client.text.isEmpty)
            head.fields.append("X-Edited", "yes")
            #expect(proxy.server.holds.resolve(held.id, .execute(.response(head, body: nil))))
            try await client.receives("X-Edited: yes\r\n")
            try await client.receives("\r\n\r\n/x")
        }
    }

    @Test("Cancel goes on unedited; later and repeated decisions do nothing")
    func cancel() async throws {
        try await LoopbackProxy.run(rules: Self.rules(request: true)) { proxy in
            let client = try await proxy.ask(origin, "/kept")
            let held = try await held(proxy)
            #expect(proxy.server.holds.resolve(held.id, .cancel))
            #expect(!proxy.server.holds.resolve(held.id, .abort))
            try await client.receives("\r\n\r\n/kept")
            #expect(!proxy.server.holds.resolve(held.id, .abort))
            #expect(!proxy.server.holds.resolve(HoldID(exchange: ExchangeID(99), ordinal: 1), .cancel))
            #expect(!client.isClosed)
        }
    }

    @Test("Abort cuts the client off, and the server is not asked")
    func abort() async throws {
        try await LoopbackProxy.run(rules: Self.rules(request: true)) { proxy in
            let client = try await proxy.ask(origin)
            let held = try await held(proxy)
            #expect(proxy.server.holds.resolve(held.id, .abort))
            try await eventually("the client is cut off") { client.isClosed }
            #expect(client.text.isEmpty)
            #expect(origin.heads.isEmpty)
            try await eventually("it is recorded") { proxy.recorder.finished.count == 1 }
            #expect(proxy.recorder.finished.first?.record.failure?.code == .aborted)
        }
    }

    @Test("A client that goes away releases its hold")
    func clientGone() async throws {
        try await LoopbackProxy.run(rules: Self.rules(request: true)) { proxy in
            let client = try await proxy.ask(origin)
            let held = try await held(proxy)
            try await client.close()
            try await eventually("the hold is released") { proxy.server.holds.all.isEmpty }
            #expect(!proxy.server.holds.resolve(held.id, .cancel))
            try await eventually("it is recorded") { proxy.recorder.finished.count == 1 }
            #expect(proxy.recorder.finished.first?.record.failure?.code == .clientGone)
        }
    }

    @Test("Request and response of one exchange are held one after the other; other exchanges wait for neither")
    func both() async throws {
        let stage = ScriptedStage(.breakpoints) { opening in
            guard opening.url.path == "/held" else { return nil }
            let handler = ScriptedHandler()
            handler.onRequestHead = { _, _ in .pause(.decision(nil)) }
            handler.onResponseHead = { _, _ in .pause(.decision(nil)) }
            return handler
        }
        try await LoopbackProxy.run(rules: ProxyRules(chain: StageChain([stage]))) { proxy in
            let client = try await proxy.ask(origin, "/held")
            let first = try await held(proxy)
            let other = try await proxy.ask(origin, "/free")
            try await other.receives("\r\n\r\n/free")
            proxy.server.holds.resolve(first.id, .execute(nil))
            try await eventually("the response is held") { proxy.server.holds.all.contains { $0.id != first.id } }
            let second = try await held(proxy)
            #expect(second.id == HoldID(exchange: first.id.exchange, ordinal: 2))
            #expect(client.text.isEmpty)
            proxy.server.holds.resolve(second.id, .cancel)
            try await client.receives("\r\n\r\n/held")
        }
    }

    @Test("Stopping ends what is held")
    func stopping() async throws {
        let proxy = try await LoopbackProxy(rules: Self.rules(request: true))
        let client = try await proxy.ask(origin)
        _ = try await held(proxy)
        await proxy.server.stop(grace: .milliseconds(50))
        try await eventually("the client is let go") { client.isClosed }
        #expect(proxy.server.holds.all.isEmpty)
        #expect(proxy.recorder.finished.first?.record.failure?.code == .stopped)
    }

    @Test("A message that nobody decides about goes on by itself, and is shown with what it waits for")
    func limit() async throws {
        let stage = ScriptedStage.on(.breakpoints) { handler in
            handler.onRequestHead = { head, _ in
                head.target = "/edited"
                return .pause(.decision(HoldLimit(after: .seconds(1), resolution: .cancel)))
            }
        }
        try await LoopbackProxy.run(rules: ProxyRules(chain: StageChain([stage]))) { proxy in
            let client = try await proxy.ask(origin, "/sent")
            let held = try await held(proxy)
            #expect(held.url.description == "http://127.0.0.1:\(origin.port)/sent")
            #expect(held.method == "GET")
            #expect(held.limit?.after == .seconds(1))
            try await client.receives("\r\n\r\n/edited")
            #expect(proxy.server.holds.all.isEmpty)
            #expect(!proxy.server.holds.resolve(held.id, .abort))
            try await eventually("it is recorded") { proxy.recorder.finished.count == 1 }
            let trace = proxy.recorder.finished.first?.messages.trace.map(\.text)
            #expect(trace?.first == "no decision within 1 s: cancelled")
        }
    }
}
