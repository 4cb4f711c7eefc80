import Foundation
import HTTPModel
import NIOCore
import NIOEmbedded
import ProxyServer
import Testing
import Wire

@Suite("TLS in a channel")
struct TLSChannelHandlerTests {
    /// What reached the end of a pipeline.
    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        var text = ""
        var details: TLSDetails?
        var endedCleanly: Bool?
        var errors: [any Error] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { text += String(buffer: unwrapInboundIn(data)) }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if let completed = event as? TLSHandshakeCompleted { details = completed.details }
            if let closed = event as? TLSInputClosed { endedCleanly = closed.cleanly }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { errors.append(error) }
    }

    /// One end: a channel, and what its application saw.
    private struct End {
        let channel = EmbeddedChannel()
        let seen = Recorder()

        init(_ session: TLSSession, early: ByteBuffer? = nil) throws {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(TLSChannelHandler(session: session, early: early))
            try pipeline.addHandler(seen)
        }

        func connect() throws { try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait() }

        /// The next bytes for the other end's socket.
        func output() throws -> ByteBuffer? { try channel.readOutbound(as: ByteBuffer.self) }
    }

    private let server: TLSSession
    private let client: TLSSession

    init() throws {
        let authority = try CertificateAuthority.generate(label: "test")
        let mint = try CertificateMint(authority: authority, leafKey: LeafKey())
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("sluice-\(UUID().uuidString).pem")
        try Data(authority.export(.pem)).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let trust = TLSTrust(includesSystem: false, extraFiles: [file.path])
        try trust.load()
        server = try TLSServerContext().makeSession(
            certificate: try mint.certificate(for: "a.example")
        )
        client = try TLSClientContext(trust: trust).makeSession(host: "a.example")
    }

    /// Moves bytes to and fro until both ends are quiet.
    private func pump(_ left: End, _ right: End) throws {
        var moved = true
        while moved {
            moved = false
            for (from, to) in [(left, right), (right, left)] {
                while let bytes = try from.output() {
                    moved = true
                    if to.channel.isActive { try to.channel.writeInbound(bytes) }
                }
            }
        }
    }

    private func connected() throws -> (client: End, server: End) {
        let ends = (client: try End(client), server: try End(server))
        try ends.server.connect()
        try ends.client.connect()
        try pump(ends.client, ends.server)
        return ends
    }

    private func finish(_ ends: (client: End, server: End)) {
        _ = try? ends.client.channel.finish(acceptAlreadyClosed: true)
        _ = try? ends.server.channel.finish(acceptAlreadyClosed: true)
    }

    @Test("The handshake is told to both sides, and text goes both ways")
    func handshake() throws {
        let ends = try connected()
        defer { finish(ends) }
        #expect(ends.server.seen.details?.serverName == "a.example")
        #expect(ends.client.seen.details?.applicationProtocol == "http/1.1")
        #expect(ends.client.seen.details?.peerCertificates.count ?? 0 > 0)
        try ends.client.channel.writeOutbound(ByteBuffer(string: "question"))
        try pump(ends.client, ends.server)
        try ends.server.channel.writeOutbound(ByteBuffer(string: "answer"))
        try pump(ends.client, ends.server)
        #expect(ends.server.seen.text == "question")
        #expect(ends.client.seen.text == "answer")
    }

    @Test("Small writes leave in one record at the flush, and their promises are kept when they have left")
    func gathering() throws {
        let ends = try connected()
        defer { finish(ends) }
        let channel = ends.client.channel
        let promise = channel.eventLoop.makePromise(of: Void.self)
        var isKept = false
        promise.futureResult.assumeIsolated().whenSuccess { isKept = true }
        for word in ["a", "b"] { channel.write(ByteBuffer(string: word), promise: nil) }
        channel.write(ByteBuffer(string: "c"), promise: promise)
        #expect(try ends.client.output() == nil)
        #expect(!isKept)
        channel.flush()
        #expect(isKept)
        let record = try #require(try ends.client.output())
        #expect(try ends.client.output() == nil)
        // One TLS record: its length (RFC 8446 §5.1) is that of all the bytes.
        #expect(
            record.getInteger(at: record.readerIndex + 3, as: UInt16.self).map(Int.init) == record.readableBytes - 5
        )
        try ends.server.channel.writeInbound(record)
        #expect(ends.server.seen.text == "abc")
    }

    @Test("Large and small writes keep their order")
    func order() throws {
        let ends = try connected()
        defer { finish(ends) }
        let large = String(repeating: "x", count: 100_000)
        for text in ["a", large, "b"] { ends.client.channel.write(ByteBuffer(string: text), promise: nil) }
        ends.client.channel.flush()
        try pump(ends.client, ends.server)
        #expect(ends.server.seen.text == "a" + large + "b")
    }

    @Test("What was written before the handshake follows it")
    func earlyWrite() throws {
        let ends = (client: try End(client), server: try End(server))
        defer { finish(ends) }
        try ends.server.connect()
        try ends.client.connect()
        ends.client.channel.writeAndFlush(ByteBuffer(string: "early"), promise: nil)
        try pump(ends.client, ends.server)
        #expect(ends.server.seen.text == "early")
    }

    @Test("A ClientHello that arrived before the handler was there counts")
    func earlyBytes() throws {
        let clientEnd = try End(client)
        try clientEnd.connect()
        let hello = try #require(try clientEnd.output())
        let serverEnd = try End(server, early: hello)
        defer { finish((clientEnd, serverEnd)) }
        try serverEnd.connect()
        try pump(clientEnd, serverEnd)
        #expect(serverEnd.seen.details?.serverName == "a.example")
    }

    @Test("Closing says close_notify, after what was written")
    func closing() throws {
        let ends = try connected()
        defer { finish(ends) }
        ends.client.channel.write(ByteBuffer(string: "last"), promise: nil)
        ends.client.channel.close(promise: nil)
        try pump(ends.client, ends.server)
        #expect(ends.server.seen.text == "last")
        #expect(ends.server.seen.endedCleanly == true)
    }

    @Test("Closing says nothing where close_notify is withheld, but what was written is sent")
    func withheld() throws {
        let ends = try connected()
        defer { finish(ends) }
        ends.client.channel.write(ByteBuffer(string: "last"), promise: nil)
        ends.client.channel.triggerUserOutboundEvent(TLSCloseNotifyWithheld(), promise: nil)
        ends.client.channel.close(promise: nil)
        try pump(ends.client, ends.server)
        #expect(ends.server.seen.text == "last")
        #expect(ends.server.seen.endedCleanly == nil)
        ends.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(ends.server.seen.endedCleanly == false)
    }

    @Test("A channel that is gone has ended nothing, unless our side had ended; before the handshake that has failed")
    func gone() throws {
        let reset = try connected()
        _ = try reset.server.channel.finish()
        #expect(reset.server.seen.endedCleanly == nil)
        finish(reset)
        let early = try End(try TLSServerContext().makeSession(certificate: leaf()))
        try early.connect()
        early.channel.pipeline.fireErrorCaught(IOError(errnoCode: 104, reason: "reset"))
        #expect((early.seen.errors.first as? TLSError)?.cause == .closedDuringHandshake)
        #expect(early.seen.errors.count == 2)
        _ = try? early.channel.finish(acceptAlreadyClosed: true)
    }

    private func leaf() throws -> LeafCertificate {
        try CertificateMint(authority: CertificateAuthority.generate(label: "x"), leafKey: LeafKey())
            .certificate(for: "a.example")
    }

    @Test("An end without close_notify is told apart")
    func truncated() throws {
        let ends = try connected()
        defer { finish(ends) }
        ends.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(ends.server.seen.endedCleanly == false)
    }

    @Test("A certificate that does not pass is an error on both sides")
    func untrusted() throws {
        let other = try CertificateAuthority.generate(label: "other")
        let mint = try CertificateMint(authority: other, leafKey: LeafKey())
        let context = try TLSServerContext()
        let stranger = try context.makeSession(certificate: try mint.certificate(for: "a.example"))
        let ends = (client: try End(client), server: try End(stranger))
        defer { finish(ends) }
        try ends.server.connect()
        try ends.client.connect()
        try pump(ends.client, ends.server)
        #expect(ends.client.seen.errors.first is TLSError)
        #expect((ends.server.seen.errors.first as? TLSError)?.clientRefusedCertificate == true)
        #expect(ends.client.seen.details == nil)
    }

    @Test("Garbage in place of TLS is an error, once")
    func garbage() throws {
        let end = try End(server)
        defer { _ = try? end.channel.finish(acceptAlreadyClosed: true) }
        try end.connect()
        try end.channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
        _ = try? end.channel.writeInbound(ByteBuffer(string: "more"))
        #expect(end.seen.errors.count == 1)
    }
}
