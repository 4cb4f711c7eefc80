import HTTPModel
import NIOCore
import Recording
import Support
import Testing

@Suite("What is recorded reads back the same")
struct RoundTripTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    static var fullRecord: ExchangeRecord {
        var record = Samples.record(7, state: .failed)
        record.kind = .upgraded
        record.method = "PROPFIND"
        record.url = RequestURL(scheme: "wss", host: "::1", port: 8_443, path: "/ä\u{0}b/%20", query: "")
        record.sentURL = RequestURL(scheme: "ws", host: "localhost", port: 3_000, path: "*", query: "x=1")
        record.status = 502
        record.clientVersion = .http2
        record.upstreamVersion = .http10
        record.mediaType = "text/event-stream"
        record.timings.blocked = 0
        record.timings.dns = 2
        record.timings.connect = 3
        record.timings.tls = 4
        record.timings.send = 5
        record.timings.wait = 6
        record.timings.receive = 7
        record.timings.total = 1 << 40
        record.sizes.requestHead = 11
        record.sizes.requestBody = 12
        record.sizes.requestWire = 13
        record.sizes.responseHead = 14
        record.sizes.responseBody = 15
        record.sizes.responseWire = 1 << 40
        record.tally.fromClient = 3
        record.tally.fromServer = 1 << 40
        record.grpc = GRPCOutcome(status: 14, message: "höher \"und\"\u{0} weiter")
        record.failure = ExchangeFailure(.clientTLS, "It \"broke\".", hint: "Try again.")
        record.flags = [.requestChanged, .held, .tunnelledTLS]
        record.clientConnection = ConnectionID(3)
        record.upstreamConnection = ConnectionID(4)
        record.clientAddress = "[::1]:50000"
        record.serverAddress = "192.0.2.1:443"
        record.extras.listeningMode = "reverse:https://example.com"
        record.extras.process = ClientProcess(id: .max, name: "Safari \"Web\"")
        record.extras.origin = "har: \u{e4}.har"
        record.extras.masked = ["request.headers.authorization", "a \"b\""]
        record.extras.annotation.comment = "see\n#12"
        record.extras.annotation.colour = "red"
        return record
    }

    @Test("A client that becomes known after its exchange has ended is recorded, but not over another")
    func lateProcess() throws {
        let process = ClientProcess(id: 77, name: "curl")
        let feed = try Feed(path: scratch.session)
        // In the transaction of its end, and in a later one.
        feed.submit(Samples.exchange(1) + [.identified(ExchangeID(1), process)] + Samples.exchange(2))
        feed.recorder.flush()
        var named = Samples.record(3, state: .complete)
        named.extras.process = ClientProcess(id: 5, name: "wget")
        feed.submit([
            .identified(ExchangeID(2), process), .opened(Samples.record(3), ExchangeMessages()),
            .finished(named, ExchangeMessages()),
        ])
        feed.recorder.flush()
        feed(.identified(ExchangeID(3), process), .identified(ExchangeID(9), process))
        #expect(feed.recorder.close().error == nil)
        let reader = try SessionReader(path: scratch.session)
        let names = try [1, 2, 3].map { try reader.exchange(ExchangeID($0))?.record.extras.process?.name }
        #expect(names == ["curl", "curl", "wget"])
        #expect(try reader.numbers(matching: .everything) == [1, 2, 3])
        #expect(try reader.summary().exchanges == 3)
    }

    static var fullMessages: ExchangeMessages {
        var messages = ExchangeMessages()
        messages.requestHead = ByteBuffer(bytes: [0, 1, 0xFF, 13, 10])
        messages.requestHeadSent = ByteBuffer(string: "b")
        messages.requestTrailers = ByteBuffer(string: "c")
        messages.interimHeads = ByteBuffer(string: "d")
        messages.responseHead = ByteBuffer(string: "e")
        messages.responseHeadSent = ByteBuffer(string: "f")
        messages.responseTrailers = ByteBuffer()
        messages.trace = [
            TraceEntry(stage: "rewrite", rule: "quotes \" \\ and\nlines\t\u{1}", outcome: .fired, text: "höher 🚰"),
            TraceEntry(stage: "sluice", outcome: .note, text: ""),
        ]
        return messages
    }

    static var connections: [ConnectionRecord] {
        var client = ConnectionRecord(
            id: ConnectionID(3),
            leg: .client,
            openedAt: 5,
            localAddress: "127.0.0.1:8080",
            peerAddress: "[::1]:50000"
        )
        client.closedAt = 9
        var upstream = client
        upstream.id = ConnectionID(4)
        upstream.leg = .upstream
        upstream.closedAt = nil
        upstream.dns = 1
        upstream.connect = 2
        upstream.handshake = 3
        upstream.tls = TLSDetails(
            protocolVersion: "TLSv1.3",
            cipherSuite: "TLS_AES_128_GCM_SHA256",
            serverName: "example.com",
            applicationProtocol: "h2",
            resumed: true,
            peerCertificates: [
                CertificateSummary(
                    subject: "CN=example.com",
                    issuer: "O=\"Test, Inc.\"",
                    alternativeNames: ["DNS:example.com", "IP:127.0.0.1"],
                    notBefore: -1,
                    notAfter: 2_000_000_000,
                    fingerprint: "00ff",
                    staple: StapledStatus(
                        .revoked,
                        reason: "keyCompromise",
                        revokedAt: 1_700_000_000,
                        validFrom: 1_700_000_001,
                        validUntil: 1_700_000_002
                    )
                )
            ],
            verificationFailure: "self-signed certificate"
        )
        let sent = upstream.tls?.peerCertificates.first
        upstream.tls?.clientCertificate = ClientCertificateDetails(
            authorities: ["CN=Staff", "O=\"Test, Inc.\""],
            name: "staging",
            sent: sent,
            isResumed: true
        )
        upstream.proxy = "http://proxy.example:3128"
        return [client, upstream]
    }

    @Test("Every field of an exchange, its messages and its connections survives")
    func everyField() throws {
        let feed = try Feed(path: scratch.session)
        for connection in Self.connections { feed(.connection(connection)) }
        feed(.opened(Samples.record(7), ExchangeMessages()), .finished(Self.fullRecord, Self.fullMessages))
        #expect(feed.recorder.close().error == nil)

        let reader = try SessionReader(path: scratch.session)
        let found = try #require(try reader.exchange(ExchangeID(7)))
        #expect(found.record == Self.fullRecord)
        #expect(found.messages == Self.fullMessages)
        #expect(found.client == Self.connections[0])
        #expect(found.upstream == Self.connections[1])
        #expect(try reader.connections(limit: 10) == Self.connections)
        #expect(try reader.record(ExchangeID(7)) == Self.fullRecord)
        #expect(try reader.record(ExchangeID(6)) == nil)
        #expect(try reader.exchange(ExchangeID(8)) == nil)
    }

    @Test("A record with nothing but the necessary survives, in every kind, state and failure")
    func bareFields() throws {
        let feed = try Feed(path: scratch.session)
        var expected: [ExchangeRecord] = []
        for kind in ExchangeRecord.Kind.allCases {
            for state in ExchangeRecord.State.allCases where state != .inFlight {
                var record = Samples.record(Int64(expected.count + 1), state: state)
                record.kind = kind
                record.method = ""
                record.url = RequestURL(scheme: "tunnel", host: "h", port: 0, path: "")
                expected.append(record)
            }
        }
        for code in ExchangeFailure.Code.allCases {
            var record = Samples.record(Int64(expected.count + 1), state: .failed)
            record.failure = ExchangeFailure(code, "")
            expected.append(record)
        }
        for status in [0, 16, -1, .max] {
            var record = Samples.record(Int64(expected.count + 1), state: .complete)
            record.grpc = GRPCOutcome(status: status)
            expected.append(record)
        }
        feed.submit(expected.reversed().map { .finished($0, ExchangeMessages()) })
        let summary = feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.records(limit: 1_000) == expected)
        #expect(summary.failures == ExchangeFailure.Code.allCases.count)
        #expect(try reader.summary().errors == Int64(expected.filter { $0.isError && $0.state != .inFlight }.count))
    }

    @Test("What is updated in flight replaces what was known before")
    func updates() throws {
        let feed = try Feed(path: scratch.session)
        feed(.opened(Samples.record(1), ExchangeMessages()))
        feed.recorder.flush()
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.record(ExchangeID(1))?.status == 0)

        var known = Samples.record(1)
        known.status = 206
        feed(.updated(known, Self.fullMessages))
        feed.recorder.flush()
        let found = try #require(try reader.exchange(ExchangeID(1)))
        #expect(found.record == known)
        #expect(found.messages == Self.fullMessages)
        #expect(try reader.count() == 1)

        feed(.finished(Self.fullRecord.renumbered(1), ExchangeMessages()))
        feed.recorder.flush()
        #expect(try reader.exchange(ExchangeID(1))?.messages == ExchangeMessages())
        #expect(try reader.count() == 1)
        #expect(try sqlite(scratch.session, "SELECT count(*), min(id) FROM payload") == "1|1")
    }

    @Test("What a user says of an exchange outlives the recorder's next row of it")
    func annotations() throws {
        let feed = try Feed(path: scratch.session)
        var record = Samples.record(1)
        record.extras.annotation.comment = "look at this"
        feed(.opened(record, ExchangeMessages()))
        feed.submit(Samples.exchange(2))
        feed.recorder.flush()
        feed(.finished(Samples.record(1, state: .complete), ExchangeMessages()))
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.record(ExchangeID(1))?.extras.annotation == record.extras.annotation)
        #expect(try reader.record(ExchangeID(1))?.state == .complete)
        #expect(try sqlite(scratch.session, "SELECT exchange, comment FROM annotation") == "1|look at this")
    }

    @Test("A connection's row is replaced when more is known")
    func connectionUpdates() throws {
        let feed = try Feed(path: scratch.session)
        let end = Self.connections[0]
        var start = end
        start.closedAt = nil
        feed(.connection(start))
        feed.recorder.flush()
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.connection(end.id) == start)
        feed(.connection(end))
        feed.recorder.flush()
        #expect(try reader.connection(end.id) == end)
    }

    @Test("Pages run both ways, from any number, over gaps")
    func pages() throws {
        let feed = try Feed(path: scratch.session)
        let ids = (Int64(1)...100).filter { $0 % 7 != 0 }
        for id in ids { feed.submit(Samples.exchange(id)) }
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.records(from: ExchangeID(7), limit: 2).map(\.id.number) == [8, 9])
        #expect(try reader.records(from: ExchangeID(7), limit: 2, order: .newestFirst).map(\.id.number) == [6, 5])
        #expect(try reader.records(limit: 1, order: .newestFirst).map(\.id.number) == [100])
        #expect(try reader.records(limit: -1).isEmpty)
        for order in [SessionReader.Order.oldestFirst, .newestFirst] {
            var seen: [Int64] = []
            try reader.forEachRecord(order: order, pageSize: 9) { record in
                seen.append(record.id.number)
                return true
            }
            #expect(seen == (order == .oldestFirst ? ids : ids.reversed()))
        }
        var few = 0
        try reader.forEachRecord { _ in
            few += 1
            return few < 3
        }
        #expect(few == 3)
    }
}

extension ExchangeRecord {
    fileprivate func renumbered(_ id: Int64) -> ExchangeRecord {
        var copy = self
        copy.id = ExchangeID(id)
        return copy
    }
}
