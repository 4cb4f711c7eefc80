import ExchangeCore
import HTTPModel
import NIOCore
import ProxyServer
import Support
import Testing
import Wire

@Suite("How messages end that end with their connection")
struct MessageEndTests {
    enum ClientKind: CaseIterable, Sendable {
        case plain, secure, http2
    }

    /// Bodies by how they say where they end.
    enum Body: CaseIterable, Sendable {
        case untilClose, lengthMet, lengthCut, chunksCut

        var answer: String {
            switch self {
            case .untilClose: "HTTP/1.1 200 OK\r\n\r\nbody"
            case .lengthMet: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody"
            case .lengthCut: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody"
            case .chunksCut: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n"
            }
        }

        /// What a client is to see and the record to say, where such a body was begun and the connection then ended so.
        func expected(_ client: ClientKind, isSecureServer: Bool, _ end: PeerEnd) -> Expected {
            let lacksNotify = isSecureServer && end == .withoutCloseNotify
            switch (self, end, client) {
            case (.lengthMet, _, _): return Expected(.end, isComplete: true)
            case (_, .reset, .plain), (_, .reset, .secure): return Expected(.reset, isComplete: false)
            case (.untilClose, .clean, _), (.untilClose, .withoutCloseNotify, _):
                let seen = lacksNotify && client == .secure ? SeenEnd.withoutCloseNotify : .end
                return Expected(seen, isComplete: true, isFlagged: lacksNotify)
            case (_, _, .plain): return Expected(.end, isComplete: false)
            case (_, _, .secure): return Expected(.withoutCloseNotify, isComplete: false)
            case (_, _, .http2): return Expected(.streamReset(.internalError), isComplete: false)
            }
        }
    }

    struct Expected {
        let seen: SeenEnd
        let isComplete: Bool
        let isFlagged: Bool

        init(_ seen: SeenEnd, isComplete: Bool, isFlagged: Bool = false) {
            (self.seen, self.isComplete, self.isFlagged) = (seen, isComplete, isFlagged)
        }
    }

    private static let authority = Result { try CertificateAuthority.generate(label: "origin") }

    /// Sends what a client inside TLS asks for to a server without.
    private static let toPlain = ScriptedStage.on(.mapRemote) { handler in
        handler.onRequestHead = { _, exchange in
            exchange.destination.scheme = "http"
            return .forward
        }
    }

    /// Asks for a response, and says how its end looked.
    private func ask(
        _ proxy: LoopbackProxy,
        _ kind: ClientKind,
        _ origin: EndingOrigin,
        isSecure: Bool
    ) async throws -> PeerLog {
        let log: PeerLog
        switch kind {
        case .http2:
            let client = try await EndingStream(port: proxy.port)
            log = client.log
            let head = RequestHead(method: "GET", target: "/", fields: [("Host", "127.0.0.1:\(origin.port)")])
            try await client.request(head, scheme: isSecure ? "https" : "http", isEnd: true)
            try await eventually("the response ends") { log.end != nil }
        case .plain, .secure:
            let client = try await EndingClient(port: proxy.port)
            log = client.log
            var target = "\(isSecure ? "https" : "http")://127.0.0.1:\(origin.port)/"
            if kind == .secure {
                try await client.tunnel(to: origin.port, protocols: ["http/1.1"])
                target = "/"
            }
            try await client.send(
                "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\nConnection: close\r\n\r\n"
            )
            try await eventually("the response ends") { log.end != nil }
        }
        return log
    }

    @Test("A chunk of 2 MiB arrives whole, where the server ends TLS right behind it", arguments: ClientKind.allCases)
    func largeChunk(client: ClientKind) async throws {
        let chunk = String(repeating: "x", count: 2 << 20)
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n\(chunk)\r\n0\r\n\r\n"
        let authority = try MessageEndTests.authority.get()
        let origin = try await EndingOrigin(answer: answer, end: .clean, authority: authority)
        try await LoopbackProxy.run { proxy in
            let log = try await ask(proxy, client, origin, isSecure: true)
            #expect(log.end == .end)
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let record = try #require(proxy.recorder.finished.first?.record)
            #expect(record.state == .complete && record.sizes.responseBody == 2 << 20, "\(record)")
        }
    }

