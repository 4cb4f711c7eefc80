import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Content
@testable import Masking

@Suite("A session without its secrets")
struct MaskedSourceTests {
    /// Exchanges in memory.
    private final class Memory: ExchangeSource {
        private(set) var exchanges: [RecordedExchange] = []
        private var bodies: [[UInt8]] = []

        func exchange(_ id: ExchangeID) -> RecordedExchange? { exchanges.first { $0.record.id == id } }

        func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) -> ByteBuffer {
            guard side == .responseReceived else { return ByteBuffer() }
            return ByteBuffer(bytes: bodies[Int(id.number) - 1].dropFirst(Int(offset)).prefix(limit))
        }

        func add(_ fields: String, _ body: [UInt8]) throws {
            var messages = ExchangeMessages()
            messages.requestHead = ByteBuffer(string: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            messages.responseHead = ByteBuffer(string: "HTTP/1.1 200 OK\r\n\(fields)\r\n")
            let record = ExchangeRecord(
                id: ExchangeID(Int64(exchanges.count + 1)),
                kind: .http,
                startedAt: 0,
                method: "GET",
                url: try #require(RequestURL("http://h/")),
                clientConnection: ConnectionID(1)
            )
            exchanges.append(RecordedExchange(record: record, messages: messages))
            bodies.append(body)
        }
    }

    private let memory = Memory()

    @Test("Each text of a record is masked, and the parts with secrets are named once")
    func record() throws {
        try memory.add("", [])
        var record = try #require(memory.exchanges.first).record
        record.method = "PUT-\(chance)"
        record.failure = ExchangeFailure(.reset, "closed after \(chance)", hint: "look for ?token=\(chance)")
        record.grpc = GRPCOutcome(status: 3, message: "bad \(chance)")
        record.extras.annotation.comment = "see \(chance)"
        let masked = RecordMask(MaskRules()).masked(record)
        #expect(masked.method == "PUT-sluice-token-1")
        #expect(masked.failure?.message == "closed after sluice-token-1")
        #expect(masked.failure?.hint == "look for ?token=sluice-token-1")
        #expect(masked.grpc?.message == "bad sluice-token-1")
        #expect(masked.extras.annotation.comment == "see sluice-token-1")
        #expect(masked.extras.masked == ["method", "failure", "gRPC message", "comment"])
    }

    @Test("A body without secrets need not be read again, until another secret is known or if it is coded")
    func bodiesWithoutSecrets() throws {
        try memory.add("", Array("ask \(chance)".utf8))
        try memory.add("Content-Encoding: gzip\r\n", try encoded("plain", .gzip))
        try memory.add("X-Api-Key: \(chance)\r\n", Array("ask \(chance)".utf8))
        let source = MaskedSource(memory, TextMask(MaskRules(), label: { _ in 1 }))
        func known() -> [Bool] {
            (1...3).map { source.hasNoSecret(ExchangeID($0), side: .responseReceived) }
        }
        #expect(known() == [false, false, false])
        try source.collect(memory.exchanges[0])
        try source.collect(memory.exchanges[1])
        #expect(known() == [true, false, false])
        try source.collect(memory.exchanges[2])
        #expect(known() == [false, false, false])
        for exchange in memory.exchanges { try source.collect(exchange) }
        #expect(known() == [false, false, false])
        let collecting = MaskedSource(memory, TextMask())
        try collecting.collect(memory.exchanges[0])
        #expect(!collecting.hasNoSecret(ExchangeID(1), side: .responseReceived))
    }

    /// The masked bodies, each read in pieces of this size.
    private func bodies(of pieceSize: Int = 4_096) throws -> (bodies: [[UInt8]], source: MaskedSource) {
        let source = MaskedSource(memory, TextMask())
        for exchange in memory.exchanges { try source.collect(exchange) }
        source.mask.endCollecting()
        let bodies = try memory.exchanges.map { exchange in
            _ = source.masked(exchange)
            var body: [UInt8] = []
            while true {
                let id = exchange.record.id
                let piece = try source.body(
                    of: id,
                    side: .responseReceived,
                    offset: Int64(body.count),
                    limit: pieceSize
                )
                if piece.readableBytes == 0 { return body }
                body += piece.readableBytesView
            }
            return body
        }
        return (bodies, source)
    }

