import ExchangeCore
import HTTPModel
import NIOCore
import NIOPosix
import ProxyServer
import Support
import Testing
import Wire

@Suite("What comes before a request, and what cannot be read", .timeLimit(.minutes(1)))
struct SkippedBytesTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private static let longMethod = String(repeating: "A", count: 33)

    @Test(
        "What servers skip or accept in a request line is read in a tunnel, and is not sent on",
        arguments: [
            "\nGET /x HTTP/1.1", "\rGET /x HTTP/1.1", "\r\n\r\nGET /x HTTP/1.1", " \tGET /x HTTP/1.1",
            "GET  /x HTTP/1.1", "GET\t/x\tHTTP/1.1 ", "\(longMethod) /x HTTP/1.1",
        ]
    )
    func requests(line: String) async throws {
        let origin = try await LoopbackOrigin { _ in Self.answer }
        try await LoopbackProxy.run { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await client.tunnel(to: origin.port)
            try await client.send("\(line)\r\nHost: a.test:\(origin.port)\r\n\r\n")
            try await client.receives("ok")
            let method = line.contains("GET") ? "GET" : Self.longMethod
            #expect(origin.heads == ["\(method) /x HTTP/1.1\r\nHost: a.test:\(origin.port)\r\n\r\n"])
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let (record, messages) = try #require(proxy.recorder.finished.first)
            #expect(record.kind == .http && record.url.path == "/x", "\(record)")
            let isNoted = messages.trace.contains { $0.text.contains("white space") }
            #expect(isNoted == (method == "GET"), "\(messages.trace)")
        }
    }

    @Test(
        "A TLS hello is read behind an empty line, and in a tunnel whose server was taken to speak first",
        arguments: [60_000, 1]
    )
    func tls(serverFirst: Int64) async throws {
        let authority = try CertificateAuthority.generate(label: "origin")
        let origin = try await EndingOrigin(answer: Self.answer, end: .clean, authority: authority)
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.serverFirst = .milliseconds(serverFirst)
        try await LoopbackProxy.run(timeouts: timeouts) { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await client.tunnel(to: origin.port)
            if serverFirst > 1 {
                try await client.send("\r\n")
            } else {
                try await eventually("the server is connected to") {
                    proxy.recorder.connections.contains { $0.leg == .upstream }
                }
            }
            try await client.beginTLS([], host: "127.0.0.1")
            // Inside TLS without ALPN, too.
            try await client.send("\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n")
            try await client.receives("ok")
            #expect(origin.log.text == "GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
        }
    }

    @Test("HTTP/2 is read behind an empty line; blanks around its values are not sent on, and the trace says so")
    func http2() async throws {
        let origin = try await LoopbackOrigin { _ in Self.answer }
        try await LoopbackProxy.run { proxy in
            func literal(_ name: String, _ value: String) -> [UInt8] {
                [0, UInt8(name.utf8.count)] + name.utf8 + [UInt8(value.utf8.count)] + value.utf8
            }
            let fields = [
                (":method", "GET"), (":scheme", "http"), (":path", "/x"), (":authority", "127.0.0.1:\(origin.port)"),
                ("user-agent", "App/1.0 (x) "),
            ]
            let block = fields.flatMap { literal($0.0, $0.1) }
            let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
            let head: [UInt8] = [0, 0, UInt8(block.count), 1, 5, 0, 0, 0, 1] + block
            let client = try await EndingClient(port: proxy.port)
            try await client.send(Array("\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + settings + head)
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let messages = try #require(proxy.recorder.finished.first?.messages)
            #expect(messages.trace.contains { $0.text.contains("White space at an end of a field value") })
            let received = messages.requestHead.map { String(buffer: $0) } ?? ""
            #expect(received.contains("\r\nuser-agent: App/1.0 (x) \r\n"), "\(received)")
            let sent = messages.requestHeadSent.map { String(buffer: $0) } ?? ""
            #expect(sent.contains("\r\nuser-agent: App/1.0 (x)\r\n"), "\(sent)")
        }
    }

    // MARK: - What cannot be read

    /// Has a rule for requests to one address.
    private struct OneRule: StagePreselection {
        func candidates(for url: RequestURL) -> UInt64 { 0 }
        func reader(of url: RequestURL) -> Int? { url.host == "127.0.0.1" && url.scheme == "http" ? 0 : nil }
    }

    private static let rules = ProxyRules(
        chain: StageChain([ScriptedStage.on(.blockList) { _ in }], preselection: OneRule())
    )

    @Test(
        "Bytes that cannot be read are refused where a rule is for the host, also once its server was heard",
        arguments: [60_000, 1],
        ["\u{0}\u{1}binary", "GET /secret\r\n", "\u{80}\u{2E}\u{1}\u{3}\u{3}"]
    )
    func refused(serverFirst: Int64, bytes: String) async throws {
        let origin = try await EndingOrigin(awaits: "never", answer: "", end: .clean)
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.serverFirst = .milliseconds(serverFirst)
        try await LoopbackProxy.run(rules: Self.rules, timeouts: timeouts) { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await client.tunnel(to: origin.port)
            if serverFirst == 1 {
                try await eventually("the server is connected to") {
                    proxy.recorder.connections.contains { $0.leg == .upstream }
                }
            }
            try await client.send(bytes)
            try await client.receives("HTTP/1.1 400 ")
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let record = try #require(proxy.recorder.finished.first?.record)
            #expect(record.kind == .malformed && record.failure?.code == .badRequest, "\(record)")
            let hint = record.failure?.hint ?? ""
            #expect(hint.contains("a rule of 'block' must read them"), "\(hint)")
            #expect(hint.contains("127.0.0.1:\(origin.port) under 'except' of 'intercept'"), "\(hint)")
            #expect(origin.log.text.isEmpty)
        }
    }

    @Test(
        "They pass to other hosts, and so does SSH to any",
        arguments: [("localhost", "\u{0}binary"), ("127.0.0.1", "SSH-2.0-x y\r\n")]
    )
    func passed(host: String, bytes: String) async throws {
        let origin = try await EndingOrigin(awaits: bytes, answer: "hello", end: .clean)
        try await LoopbackProxy.run(rules: Self.rules) { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await client.send("CONNECT \(host):\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
            try await client.receives("\r\n\r\n")
            try await client.send(bytes)
            try await client.receives("hello")
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            #expect(proxy.recorder.finished.first?.record.kind == .tunnel)
        }
    }

    private final class Greeter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        func channelActive(context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "220 ready\r\n")), promise: nil)
        }
    }

    @Test("They pass where the server has spoken first, whatever rule there is")
    func serverFirst() async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Greeter()) }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        let port = try #require(channel.localAddress?.port)
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.serverFirst = .milliseconds(1)
        try await LoopbackProxy.run(rules: Self.rules, timeouts: timeouts) { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await client.tunnel(to: port)
            try await client.receives("220 ready")
            try await client.send("EHLO a\r\n")
            try await client.end(.clean)
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let record = try #require(proxy.recorder.finished.first?.record)
            #expect(record.kind == .tunnel && record.sizes.requestBody == 8, "\(record)")
        }
        try await channel.close()
    }

    @Test("Where a rule is for the host, HTTP under another name by ALPN is read, too")
    func http1ByALPN() async throws {
        let authority = try CertificateAuthority.generate(label: "origin")
        let origin = try await EndingOrigin(answer: Self.answer, end: .clean, authority: authority)
        try await LoopbackProxy.run(rules: Self.rules) { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await client.tunnel(to: origin.port)
            try await client.beginTLS(["http/1.0"], host: "127.0.0.1")
            try await client.send("GET /x HTTP/1.0\r\nHost: a\r\n\r\n")
            try await client.receives("ok")
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            #expect(proxy.recorder.finished.first?.record.kind == .http)
        }
    }

    // MARK: - Targets

    @Test("An IPv6 address without brackets ends at the last colon of CONNECT's target, and the trace says so")
    func bareAddress() async throws {
        let rules = ProxyRules(decrypts: { host, _, _ in host != "::1" })
        try await LoopbackProxy.run(rules: rules) { proxy in
            let client = try await EndingClient(port: proxy.port)
            try await client.send("CONNECT ::1:9 HTTP/1.1\r\nHost: ::1:9\r\n\r\n")
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let (record, messages) = try #require(proxy.recorder.finished.first)
            #expect(record.url.host == "::1" && record.url.port == 9, "\(record)")
            #expect(messages.trace.contains { $0.text.contains("without brackets") }, "\(messages.trace)")
        }
    }
}
