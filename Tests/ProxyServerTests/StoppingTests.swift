import Dispatch
import ExchangeCore
import HTTPModel
import NIOCore
import NIOPosix
import ProxyServer
import Support
import Synchronization
import Testing

@Suite("The end of a proxy", .timeLimit(.minutes(1)))
struct StoppingTests {
    @Test("Whoever asks for it, at once or later, waits for the same end; what other threads bring later is not let in")
    func twice() async throws {
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
        let begun = Atomic(false)
        let gate = DispatchSemaphore(value: 0)
        let stage = ScriptedStage.on(.mapLocal) { handler in
            handler.onRequestHead = { _, _ in
                .perform(
                    ScriptedWork {
                        begun.store(true, ordering: .relaxed)
                        gate.wait()
                        return WorkOutcome(.forward)
                    }
                )
            }
        }
        let source = LateSource()
        let proxy = try await LoopbackProxy(rules: ProxyRules(chain: StageChain([stage])), processes: source)
        _ = try await proxy.ask(origin)
        try await eventually("the work has begun") { begun.load(ordering: .relaxed) }
        async let first: Void = proxy.server.stop(grace: .zero)
        async let second: Void = proxy.server.stop(grace: .zero)
        _ = await (first, second)
        await proxy.server.stop()
        #expect(proxy.recorder.finished.count == 1)

        gate.signal()
        source.deliver(ClientProcess(id: 77, name: "curl"))
        proxy.recorder.drain()
        await proxy.server.replaceRules(ProxyRules())
        #expect(proxy.recorder.identified.isEmpty)
    }

    @Test("The way onto a loop does what came before it was shut, and refuses what comes after")
    func entrance() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let entrance = LoopEntrance(group.any())
        let count = Atomic(0)
        #expect(entrance.execute { count.add(1, ordering: .relaxed) })
        await entrance.perform { count.add(10, ordering: .relaxed) }
        #expect(entrance.execute { count.add(100, ordering: .relaxed) })
        entrance.shut()
        #expect(!entrance.execute { count.add(1_000, ordering: .relaxed) })
        try await group.shutdownGracefully()
        await entrance.perform { count.add(1_000, ordering: .relaxed) }
        #expect(count.load(ordering: .relaxed) == 111)
    }
}
