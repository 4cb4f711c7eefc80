import ExchangeCore
import HTTPModel
import NIOCore
import ProxyServer
import Support
import Testing

@Suite("Paced bytes, through a real proxy")
struct PaceTests {
    /// A link of so many bytes a second, with a clock of its own: what is late is made up for.
    private final class Link {
        private let nanosecondsPerByte: Int64
        private var free: NIODeadline?

        init(bytesPerSecond: Int64) {
            nanosecondsPerByte = 1_000_000_000 / bytesPerSecond
        }

        func pace(_ waiting: ByteBuffer, _ now: NIODeadline) -> Pace {
            let count = min(waiting.readableBytes, 1_460)
            let moment = (free ?? now) + .nanoseconds(nanosecondsPerByte * Int64(count))
            free = moment
            return .pass(count, at: moment)
        }
    }

    private static func rules(_ bytesPerSecond: Int64, decrypts: Bool = true) -> ProxyRules {
        let stage = ScriptedStage.on(.throttle) { handler in
            handler.requestDemand = .pace
            handler.responseDemand = .pace
            let up = Link(bytesPerSecond: bytesPerSecond)
            let down = Link(bytesPerSecond: bytesPerSecond)
            handler.onPace = { direction, waiting, exchange in
                (direction == .request ? up : down).pace(waiting, exchange.now)
            }
        }
        return ProxyRules(chain: StageChain([stage]), decrypts: { _, _, _ in decrypts })
    }

    private static func text(_ count: Int) -> String {
        String((0..<count).map { Character(Unicode.Scalar(UInt8(97 + $0 % 23))) })
    }

    /// Longer than anything here takes on a machine that has other things to do as well.
    ///
    /// That the pace is kept to the byte and the moment is tested without a clock (`ExchangeCoreTests`).
    private static let patience = Duration.seconds(20)

    /// How long `body` takes.
    private func time(_ body: () async throws -> Void) async throws -> Duration {
        let start = ContinuousClock.now
        try await body()
        return ContinuousClock.now - start
    }

    @Test("A response takes the time that its pace needs, and hardly more; no byte is lost or out of order")
    func response() async throws {
        let body = Self.text(200_000)
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n\(body)" }
        try await LoopbackProxy.run(rules: Self.rules(500_000)) { proxy in
            let took = try await time {
                let client = try await proxy.ask(origin)
                try await eventually("the body") { client.text.utf8.count > 200_000 }
                #expect(client.text.hasSuffix("\r\n\r\n" + body))
            }
            #expect(took >= .milliseconds(400))
            #expect(took < Self.patience, "\(took)")
        }
    }

    @Test("A request is paced too")
    func request() async throws {
        let body = Self.text(100_000)
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 204 No Content\r\n\r\n" }
        try await LoopbackProxy.run(rules: Self.rules(500_000)) { proxy in
            let client = try await proxy.connect()
            let took = try await time {
                try await client.send(
                    "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100004\r\n\r\n\(body)"
                        + "\r\n\r\n"
                )
                // The origin takes the end of the body for that of another head.
                try await eventually("the whole request") { origin.heads.count == 2 }
            }
            #expect(origin.heads.last == body + "\r\n\r\n")
            #expect(took >= .milliseconds(200))
            #expect(took < Self.patience, "\(took)")
        }
    }

    @Test("While bytes wait for their time no more are taken from the server")
    func bounded() async throws {
        let size = 32 << 20
        let body = String(repeating: "x", count: size)
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n\(body)" }
        try await LoopbackProxy.run(rules: Self.rules(200_000)) { proxy in
            let client = try await proxy.ask(origin)
            try await eventually("some of the body") { client.text.utf8.count > 60_000 }
            #expect(proxy.recorder.received < 4 << 20)
            try await client.close()
            try await eventually("it is over") { proxy.recorder.finished.count == 1 }
            #expect(proxy.recorder.finished.first?.record.failure?.code == .clientGone)
        }
    }

    @Test("A tunnel is paced both ways, and what was sent before its ends still arrives")
    func tunnel() async throws {
        let body = Self.text(50_000)
        let origin = try await LoopbackOrigin { $0.hasPrefix("ask") ? body : nil }
        try await LoopbackProxy.run(rules: Self.rules(250_000, decrypts: false)) { proxy in
            let client = try await proxy.connect()
            try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
            try await client.receives("\r\n\r\n")
            let took = try await time {
                try await client.send("ask\r\n\r\n" + body + "\r\n\r\n")
                try await eventually("the answer") { client.text.hasSuffix(body) }
                try await eventually("the question") { origin.heads.last == body + "\r\n\r\n" }
            }
            // The two directions do not wait for each other.
            #expect(took >= .milliseconds(200))
            #expect(took < Self.patience, "\(took)")
        }
    }

    @Test("A local answer is paced like a server's")
    func localAnswer() async throws {
        let body = Self.text(50_000)
        let answering = ScriptedStage.on(.mapLocal) { handler in
            handler.onRequestHead = { _, _ in .respond(LocalAnswer(status: 200, contentType: "text/plain", text: body))
            }
        }
        var rules = Self.rules(250_000)
        rules.chain = StageChain([answering] + rules.chain.stages)
        let origin = try await LoopbackOrigin { _ in nil }
        try await LoopbackProxy.run(rules: rules) { proxy in
            let took = try await time {
                let client = try await proxy.ask(origin)
                try await client.receives("\r\n\r\n" + body)
            }
            #expect(took >= .milliseconds(200))
        }
    }
}
