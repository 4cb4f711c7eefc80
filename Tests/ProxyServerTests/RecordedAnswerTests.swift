import ExchangeCore
import HTTPModel
import NIOCore
import ProxyServer
import Support
import Synchronization
import Testing

@Suite("Answers from a recording, through a real proxy", .timeLimit(.minutes(1)))
struct RecordedAnswerTests {
    /// A recording of one answer, which a test makes.
    private final class Recording: RecordedAnswers {
        let answer: @Sendable (AskedRequest) -> RecordedAnswer?
        private let isThere: Int64
        let reads = Mutex<[(offset: Int64, limit: Int)]>([])
        let bodies = Mutex<[Int64]>([])

        init(isThere: Int64 = .max, _ answer: @escaping @Sendable (AskedRequest) -> RecordedAnswer?) {
            (self.isThere, self.answer) = (isThere, answer)
        }

        func find(_ request: AskedRequest) -> ExchangeID? {
            bodies.withLock { $0.append(request.body.size) }
            return answer(request)?.exchange
        }

        func open(_ exchange: ExchangeID, for request: AskedRequest) throws -> RecordedAnswer {
            guard let answer = answer(request) else { throw ExchangeFailure(.notRecorded, "It is gone.") }
            return answer
        }

        func body(of exchange: ExchangeID, offset: Int64, limit: Int) throws -> ByteBuffer {
            reads.withLock { $0.append((offset, limit)) }
            return ByteBuffer(repeating: 0x61, count: Int(max(0, min(Int64(limit), isThere - offset))))
        }

        func explainRefusal(of authority: String) -> ExchangeFailure { .noConnection(authority) }

        func explainMiss(_ request: AskedRequest) -> ExchangeFailure {
            ExchangeFailure(.notRecorded, "Nothing recorded answers \(request.url).", hint: "The nearest is 7.")
        }
    }

    private static func answer(
        _ fields: [(String, String)] = [],
        size: Int64,
        status: Int = 200,
        _ set: (inout RecordedAnswer) -> Void = { _ in }
    ) -> RecordedAnswer {
        let head = ResponseHead(status: status, fields: fields)
        var answer = RecordedAnswer(exchange: ExchangeID(3), head: head, bodySize: size)
        answer.notes = ["answered by 3"]
        set(&answer)
        return answer
    }

    private func ask(_ proxy: LoopbackProxy, _ request: String) async throws -> LoopbackClient {
        let client = try await proxy.connect()
        try await client.send(request)
        return client
    }

    private let get = "GET http://a.invalid/x HTTP/1.1\r\nHost: a.invalid\r\n\r\n"

