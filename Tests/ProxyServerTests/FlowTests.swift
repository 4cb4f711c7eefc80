import ExchangeCore
import HTTPModel
import NIOCore
import ProxyServer
import Support
import Testing

@Suite("Pauses, limits and rules, through a real proxy")
struct FlowTests {
    private static func origin(_ body: String = "ok") async throws -> LoopbackOrigin {
        try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)" }
    }

    @Test("A stage that pauses until a moment delays each message until then")
    func pause() async throws {
        let stage = ScriptedStage.delaying(.throttle, by: .milliseconds(75))
        let origin = try await Self.origin()
        try await LoopbackProxy.run(rules: ProxyRules(chain: StageChain([stage]))) { proxy in
            let start = ContinuousClock.now
            let client = try await proxy.ask(origin)
            try await client.receives("\r\n\r\nok")
            #expect(ContinuousClock.now - start >= .milliseconds(150))
        }
    }

    @Test("A recorder without room stops the traffic, and room lets it go on where it was")
    func recorderFull() async throws {
        let body = String(repeating: "0123456789abcdef", count: 1 << 20)
        let origin = try await Self.origin(body)
        try await LoopbackProxy.run { proxy in
            proxy.recorder.fill()
            let client = try await proxy.ask(origin)
            var last = (count: -1, since: ContinuousClock.now)
            try await eventually("the traffic stops") {
                let count = client.text.utf8.count
                if count != last.count { last = (count, .now) }
                return ContinuousClock.now - last.since > .milliseconds(300)
            }
            #expect(last.count < body.utf8.count / 2, "\(last.count)")
            #expect(proxy.recorder.finished.isEmpty)
            proxy.recorder.drain()
            try await eventually("the rest arrives") { client.text.utf8.count > body.utf8.count }
            try await eventually("it is recorded") { proxy.recorder.finished.count == 1 }
            #expect(client.text.hasSuffix(body))
            #expect(proxy.recorder.finished.first?.record.sizes.responseBody == Int64(body.utf8.count))
        }
    }

    @Test(
        "Half a request and then silence is answered 408, recorded, and ended",
        arguments: ["GET / HTTP/1.1\r\nHost: x", "GET http://x/ HT"]
    )
    func headTimeout(text: String) async throws {
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.requestHead = .milliseconds(100)
        try await LoopbackProxy.run(timeouts: timeouts) { proxy in
            let client = try await proxy.connect()
            try await client.send(text)
            try await eventually("the connection is ended") { client.isClosed }
            #expect(client.text.hasPrefix("HTTP/1.1 408 "), "\(client.text)")
            #expect(client.text.contains("Connection: close\r\n"))
            try await eventually("it is recorded") { proxy.recorder.finished.count == 1 }
            let record = proxy.recorder.finished.first?.record
            #expect(record?.kind == .malformed)
            #expect(record?.status == 408)
        }
    }

    @Test("A silent connection is closed without a word after the keep-alive time, and is no exchange")
    func keepAliveTimeout() async throws {
        let origin = try await Self.origin()
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.keepAlive = .milliseconds(100)
        try await LoopbackProxy.run(timeouts: timeouts) { proxy in
            let silent = try await proxy.connect()
            let used = try await proxy.ask(origin)
            try await used.receives("\r\n\r\nok")
            try await eventually("both are closed") { silent.isClosed && used.isClosed }
            #expect(silent.text.isEmpty)
            #expect(proxy.recorder.finished.map(\.record.status) == [200])
        }
    }

    @Test("New rules count for exchanges that begin later, also on the same connection")
    func replacedRules() async throws {
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 204 No Content\r\n\r\n" }
        func rules(_ name: String) -> ProxyRules {
            let stage = ScriptedStage.on(.rewrite) { handler in
                handler.onResponseHead = { head, _ in
                    head.fields.append("X-Rules", name)
                    return .forward
                }
            }
            return ProxyRules(chain: StageChain([stage]))
        }
        try await LoopbackProxy.run(rules: rules("old")) { proxy in
            let client = try await proxy.ask(origin)
            try await client.receives("X-Rules: old\r\n")
            await proxy.server.replaceRules(rules("new"))
            try await client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
            try await client.receives("X-Rules: new\r\n")
        }
    }

    @Test("A stage's answer is sent in place of the server's")
    func localAnswer() async throws {
        let stage = ScriptedStage.on(.mapLocal) { handler in
            handler.onRequestHead = { _, _ in
                .respond(LocalAnswer(status: 201, contentType: "text/plain", text: "mine"))
            }
        }
        let origin = try await Self.origin()
        try await LoopbackProxy.run(rules: ProxyRules(chain: StageChain([stage]))) { proxy in
            let client = try await proxy.ask(origin)
            try await client.receives("\r\n\r\nmine")
            #expect(client.text.hasPrefix("HTTP/1.1 201 "))
            #expect(origin.heads.isEmpty)
        }
    }
}
