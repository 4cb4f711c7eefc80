import ExchangeCore
import HTTPModel
import NIOCore
import ProxyServer
import Support
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("Answers from files, through a real proxy")
struct FileAnswerTests {
    private let origin: LoopbackOrigin

    init() async throws {
        origin = try await LoopbackOrigin { _ in nil }
    }

    /// A file without a name, with this text in it; it is gone when nobody has it open.
    private static func open(_ text: String) throws -> CInt {
        var template = Array("/tmp/sluice-test-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        try #require(descriptor >= 0)
        unlink(template)
        try text.utf8.withContiguousStorageIfAvailable { bytes in
            var written = 0
            while written < bytes.count {
                let count = write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                try #require(count > 0)
                written += count
            }
        }
        return descriptor
    }

    private static func rules(_ file: AnswerFile, status: Int = 200) -> ProxyRules {
        let stage = ScriptedStage.on(.mapLocal) { handler in
            handler.onRequestHead = { _, _ in .respond(LocalAnswer(head: ResponseHead(status: status), file: file)) }
        }
        return ProxyRules(chain: StageChain([stage]))
    }

    @Test("A file is sent whole, several times on one connection")
    func whole() async throws {
        let text = String((0..<1_000_000).map { Character(Unicode.Scalar(UInt8(97 + $0 % 23))) })
        let file = AnswerFile(descriptor: try Self.open("before" + text + "after"), offset: 6, length: 1_000_000)
        try await LoopbackProxy.run(rules: Self.rules(file)) { proxy in
            let client = try await proxy.ask(origin)
            try await eventually("the file") { client.text.hasSuffix(text) }
            #expect(client.text.contains("Content-Length: 1000000\r\n"))
            try await client.send("GET http://127.0.0.1:\(origin.port)/again HTTP/1.1\r\nHost: x\r\n\r\n")
            try await eventually("it again") { client.text.utf8.count > 2_000_000 && client.text.hasSuffix(text) }
            try await eventually("both are recorded") { proxy.recorder.finished.count == 2 }
            #expect(proxy.recorder.finished.allSatisfy { $0.record.sizes.responseBody == 1_000_000 })
            #expect(proxy.recorder.received == 2_000_000)
            #expect(origin.heads.isEmpty)
        }
    }

    @Test("A recorder without room stops the reading, and room lets it go on")
    func backPressure() async throws {
        let text = String(repeating: "0123456789abcdef", count: 1 << 18)
        let file = AnswerFile(descriptor: try Self.open(text), offset: 0, length: Int64(text.utf8.count))
        try await LoopbackProxy.run(rules: Self.rules(file)) { proxy in
            proxy.recorder.fill()
            let client = try await proxy.ask(origin)
            var last = (count: -1, since: ContinuousClock.now)
            try await eventually("the traffic stops") {
                let count = client.text.utf8.count
                if count != last.count { last = (count, .now) }
                return ContinuousClock.now - last.since > .milliseconds(200)
            }
            #expect(last.count < 1 << 20, "\(last.count)")
            proxy.recorder.drain()
            try await eventually("the rest") { client.text.hasSuffix(text) }
        }
    }

    @Test("A file that is shorter than was said cuts the client off, and the exchange says why")
    func short() async throws {
        let file = AnswerFile(descriptor: try Self.open("abc"), offset: 0, length: 10)
        try await LoopbackProxy.run(rules: Self.rules(file)) { proxy in
            let client = try await proxy.ask(origin)
            try await eventually("the client is cut off") { client.isClosed }
            #expect(client.text.hasSuffix("\r\n\r\nabc"))
            try await eventually("it is recorded") { proxy.recorder.finished.count == 1 }
            let record = proxy.recorder.finished.first?.record
            #expect(record?.state == .failed)
            #expect(
                record?.failure?.message == "The file of the answer is shorter than it was: 3 of 10 bytes were there."
            )
        }
    }

    @Test("What is no file fails before the client has more than the head")
    func unreadable() async throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { close(ends[1]) }
        let file = AnswerFile(descriptor: ends[0], offset: 0, length: 10)
        try await LoopbackProxy.run(rules: Self.rules(file)) { proxy in
            let client = try await proxy.ask(origin)
            try await eventually("the client is cut off") { client.isClosed }
            try await eventually("it is recorded") { proxy.recorder.finished.count == 1 }
            #expect(proxy.recorder.finished.first?.record.failure?.message.hasPrefix("The file of the answer") == true)
        }
    }

    @Test("HEAD says the length and reads nothing")
    func head() async throws {
        let file = AnswerFile(descriptor: try Self.open("abc"), offset: 0, length: 3)
        try await LoopbackProxy.run(rules: Self.rules(file)) { proxy in
            let client = try await proxy.connect()
            try await client.send("HEAD http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
            try await client.receives("\r\n\r\n")
            #expect(client.text.contains("Content-Length: 3\r\n"))
            try await eventually("it is recorded") { proxy.recorder.finished.count == 1 }
            #expect(client.text.hasSuffix("\r\n\r\n"))
        }
    }
}
