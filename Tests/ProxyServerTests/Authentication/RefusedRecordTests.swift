import Dispatch
import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import NIOPosix
import Support
import Synchronization
import Testing
import Wire

@testable import ProxyServer

@Suite("What is recorded of clients that are refused", .timeLimit(.minutes(2)))
struct RefusedRecordTests {
    private static let value = "YW5hOnJpZ2h0"

    private func run(
        rules: ProxyRules = ProxyRules(),
        _ body: (LoopbackProxy, LoopbackOrigin) async throws -> Void
    ) async throws {
        var users = ProxyUsers()
        users.set(try PasswordHash(of: "right".utf8), for: "ana")
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
        try await LoopbackProxy.run(rules: rules, authentication: ProxyAuthentication(users)) {
            try await body($0, origin)
        }
    }

    private func head(_ origin: LoopbackOrigin, _ method: String = "POST", _ fields: String = "") -> String {
        let long = String(repeating: "x", count: 20_000)
        return "\(method) http://127.0.0.1:\(origin.port)/\(long) HTTP/1.1\r\nHost: x\r\nX: \(long)\r\n\(fields)"
    }

    @Test("Without credentials it is the beginning of the head and nothing of the body")
    func little() async throws {
        try await run { proxy, origin in
            let client = try await proxy.connect()
            let body = String(repeating: "b", count: 10_000)
            try await client.send(head(origin, "POST", "Content-Length: 10000\r\n\r\n") + body)
            try await client.receives("HTTP/1.1 407 ")
            try await eventually("it is recorded") { proxy.recorder.finished.count == 1 }
            let (record, messages) = try #require(proxy.recorder.finished.first)
            #expect(record.status == 407 && record.url.path.utf8.count == 512)
            #expect(messages.requestHead?.readableBytes == 512)
            #expect(messages.trace.contains { $0.text.contains("first 512 bytes") })
            #expect(record.flags.contains(.requestBodyIncomplete) && proxy.recorder.sent == 0)
        }
    }

    @Test("With the right ones it is everything, also while that is found out")
    func everything() async throws {
        try await run { proxy, origin in
            for count in 1...2 {
                let client = try await proxy.connect()
                let fields = "Proxy-Authorization: Basic \(Self.value)\r\nContent-Length: 3\r\n\r\n"
                try await client.send(head(origin, "POST", fields) + "abc")
                try await client.receives("ok")
                try await eventually("it is recorded") { proxy.recorder.finished.count == count }
                let (record, messages) = try #require(proxy.recorder.finished.last)
                #expect(record.status == 200 && record.url.path.utf8.count == 20_001)
                #expect((messages.requestHead?.readableBytes ?? 0) > 40_000 && proxy.recorder.sent == 3 * count)
            }
        }
    }

    @Test("Of many, malformed ones and CONNECTs too, a hundred are recorded, and then about one a second")
    func many() async throws {
        let start = ContinuousClock.now
        try await run { proxy, origin in
            let heads = [
                "GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n",
                "CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET / HTTP/1.1\r\nBad Name: x\r\n\r\n",
            ]
            for number in 0..<150 {
                let client = try await proxy.connect()
                try await client.send(heads[number % 3])
                try await client.receives("HTTP/1.1 40")
            }
            try await eventually("some are recorded") { proxy.recorder.finished.count >= 100 }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            #expect(Double(proxy.recorder.finished.count) <= 101 + seconds)
            #expect(proxy.recorder.begun == proxy.recorder.finished.count)
        }
        let records = RefusedRecords()
        let now = NIODeadline.now()
        for _ in 0..<100 { #expect(records.count(.unknown, now: now) == 0) }
        for _ in 0..<7 { #expect(records.count(.unknown, now: now) == nil) }
        #expect(records.count(.process(1), now: now) == 0)
        #expect(records.count(.unknown, now: now + .seconds(1)) == 7)
    }

    @Test("Passwords that are looked at hold up no work of rules, nor does that them")
    func threads() async throws {
        // As much work as there are threads for it, none of which ends before the password was looked at.
        let gate = DispatchSemaphore(value: 0)
        let works = Mutex(0)
        let stage = ScriptedStage(.mapLocal) { opening in
            guard opening.url.path == "/slow" else { return nil }
            let handler = ScriptedHandler()
            handler.onRequestHead = { _, _ in
                .perform(
                    ScriptedWork {
                        works.withLock { $0 += 1 }
                        gate.wait()
                        return WorkOutcome(.forward)
                    }
                )
            }
            return handler
        }
        try await run(rules: ProxyRules(chain: StageChain([stage]))) { proxy, origin in
            func ask(_ path: String, _ password: String) async throws -> LoopbackClient {
                let client = try await proxy.connect()
                let value = "ana:\(password)".utf8
                try await client.send(
                    "GET http://127.0.0.1:\(origin.port)\(path) HTTP/1.1\r\nHost: x\r\n"
                        + "Proxy-Authorization: Basic \(base64(value))\r\n\r\n"
                )
                return client
            }
            try await ask("/", "right").receives("ok")
            var slow: [LoopbackClient] = []
            for _ in 0..<NIOSingletons.blockingPoolThreadCountSuggestion {
                slow.append(try await ask("/slow", "right"))
            }
            try await eventually("all threads are busy") { works.withLock { $0 } == slow.count }
            try await ask("/", "wrong").receives("HTTP/1.1 407 ")
            for _ in slow { gate.signal() }
            for client in slow { try await client.receives("ok") }
        }
    }

    private func base64(_ bytes: some Collection<UInt8>) -> String { Data(bytes).base64EncodedString() }
}