    @Test(
        "A reset, and the lack of close_notify, reach the client as far as its leg can say so",
        arguments: ClientKind.allCases,
        [false, true]
    )
    func responses(client: ClientKind, isSecureServer: Bool) async throws {
        let authority = isSecureServer ? try MessageEndTests.authority.get() : nil
        let chain = client == .secure && !isSecureServer ? StageChain([MessageEndTests.toPlain]) : StageChain()
        try await LoopbackProxy.run(rules: ProxyRules(chain: chain)) { proxy in
            var count = 0
            for body in Body.allCases {
                for end in PeerEnd.allCases {
                    let place: Comment = "\(body) \(end)"
                    let origin = try await EndingOrigin(answer: body.answer, end: end, authority: authority)
                    let log = try await ask(proxy, client, origin, isSecure: isSecureServer)
                    let expected = body.expected(client, isSecureServer: isSecureServer, end)
                    #expect(log.end == expected.seen, place)
                    // What came before a reset is the client's too.
                    #expect(log.text.contains("body"), "\(place): \(log.text)")
                    count += 1
                    try await eventually("the exchange is over") { proxy.recorder.finished.count == count }
                    let record = try #require(proxy.recorder.finished.last?.record)
                    #expect(record.flags.contains(.endedWithoutCloseNotify) == expected.isFlagged, place)
                    #expect(record.state == (expected.isComplete ? .complete : .failed), place)
                    #expect(record.failure?.code == (expected.isComplete ? nil : .reset), place)
                    let says = record.failure?.message.contains("reset the connection")
                    #expect(
                        says == (expected.isComplete ? nil : end == .reset),
                        "\(place): \(record.failure?.message ?? "")"
                    )
                }
            }
        }
    }

    @Test("A tunnel's half ends as the other side ended it", arguments: [false, true], PeerEnd.allCases)
    func tunnels(isSecure: Bool, end: PeerEnd) async throws {
        let authority = isSecure ? try MessageEndTests.authority.get() : nil
        let expected: SeenEnd =
            end == .reset ? .reset : isSecure && end == .withoutCloseNotify ? .withoutCloseNotify : .end
        let isCut = end == .reset
        try await LoopbackProxy.run { proxy in
            // The server ends.
            let origin = try await EndingOrigin(awaits: "\0ask", answer: "\0answer", end: end, authority: authority)
            let client = try await EndingClient(port: proxy.port)
            try await client.tunnel(to: origin.port, protocols: isSecure ? [] : nil)
            try await client.send("\0ask")
            try await eventually("the client sees an end") { client.log.end != nil }
            #expect(client.log.end == expected)
            #expect(client.log.text.contains("\0answer"))
            try await eventually("the tunnel is over") { proxy.recorder.finished.count == 1 }
            // The client ends.
            let patient = try await EndingOrigin(awaits: "never", answer: "", end: .clean, authority: authority)
            let leaving = try await EndingClient(port: proxy.port)
            try await leaving.tunnel(to: patient.port, protocols: isSecure ? [] : nil)
            try await leaving.send("\0upload")
            try await eventually("the bytes arrive") { patient.log.text == "\0upload" }
            try await leaving.end(end)
            try await eventually("the server sees an end") { patient.log.end != nil }
            #expect(patient.log.end == expected)
            try await eventually("the tunnel is over") { proxy.recorder.finished.count == 2 }
            let records = proxy.recorder.finished.map(\.record)
            #expect(records.map(\.state) == (isCut ? [.failed, .failed] : [.complete, .complete]))
            #expect(records.map { $0.failure?.code } == (isCut ? [.reset, .clientGone] : [nil, nil]))
            #expect(records[0].flags.contains(.endedWithoutCloseNotify) == (expected == .withoutCloseNotify))
        }
    }

    @Test("Inside CONNECT on HTTP/2 a reset is one of the stream, both ways", arguments: [PeerEnd.clean, .reset])
    func insideHTTP2(end: PeerEnd) async throws {
        try await LoopbackProxy.run { proxy in
            let origin = try await EndingOrigin(awaits: "\0ask", answer: "\0answer", end: end)
            let client = try await EndingStream(port: proxy.port)
            let head = RequestHead(method: "CONNECT", target: "127.0.0.1:\(origin.port)")
            try await client.request(head, scheme: "", isEnd: false)
            try await client.receives("200 ")
            try await client.send("\0ask")
            try await eventually("the client sees an end") { client.log.end != nil }
            #expect(client.log.end == (end == .reset ? .streamReset(.connectError) : .end))
            #expect(client.log.text == "200 \0answer")
            guard end == .reset else { return }
            let patient = try await EndingOrigin(awaits: "never", answer: "", end: .clean)
            let leaving = try await EndingStream(port: proxy.port)
            try await leaving.request(
                RequestHead(method: "CONNECT", target: "127.0.0.1:\(patient.port)"),
                scheme: "",
                isEnd: false
            )
            try await leaving.receives("200 ")
            try await leaving.send("\0upload")
            try await eventually("the bytes arrive") { patient.log.text == "\0upload" }
            try await leaving.reset(.connectError)
            try await eventually("the server sees an end") { patient.log.end != nil }
            #expect(patient.log.end == .reset)
        }
    }

    @Test("A slow client is sent what came before the reset, then the reset")
    func slowClient() async throws {
        try await LoopbackProxy.run { proxy in
            let body = String(repeating: "x", count: 4 << 20)
            let origin = try await EndingOrigin(answer: "HTTP/1.1 200 OK\r\n\r\n" + body, end: .reset)
            let client = try await EndingClient(port: proxy.port, reads: false)
            try await client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
            try await eventually("the exchange is over") { proxy.recorder.finished.count == 1 }
            #expect(proxy.recorder.finished.first?.record.state == .failed)
            let received = proxy.recorder.received
            #expect(received > 0)
            try await client.readOn()
            try await eventually("the client sees an end") { client.log.end != nil }
            #expect(client.log.end == .reset)
            #expect(client.log.text.utf8.count { $0 == UInt8(ascii: "x") } == received)
        }
    }
}
