import Dispatch
import Foundation
import HTTPModel
import Masking
import NIOCore
import Recording
import Sharing
import Support
import Testing

@testable import Jobs

@Suite("Exports by a filter know the secrets of the session", .timeLimit(.minutes(2)))
struct OtherExchangesTests {
    private static let token = "5f4dcc3b5aa765d61d83"

    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private struct Sample {
        var path = "/"
        var fields = ""
        var answer = ""
    }

    private func session(_ samples: [Sample]) throws -> SessionReader {
        let recorder = try Recorder(RecorderConfiguration(path: scratch.path("s.sluice")))
        let credit = DispatchSemaphore(value: 0)
        let producer = recorder.makeProducer { credit.signal() }
        for (index, sample) in samples.enumerated() {
            var record = ExchangeRecord(
                id: ExchangeID(Int64(index + 1)),
                kind: .http,
                startedAt: 1_700_000_000_000_000,
                method: "GET",
                url: RequestURL(scheme: "http", host: "h.example", port: 80, path: sample.path),
                clientConnection: ConnectionID(1)
            )
            var messages = ExchangeMessages()
            messages.requestHead = ByteBuffer(
                string: "GET \(sample.path) HTTP/1.1\r\nHost: h.example\r\n\(sample.fields)\r\n"
            )
            messages.responseHead = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
            let body = ByteBuffer(string: sample.answer)
            record.sizes.responseBody = Int64(body.readableBytes)
            (record.state, record.status) = (.complete, 200)
            let events: [RecordEvent] = [
                .opened(record, messages), .body(record.id, .responseReceived, body), .finished(record, messages),
            ]
            if !producer.submit(events, cost: events.reduce(0) { $0 + $1.cost }) { credit.wait() }
        }
        _ = recorder.close()
        return try SessionReader(path: scratch.path("s.sluice"))
    }

    @Test("A report knows the secrets of the bodies of its sessions, unless they are long")
    func report() throws {
        let reader = try session([
            Sample(path: "/reset/\(Self.token)"), Sample(path: "/", answer: "{\"token\":\"\(Self.token)\"}"),
        ])
        func masked(most: Int64) throws -> (path: String?, remark: String?) {
            let mask = try ReportMask([reader], MaskRules(), most: most)
            return (try reader.exchange(ExchangeID(1)).map { mask.record.masked($0.record).url.path }, mask.remark)
        }
        let known = try masked(most: 2)
        #expect(known.path?.contains(Self.token) == false && known.remark == nil, "\(known)")
        #expect(try masked(most: 1).remark?.contains("not looked through") == true)
        let statistics = try reader.statistics(matching: .everything, countsEndpoints: true)
        let json = try StatisticsReport(statistics).json(ReportMask([reader], MaskRules()).record)
        #expect(!json.contains(Self.token), "\(json)")
    }

    private func export(_ numbers: [Int64], of reader: SessionReader) throws -> (String, MaskedSource) {
        let pipeline = ExportPipeline(reader, threads: 2) { try $0(numbers) }
        let masked = try SessionMask.source(pipeline, MaskRules())
        var output = ByteBuffer()
        var export: any ExchangeExport = HARExport(source: masked) { output.writeImmutableBuffer($0) }
        #expect(try SessionMask.write(&export, masked, pipeline) == numbers.count)
        return (String(buffer: output), masked)
    }

    @Test("that heads and bodies of others show, those before and those after")
    func known() throws {
        let reader = try session([
            Sample(fields: "Authorization: Bearer \(Self.token)\r\n"),
            Sample(path: "/of/\(Self.token)", answer: #"{"log":"a\#(Self.token)z of \#(Self.token), pw-1f5e9c27"}"#),
            Sample(answer: #"{"password":"pw-1f5e9c27","api_key":"of no other"}"#),
        ])
        let (text, masked) = try export([2], of: reader)
        #expect(!text.contains(Self.token) && !text.contains("pw-1f5e9c27") && text.contains("sluice-token-1"))
        #expect(
            SessionMask.summary(masked, keeping: "--secrets keeps them.")
                == "2 secrets are masked in 5 places; --secrets keeps them."
        )
        let copy = try MaskedCopy(of: #require(try reader.exchange(ExchangeID(2))), in: reader)
        #expect("\(copy.exchange.record.url)" == "http://h.example/of/sluice-token-1")
    }

    @Test("but of many others the heads alone, and it is said of how many")
    func far() throws {
        var samples = (0..<700).map { Sample(path: "/\($0)", answer: "{}") }
        samples[3].fields = "Authorization: Bearer \(Self.token)\r\n"
        samples[4].answer = #"{"password":"pw-1f5e9c27"}"#
        samples[5].answer = ""
        samples[650].answer = #"{"log":"\#(Self.token) pw-1f5e9c27 pw-77aa88bb"}"#
        samples[640].answer = #"{"password":"pw-77aa88bb"}"#
        let reader = try session(samples)
        func body(_ others: OtherExchanges) throws -> (String, MaskedSource) {
            let exchange = try #require(try reader.exchange(ExchangeID(651)))
            let masked = try SessionMask.source(reader, [651], MaskRules(), others: others) {
                try $0.collectAll(exchange)
            }
            _ = masked.masked(exchange)
            let body = try masked.body(of: exchange.record.id, side: .responseReceived, offset: 0, limit: 1_000)
            return (String(buffer: body), masked)
        }
        let all = try body(.ofSession)
        #expect(all.0 == #"{"log":"sluice-token-1 sluice-password-1 sluice-password-2"}"#)
        #expect(SessionMask.summary(all.1, keeping: "k.") == "3 secrets are masked in 3 places; k.")
        let few = try body(OtherExchanges(most: 300, bodyBytes: 1 << 20, longestBody: 1 << 10, readsAllHeads: true))
        #expect(few.0 == #"{"log":"sluice-token-1 pw-1f5e9c27 sluice-password-1"}"#)
        // Those of 352 to 651 were read, and one of the 400 others has none.
        let remark = "The bodies of 399 other exchanges of the session were not looked through for secrets."
        #expect(SessionMask.summary(few.1, keeping: "k.") == "2 secrets are masked in 2 places; k. \(remark)")
        let short = try body(OtherExchanges(most: 300, bodyBytes: 1 << 20, longestBody: 10, readsAllHeads: false))
        #expect(short.0 == samples[650].answer && short.1.mask.unreadCount == 1)
        let bytes = try body(OtherExchanges(most: 300, bodyBytes: 50, longestBody: 100, readsAllHeads: false))
        #expect(bytes.0 == samples[650].answer && bytes.1.mask.unreadCount == 0)
    }

    @Test("A query that fits nothing is told, one that fits is not, and an empty session has all that fits")
    func nothing() throws {
        _ = try session([Sample()])
        let path = scratch.path("s.sluice")
        try SessionQuery(session: path, filter: ["id:1"]).requireMatch()
        try SessionQuery(session: path, filter: []).requireMatch()
        #expect {
            try SessionQuery(session: path, filter: ["id:9"]).requireMatch()
        } throws: {
            ($0 as? StartError)?.message == "No exchange of \(path) fits."
        }
    }
}
