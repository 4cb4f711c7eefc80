import HTTPModel
import NIOCore
import Synchronization
import Testing

@testable import Wire

@Suite struct TLSSessionTests {
    @Test("A handshake opens both sides and says what was agreed")
    func handshake() throws {
        let fixture = try TLSFixture()
        var pair = try fixture.pair()
        pair.run()
        #expect(pair.client.state == .open)
        #expect(pair.server.state == .open)
        let seenByServer = pair.server.details
        #expect(seenByServer.protocolVersion == "TLSv1.3")
        #expect(seenByServer.cipherSuite == "TLS_AES_128_GCM_SHA256")
        #expect(seenByServer.serverName == "www.example.com")
        #expect(seenByServer.applicationProtocol == "http/1.1")
        #expect(seenByServer.peerCertificates.isEmpty)
        #expect(!seenByServer.resumed)
        let seenByClient = pair.client.details
        #expect(seenByClient.serverName == "www.example.com")
        #expect(seenByClient.verificationFailure == nil)
        let leaf = try #require(seenByClient.peerCertificates.first)
        #expect(leaf.alternativeNames == ["DNS:www.example.com"])
        #expect(leaf.issuer == fixture.authority.subject)
    }

    @Test("TLS 1.2 works, and 1.0 only with a legacy switch", arguments: [Int32(0x0303), 0x0304])
    func versions(minimum: Int32) throws {
        var pair = try TLSFixture().pair()
        pair.server.accept(from: minimum)
        pair.client.limit(to: 0x0303)
        pair.run()
        if minimum == 0x0303 {
            #expect(pair.server.details.protocolVersion == "TLSv1.2")
            pair.client.limit(to: 0x0304)
        } else {
            #expect(pair.server.state.failure?.cause == .unsupportedVersion)
            let failure = try #require(pair.client.state.failure)
            #expect(failure.cause == .peerAlert("protocol_version"))
            #expect(failure.explanation.contains("--tls-legacy www.example.com"))
        }
    }

    @Test("An old server is spoken to only with the legacy permission", arguments: [true, false])
    func legacy(isLegacy: Bool) throws {
        var pair = try TLSFixture().pair(isLegacy: isLegacy)
        pair.server.accept(from: 0x0301)
        pair.server.limit(to: 0x0301)
        pair.run()
        if isLegacy {
            #expect(pair.client.details.protocolVersion == "TLSv1", "\(pair.client.state) \(pair.server.state)")
        } else {
            let failure = try #require(pair.client.state.failure)
            #expect(failure.explanation.contains("--tls-legacy www.example.com"))
        }
    }

    @Test("The server's preference decides among the protocols offered by ALPN")
    func protocols() throws {
        let fixture = try TLSFixture()
        let cases: [(offered: [String], accepted: [String], chosen: String?)] = [
            (["h2", "http/1.1"], ["http/1.1"], "http/1.1"),
            (["http/1.1", "h2"], ["h2", "http/1.1"], "h2"),
            (["imap"], ["http/1.1"], nil),
            (["imap", "h2"], [], nil),
            (["imap"], ["imap"], "imap"),
            ([], ["http/1.1"], nil),
        ]
        for (offered, accepted, chosen) in cases {
            var pair = try fixture.pair(offered: offered, accepted: accepted)
            pair.run()
            #expect(pair.client.state == .open, "\(offered) \(accepted)")
            #expect(pair.client.applicationProtocol == chosen)
            #expect(pair.server.applicationProtocol == chosen)
        }
    }

