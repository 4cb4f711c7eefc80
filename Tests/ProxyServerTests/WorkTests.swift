import Dispatch
import ExchangeCore
import HTTPModel
import NIOCore
import NIOPosix
import ProxyServer
import Support
import Synchronization
import Testing

@Suite("Blocking work, through a real proxy")
struct WorkTests {
    private let origin: LoopbackOrigin

    init() async throws {
        origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
    }

    private static func rules(_ work: @escaping @Sendable () -> WorkOutcome) -> ProxyRules {
        let stage = ScriptedStage(.mapLocal) { opening in
            guard opening.url.path == "/slow" else { return nil }
            let handler = ScriptedHandler()
            handler.onRequestHead = { _, _ in .perform(ScriptedWork(work)) }
            return handler
        }
        return ProxyRules(chain: StageChain([stage]))
    }

    @Test("While work is done for one exchange the others on its event loop go on")
    func othersGoOn() async throws {
        let gate = DispatchSemaphore(value: 0)
        let rules = Self.rules {
            #expect(MultiThreadedEventLoopGroup.currentEventLoop == nil)
            gate.wait()
            let entry = TraceEntry(stage: "map-local", outcome: .fired, text: "answered after a while")
            let answer = LocalAnswer(status: 200, contentType: "text/plain", text: "worked")
            return WorkOutcome(.respond(answer), trace: [entry])
        }
        try await LoopbackProxy.run(rules: rules) { proxy in
            let slow = try await proxy.ask(origin, "/slow")
            // Connections are dealt out to the loops in turn, so some of these share the slow one's.
            for _ in 0..<4 {
                let client = try await proxy.ask(origin, "/fast")
                try await client.receives("\r\n\r\nok")
            }
            #expect(slow.text.isEmpty)
            gate.signal()
            try await slow.receives("\r\n\r\nworked")
            try await eventually("all are recorded") { proxy.recorder.finished.count == 5 }
            let texts = proxy.recorder.finished.flatMap { $0.messages.trace.map(\.text) }
            #expect(texts == ["answered after a while"])
        }
    }

    @Test("A client that goes away meanwhile ends the exchange; what the work comes to does nothing")
    func clientGone() async throws {
        let gate = DispatchSemaphore(value: 0)
        let rules = Self.rules {
            gate.wait()
            return WorkOutcome(.forward)
        }
        try await LoopbackProxy.run(rules: rules) { proxy in
            let client = try await proxy.ask(origin, "/slow")
            try await eventually("the exchange has begun") { proxy.recorder.begun == 1 }
            await proxy.server.replaceRules(ProxyRules())
            try await client.close()
            gate.signal()
            // Whichever of the two comes first, nothing is left over.
            try await eventually("it is over") { proxy.recorder.finished.count >= 1 }
            let next = try await proxy.ask(origin, "/slow")
            try await next.receives("\r\n\r\nok")
        }
    }

    @Test("A failure that the work comes to cuts the client off")
    func failure() async throws {
        let rules = Self.rules { WorkOutcome(.fail(ExchangeFailure(.dns, "There is no such name."))) }
        try await LoopbackProxy.run(rules: rules) { proxy in
            let client = try await proxy.ask(origin, "/slow")
            try await eventually("the client is cut off") { client.isClosed }
            #expect(client.text.isEmpty)
            try await eventually("it is recorded") { proxy.recorder.finished.count == 1 }
            #expect(proxy.recorder.finished.first?.record.failure?.code == .dns)
        }
    }

    @Test("What an exchange leaves to do is done before the proxy has stopped")
    func afterwards() async throws {
        let counter = Counter()
        let stage = ScriptedStage.on(.mirror) { handler in
            handler.onEnded = { isComplete in
                ScriptedWork {
                    if isComplete { counter.add() }
                    return WorkOutcome(.forward)
                }
            }
        }
        let proxy = try await LoopbackProxy(rules: ProxyRules(chain: StageChain([stage])))
        do {
            let client = try await proxy.ask(origin)
            try await client.receives("\r\n\r\nok")
        } catch {
            await proxy.server.stop(grace: .zero)
            throw error
        }
        await proxy.server.stop()
        #expect(counter.count == 1)
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }
    }
}