    private func encoded(_ text: String, _ coding: ContentCoding) throws -> [UInt8] {
        Array(try ContentEncoder.encode(ByteBuffer(string: text), coding: coding).readableBytesView)
    }

    private let secretText = #"{"sessionToken":"\#(chance)"}"#
    private let maskedText = Array(#"{"sessionToken":"sluice-token-1"}"#.utf8)

    @Test("No input of the fuzzer fails", arguments: try FuzzReplay.all("Masks", seeds: MaskSeeds.all))
    func fuzz(_ input: FuzzReplay) throws {
        try MaskProbe.run(input.bytes)
    }

    @Test("Names and numbers of events have no secrets")
    func events() throws {
        try memory.add("Content-Type: application/json\r\n", Array(#"{"token":"hunter22abc"}"#.utf8))
        let exchange = memory.exchanges[0]
        let source = MaskedSource(memory, TextMask())
        try source.collect(exchange)
        var details = ServerSentEventDetails()
        (details.type, details.id) = ("of-hunter22abc", "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5")
        let message = StreamedMessage(number: 1, direction: .fromServer, kind: .event(details), range: 0..<1)
        _ = source.given(message, of: exchange)
        source.mask.endCollecting()
        (details.type, details.id) = ("of-sluice-token-1", "sluice-key-1")
        #expect(source.given(message, of: exchange).kind == .event(details))
    }

    @Test("Content codings are undone; sizes stay those that were recorded")
    func codings() throws {
        for coding in ["gzip", "br", "zstd", "deflate"] {
            try memory.add(
                "Content-Type: application/json\r\nContent-Encoding: \(coding)\r\n",
                encoded(secretText, ContentCoding(coding))
            )
        }
        let (bodies, source) = try bodies(of: 7)
        #expect(bodies == Array(repeating: maskedText, count: 4))
        let sizes = try #require(source.recordedSizes(of: ExchangeID(4), side: .responseReceived))
        #expect(sizes.decoded == secretText.utf8.count && source.replacedCount == 4)
        #expect(source.maskedParts(of: memory.exchanges[3].record) == ["response body"])
        #expect(source.recordedHeadSize(of: ExchangeID(4), isRequest: true) == 27)
    }

    @Test("Of a coding that is wrong or cut off nothing comes through undecoded")
    func wrong() throws {
        let packed = try encoded(secretText + String(repeating: " and more", count: 99), .gzip)
        let fields = "Content-Type: application/json\r\nContent-Encoding: gzip\r\n"
        try memory.add(fields, Array(secretText.utf8))
        try memory.add(fields, Array(packed.dropLast(12)))
        try memory.add(fields, Array(packed.prefix(30)) + Array(secretText.utf8))
        try memory.add("Content-Encoding: own\r\n", Array(secretText.utf8))
        let (bodies, source) = try bodies()
        for body in bodies { #expect(!String(decoding: body, as: UTF8.self).contains(chance)) }
        #expect(source.problem(of: ExchangeID(4), side: .responseReceived) != nil)
    }

    @Test("A small body that decodes to a huge one ends where it has grown enough, and it is said", arguments: [0, 1])
    func bomb(place: Int) throws {
        let text = String(repeating: "nothing of use. ", count: 20_000)
        for coding in ["gzip", "br", "zstd", "deflate"] {
            let body = try encoded(place == 0 ? text + secretText : secretText + text, ContentCoding(coding))
            try memory.add("Content-Type: text/plain\r\nContent-Encoding: \(coding)\r\n", body)
        }
        let growth = DecodedGrowth(times: 2, always: 50_000)
        let source = MaskedSource(memory, TextMask(), growth: growth)
        for exchange in memory.exchanges { try source.collect(exchange) }
        source.mask.endCollecting()
        for exchange in memory.exchanges {
            _ = source.masked(exchange)
            let body = try source.body(of: exchange.record.id, side: .responseReceived, offset: 0, limit: 1 << 20)
            #expect((50_000 - chance.utf8.count...50_000).contains(body.readableBytes))
            #expect(!String(buffer: body).contains(chance))
            let problem = try #require(source.problem(of: exchange.record.id, side: .responseReceived))
            #expect(problem.kind == .stoppedAtLimit && problem.message.contains("50000 bytes"), "\(problem)")
        }
    }

    @Test("A secret is masked in exchanges before the one that names it")
    func before() throws {
        try memory.add("X: \(chance)\r\n", Array("first \(chance)".utf8))
        try memory.add("Content-Type: application/json\r\n", Array(secretText.utf8))
        let (bodies, source) = try bodies()
        #expect(bodies == [Array("first sluice-token-1".utf8), maskedText])
        let head = try #require(source.masked(memory.exchanges[0]).messages.responseHead)
        #expect(String(buffer: head) == "HTTP/1.1 200 OK\r\nX: sluice-token-1\r\n\r\n")
    }

    @Test("What follows the head of a malformed request is masked as a body is, and the head as ever")
    func malformed() throws {
        try memory.add("", [])
        var exchange = memory.exchanges[0]
        let head = "POST / HTTP/1.1\r\nBad Name: x\r\nX-Api-Key: \(chance)\r\n\r\n"
        for (rest, masked) in [
            (#"{"password":"ZZmalJSON1234567","a":1}"#, #"{"password":"sluice-password-0","a":1}"#),
            ("user=a&password=ZZmalFORM1234567", "user=a&password=sluice-password-0"), ("", ""),
        ] {
            exchange.messages.requestHead = ByteBuffer(string: head + rest)
            let mask = TextMask()
            mask.endCollecting()
            let found = try #require(MaskedSource(memory, mask).masked(exchange).messages.requestHead)
            #expect(
                String(buffer: found)
                    == "POST / HTTP/1.1\r\nBad Name: x\r\nX-Api-Key: sluice-key-0\r\n\r\n\(masked)",
                "\(rest)"
            )
        }
    }

    @Test("A message of a WebSocket, its close reason, and a trace")
    func messages() throws {
        let mask = TextMask()
        let secrets = [("text", true), ("binary", false)]
        mask.note(FoundSecret(range: 0..<0, kind: .token, name: "n", secret: Array(chance.utf8)))
        mask.endCollecting()
        for (name, isText) in secrets {
            let payload = Array("\(name) \(chance)".utf8)
            let marks = payload.withUnsafeBytes { mask.marks(in: $0, isText ? .text : nil) }
            let masked = payload.withUnsafeBytes {
                Mark.replaced(marks, in: $0[...], keepsLength: !isText, mask.book)
            }
            #expect(masked == Array("\(name) sluice-token-1\(isText ? "" : "--")".utf8))
        }
        try memory.add("", [])
        func message(_ text: String) -> StreamedMessage { binaryMessage(ByteBuffer(string: text), .fromClient, .line) }
        let source = MaskedSource(memory, mask)
        let named = source.given(message(#"{"password": "binPW-77aaBBcc!!"}"#), of: memory.exchanges[0])
        #expect(String(buffer: named.payload) == #"{"password": "sluice-password-0"}"#)
        let form = source.given(message("password=binFORM-12345xyz&a=b"), of: memory.exchanges[0])
        #expect(String(buffer: form.payload).hasSuffix("&a=b") && !String(buffer: form.payload).contains("binFORM"))
        let bytes = source.given(message("\0\u{1}\u{2}\u{3}\u{4}\u{5} \(chance)"), of: memory.exchanges[0])
        #expect(bytes.payload.readableBytes == bytes.size && !String(buffer: bytes.payload).contains(chance))
        var exchange = memory.exchanges[0]
        exchange.record.extras.annotation.comment = "with \(chance)"
        let masked = MaskedSource(memory, mask).masked(exchange)
        #expect(masked.record.extras.annotation.comment == "with sluice-token-1")
    }

    private func binaryMessage(
        _ payload: ByteBuffer,
        _ direction: StreamedMessage.Direction,
        _ kind: StreamedMessage.Kind
    ) -> StreamedMessage {
        let size = Int64(payload.readableBytes)
        return StreamedMessage(
            number: 1,
            direction: direction,
            kind: kind,
            range: 0..<size,
            size: size,
            payload: payload,
            isText: false,
            isWhole: true,
            notes: []
        )
    }
}
