import Files
import Formats
import Foundation
import HTTPModel
import Masking
import NIOCore
import Recording
import Support
import Testing

@testable import Jobs

@Suite("Bundles")
struct BundleExportTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func record(_ number: Int64, _ at: Int64, _ state: ExchangeRecord.State) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: ExchangeID(number),
            kind: .http,
            startedAt: at,
            method: "GET",
            url: RequestURL(scheme: "http", host: "h.example", port: 80, path: "/\(number)"),
            clientConnection: ConnectionID(1)
        )
        (record.state, record.status) = (state, state == .complete ? 500 : 0)
        return record
    }

    /// A session with exchanges at such moments, the last of which is still in flight, and rules since such moments.
    private func session(
        _ moments: [Int64],
        rules: [Int64],
        body: [UInt8] = [],
        profile: String = "",
        trace: [TraceEntry] = []
    ) throws -> SessionReader {
        let recorder = try Recorder(RecorderConfiguration(path: scratch.path("s.sluice")))
        let producer = recorder.makeProducer {}
        for at in rules {
            let source = ProfileSource(file: "/home/me/at \(at).yaml", text: "# since \(at)\n" + profile)
            recorder.noteRules(sources: [source], switchedOff: [String](), at: at)
        }
        var head = ExchangeMessages()
        head.responseHead = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        head.trace = trace
        for (index, at) in moments.enumerated() {
            let number = Int64(index + 1)
            var events: [RecordEvent] = [.opened(record(number, at, .inFlight), head)]
            if !body.isEmpty {
                events.append(.body(ExchangeID(number), .responseReceived, ByteBuffer(bytes: body)))
                for (line, start) in body.indices.filter({ $0 == 0 || body[$0 - 1] == 0x0A }).enumerated() {
                    let id = ExchangeID(number)
                    events.append(.arrival(id, .responseReceived, offset: Int64(start), at: at + Int64(line)))
                }
            }
            if index < moments.count - 1 { events.append(.finished(record(number, at, .complete), head)) }
            _ = producer.submit(events, cost: events.reduce(0) { $0 + $1.cost })
        }
        recorder.flush()
        defer { recorder.close() }
        return try SessionReader(path: scratch.path("s.sluice"))
    }

    /// The bundle of some exchanges.
    private func bundle(_ reader: SessionReader, _ numbers: [Int64], isMasked: Bool = false) throws -> ZipReader {
        let pipeline = ExportPipeline(reader) { try $0(numbers) }
        let masked = isMasked ? try SessionMask.source(pipeline, MaskRules()) : nil
        let file = try OutputFile(scratch.path("b.zip"), isSecret: true)
        let destination = ExportDestination(file, path: scratch.path("b.zip"))
        var export: any ExchangeExport = try BundleExport(masked ?? pipeline.pages, of: reader, to: destination)
        try SessionMask.write(&export, masked, pipeline)
        try file.finish()
        return try ZipReader(scratch.path("b.zip"))
    }

    private func opened(_ zip: ZipReader) throws -> SessionReader {
        let path = scratch.path("out-\(UUID().uuidString).sluice")
        try zip.extract(try #require(zip["session.sluice"]), to: path)
        return try SessionReader(path: path)
    }

    @Test("The rules are those that were in force while the exchanges began, those of before and after are not there")
    func rules() throws {
        let reader = try session([600, 700, 800, 900], rules: [100, 500, 700, 850, 2_000])
        for (numbers, expected) in [([1], [500]), ([1, 2], [500, 700]), ([3], [700]), ([2, 4], [700, 850])]
            as [([Int64], [Int])]
        {
            let names = try bundle(reader, numbers).entries.map(\.name).filter { $0.hasPrefix("profile/") }
            #expect(names == expected.enumerated().map { "profile/\($0 + 1)-at_\($1).yaml" }, "\(numbers)")
            let again = try opened(try bundle(reader, numbers))
            #expect(try again.rules().map(\.at) == expected.map { Int64($0) })
        }
    }

    @Test("A secret that the profile names is masked in traces, too: in the name of a rule and in what it did")
    func traces() throws {
        let profile =
            "rewrite:\n  - { name: put hunter2word, modify: body, match: ok, to: '{\"password\":\"hunter2word\"}' }\n"
        let trace = [
            TraceEntry(stage: "rewrite", rule: "put hunter2word", outcome: .fired, text: "body: to hunter2word")
        ]
        let reader = try session([100, 200, 300], rules: [50], profile: profile, trace: trace)
        for numbers in [[1, 2, 3], [2]] as [[Int64]] {
            let zip = try bundle(reader, numbers, isMasked: true)
            let copy = try opened(zip)
            let entry = try #require(try copy.exchange(ExchangeID(2))?.messages.trace.first)
            #expect(entry.rule == "put sluice-password-1" && entry.text == "body: to sluice-password-1")
            for source in try copy.rules().flatMap(\.sources) { #expect(!source.text.contains("hunter2word")) }
        }
    }

    @Test("What was in flight is interrupted there, and numbers stay")
    func interrupted() throws {
        let again = try opened(try bundle(try session([600, 700, 800], rules: []), [2, 3]))
        let records = try again.records(limit: 9)
        #expect(records.map(\.id.number) == [2, 3] && records.map(\.state) == [.complete, .interrupted])
    }

    @Test("The lines of a masked body have the times of those that were recorded")
    func arrivals() throws {
        let secret = #"{"password":"hunter-22-abcdef"}"#
        let body = "data: one\n\ndata: \(secret)\n\ndata: three\n\n"
        let reader = try session([600, 700], rules: [], body: Array(body.utf8))
        let again = try opened(try bundle(reader, [1], isMasked: true))
        let id = ExchangeID(1)
        let masked = String(buffer: try again.body(of: id, side: .responseReceived, offset: 0, limit: 999))
        #expect(!masked.contains("hunter") && masked.hasSuffix("\n\ndata: three\n\n"))
        let starts = [0] + masked.utf8.enumerated().filter { $0.element == 0x0A }.map { $0.offset + 1 }.dropLast()
        let arrivals = try again.arrivals(of: id, side: .responseReceived)
        #expect(arrivals.map(\.offset) == starts.map { Int64($0) } && arrivals.map(\.at) == Array(600..<606))
    }

    @Test("The story names ten that failed and twenty hosts, and counts the others")
    func story() {
        func text(_ count: Int64) -> String {
            var story = BundleStory(session: "/home/me/s.sluice")
            for number in 1...count {
                var record = record(number, 1_700_000_000_000_000, .complete)
                record.url.host = "h\(number).example"
                story.add(RecordedExchange(record: record, messages: ExchangeMessages()))
            }
            return story.text(nil)
        }
        #expect(text(10).components(separatedBy: "status 500").count == 11 && !text(10).contains("more"))
        #expect(text(12).components(separatedBy: "status 500").count == 11 && text(12).contains("\n  and 2 more\n"))
        func origin(_ flags: ExchangeRecord.Flags, _ entry: TraceEntry) -> String {
            var story = BundleStory(session: "s.sluice")
            var (record, messages) = (record(1, 1_700_000_000_000_000, .complete), ExchangeMessages())
            record.flags = flags
            messages.trace = [entry]
            story.add(RecordedExchange(record: record, messages: messages))
            return story.text(nil)
        }
        let local = TraceEntry(stage: "block", rule: "flaky", outcome: .fired, text: "answered 500")
        let words = "status 500, answered by Sluice and not by the server: block, rule 'flaky'\n"
        #expect(origin([.answeredLocally], local).contains(words))
        let edit = TraceEntry(stage: "rewrite", rule: "r #1", outcome: .fired, text: "changed status: 200 OK to 500")
        let change = "status 500, changed by rewrite, rule 'r #1': changed status: 200 OK to 500\n"
        #expect(origin([], edit).contains(change))
        var titled = BundleStory(session: "s.sluice")
        (titled.title, titled.note) = ("Orders fail", "Since Monday.\nSee \u{1B}[31m")
        #expect(titled.text(nil).hasPrefix("Orders fail\n\nSince Monday.\nSee ^[[31m\n\nA bundle of Sluice"))
        let many = text(23)
        #expect(many.contains("\nErrors:     23\n") && many.contains("\n            and 3 more\n"))
        #expect(many.components(separatedBy: ".example (1)").count == 21)
    }
}
