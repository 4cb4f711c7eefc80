import Content
import Foundation
import HTTPModel
import Masking
import NIOCore
import Testing

@testable import Sharing

@Suite("A Charles session that we write is read again")
struct CharlesExportTests {
    private let source = MemorySource()

    private func written(_ source: (any ExchangeSource)? = nil) throws -> [UInt8] {
        var output: [UInt8] = []
        let masked = source as? MaskedSource
        var export = CharlesJSONExport(source: source ?? self.source) { output += $0.readableBytesView }
        for exchange in self.source.exchanges { try export.add(masked?.masked(exchange) ?? exchange) }
        try export.finish()
        return output
    }

    private func members(_ bytes: [UInt8]) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [[String: Any]])
    }

    /// Exchanges of all kinds that a session has.
    private func fill() throws {
        let packed = try ContentEncoder.encode(ByteBuffer(string: #"{"id":7}"#), codings: [.gzip])
        try source.add(
            "https://api.example.com:8443/orders?page=1&b=%20",
            request: "POST /orders?page=1&b=%20 HTTP/1.1\r\nHost: api.example.com:8443\r\nX-A: ä\r\nX-A: 2\r\n\r\n",
            requestBody: Array(#"{"item":"Schloß"}"#.utf8),
            response: "HTTP/1.1 201 Created here\r\nContent-Type: application/json; charset=utf-8\r\n"
                + "Content-Encoding: gzip\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n",
            responseBody: packed.readableBytesView
        ) {
            var timings = Timings()
            (timings.blocked, timings.dns, timings.connect, timings.tls) = (11, 1_001, 2_002, 3_003)
            (timings.send, timings.wait, timings.receive, timings.total) = (4, 5_005_005, 600, 6_000_001)
            $0.record.timings = timings
            $0.record.extras.annotation.comment = "the one that fails"
            $0.record.extras.annotation.colour = "red"
            $0.record.clientAddress = "[::1]:53211"
            $0.record.upstreamVersion = .http11
            $0.record.upstreamConnection = ConnectionID(9)
            var upstream = ConnectionRecord(
                id: ConnectionID(9),
                leg: .upstream,
                openedAt: 5,
                localAddress: "",
                peerAddress: "203.0.113.1:9443"
            )
            upstream.tls = TLSDetails(
                protocolVersion: "TLSv1.3",
                cipherSuite: "TLS_AES_128_GCM_SHA256",
                applicationProtocol: "http/1.1"
            )
            $0.upstream = upstream
        }
        try source.add(
            "http://files.example.com/a",
            request: "PUT /a HTTP/2\r\nhost: files.example.com\r\n\r\n",
            requestBody: [0, 1, 2, 255, 254],
            response: "HTTP/2 200\r\ncontent-type: text/plain; charset=iso-8859-1\r\n\r\n",
            responseBody: [0xE4, 0xF6, 0xFC]
        ) {
            $0.messages.responseTrailers = ByteBuffer(string: "x-sum: 7\r\n\r\n")
            var upstream = ConnectionRecord(
                id: ConnectionID(9),
                leg: .upstream,
                openedAt: 5,
                localAddress: "",
                peerAddress: "[2001:db8::1]:8080"
            )
            upstream.tls = TLSDetails(protocolVersion: "TLSv1.2", cipherSuite: "X", applicationProtocol: "h2")
            ($0.upstream, $0.record.upstreamVersion) = (upstream, .http2)
        }
        try source.add("http://gone.example/", request: "GET / HTTP/1.1\r\nHost: gone.example\r\n\r\n") {
            $0.record.state = .failed
            $0.record.failure = ExchangeFailure(.connect, "Connection refused: by the server")
        }
        try source.add("http://bank.example/", request: "CONNECT bank.example:443 HTTP/1.1\r\n\r\n") {
            $0.record.kind = .tunnel
            $0.record.url = RequestURL(scheme: "tunnel", host: "bank.example", port: 443, path: "")
            $0.messages.requestHead = nil
        }
        let chat = try source.add(
            "https://chat.example/s",
            request: "GET /s HTTP/1.1\r\nUpgrade: websocket\r\n\r\n",
            response: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
        ) { $0.record.kind = .webSocket }
        source.setStream(
            chat,
            .requestReceived,
            [(10, Array(WebSocketFrame.of(.text, ByteBuffer(string: "hello"), isMasked: true).readableBytesView))]
        )
        let answers = ["one", "two"].map {
            Array(WebSocketFrame.of(.text, ByteBuffer(string: $0), isMasked: false).readableBytesView)
        }
        source.setStream(chat, .responseReceived, [(5, answers[0]), (20, answers[1])])
    }

    @Test("Fields, bodies, times to the microsecond, addresses, TLS, failures, tunnels, trailers, remarks")
    func roundTrip() throws {
        try fill()
        let read = ArchiveFixture(bytes: try written())
        #expect(read.error == nil && read.losses.isEmpty && read.records.count == 5)
        guard read.records.count == 5 else { return }
        for (exchange, again) in zip(source.exchanges, read.records) {
            let (one, other) = (exchange.record, again.record)
            #expect(other.method == one.method && other.url == one.url && other.status == one.status)
            #expect(other.kind == one.kind && other.state == one.state && other.failure == one.failure)
            #expect(other.startedAt == one.startedAt && other.clientVersion == one.clientVersion)
            #expect(other.clientAddress == one.clientAddress)
            #expect(other.extras.annotation == one.extras.annotation)
            #expect(other.timings == one.timings || one.timings == Timings() && other.timings.total == 0)
            for side in [BodySide.requestReceived, .responseReceived] {
                let (fields, fieldsAgain) = (exchange.messages.fields(of: side), again.messages.fields(of: side))
                #expect(fieldsAgain.description == fields.description)
            }
            let reasons = [exchange.messages, again.messages].map {
                $0.responseHead.flatMap { StoredHead.response($0)?.reason }
            }
            #expect(reasons[0] == reasons[1])
            #expect(again.messages.responseTrailers == exchange.messages.responseTrailers)
        }
        #expect(read.body(0, .requestReceived) == #"{"item":"Schloß"}"#)
        #expect(read.decoded(0, .responseReceived) == #"{"id":7}"# && read.body(0, .responseReceived) != #"{"id":7}"#)
        #expect(read.records[0].record.serverAddress == "203.0.113.1:9443")
        #expect(read.entries[0].tls?.cipherSuite == "TLS_AES_128_GCM_SHA256")
        #expect(read.records[1].bodies[.requestReceived] == ByteBuffer(bytes: [0, 1, 2, 255, 254]))
        // As bytes, since as text it would be in another encoding than its head says.
        #expect(read.records[1].bodies[.responseReceived] == ByteBuffer(bytes: [0xE4, 0xF6, 0xFC]))
        #expect(read.records[1].record.serverAddress == "[2001:db8::1]:8080")
    }

    @Test("A WebSocket's frames come back as they were, with their times, and are counted")
    func webSocket() throws {
        try fill()
        let read = ArchiveFixture(bytes: try written())
        let chat = try #require(read.records.last)
        #expect(
            chat.record.kind == .webSocket && chat.record.tally.fromClient == 1 && chat.record.tally.fromServer == 2
        )
        for side in [BodySide.requestReceived, .responseReceived] {
            let id = try #require(source.exchanges.last?.record.id)
            #expect(try chat.bodies[side] == source.body(of: id, side: side, offset: 0, limit: 1_000))
        }
        let start = chat.record.startedAt
        #expect(read.entries.last?.request.arrivals == [Arrival(offset: 0, at: start + 10)])
        #expect(
            read.entries.last?.response.arrivals == [
                Arrival(offset: 0, at: start + 5), Arrival(offset: 5, at: start + 20),
            ]
        )
    }

    @Test("It has the members that Charles writes: whole milliseconds, null where there is nothing, decoded text")
    func members() throws {
        try fill()
        let transactions = try members(written())
        let order = try #require(transactions.first)
        #expect(order["status"] as? String == "COMPLETE" && order["scheme"] as? String == "https")
        #expect(order["path"] as? String == "/orders" && order["query"] as? String == "page=1&b=%20")
        #expect(order["port"] as? Int == 8443 && order["actualPort"] as? Int == 8443)
        #expect(order["remoteAddress"] as? String == "api.example.com/203.0.113.1:9443")
        #expect(order["clientAddress"] as? String == "/::1" && order["clientPort"] as? Int == 53_211)
        let times = try #require(order["times"] as? [String: String])
        #expect(times["start"] == "2026-09-21T14:13:20.123Z" && times["end"] == "2026-09-21T14:13:26.123Z")
        let durations = try #require(order["durations"] as? [String: Any])
        #expect(durations["total"] as? Int == 6_000 && durations["latency"] as? Int == 5_005)
        #expect(durations.values.allSatisfy { ($0 as? Double)?.rounded() == $0 as? Double })
        let response = try #require(order["response"] as? [String: Any])
        let body = try #require(response["body"] as? [String: Any])
        #expect(body["text"] as? String == #"{"id":7}"# && body["decoded"] as? Bool == true)
        #expect(
            response["contentEncoding"] as? String == "gzip" && response["mimeType"] as? String == "application/json"
        )
        #expect((response["header"] as? [String: Any])?["firstLine"] as? String == "HTTP/1.1 201 Created here")
        #expect(transactions[1]["port"] is NSNull && transactions[1]["protocolVersion"] as? String == "HTTP/2.0")
        #expect(transactions[2]["errorMessage"] as? String == "connect: Connection refused: by the server")
        #expect(transactions[2]["status"] as? String == "FAILED")
        #expect(transactions[3]["tunnel"] as? Bool == true && transactions[3]["path"] is NSNull)
        #expect(transactions[4]["webSocket"] as? Bool == true)
    }

    @Test("Masked, no secret is in it, in text, in base64 and in frames, and it is read again")
    func masking() throws {
        let secret = "hunter-22-abcdef"
        let text = #"{"password":"\#(secret)"}"#
        try source.add(
            "http://a.example/?token=\(secret)x",
            request: "POST /?token=\(secret)x HTTP/1.1\r\nContent-Type: application/json\r\n\r\n",
            requestBody: Array(text.utf8),
            response: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n",
            responseBody: try ContentEncoder.encode(ByteBuffer(bytes: Array(text.utf8) + [0xFF]), codings: [.gzip])
                .readableBytesView
        )
        try source.add(
            "http://a.example/s",
            request: "GET /s HTTP/1.1\r\n\r\n",
            requestBody: WebSocketFrame.of(.text, ByteBuffer(string: text), isMasked: true).readableBytesView,
            response: "HTTP/1.1 101 X\r\n\r\n"
        ) { $0.record.kind = .webSocket }
        let masked = MaskedSource(source, TextMask())
        for exchange in source.exchanges { try masked.collectAll(exchange) }
        masked.mask.endCollecting()
        masked.restartCount()
        let output = try written(masked)
        #expect(masked.replacedCount == 5)
        let read = ArchiveFixture(bytes: output)
        #expect(read.error == nil && read.records.count == 2)
        let seen =
            String(decoding: output, as: UTF8.self)
            + (0..<2).flatMap { [read.decoded($0, .requestReceived), read.decoded($0, .responseReceived)] }.joined()
        #expect(!seen.contains("hunter"), "\(seen)")
        #expect(read.decoded(0, .responseReceived).hasPrefix(#"{"password":"sluice-password-1"}"#))
        #expect(read.body(1, .requestReceived).hasSuffix(#"{"password":"sluice-password-1"}"#))
    }

    @Test("Our own members, where they are wrong, break nothing")
    func hostile() {
        let text =
            #"[{"host":"h","scheme":"http","path":"/","webSocket":true,"response":{"status":101,"body":{"encoded":"gQFh"}},"#
            + #""_sluice":{"kind":"tunnel","startedAt":"x","timings":{"total":-4,"wait":1e300},"colour":"pink","#
            + #""arrivals":{"response":[[0,1],[0,2],[-1,3],["a",4],[1],[2,9999999999999999999],[7,5],8,{"a":[]}],"request":3}}}]"#
        let read = ArchiveFixture(bytes: Array(text.utf8))
        #expect(read.error == nil && read.records.count == 1)
        #expect(read.records.first?.record.kind == .webSocket)
        #expect(read.records.first?.record.tally.fromServer == 1)
        #expect(read.entries.first?.response.arrivals == [Arrival(offset: 0, at: 1), Arrival(offset: 7, at: 5)])
        #expect(read.records.first?.record.extras.annotation.colour == nil)
        // Of what came where no bytes are, the session gets nothing.
        var recording = ArchiveRecording()
        let arrivals = read.entries.flatMap { recording.events($0) }.compactMap { event -> Int64? in
            if case .arrival(_, _, let offset, _) = event { offset } else { nil }
        }
        #expect(arrivals == [0])
    }
}
