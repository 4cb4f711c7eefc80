import Dispatch
import Files
import Formats
import Foundation
import HTTPModel
import NIOCore
import Recording
import Support
import Testing

@testable import Jobs

@Suite("Raw messages as files")
struct RawExportTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// A session with exchanges of such numbers, whose URLs would be bad names for files.
    private func session(_ numbers: Int64...) throws -> SessionReader {
        let recorder = try Recorder(RecorderConfiguration(path: scratch.path("s.sluice")))
        let credit = DispatchSemaphore(value: 0)
        let producer = recorder.makeProducer { credit.signal() }
        for number in numbers {
            var record = ExchangeRecord(
                id: ExchangeID(number),
                kind: .http,
                startedAt: 1_700_000_000_000_000 + number,
                method: "../GET",
                url: RequestURL(scheme: "http", host: "h.example", port: 80, path: "/../../etc/\(number)"),
                clientConnection: ConnectionID(1)
            )
            var messages = ExchangeMessages()
            messages.requestHead = ByteBuffer(string: "GET /\(number) HTTP/1.1\r\nHost: h.example\r\n\r\n")
            messages.responseHead = ByteBuffer(
                string: "HTTP/1.1 200 OK\r\nContent-Type: application/../x+json\r\nContent-Length: 10\r\n\r\n"
            )
            let body = ByteBuffer(string: "{\"n\":1234}")
            (record.state, record.status, record.sizes.responseBody) = (.complete, 200, 10)
            let events: [RecordEvent] = [
                .opened(record, messages), .body(record.id, .responseReceived, body), .finished(record, messages),
            ]
            if !producer.submit(events, cost: events.reduce(0) { $0 + $1.cost }) { credit.wait() }
        }
        _ = recorder.close()
        return try SessionReader(path: scratch.path("s.sluice"))
    }

    private func run(
        _ reader: SessionReader,
        to directory: String? = nil,
        hasBodies: Bool = false,
        mostFiles: Int = ZipReader.mostEntries
    ) throws -> String? {
        let pipeline = ExportPipeline(reader) { body in try reader.forEachNumbers(matching: .everything, body) }
        let file = try OutputFile(scratch.path("out.zip"), isSecret: true)
        var destination = ExportDestination(file, path: scratch.path("out.zip"))
        destination.directory = try directory.map { try OutputDirectory(scratch.path($0)) }
        destination.wantsBodies = hasBodies
        var export: any ExchangeExport = try RawExport(
            pipeline.pages,
            of: reader,
            to: destination,
            mostFiles: mostFiles
        )
        try SessionMask.write(&export, nil, pipeline)
        try file.finish()
        return export.remark
    }

    @Test("Names are numbers of one width, whatever the traffic says; bodies alone have an ending by their type")
    func names() throws {
        let reader = try session(1, 99_998)
        let remark = try run(reader, to: "out", hasBodies: true)
        #expect(remark == "4 messages are in it, one in a file; index.csv tells whose they are")
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path("out")).sorted()
        #expect(
            names == [
                "00001-request.http", "00001-response.body.bin", "00001-response.http", "99998-request.http",
                "99998-response.body.bin", "99998-response.http", "index.csv",
            ]
        )
        #expect(scratch.bytes("out/00001-request.http") == Array("GET /1 HTTP/1.1\r\nHost: h.example\r\n\r\n".utf8))
        #expect(scratch.bytes("out/99998-response.body.bin") == Array("{\"n\":1234}".utf8))
        let index = String(decoding: scratch.bytes("out/index.csv"), as: UTF8.self).split(separator: "\r\n")
        #expect(index.count == 3 && index[2].hasPrefix("99998,") && index[2].contains("/../../etc/99998"))
    }

    @Test("A zip has the same files; of no exchanges it has the index")
    func zip() throws {
        let reader = try session(7)
        func zipped(_ reader: SessionReader) throws -> ZipReader {
            _ = try run(reader)
            return try ZipReader(scratch.path("out.zip"))
        }
        let zip = try zipped(reader)
        #expect(zip.entries.map(\.name).sorted() == ["0007-request.http", "0007-response.http", "index.csv"])
        let response = try zip.contents(of: try #require(zip["0007-response.http"]), atMost: 1_000)
        #expect(response.map { String(decoding: $0, as: UTF8.self) }?.hasSuffix("\r\n\r\n{\"n\":1234}") == true)
        try FileManager.default.removeItem(atPath: scratch.path("s.sluice"))
        #expect(try zipped(session()).entries.map(\.name) == ["index.csv"])
    }

    @Test("A zip has no more files than readers take; a directory may have any number")
    func most() throws {
        let reader = try session(1, 2)
        #expect(throws: StartError.self) { try run(reader, mostFiles: 4) }
        #expect(try run(reader, mostFiles: 5) != nil)
        #expect(try run(reader, to: "many", mostFiles: 1) != nil)
    }
}
