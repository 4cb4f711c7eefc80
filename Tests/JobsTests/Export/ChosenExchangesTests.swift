import Dispatch
import Formats
import Foundation
import HTTPModel
import Masking
import NIOCore
import Recording
import Support
import Testing

@testable import Jobs

@Suite("Exports read the exchanges that they write", .timeLimit(.minutes(2)))
struct ChosenExchangesTests {
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

    @Test("An export of one exchange reads no other, and keeps what only another one names")
    func one() throws {
        let reader = try session([
            Sample(fields: "Authorization: Bearer \(Self.token)\r\n"),
            Sample(path: "/of/\(Self.token)?sid=pw-1f5e9c27", answer: #"{"log":"\#(Self.token) pw-1f5e9c27"}"#),
            Sample(answer: #"{"password":"pw-1f5e9c27"}"#),
        ])
        var count = 0
        let pipeline = ExportPipeline(reader, onProgress: { count += $0 }, numbers: { try $0([2]) })
        let masked = try SessionMask.source(pipeline, MaskRules())
        #expect(count == 1 && masked.mask.secretCount == 1)
        var output = ByteBuffer()
        var export: any ExchangeExport = HARExport(source: masked) { output.writeImmutableBuffer($0) }
        #expect(try SessionMask.write(&export, masked, pipeline) == 1)
        let text = String(buffer: output)
        #expect(count == 2 && text.contains(Self.token) && !text.contains("pw-1f5e9c27"), "\(text)")
    }

    @Test("Compressed bodies are counted, as nothing is found in them")
    func unread() throws {
        let reader = try session([
            Sample(answer: "\u{1F}\u{8}\u{8}"), Sample(answer: "PK\u{3}\u{4}zip"), Sample(answer: "{}"),
        ])
        let pipeline = ExportPipeline(reader) { try $0([1, 2, 3]) }
        let masked = try SessionMask.source(pipeline, MaskRules())
        #expect(masked.mask.unreadCount == 1)
        #expect(SessionMask.summary(masked, keeping: "k.") == "1 compressed body was not searched for secrets.")
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