    @Test("A body is sent whole in the framing that the head had, without what was meant for the recorded connection")
    func framing() async throws {
        let length = Recording { _ in
            Self.answer([("Content-Length", "200000"), ("Connection", "close, X-Hop"), ("X-Hop", "1")], size: 200_000)
        }
        try await LoopbackProxy.run(answers: length) { proxy in
            let client = try await ask(proxy, get)
            try await eventually("the body") { client.text.hasSuffix(String(repeating: "a", count: 200_000)) }
            #expect(
                client.text.hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n"),
                "\(client.text.prefix(200))"
            )
            #expect(length.reads.withLock { $0.map(\.offset) } == [0, 65_536, 131_072, 196_608])
            try await eventually("it is recorded") { proxy.recorder.finished.count == 1 }
            let (record, messages) = proxy.recorder.finished[0]
            #expect(
                record.state == .complete && record.sizes.responseBody == 200_000 && record.upstreamConnection == nil
            )
            #expect(messages.trace.first?.text == "answered by 3" && record.serverAddress == nil)
        }
        let chunked = Recording { _ in
            // Trailers need chunks in HTTP/1.1, also where the length was announced.
            Self.answer([("Content-Length", "3")], size: 3) { answer in
                answer.beginning = ByteBuffer(string: "abc")
                answer.trailers = FieldSection()
                answer.trailers?.append("X-End", "yes")
            }
        }
        try await LoopbackProxy.run(answers: chunked) { proxy in
            let client = try await ask(proxy, get)
            try await eventually("the end") { client.text.hasSuffix("3\r\nabc\r\n0\r\nX-End: yes\r\n\r\n") }
            #expect(chunked.reads.withLock { $0.isEmpty })
            let head = try await ask(proxy, get.replacing("GET", with: "HEAD"))
            try await eventually("the head") { head.text.hasSuffix("\r\n\r\n") }
            #expect(!head.text.contains("abc"))
        }
    }

    @Test("A request's body gives its memory back once it was compared, while its answer is still to come")
    func memory() async throws {
        let late = Recording { _ in Self.answer([("Content-Length", "1")], size: 1) { $0.delay = .minutes(10) } }
        try await LoopbackProxy.run(answers: late) { proxy in
            let head = get.replacing("GET", with: "POST").replacing(
                "\r\n\r\n",
                with: "\r\nContent-Length: 100000\r\n\r\n"
            )
            let client = try await ask(proxy, head + String(repeating: "a", count: 99_999))
            try await eventually("the body takes memory") { ByteBudget.bodies.bytesInUse >= 99_999 }
            try await client.send("a")
            try await eventually("it was compared") { late.bodies.withLock { $0 } == [100_000] }
            try await eventually("the memory is free") { ByteBudget.bodies.bytesInUse == 0 }
            #expect(!client.text.contains("200") && proxy.recorder.finished.isEmpty)
        }
    }

    @Test("A miss is a text with status 599, whatever the client accepts, and no tool changes it")
    func miss() async throws {
        let stage = ScriptedStage.on(.rewrite) { handler in
            handler.onResponseHead = { head, _ in
                head.status = 200
                return .forward
            }
        }
        let nothing = Recording { _ in nil }
        try await LoopbackProxy.run(rules: ProxyRules(chain: StageChain([stage])), answers: nothing) { proxy in
            let client = try await ask(proxy, get.replacing("\r\n\r\n", with: "\r\nAccept: text/html\r\n\r\n"))
            let text =
                "Sluice: Not in the recording\n\nNothing recorded answers http://a.invalid/x. The nearest is 7.\n"
            try await eventually("the text") { client.text.hasSuffix("\r\n\r\n" + text) }
            #expect(
                client.text.hasPrefix(
                    "HTTP/1.1 599 \r\nContent-Type: text/plain; charset=utf-8\r\nX-Sluice-Replay: miss\r\n"
                ),
                "\(client.text)"
            )
            try await eventually("it is recorded") { proxy.recorder.finished.count == 1 }
            #expect(proxy.recorder.finished[0].record.failure?.code == .notRecorded)
        }
    }

    @Test("A body that turns out to be shorter cuts the client off")
    func short() async throws {
        let short = Recording(isThere: 70_000) { _ in Self.answer([("Content-Length", "90000")], size: 90_000) }
        try await LoopbackProxy.run(answers: short) { proxy in
            let client = try await ask(proxy, get)
            try await eventually("it is recorded") { proxy.recorder.finished.count == 1 }
            let failure = proxy.recorder.finished[0].record.failure
            #expect(failure?.message == "The recorded body ends after 70000 of 90000 bytes.")
            #expect(client.text.count < 90_000)
        }
    }

    @Test("A request is taken whole, also one that waits for 100 (Continue), before its answer is looked up")
    func requestBody() async throws {
        let recording = Recording { request in request.body.size == 5 ? Self.answer(size: 0, status: 204) : nil }
        try await LoopbackProxy.run(answers: recording) { proxy in
            let client = try await proxy.connect()
            try await client.send(
                "POST http://a.invalid/x HTTP/1.1\r\nHost: a.invalid\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
            )
            try await eventually("100") { client.text.hasPrefix("HTTP/1.1 100 ") }
            #expect(recording.bodies.withLock { $0.isEmpty })
            try await client.send("12345")
            try await eventually("the answer") { client.text.contains("HTTP/1.1 204 ") }
            #expect(recording.bodies.withLock { $0 } == [5])
        }
    }

    @Test("Parts come at their times, the head first")
    func times() async throws {
        let slow = Recording { _ in
            Self.answer([("Content-Length", "6")], size: 6) { answer in
                answer.delay = .milliseconds(50)
                answer.arrivals = [(0, .zero), (2, .milliseconds(100)), (4, .milliseconds(150))]
            }
        }
        try await LoopbackProxy.run(answers: slow) { proxy in
            let began = ContinuousClock.now
            let client = try await ask(proxy, get)
            try await eventually("all") { client.text.hasSuffix("\r\n\r\naaaaaa") }
            #expect(ContinuousClock.now - began >= .milliseconds(195))
            #expect(slow.reads.withLock { $0.map(\.limit) } == [2, 2, 2])
        }
    }
}
