import ExchangeCore
import HTTPModel
import NIOCore
import ProxyServer
import Support
import Testing
import Wire

@Suite("Requests on connections that a server is just closing", .timeLimit(.minutes(2)))
struct RepeatedRequestTests {
    /// How the server ends a connection as a second request comes on it.
    enum End: CaseIterable, Sendable {
        case fin, reset, halfHead
    }

    /// A server whose connections each answer one request.
    private func makeServer(_ end: End = .fin) async throws -> ConnectionOrigin {
        try await ConnectionOrigin {
            var hasAnswered = false
            return { head in
                defer { hasAnswered = true }
                let body = head.hasPrefix("HEAD ") ? "" : "ok!"
                guard hasAnswered else { return .answer("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\(body)") }
                return switch end {
                case .fin: .end("", resets: false)
                case .reset: .end("", resets: true)
                case .halfHead: .end("HTTP/1.1 2", resets: false)
                }
            }
        }
    }

    private func connect(_ proxy: LoopbackProxy, _ server: Int, http2: Bool) async throws -> AskingClient {
        let host = "127.0.0.1:\(server)"
        if http2 { return AskingClient(try await EndingStream(port: proxy.port), host: host) }
        return AskingClient(try await EndingClient(port: proxy.port), prefix: "http://\(host)", host: host)
    }

    @Test("The first request of a client that may not be repeated gets a fresh connection", arguments: [false, true])
    func first(http2: Bool) async throws {
        let server = try await makeServer()
        try await LoopbackProxy.run(loops: 1) { proxy in
            for (index, method) in ["GET", "POST", "POST", "PATCH", "LOCK"].enumerated() {
                let client = try await connect(proxy, server.port, http2: http2)
                #expect(try await client.ask(method, "/\(index)", body: index == 0 ? "" : "x").hasSuffix("ok!"))
            }
            #expect(server.made == 5)
            try await eventually("none is kept beside the one in use") { server.open == 1 }
        }
        #expect(server.heads.count == 5)
    }

    @Test(
        "A later one that may be is sent twice, and the client sees nothing of it",
        arguments: ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "QUERY", "PROPFIND", "REPORT", "SEARCH"],
        End.allCases
    )
    func idempotent(method: String, end: End) async throws {
        let server = try await makeServer(end)
        try await LoopbackProxy.run(loops: 1) { proxy in
            let client = try await connect(proxy, server.port, http2: false)
            #expect(try await client.ask().hasSuffix("ok!"))
            try await client.send(method, "/2", body: ["PUT", "QUERY", "REPORT"].contains(method) ? "body" : "")
            try await eventually("it is answered: \(client.log.text)") { proxy.recorder.finished.count == 2 }
            let last = try #require(proxy.recorder.finished.last?.record)
            #expect(last.status == 200 && last.flags.contains(.retried), "\(last)")
            #expect(client.log.end == nil)
        }
    }

    @Test(
        "A later one that may not be ends its client's connection or stream without an answer",
        arguments: ["POST", "PATCH", "LOCK"],
        End.allCases
    )
    func unanswered(method: String, end: End) async throws {
        for http2 in [false, true] {
            let server = try await makeServer(end)
            try await LoopbackProxy.run(loops: 1) { proxy in
                let client = try await connect(proxy, server.port, http2: http2)
                #expect(try await client.ask().hasSuffix("ok!"))
                try await client.send(method, "/2", body: "x")
                try await eventually("it is over") { proxy.recorder.finished.count == 2 }
                let (record, messages) = try #require(proxy.recorder.finished.last)
                #expect(record.failure?.code == .reset && record.status == 0, "\(record)")
                #expect(messages.trace.contains { $0.text.contains("the client may repeat it") }, "\(messages.trace)")
                let expected: SeenEnd = http2 ? .streamReset(.internalError) : .end
                try await eventually("the client sees it") { client.log.lastEnd == expected }
                #expect(!client.log.text.contains("502"))
                #expect(server.heads.count { $0.hasPrefix(method) } == 1)
            }
        }
    }

    @Test("On a fresh connection the client is told why there is no answer")
    func fresh() async throws {
        let server = try await ConnectionOrigin { { _ in .end("", resets: false) } }
        try await LoopbackProxy.run(loops: 1) { proxy in
            for method in ["GET", "POST"] {
                let client = try await connect(proxy, server.port, http2: false)
                try await client.send(method)
                try await client.receives502()
            }
        }
    }

    @Test("A server of HTTP/2 whose idle connections are gone is asked on a fresh one", arguments: ["GET", "POST"])
    func http2Server(method: String) async throws {
        let server = try await HTTP2Origin(requests: 1) { _ in 3 }
        try await LoopbackProxy.run(loops: 1) { proxy in
            for count in 1...3 {
                let client = try await connect(proxy, server.port, http2: true)
                try await client.send(method, "/\(count)", body: method == "POST" ? "x" : "")
                try await eventually("it is over") { proxy.recorder.finished.count == count }
            }
            #expect(proxy.recorder.finished.map(\.record.status) == [200, 200, 200])
            let client = try await connect(proxy, server.port, http2: true)
            try await client.send("GET", "/4")
            try await eventually("it is over") { proxy.recorder.finished.count == 4 }
            try await client.send(method, "/5", body: method == "POST" ? "x" : "")
            try await eventually("it is over") { proxy.recorder.finished.count == 5 }
            #expect(proxy.recorder.finished.last?.record.status == (method == "GET" ? 200 : 0))
            guard method == "POST" else { return }
            try await eventually("the stream is reset") { client.log.lastEnd == .streamReset(.internalError) }
        }
    }

    @Test("A server that wants no more of a request than it has answered stops the client", arguments: [false, true])
    func stopped(http2: Bool) async throws {
        let authority = try CertificateAuthority.generate(label: "origin")
        let server = try await HTTP2Origin(authority: authority, stopsRequests: true) { _ in 3 }
        let host = "127.0.0.1:\(server.port)"
        try await LoopbackProxy.run(loops: 1) { proxy in
            if http2 {
                let client = try await EndingStream(port: proxy.port)
                let fields = [("Host", host), ("Content-Length", "1000000")]
                try await client.request(
                    RequestHead(method: "PUT", target: "/", fields: fields),
                    scheme: "https",
                    isEnd: false
                )
                try await eventually("the stream is reset") { client.log.lastEnd == .streamReset(.noError) }
                #expect(client.log.text == "200 xxx" && client.log.end == .end)
            } else {
                let client = try await EndingClient(port: proxy.port)
                try await client.send("PUT https://\(host)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
                try await eventually("the connection is closed") { client.log.end == .end }
                #expect(client.log.text.hasPrefix("HTTP/1.1 200 ") && client.log.text.contains("xxx"))
            }
            try await eventually("it is over") { proxy.recorder.finished.count == 1 }
            #expect(proxy.recorder.finished.first?.record.state == .complete)
        }
    }
}

extension AskingClient {
    fileprivate func receives502() async throws {
        try await eventually("a page says why: \(log.text)") { log.text.hasPrefix("HTTP/1.1 502 ") }
    }
}
