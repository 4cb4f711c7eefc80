import Description
import Dispatch
import Foundation
import HTTPModel
import Masking
import NIOCore
import Recording
import Support
import Testing
import Text

@testable import Clients
@testable import Jobs

@Suite("What is told of requests that were sent again")
struct RepeatReportTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    struct Answer {
        var path: String
        var status = 200
        var body = "{}"
        var address: String?
        var at: Int64 = 0
        var failure: ExchangeFailure?
        var isOver = true
    }

    private static let start: Int64 = 1_795_000_000_000_000

    /// A session with these exchanges, from number 1 on.
    private func session(_ name: String, _ answers: [Answer]) throws -> SessionReader {
        let path = scratch.path(name)
        let recorder = try Recorder(RecorderConfiguration(path: path))
        let credit = DispatchSemaphore(value: 0)
        let producer = recorder.makeProducer { credit.signal() }
        for (index, answer) in answers.enumerated() {
            var record = ExchangeRecord(
                id: ExchangeID(Int64(index + 1)),
                kind: .http,
                startedAt: Self.start + answer.at,
                method: "GET",
                url: RequestURL(
                    scheme: "https",
                    host: "h.example",
                    port: 443,
                    path: answer.path,
                    query: "token=s3cr3t-value"
                ),
                clientConnection: ConnectionID(1),
                clientAddress: answer.address
            )
            var messages = ExchangeMessages()
            messages.requestHead = ByteBuffer(string: "GET \(answer.path) HTTP/1.1\r\nHost: h.example\r\n\r\n")
            messages.responseHead = ByteBuffer(
                string: "HTTP/1.1 \(answer.status) X\r\nContent-Type: application/json\r\nDate: \(name)\r\n\r\n"
            )
            var events = [RecordEvent.opened(record, messages)]
            if answer.isOver {
                record.state = answer.failure == nil ? .complete : .failed
                record.status = answer.status
                record.failure = answer.failure
                record.timings.total = 4_000
                record.sizes.responseBody = Int64(answer.body.utf8.count)
                events += [
                    .body(record.id, .responseReceived, ByteBuffer(string: answer.body)), .finished(record, messages),
                ]
            }
            if !producer.submit(events, cost: events.reduce(0) { $0 + $1.cost }) { credit.wait() }
        }
        if let error = recorder.close().error { throw error }
        return try SessionReader(path: path)
    }

    private func outcome(
        _ address: String?,
        at: Int64,
        _ duration: Int64 = 1_000,
        failure: String? = nil
    ) -> SendOutcome {
        SendOutcome(
            status: failure == nil ? 200 : nil,
            duration: duration,
            bytes: 2,
            failure: failure,
            address: address,
            startedAt: Self.start + at
        )
    }

    private func selection(_ reader: SessionReader) throws -> RepeatSelection {
        try RepeatSelection(try SessionQuery(session: reader.path, filter: .everything), asSent: false)
    }

    private func report(
        _ old: [Answer],
        _ new: [Answer],
        _ sent: [RepeatResults.Sent],
        total: Int? = nil,
        by grouping: RepeatReport.Grouping? = nil
    ) throws -> (RepeatReport, RepeatComparison, SessionReader, SessionReader) {
        let (recorded, made) = (try session("old.sluice", old), try session("new.sluice", new))
        let selection = try selection(recorded)
        var results = RepeatResults(sent: sent, total: total ?? sent.count, seconds: 2)
        try results.find(in: made, after: 0)
        let settings = ComparisonSettings()
        let comparison = try LongWork.run("testing", .things("answer"), consequence: "") { work in
            try RepeatComparison(results, of: selection, from: recorded, made, settings, work: work)
        }
        let report = RepeatReport(
            results,
            of: selection,
            comparison,
            by: grouping,
            settings,
            session: "new.sluice"
        )
        return (report, comparison, recorded, made)
    }

    @Test("finds the exchanges by address and time, and not those of other clients or of before")
    func finds() throws {
        let reader = try session(
            "made.sluice",
            [
                Answer(path: "/before", address: "127.0.0.1:1", at: 0),
                Answer(path: "/a", address: "127.0.0.1:1", at: 1_000_000),
                Answer(path: "/stranger", address: "127.0.0.1:9", at: 1_000_000),
                Answer(path: "/b", address: "127.0.0.1:1", at: 2_000_000),
                Answer(path: "/later", address: "127.0.0.1:1", at: 9_000_000),
                Answer(
                    path: "/c",
                    status: 502,
                    address: "127.0.0.1:2",
                    at: 3_000_000,
                    failure: ExchangeFailure(.connect, "It is down.")
                ),
            ]
        )
        let sent = [
            RepeatResults.Sent(source: 1, outcome: outcome("127.0.0.1:1", at: 2_000_000)),
            RepeatResults.Sent(source: 0, outcome: outcome("127.0.0.1:1", at: 1_000_000)),
            RepeatResults.Sent(source: 2, outcome: outcome("127.0.0.1:2", at: 3_000_000)),
            RepeatResults.Sent(source: 3, outcome: outcome("127.0.0.1:3", at: 3_000_000)),
            RepeatResults.Sent(source: 4, outcome: outcome(nil, at: 3_000_000, failure: "No connection.")),
        ]
        var results = RepeatResults(sent: sent, total: 5, seconds: 1)
        try results.find(in: reader, after: 1)
        #expect(results.sent.map { $0.exchange?.number } == [4, 2, 6, nil, nil])
        #expect(results.sent.map(\.outcome.failure) == [nil, nil, "It is down.", nil, "No connection."])
        #expect(results.failures == 2)
        var after = RepeatResults(sent: sent, total: 5, seconds: 1)
        try after.find(in: reader, after: 4)
        #expect(after.sent.map { $0.exchange?.number } == [nil, nil, 6, nil, nil])
    }

    private static let old = [
        Answer(path: "/items/1", body: #"{"n":1}"#), Answer(path: "/items/2", body: #"{"n":2}"#),
        Answer(path: "/down", failure: ExchangeFailure(.reset, "It was down.")),
    ]
    private static let new = [
        Answer(path: "/items/1", body: #"{"n":1}"#, address: "127.0.0.1:1", at: 0),
        Answer(path: "/items/2", status: 500, body: #"{"n":7}"#, address: "127.0.0.1:1", at: 100_000),
        Answer(path: "/down", address: "127.0.0.1:1", at: 200_000),
        Answer(path: "/items/1", body: #"{"n":3}"#, address: "127.0.0.1:1", at: 300_000),
    ]

    private var sent: [RepeatResults.Sent] {
        [(0, 0), (1, 100_000), (2, 200_000), (0, 300_000)].map {
            RepeatResults.Sent(source: $0.0, outcome: outcome("127.0.0.1:1", at: $0.1, 1_000 + $0.1 / 100))
        } + [
            RepeatResults.Sent(source: 1, outcome: outcome("127.0.0.1:1", at: 900_000)),
            RepeatResults.Sent(source: 1, outcome: outcome("127.0.0.1:1", at: 950_000, failure: "Gone.")),
        ]
    }

    @Test("compares with the recorded answers by status, fields and body, and says what was not compared")
    func compares() throws {
        let (report, comparison, _, _) = try report(Self.old, Self.new, sent, total: 9)
        let all = comparison.all
        #expect((all.differences.compared, all.differences.same, all.differences.different) == (3, 1, 2))
        #expect(all.differences.parts == [.status: 1, .body: 2])
        // One answered what had no answer before; one is in no session.
        #expect((all.withoutRecorded, all.notCompared) == (1, 1))
        let first = try #require(comparison.counts[0])
        #expect(first.differences.places.map(\.subject.description) == ["res.json.n"])
        #expect(first.differences.places.first?.exchanges == [1, 4])
        let text = report.text()
        for line in [
            "6 requests sent in 2.0 s, 3.0 a second, 1 not answered, then stopped (9 were planned).",
            "failed 1 x: Gone.",
            "Compared with the recorded answers: 1 of 3 the same, 2 different (status of 1, body of 2).",
            "Not compared, since no whole answer was recorded: 1.",
            "Not compared, since the new answer is not in a session: 1.",
            "  ~ 1 of 2  res.json.n  1 -> 3  (#1 ~ #4)",
            "  ~ 1 of 1  res.status  200 -> 500  (#2 ~ #2)",
        ] {
            #expect(text.contains(line + "\n"), "\(line) in\n\(text)")
        }
    }

    @Test("is by exchange or by endpoint, and fits a terminal", arguments: [40, 80, 120, 200])
    func tables(width: Int) throws {
        let (report, _, _, _) = try report(Self.old, Self.new, sent)
        #expect(report.rows.map(\.count) == [2, 3, 1] && report.all.count == 6)
        #expect(report.text().contains("#1 GET https://h.example/items/1?token="))
        for isUnicode in [true, false] {
            let text = report.text(on: .init(width: width, isUnicode: isUnicode))
            #expect(text.contains(isUnicode ? "█" : "#"))
            let table = text.components(separatedBy: "Times of")[0].split(separator: "\n").dropFirst()
            for line in table where width >= 80 { #expect(TextWidth.columns(line) <= width, "\(line)") }
            let histogram = text.components(separatedBy: "Times of")[1].split(separator: "\n")
                .filter { $0.hasPrefix("  ") && $0.hasSuffix("%") }
            #expect(!histogram.isEmpty)
            for line in histogram { #expect(TextWidth.columns(line) <= 80, "\(line)") }
        }
    }

    @Test("joins exchanges of one endpoint")
    func endpoints() throws {
        let (report, _, recorded, made) = try report(Self.old, Self.new, sent, by: .endpoint)
        #expect(report.rows.map(\.numbers) == [[1, 2], [3]] && report.rows.map(\.count) == [5, 1])
        #expect(report.text().contains("  GET h.example/items/{id}\n"))
        let first = try object(String(try report.json(nil, recorded: recorded, made: made).split(separator: "\n")[0]))
        #expect(first["type"] as? String == "endpoint" && first["path"] as? String == "/items/{id}")
    }

    @Test("has the same figures as JSON lines, with secrets masked")
    func json() throws {
        let (report, _, recorded, made) = try report(Self.old, Self.new, sent, total: 9)
        let text = try report.json(ReportMask([recorded, made], MaskRules()), recorded: recorded, made: made)
        #expect(!text.contains("s3cr3t-value"))
        #expect(try report.json(nil, recorded: recorded, made: made).contains("s3cr3t-value"))
        let lines = try text.split(separator: "\n").map { try object(String($0)) }
        #expect(lines.map { $0["type"] as? String } == ["exchange", "exchange", "exchange", "total"])
        #expect(lines[1]["exchanges"] as? [Int] == [2] && lines[1]["failed"] as? Int == 1)
        #expect(lines[1]["failures"] as? [String: Int] == ["Gone.": 1])
        #expect(lines[1]["statuses"] as? [String: Int] == ["200": 2])
        let differences = try #require(lines[1]["differences"] as? [[String: Any]])
        #expect(differences.map { $0["place"] as? String } == ["res.status", "res.json.n"])
        #expect(differences[0]["old"] as? String == "200" && differences[0]["new"] as? String == "500")
        let total = lines[3]
        #expect(total["planned"] as? Int == 9 && total["count"] as? Int == 6 && total["stopped"] as? Bool == true)
        #expect(total["min"] as? Double == 1 && total["max"] as? Double == 4 && total["recordedP50"] as? Double == 4)
        #expect(total["seconds"] as? Double == 2 && total["perSecond"] as? Double == 3)
        let histogram = try #require(total["histogram"] as? [[String: Any]])
        #expect(histogram.reduce(0) { $0 + ($1["count"] as? Int ?? 0) } == 5)
    }
}

private func object(_ text: String) throws -> [String: Any] {
    try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
}
