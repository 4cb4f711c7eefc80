import HTTPModel
import NIOCore
import Support
import Testing

@Suite("What is no request behind one that is", .timeLimit(.minutes(1)))
struct PipelinedFaultTests {
    private static let faults = [
        ("GET /b HTTP/1.1\r\nHost: h.example\r\nFoo : abc\r\n\r\n", 400),
        ("no request at all\r\n\r\n", 400),
        ("GET /\(String(repeating: "a", count: 70_000)) HTTP/1.1\r\nHost: h.example\r\n\r\n", 414),
    ]

    /// Sends a request, and behind it what is none; returns the record of that.
    private func record(
        _ parts: [String],
        status: Int,
        then end: PeerEnd? = nil
    ) async throws -> (record: ExchangeRecord, messages: ExchangeMessages) {
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
        var found: (record: ExchangeRecord, messages: ExchangeMessages)?
        try await LoopbackProxy.run { proxy in
            let client = try await EndingClient(port: proxy.port)
            let request = "GET http://127.0.0.1:\(origin.port)/a HTTP/1.1\r\nHost: x\r\n\r\n"
            try await client.send(request + parts[0])
            try await client.receives("ok")
            for part in parts.dropFirst() { try await client.send(part) }
            if let end { try await client.end(end) } else { try await client.receives("HTTP/1.1 \(status) ") }
            try await eventually("both are recorded") { proxy.recorder.finished.count == 2 }
            found = proxy.recorder.finished.last
        }
        return try #require(found)
    }

    @Test("It is recorded with its bytes, read with that request or cut anywhere", arguments: faults, [nil, 3, 40])
    func recorded(fault: (text: String, status: Int), cut: Int?) async throws {
        var parts = [fault.text]
        if let cut, cut < fault.text.utf8.count {
            parts = [String(fault.text.prefix(cut)), String(fault.text.dropFirst(cut))]
        }
        let (record, messages) = try await record(parts, status: fault.status)
        #expect(record.kind == .malformed && record.status == fault.status, "\(record)")
        // Of what is too long less may have been read.
        let head = String(buffer: try #require(messages.requestHead))
        #expect(fault.status == 414 ? fault.text.hasPrefix(head) && head.utf8.count > 1_000 : head == fault.text)
        #expect(record.sizes.requestHead == Int64(head.utf8.count))
    }

    @Test("Its URL has the host as the name system has it, in whatever letters the client wrote it")
    func letters() async throws {
        let text = "GET /b HTTP/1.1\r\nHost: \u{430}pple.example:8080\r\nFoo : abc\r\n\r\n"
        let (record, messages) = try await record([text], status: 400)
        #expect(record.url.host == "xn--pple-43d.example" && record.url.port == 8080, "\(record.url)")
        #expect(messages.requestHead.map { String(buffer: $0) } == text)
    }

    @Test("So is a head that its client does not end")
    func cutHead() async throws {
        let (record, messages) = try await record(["GET /b HTTP/1.1\r\nHo"], status: 400, then: .clean)
        #expect(record.kind == .malformed, "\(record)")
        #expect(messages.requestHead.map { String(buffer: $0) } == "GET /b HTTP/1.1\r\nHo")
    }
}
