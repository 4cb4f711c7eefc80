import HTTPModel
import NIOCore
import Support
import Testing
import Wire

@Suite("Upgrades, and responses with odd fields", .timeLimit(.minutes(1)))
struct UpgradeTests {
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="

    /// `nil` for no field.
    private static let accepted: [(String?, Bool)] = [
        ("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", true), ("s3pPLMBiTxaQ9kYGzzhZRbK+xOA=", false), ("", false), (nil, false),
    ]

    @Test("A WebSocket is agreed on only by the answer to the client's key", arguments: accepted)
    func accept(value: String?, isRight: Bool) async throws {
        let field = value.map { "Sec-WebSocket-Accept: \($0)\r\n" } ?? ""
        let origin = try await LoopbackOrigin { _ in
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\(field)\r\n"
        }
        try await LoopbackProxy.run { proxy in
            let client = try await proxy.connect()
            try await client.send(
                "GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \(Self.key)\r\n\r\n"
            )
            try await client.receives(isRight ? "HTTP/1.1 101 " : "HTTP/1.1 502 ")
            guard !isRight else { return }
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let record = try #require(proxy.recorder.finished.first?.record)
            #expect(record.failure?.code == .badResponse && record.kind == .http, "\(record)")
            #expect(record.failure?.message.contains("Sec-WebSocket-Accept") == true)
        }
    }

    @Test("What a client sends behind an extended CONNECT reaches the server once it has agreed")
    func earlyData() async throws {
        let origin = try await LoopbackOrigin { head in
            head.hasPrefix("GET ")
                ? "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n" : "echoed"
        }
        try await LoopbackProxy.run { proxy in
            let client = try await EndingStream(port: proxy.port)
            let head = RequestHead(method: "CONNECT", target: "/up", fields: [("Host", "127.0.0.1:\(origin.port)")])
            try await client.request(head, connectProtocol: "echo", body: "early\r\n\r\n")
            try await client.receives("200 echoed")
            #expect(origin.heads.last == "early\r\n\r\n", "\(origin.heads)")
        }
    }

    @Test("It goes nowhere where the server refuses, and the stream ends")
    func refusedEarlyData() async throws {
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno" }
        try await LoopbackProxy.run { proxy in
            let client = try await EndingStream(port: proxy.port)
            let head = RequestHead(method: "CONNECT", target: "/up", fields: [("Host", "127.0.0.1:\(origin.port)")])
            try await client.request(head, connectProtocol: "echo", body: "early\r\n\r\n")
            try await client.receives("403 no")
            try await eventually("the stream ends") { client.log.end == .end }
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            #expect(!origin.heads.contains { $0.contains("early") }, "\(origin.heads)")
        }
    }

    @Test(
        "Odd fields of a response pass over HTTP/1; over HTTP/2 they are left out, and the trace says so",
        arguments: [false, true]
    )
    func oddFields(isHTTP2: Bool) async throws {
        let odd = "X: a\u{1}b\r\nY Z: c\r\n"
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\n\(odd)Content-Length: 2\r\nW: d\te\r\n\r\nok" }
        try await LoopbackProxy.run { proxy in
            if isHTTP2 {
                let client = try await EndingStream(port: proxy.port)
                let head = RequestHead(method: "GET", target: "/", fields: [("Host", "127.0.0.1:\(origin.port)")])
                try await client.request(head, scheme: "http", isEnd: true)
                try await client.receives("200 ok")
            } else {
                let client = try await proxy.ask(origin)
                try await client.receives("ok")
                #expect(client.text.contains("\r\n\(odd)"), "\(client.text)")
            }
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let messages = try #require(proxy.recorder.finished.first?.messages)
            #expect(messages.trace.contains { $0.text.contains("control character") })
            #expect(messages.trace.contains { $0.text.contains("field name") })
            guard isHTTP2 else { return }
            let trace = messages.trace.map(\.text)
            #expect(trace.contains { $0.hasSuffix("not sent to the client: X, Y Z") }, "\(trace)")
            let sent = messages.responseHeadSent.map { String(buffer: $0) }
            #expect(sent == "HTTP/2 200\r\ncontent-length: 2\r\nw: d\te\r\n\r\n", "\(sent ?? "")")
        }
    }
}