    @Test("Data crosses unchanged both ways, however it is cut", arguments: [Int.max, 1_000, 1], [0x0303, 0x0304])
    func data(pieces: Int, version: Int32) throws {
        let fixture = try TLSFixture()
        var pair = try fixture.pair()
        pair.client.limit(to: version)
        let size = pieces == 1 ? 40_000 : 1_000_000
        let upload = ByteBuffer(bytes: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        let download = ByteBuffer(bytes: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 17 &+ $0 >> 7) })
        // One write before the handshake, the others after it.
        try pair.client.write(ByteBuffer(string: "early"))
        pair.run(pieces: pieces)
        #expect(pair.atServer == ByteBuffer(string: "early"))
        pair.atServer.clear()
        try pair.client.write(upload)
        try pair.server.write(download)
        pair.run(pieces: pieces)
        #expect(pair.atServer == upload)
        #expect(pair.atClient == download)
    }

    @Test("A limited step stops, and the rest is still there")
    func limit() throws {
        var pair = try TLSFixture().pair()
        pair.run()
        try pair.client.write(ByteBuffer(repeating: 7, count: 100_000))
        pair.server.receive(try #require(pair.client.takeOutput()))
        var plaintext = ByteBuffer()
        #expect(pair.server.advance(into: &plaintext, limit: 1_000) == .limitReached)
        #expect(plaintext.readableBytes == 1_000)
        #expect(pair.server.advance(into: &plaintext, limit: 50_000) == .limitReached)
        #expect(plaintext.readableBytes == 51_000)
        #expect(pair.server.advance(into: &plaintext) == .needsInput)
        #expect(plaintext.readableBytes == 100_000)
    }

    @Test("A close_notify ends one direction cleanly, and the other goes on")
    func closeNotify() throws {
        var pair = try TLSFixture().pair()
        pair.run()
        try pair.client.write(ByteBuffer(string: "last words"))
        pair.client.shutdown()
        #expect(throws: TLSError.self) { try pair.client.write(ByteBuffer(string: "more")) }
        pair.run()
        #expect(pair.atServer == ByteBuffer(string: "last words"))
        #expect(pair.server.state == .peerClosed(cleanly: true))
        try pair.server.write(ByteBuffer(string: "answer"))
        pair.server.shutdown()
        pair.run()
        #expect(pair.atClient == ByteBuffer(string: "answer"))
        #expect(pair.client.state == .peerClosed(cleanly: true))
    }

    @Test("A shutdown asked for during the handshake follows what was written")
    func earlyShutdown() throws {
        var pair = try TLSFixture().pair()
        try pair.client.write(ByteBuffer(string: "only this"))
        pair.client.shutdown()
        pair.run()
        #expect(pair.atServer == ByteBuffer(string: "only this"))
        #expect(pair.server.state == .peerClosed(cleanly: true))
    }

    @Test("A connection that just ends is a truncation, once everything received is read")
    func truncation() throws {
        var pair = try TLSFixture().pair()
        pair.run()
        try pair.client.write(ByteBuffer(repeating: 1, count: 40_000))
        let output = try #require(pair.client.takeOutput())
        pair.server.receive(try #require(output.getSlice(at: 0, length: output.readableBytes - 3)))
        pair.server.receiveEOF()
        var plaintext = ByteBuffer()
        #expect(pair.server.advance(into: &plaintext, limit: 10) == .limitReached)
        #expect(pair.server.state == .open)
        #expect(pair.server.advance(into: &plaintext) == .ended)
        #expect(plaintext.readableBytes == 32_768)
        #expect(pair.server.state == .peerClosed(cleanly: false))
    }

    @Test("An altered record fails the connection and produces an alert")
    func alteredRecord() throws {
        var pair = try TLSFixture().pair()
        pair.run()
        try pair.client.write(ByteBuffer(string: "hello"))
        var output = try #require(pair.client.takeOutput())
        let last = output.writerIndex - 1
        let byte = try #require(output.getInteger(at: last, as: UInt8.self))
        output.setInteger(byte ^ 1, at: last)
        pair.server.receive(output)
        var plaintext = ByteBuffer()
        #expect(pair.server.advance(into: &plaintext) == .ended)
        #expect(plaintext.readableBytes == 0)
        #expect(pair.server.state.failure != nil)
        pair.run()
        #expect(pair.client.state.failure?.cause == .peerAlert("bad_record_mac"))
    }

    @Test("A key update keeps the data flowing")
    func keyUpdate() throws {
        var pair = try TLSFixture().pair()
        pair.run()
        pair.client.requestKeyUpdate()
        try pair.client.write(ByteBuffer(string: "a"))
        pair.run()
        try pair.server.write(ByteBuffer(string: "b"))
        pair.run()
        #expect(pair.atServer == ByteBuffer(string: "a"))
        #expect(pair.atClient == ByteBuffer(string: "b"))
    }

    @Test("A session is resumed, also by a server on another event loop that has the same ticket keys")
    func resumption() throws {
        let keys = TLSTicketKeys()
        let fixture = try TLSFixture(ticketKeys: keys)
        for version: Int32 in [0x0303, 0x0304] {
            let key = "pool \(version)"
            var first = try fixture.pair(resumptionKey: key)
            first.client.limit(to: version)
            first.run()
            #expect(!first.client.details.resumed)
            // The first connection goes away without close_notify, which must not spoil its session.
            first = try fixture.pair()
            var second = try fixture.pair(resumptionKey: key)
            second.server = try TLSServerContext(ticketKeys: keys)
                .makeSession(certificate: fixture.mint.certificate(for: "www.example.com"))
            second.client.limit(to: version)
            second.run()
            #expect(second.client.details.resumed)
            #expect(second.server.details.resumed)
            #expect(second.client.details.peerCertificates.first?.alternativeNames == ["DNS:www.example.com"])
            var third = try fixture.pair(resumptionKey: key)
            third.server = try TLSServerContext()
                .makeSession(certificate: fixture.mint.certificate(for: "www.example.com"))
            third.client.limit(to: version)
            third.run()
            #expect(third.client.state == .open)
            #expect(!third.client.details.resumed)
        }
    }

    @Test("A client without AES is served as well", arguments: [0x0303, 0x0304])
    func chacha(version: Int32) throws {
        var pair = try TLSFixture().pair()
        pair.client.limit(to: version)
        pair.client.useOnlyChaCha()
        pair.run()
        #expect(pair.server.details.cipherSuite.contains("CHACHA20_POLY1305"))
    }

    @Test("A session made without verification is not resumed with it")
    func resumptionAfterRecordOnly() throws {
        let fixture = try TLSFixture(trusted: false)
        var first = try fixture.pair(verification: .recordOnly, resumptionKey: "pool")
        first.run()
        #expect(first.client.details.verificationFailure != nil)
        var second = try fixture.pair(verification: .recordOnly, resumptionKey: "pool")
        second.run()
        #expect(second.client.details.resumed)
        #expect(second.client.details.verificationFailure != nil)
        var third = try fixture.pair(verification: .full, resumptionKey: "pool")
        third.run()
        #expect(third.client.state.failure != nil)
    }

    @Test("Both legs give the key log their secrets")
    func keyLog() throws {
        let serverLines = KeyLogLines()
        let clientLines = KeyLogLines()
        let fixture = try TLSFixture(
            serverKeyLog: { serverLines.append($0) },
            clientKeyLog: { clientLines.append($0) }
        )
        var pair = try fixture.pair()
        pair.run()
        #expect(serverLines.all.contains { $0.hasPrefix("CLIENT_TRAFFIC_SECRET_0 ") })
        #expect(Set(serverLines.all) == Set(clientLines.all))
        #expect(serverLines.all.allSatisfy { !$0.contains("\n") })
    }
}

final class KeyLogLines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
}
