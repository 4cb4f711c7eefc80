import Files
import Formats
import Foundation
import HTTPModel
import NIOCore
import Recording
import Support

@testable import Jobs

/// Reads arbitrary bytes as an archive of whatever format they look like, and writes a HAR of the session that it becomes.
enum ArchiveProbe {
    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        guard input.number(below: 2) == 0 else {
            try read(Array(HostileNumbers.filled(template) { _ in input.choose(HostileNumbers.texts) }.utf8))
            return
        }
        try read(input.bytes)
    }

    /// Reads an archive; returns why it was refused, `nil` where it was not.
    @discardableResult
    static func read(_ json: [UInt8]) throws -> String? {
        let path = NSTemporaryDirectory() + "sluice-probe-\(UUID().uuidString).har"
        try Data(json).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let archive: ImportedArchive
        do {
            archive = try ImportedArchive(path)
        } catch let failure as StartError {
            try demand("\(failure)".contains(path), "no place: \(failure)")
            return "\(failure)"
        } catch let failure as FileError {
            return "\(failure)"
        } catch let failure as SessionError {
            // What a bundle has in place of a session.
            return "\(failure)"
        }
        defer { archive.remove() }
        let reader = try SessionReader(path: archive.session)
        try demand(try reader.count() == Int64(archive.count), "not all entries are there")
        var export = HARExport(source: reader) { _ in }
        try reader.forEachRecord { record in
            guard let exchange = try reader.exchange(record.id) else { return true }
            try export.add(exchange)
            return true
        }
        try export.finish()
        return nil
    }

    /// An archive with each number that is read.
    static let template = #"""
        {"log": {"version": "1.2", "entries": [
        {"startedDateTime": "2026-11-21T10:57:03Z", "time": #, "serverIPAddress": "10.0.0.1", "connection": "1",
        "request": {"method": "GET", "url": "http://a.example/", "headers": [{"name": "Host", "value": "a"}]},
        "response": {"status": #, "headers": [{"name": "Content-Encoding", "value": "gzip"},
        {"name": "Set-Cookie", "value": "a=b; Max-Age=99999999999999999999"}],
        "content": {"size": #, "mimeType": "text/plain", "text": "x"}, "_transferSize": #, "bodySize": #},
        "timings": {"blocked": #, "dns": #, "connect": #, "ssl": #, "send": #, "wait": #, "receive": #}},
        {"startedDateTime": "1969-12-31T23:59:59Z", "request": {"method": "GET", "url": "ws://a.example/"},
        "response": {"status": 101}, "_webSocketMessages": [{"type": "send", "time": #, "opcode": #, "data": "a"},
        {"type": "receive", "time": #, "opcode": 2, "data": "AAAA"}]}
        ]}}
        """#

    static var seeds: [[UInt8]] {
        let usual = Array(HostileNumbers.filled(template) { _ in nil }.utf8)
        return [FuzzInput.made(usual), FuzzInput.made([], [1, 3, 9, 27, 81, 5])]
            + others.map { FuzzInput.made(Array($0.utf8)) }
    }

    /// Small files of the other formats.
    private static let others = [
        #"[{"host": "h", "scheme": "http", "path": "/", "response": {"status": 200, "body": {"text": "x"}}}]"#,
        "<charles-session><transaction host='h' protocol='http' path='/'><response status='200'/></transaction></charles-session>",
        "62:4:type;4:http;7:request;34:4:host;1:h;4:port;2:80#4:path;1:/;}}",
        "curl 'http://h/' -H 'a: b' --data-raw $'x\\ny' ;\ncurl http://h/2",
        "PK\u{3}\u{4}PK\u{5}\u{6}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}",
    ]
}
