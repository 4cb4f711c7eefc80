import Foundation
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Formats

@Suite("Exchanges as a table")
struct CSVExportTests {
    @Test(
        "A cell is in quotes where it needs them, and is no formula",
        arguments: [
            ("", ""), ("plain text", "plain text"), ("a,b", "\"a,b\""), ("a \"b\"", "\"a \"\"b\"\"\""),
            ("a\r\nb", "\"a\r\nb\""),
            ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@a,b", "\"'@a,b\""), ("＝1+1", "'＝1+1"),
            ("a;=1", "\"a;=1\""), ("a\t=1", "\"a\t=1\""),
            ("\r\nx", "\"'\r\nx\""),
            ("a\u{1B}[31m\rb", "a^[[31m^Mb"), ("a\u{9B}1m\u{202E}", "a<U+009B>1m<U+202E>"), ("a\tb\nc", "\"a\tb\nc\""),
        ]
    )
    func cells(text: String, cell: String) { #expect(CSVExport.cell(text) == cell) }

    @Test("A line for each exchange has as many cells as the header line, with secrets masked")
    func lines() throws {
        let source = MemorySource()
        let head = "GET /a?token=9f3A7c21Bd08e6Qz HTTP/1.1\r\nHost: h\r\nCookie: sid=abc\r\n\r\n"
        try source.add("http://h/a?token=9f3A7c21Bd08e6Qz", request: head) {
            $0.record.status = 204
            $0.record.timings.total = 1_250
            $0.record.extras.annotation.comment = "=slow, \"very\""
        }
        try source.add("http://h:81/", request: "GET / HTTP/1.1\r\nHost: h:81\r\n\r\n") {
            $0.record.failure = ExchangeFailure(.connect, "refused")
        }
        let masked = MaskedSource(source, TextMask())
        for exchange in source.exchanges { try masked.collectAll(exchange) }
        masked.mask.endCollecting()
        var output = ByteBuffer()
        var export = CSVExport(source: masked) { output.writeImmutableBuffer($0) }
        for exchange in source.exchanges { try export.add(masked.masked(exchange)) }
        try export.finish()
        let lines = String(buffer: output).components(separatedBy: "\r\n")
        #expect(lines.count == 4 && lines[3].isEmpty)
        let names = lines[0].split(separator: ",").map { String($0) }
        #expect(names.first == "number" && names.last == "masked")
        #expect(lines[1].hasPrefix("1,2026-09-21T14:13:20.123456Z,http,complete,GET,"))
        #expect(lines[1].contains(",http://h/a?token=sluice-token-1,h,204,"))
        #expect(lines[1].contains(",1.25,") && lines[1].contains(",\"'=slow, \"\"very\"\"\","))
        #expect(lines[1].hasSuffix(",\"URL, request headers\""))
        #expect(lines[2].split(separator: ",", omittingEmptySubsequences: false).count == names.count)
        #expect(lines[2].contains(",h:81,,") && lines[2].contains(": refused,"))
    }
}
