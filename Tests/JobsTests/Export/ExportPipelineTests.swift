import Content
import Description
import Formats
import Foundation
import HTTPModel
import Masking
import NIOCore
import Recording
import Support
import Synchronization
import Testing

@testable import Jobs

@Suite("Exports on several threads", .timeLimit(.minutes(2)))
struct ExportPipelineTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private static let page = Int64(ExportPipeline.pageLength)

    /// Exchanges with heads, secrets of their own and one that all have, and bodies that are short but for each 50th.
    private func session(_ count: Int64, longBody: Int = 9_000) throws -> SessionReader {
        let recorder = try Recorder(RecorderConfiguration(path: scratch.path("s.sluice")))
        let credit = DispatchSemaphore(value: 0)
        let producer = recorder.makeProducer { credit.signal() }
        for number in 0..<count {
            var record = ExchangeRecord(
                id: ExchangeID(number + 1),
                kind: .http,
                startedAt: 1_700_000_000_000_000 + number,
                method: "POST",
                url: RequestURL(scheme: "http", host: "h.example", port: 80, path: "/\(number + 1)"),
                clientConnection: ConnectionID(1)
            )
            var messages = ExchangeMessages()
            messages.requestHead = ByteBuffer(
                string: """
                    POST /\(number + 1) HTTP/1.1\r\nHost: h.example\r\nAuthorization: Bearer shared-5f4dcc3b5aa7\r
                    Cookie: sid=5e55\(number / 3)10c00c1e\r\nContent-Type: application/json\r\n\r\n
                    """
            )
            messages.responseHead = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
            if number % 7 == 0 {
                // A stage made another type of it, and so other secrets.
                messages.responseHeadSent = ByteBuffer(
                    string: "HTTP/1.1 200 OK\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"
                )
            }
            let filler = String(repeating: "x ", count: number % 50 == 49 ? longBody / 2 : 20)
            let body = ByteBuffer(
                string: #"{"password":"pw-\#(number / 2)-abcdef","code=c0de\#(number)9f3A7c21": "\#(filler)"}"#
            )
            record.sizes.responseBody = Int64(body.readableBytes)
            record.state = .complete
            record.status = 200
            let events: [RecordEvent] = [
                .opened(record, messages), .body(record.id, .requestReceived, ByteBuffer(string: "{\"n\":\(number)}")),
                .body(record.id, .responseReceived, body), .finished(record, messages),
            ]
            if !producer.submit(events, cost: events.reduce(0) { $0 + $1.cost }) { credit.wait() }
        }
        _ = recorder.close()
        return try SessionReader(path: scratch.path("s.sluice"))
    }

    private func pipeline(
        _ reader: SessionReader,
        threads: Int,
        onProgress: @escaping (Int) throws -> Void = { _ in }
    ) -> ExportPipeline {
        ExportPipeline(reader, threads: threads, onProgress: onProgress) { body in
            try reader.forEachNumbers(matching: .everything, body)
        }
    }

    private enum Way: CaseIterable { case har, array, lines }

    private static func export(
        _ way: Way,
        _ source: any ExchangeSource,
        _ sink: @escaping ExportSink
    ) -> any ExchangeExport {
        var options = EntryOptions()
        options.lines = way == .lines
        return switch way {
        case .har: HARExport(source: source, sink: sink)
        case .array, .lines: JSONExport(source: source, options: options, sink: sink)
        }
    }

    /// An export by the exchanges one after the other, as one thread reads them by themselves.
    private func plain(_ way: Way, _ reader: SessionReader, isMasked: Bool) throws -> (ByteBuffer, MaskedSource?) {
        var output = ByteBuffer()
        let exchanges = try reader.numbers(matching: .everything).compactMap { try reader.exchange(ExchangeID($0)) }
        let masked = isMasked ? MaskedSource(reader, TextMask()) : nil
        if let masked {
            for exchange in exchanges { try masked.collectAll(exchange) }
            masked.mask.endCollecting()
        }
        var export = Self.export(way, masked ?? reader) { output.writeImmutableBuffer($0) }
        for exchange in exchanges { try export.add(masked?.masked(exchange) ?? exchange) }
        try export.finish()
        return (output, masked)
    }

    @Test(
        "What several threads write is what one writes, to the byte, with and without secrets",
        arguments: [0, 1, page, page * 3 + 5],
        [1, 3]
    )
    func same(count: Int64, threads: Int) throws {
        let reader = try session(count)
        for way in Way.allCases {
            for isMasked in [false, true] {
                let (expected, expectedMask) = try plain(way, reader, isMasked: isMasked)
                let pipeline = pipeline(reader, threads: threads)
                let masked = isMasked ? try SessionMask.source(pipeline, MaskRules()) : nil
                var output = ByteBuffer()
                var export = Self.export(way, masked ?? pipeline.pages) { output.writeImmutableBuffer($0) }
                #expect(try SessionMask.write(&export, masked, pipeline) == Int(count))
                #expect(output == expected, "\(way), masked: \(isMasked)")
                #expect(masked?.replacedCount == expectedMask?.replacedCount)
                #expect(masked?.mask.suspects == expectedMask?.mask.suspects)
            }
        }
    }

    @Test("A format that is no sum of its parts is written on one thread, from the same pages")
    func sequential() throws {
        let reader = try session(Self.page * 2 + 3)
        let pipeline = pipeline(reader, threads: 4)
        var output = ByteBuffer()
        var export: any ExchangeExport = CurlExport(source: pipeline.pages) { output.writeImmutableBuffer($0) }
        #expect(try SessionMask.write(&export, nil, pipeline) == Int(Self.page) * 2 + 3)
        let lines = String(buffer: output).split(separator: "\n").filter { $0.hasPrefix("# ") && $0.contains(" POST ") }
        #expect(lines.first?.contains("/1 was ") == true && lines.last?.contains("/259 was ") == true)
        #expect(lines.count == 259)
    }

    private struct Stop: Error, Equatable { var number: Int }

    @Test("An error of who takes ends all threads, and is the one that is thrown", arguments: [1, 2, 4])
    func sinkError(threads: Int) throws {
        let reader = try session(Self.page * 6)
        var written = 0
        var export: any ExchangeExport = HARExport(source: reader) {
            written += $0.readableBytes
            if written > 200_000 { throw Stop(number: 1) }
        }
        #expect(throws: Stop(number: 1)) { try SessionMask.write(&export, nil, pipeline(reader, threads: threads)) }
        #expect(written < 400_000)
    }

    @Test("An error in the middle comes after what was before it, in order", arguments: [1, 2, 4])
    func workError(threads: Int) throws {
        let reader = try session(Self.page * 6)
        var taken: [Int64] = []
        #expect(throws: Stop(number: 700)) {
            try pipeline(reader, threads: threads).run { pages in
                { (page: ExportPage<Int64>) in
                    try page.forEach(in: pages) { exchange in
                        let number = exchange.record.id.number
                        if number >= 300 { throw Stop(number: number >= 600 ? 1 : 700) }
                        if number % 10 == 0 { try page.give(number) }
                    }
                }
            } take: { (number: Int64, _) in
                taken.append(number)
            }
        }
        #expect(taken == stride(from: 10, to: 300, by: 10).map { $0 })
    }

    @Test("Who asks for progress can end it, also while a page takes long")
    func cancelled() throws {
        let reader = try session(Self.page * 6)
        var done = 0
        var export: any ExchangeExport = HARExport(source: reader) { _ in }
        let counting = pipeline(reader, threads: 2) { count in
            done += count
            if done >= Self.page * 2 { throw Stop(number: 2) }
        }
        #expect(throws: Stop(number: 2)) { try SessionMask.write(&export, nil, counting) }
        #expect(done == Self.page * 2)

        var asked = 0
        let waiting = pipeline(reader, threads: 2) { _ in
            asked += 1
            if asked == 3 { throw Stop(number: 3) }
        }
        let release = DispatchSemaphore(value: 0)
        #expect(throws: Stop(number: 3)) {
            try waiting.run { pages in
                { (page: ExportPage<Int>) in
                    // Works on until it is told, by the source, that nobody waits any more.
                    while true { try page.forEach(in: pages) { _ in _ = release.wait(timeout: .now()) } }
                }
            } take: { (_: Int, _) in
            }
        }
    }

    /// How many pieces were made and are not taken.
    private final class Waiting: Sendable {
        private let state = Mutex((made: 0, taken: 0, most: 0))

        var takenCount: Int { state.withLock { $0.taken } }
        var most: Int { state.withLock { $0.most } }

        func made() {
            state.withLock { state in
                state.made += 1
                state.most = max(state.most, state.made - state.taken)
            }
        }

        func taken() { state.withLock { $0.taken += 1 } }
    }

    @Test("Of what is made only so much waits, however long a body is")
    func bounded() throws {
        let reader = try session(Self.page * 12, longBody: 3 << 20)
        let count = Waiting()
        try pipeline(reader, threads: 2).run { pages in
            { (page: ExportPage<Int>) in
                try page.forEach(in: pages) { _ in
                    count.made()
                    try page.give(1)
                }
            }
        } take: { (_: Int, _) in
            count.taken()
        }
        // The page that is taken from may be done; each of two threads is at another one.
        #expect(count.takenCount == Int(Self.page) * 12)
        #expect(count.most <= 3 * (ExportPage<Int>.mostWaiting + 2))
    }

    @Test("A file that lost its name is exported by all threads")
    func removed() throws {
        let reader = try session(Self.page * 3)
        let expected = try plain(.har, reader, isMasked: false).0
        scratch.remove()
        var output = ByteBuffer()
        let pipeline = pipeline(reader, threads: 3)
        var export: any ExchangeExport = HARExport(source: pipeline.pages) { output.writeImmutableBuffer($0) }
        try SessionMask.write(&export, nil, pipeline)
        #expect(output == expected)
    }
}
