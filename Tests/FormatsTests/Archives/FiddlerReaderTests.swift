import Content
import Files
import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Formats

@Suite("Sessions of Fiddler are read")
struct FiddlerReaderTests {
    private func read(_ files: [(String, String)]) throws -> (entries: [ArchiveEntry], losses: [String]) {
        let scratch = try Scratch()
        let members = try files.enumerated().map { index, file in
            let path = "\(scratch.path)/\(index)"
            try Data(file.1.utf8).write(to: URL(filePath: path))
            return ZipWriter.Member(file.0, file: path)
        }
        try ZipWriter.write(members, to: "\(scratch.path)/s.saz")
        let zip = try ZipReader("\(scratch.path)/s.saz")
        #expect(FiddlerReader.isSession(zip))
        let losses = ArchiveLosses()
        var reader = FiddlerReader(zip, losses: losses)
        var entries: [ArchiveEntry] = []
        let take: (ArchiveEntry) -> Void = { entries.append($0) }
        try reader.forEach(take)
        return (entries, losses.phrases)
    }

    private static let meta = """
        <?xml version="1.0" encoding="utf-8"?><Session SID="1" BitFlags="81"><SessionTimers
        ClientBeginRequest="2024-03-12T11:00:00.0000000+01:00" FiddlerBeginRequest="2024-03-12T11:00:00.1+01:00"
        ServerGotRequest="2024-03-12T11:00:00.2+01:00" ServerBeginResponse="2024-03-12T11:00:00.5+01:00"
        ServerDoneResponse="2024-03-12T11:00:00.6+01:00" ClientDoneResponse="0001-01-01T00:00:00"
        DNSTime="3" TCPConnectTime="4" HTTPSHandshakeTime="5"/><SessionFlags><SessionFlag N="x-hostIP" V="192.0.2.1"/>
        <SessionFlag N="x-clientIP" V="127.0.0.1"/><SessionFlag N="x-clientPort" V="5000"/>
        <SessionFlag N="ui-comments" V="look &amp; see"/></SessionFlags></Session>
        """

    @Test("Heads, bodies, times and addresses, in the order of the numbers")
    func session() throws {
        let chunked =
            "HTTP/1.1 200 Fine\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"
        let (entries, losses) = try read([
            ("_index.htm", "<html>"), ("raw/10_c.txt", "GET http://b.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n"),
            ("raw/2_c.txt", "POST /p?q HTTP/1.1\r\nHost: a.example\r\n\r\nbody"), ("raw/2_s.txt", chunked),
            ("raw/2_m.xml", Self.meta), ("raw/10_s.txt", ""), ("raw/10_m.xml", "<Session"),
            ("raw/11_c.txt", "CONNECT c.example:443 HTTP/1.1\r\n\r\n"),
            ("raw/11_s.txt", "HTTP/1.1 200 Connection Established\r\n\r\nAn encrypted tunnel"),
            ("raw/12_c.txt", "GET /nowhere HTTP/1.1\r\n\r\n"), ("raw/13_s.txt", "HTTP/1.1 200 OK\r\n\r\n"),
        ])
        #expect(
            entries.map { $0.target?.description } == ["https://a.example/p?q", "http://b.example/", "c.example:443"]
        )
        let first = try #require(entries.first)
        #expect(first.method == "POST" && first.request.bytes == ByteBuffer(string: "body"))
        #expect(first.status == 200 && first.reason == "Fine" && first.response.bytes == ByteBuffer(string: "hello!"))
        #expect(first.startedAt == 1_710_237_600_000_000 && first.time == 600 && first.comment == "look & see")
        #expect(first.timings == ["send": 100, "wait": 300, "receive": 100, "dns": 3, "connect": 9, "ssl": 5])
        #expect(first.serverAddress == "192.0.2.1" && first.clientAddress == "127.0.0.1:5000")
        #expect(entries[1].status == 0 && entries[1].startedAt == nil)
        #expect(entries[2].kind == .tunnel && entries[2].response.bytes == nil && entries[2].isUnsent)
        #expect(
            losses == [
                "2 missing times 'ClientBeginRequest': they are 1970 now", "1 exchange without a URL that can be read",
            ]
        )
    }

    @Test(
        "Chunks that are none stay as they are",
        arguments: ["5\r\nhel", "x", "-5\r\nhello\r\n0\r\n", "5\r\nhello0\r\n"]
    )
    func chunks(body: String) throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let (entries, _) = try read([("raw/1_c.txt", "GET http://a/ HTTP/1.1\r\n\r\n"), ("raw/1_s.txt", head + body)])
        #expect(entries.first?.response.bytes == ByteBuffer(string: body))
    }

    @Test("A WebSocket comes without its messages, which is told")
    func socket() throws {
        let (entries, losses) = try read([
            ("raw/1_c.txt", "GET http://a/ HTTP/1.1\r\n\r\n"), ("raw/1_s.txt", "HTTP/1.1 101 Switching\r\n\r\n"),
            ("raw/1_w.txt", "Request-Length: 5"), ("raw/1_m.xml", Self.meta),
        ])
        #expect(entries.first?.kind == .webSocket)
        #expect(losses == ["1 WebSocket whose messages the archive does not have"])
    }
}
