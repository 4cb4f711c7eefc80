import Content
import Files
import Foundation
import HTTPModel
import NIOCore
import Recording
import Support
import Testing

@testable import Jobs
@testable import Runner

@Suite("Archives that are packed, or have bodies beside them, are read")
struct PackedArchiveTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private static let file = "75841480e2606c03389077304342fac2c58ccb1b.html"

    private func har(_ content: String) -> String {
        #"{"log": {"entries": [{"startedDateTime": "2024-03-12T10:00:00Z", "request": {"method": "GET", "url": "http://h/"}, "#
            + #""response": {"status": 200, "content": {"mimeType": "text/html", \#(content)}}}]}}"#
    }

    private func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
        try Data(Array(bytes)).write(to: URL(filePath: "\(scratch.path)/\(name)"))
        return "\(scratch.path)/\(name)"
    }

    private func zip(_ name: String, _ members: [(String, String)]) throws -> String {
        let files = try members.enumerated().map { index, member in
            ZipWriter.Member(member.0, file: try write("\(name)-\(index)", member.1.utf8))
        }
        try ZipWriter.write(files, to: "\(scratch.path)/\(name)")
        return "\(scratch.path)/\(name)"
    }

    /// The first response's body, and what an import calls the file.
    private func read(_ path: String) async throws -> (body: String, format: String) {
        let body = String(
            buffer: try SessionQuery.open(path).body(of: ExchangeID(1), side: .responseReceived, limit: 99)
        )
        let outcome = try await RecordedSessionEdits(path: "\(scratch.path)/\(UUID()).sluice").importExchanges(of: path)
        { _ in
            true
        }
        #expect(outcome.count == 1 && outcome.losses.isEmpty)
        return (body, outcome.format)
    }

    @Test("A HAR in gzip, in a zip, and in a zip with bodies beside it")
    func packed() async throws {
        let plain = har(#""text": "<p>""#)
        let gzip = try ContentEncoder.encode(ByteBuffer(string: plain), coding: .gzip)
        let file = try write("a.har.gz", gzip.readableBytesView)
        #expect(try await read(file) == ("<p>", "a HAR"))
        #expect(
            try await read(zip("a.zip", [("__MACOSX/._a.har", "x"), ("logs/a.har", plain), ("readme", "")])) == (
                "<p>", "a HAR"
            )
        )
        let attached = har(#""_file": "b.html""#)
        #expect(try await read(zip("b.zip", [("x/har.har", attached), ("x/b.html", "<b>")])) == ("<b>", "a HAR"))
        let saz = [("raw/1_c.txt", "GET http://h/ HTTP/1.1\r\n\r\n"), ("raw/1_s.txt", "HTTP/1.1 200 OK\r\n\r\nhi")]
        let meta = ("raw/1_m.xml", #"<Session><SessionTimers ClientBeginRequest="2024-03-12T10:00:00Z"/></Session>"#)
        #expect(try await read(zip("c.saz", saz + [meta])) == ("hi", "a Fiddler session"))
    }

    @Test("A body beside a HAR is read by the name that Playwright gives it, and no other file is")
    func beside() throws {
        _ = try write(Self.file, "<html>".utf8)
        _ = try write("secret.txt", "secret".utf8)
        try FileManager.default.createDirectory(atPath: "\(scratch.path)/sub", withIntermediateDirectories: true)
        for (name, body) in [
            (Self.file, "<html>"), ("secret.txt", ""), ("../\(Self.file)", ""), ("sub/../\(Self.file)", ""),
        ] {
            let path = try write("a.har", har(#""_file": "\#(name)""#).utf8)
            let reader = try SessionQuery.open(path)
            #expect(
                try String(buffer: reader.body(of: ExchangeID(1), side: .responseReceived, limit: 99)) == body,
                "\(name)"
            )
        }
    }

    @Test("What is packed and is not read is refused in words")
    func refused() throws {
        func error(_ path: String) -> String {
            do { _ = try SessionQuery.open(path) } catch { return "\(error)" }
            return ""
        }
        func gzip(_ text: String) throws -> [UInt8] {
            Array(try ContentEncoder.encode(ByteBuffer(string: text), coding: .gzip).readableBytesView)
        }
        #expect(error(try write("a.gz", gzip("hello"))).contains("nothing in it that can be read"))
        #expect(error(try write("b.gz", gzip(har(#""text": "x""#)).dropLast(20))).contains("cut off"))
        #expect(error(try zip("a.zip", [("a.txt", "")])).contains("nothing in it that can be read"))
        #expect(error(try zip("b.zip", [("a.har", "{}"), ("b.har", "{}")])).contains("a zip with 2 archives in it"))
        #expect(error(try write("a.pcap", [0xD4, 0xC3, 0xB2, 0xA1, 2, 0])).contains("capture of packets"))
        #expect(error(try write("a.chls", [0xAC, 0xED, 0, 5])).contains("export as .chlsj"))
    }
}
