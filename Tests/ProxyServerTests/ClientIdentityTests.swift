import ExchangeCore
import HTTPModel
import NIOCore
import ProxyServer
import Support
import Synchronization
import Testing

@Suite("The process of a client")
struct ClientIdentityTests {
    private let origin: LoopbackOrigin
    private let source = LateSource()
    private let process = ClientProcess(id: 77, name: "curl")

    init() async throws { origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" } }

    @Test("It is recorded of an exchange that is held, as soon as it is known")
    func held() async throws {
        let stage = ScriptedStage.on(.breakpoints) { $0.onRequestHead = { _, _ in .pause(.decision(nil)) } }
        try await LoopbackProxy.run(rules: ProxyRules(chain: StageChain([stage])), processes: source) { proxy in
            let client = try await proxy.ask(origin)
            try await eventually("a message is held") { !proxy.server.holds.all.isEmpty }
            #expect(proxy.recorder.processesInFlight.allSatisfy { $0 == nil })
            source.deliver(process)
            try await eventually("it is recorded") { proxy.recorder.processesInFlight.last == process }
            #expect(proxy.recorder.finished.isEmpty)
            let held = try #require(proxy.server.holds.all.first)
            #expect(proxy.server.holds.resolve(held.id, .cancel))
            try await client.receives("ok")
        }
    }

    @Test(
        "A client of this machine that has closed its end is not waited for, and one that sends no more is",
        arguments: [true, false]
    )
    func closed(hasClosed: Bool) async throws {
        let silent = try await LoopbackOrigin { _ in nil }
        source.closed.store(hasClosed, ordering: .relaxed)
        try await LoopbackProxy.run(processes: source) { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await client.send("GET http://127.0.0.1:\(silent.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
            try await eventually("the server is asked") { silent.heads.count == 1 }
            try await client.endOutput()
            if hasClosed {
                try await eventually("it is over") { proxy.recorder.finished.count == 1 }
                #expect(proxy.recorder.finished.first?.record.failure?.code == .clientGone)
            } else {
                try await eventually("time limits were enforced") { source.asked.load(ordering: .relaxed) > 1 }
                #expect(proxy.recorder.finished.isEmpty)
            }
        }
    }

    @Test("It is recorded of an exchange whose response has begun, and of the connection's next one from its beginning")
    func streaming() async throws {
        let slow = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome" }
        try await LoopbackProxy.run(processes: source) { proxy in
            let client = try await proxy.ask(slow)
            try await client.receives("some")
            source.deliver(process)
            try await eventually("it is recorded") { proxy.recorder.processesInFlight.last == process }
            #expect(proxy.recorder.finished.isEmpty)
        }
        let later = LateSource()
        try await LoopbackProxy.run(processes: later) { proxy in
            let client = try await proxy.ask(origin)
            try await client.receives("ok")
            try await eventually("it is over") { proxy.recorder.finished.count == 1 }
            later.deliver(process)
            let request = "GET http://127.0.0.1:\(origin.port)/next HTTP/1.1\r\nHost: x\r\n\r\n"
            // The answer of the look-up is on its way to the connection's loop.
            try await eventually("the next exchange has it") {
                try? await client.send(request)
                return proxy.recorder.finished.last?.record.extras.process == process
            }
            #expect(proxy.recorder.finished.first?.record.extras.process == nil)
            // The first one was over before its client was known.
            #expect(proxy.recorder.identified.map(\.id) == [proxy.recorder.finished.first?.record.id])
            #expect(proxy.recorder.identified.map(\.process) == [process])
        }
    }

    @Test("It is recorded of a client that has closed its connection before it was known; none is, where none is found")
    func gone() async throws {
        try await LoopbackProxy.run(processes: source) { proxy in
            let client = try await proxy.ask(origin)
            try await client.receives("ok")
            try await client.close()
            try await eventually("the connection is over") {
                proxy.recorder.connections.contains { $0.leg == .client && $0.closedAt != nil }
            }
            source.deliver(process)
            try await eventually("it is recorded") { proxy.recorder.identified.map(\.process) == [process] }
        }
        let knowsNone = LateSource()
        try await LoopbackProxy.run(processes: knowsNone) { proxy in
            let client = try await proxy.ask(origin)
            try await client.receives("ok")
            knowsNone.deliver(nil)
            let request = "GET http://127.0.0.1:\(origin.port)/next HTTP/1.1\r\nHost: x\r\n\r\n"
            try await client.send(request)
            try await eventually("two are over") { proxy.recorder.finished.count == 2 }
            #expect(proxy.recorder.identified.isEmpty)
        }
    }
}
