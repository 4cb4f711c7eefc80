import Content
import Foundation
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Description
@testable import Formats

@Suite("A body that does not have the content coding of its head is there as it came")
struct UncodedBodyTests {
    private static let text = #"{"password":"hunter2word","n":1}"#
    private static let masked = #"{"password":"sluice-password-1","n":1}"#
    private let source = MemorySource()

    @discardableResult
    private func add(
        _ body: [UInt8],
        _ coding: String = "gzip",
        type: String = "application/json"
    ) throws
        -> RecordedExchange
    {
        let fields = "Content-Type: \(type)\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n"
        return try source.add(
            "http://h/a",
            request: "POST /a HTTP/1.1\r\nHost: h\r\n\(fields)",
            requestBody: body,
            response: "HTTP/1.1 200 OK\r\n\(fields)",
            responseBody: body
        )
    }

    private func maskedSource() throws -> MaskedSource {
        let masked = MaskedSource(source, TextMask())
        for exchange in source.exchanges { try masked.collect(exchange) }
        masked.mask.endCollecting()
        return masked
    }

    private func har(_ from: any ExchangeSource) throws -> [UInt8] {
        var text: [UInt8] = []
        var export = HARExport(source: from, options: EntryOptions()) { text += $0.readableBytesView }
        for exchange in source.exchanges { try export.add(try from.exchange(exchange.record.id) ?? exchange) }
        try export.finish()
        return text
    }

    private func contents(_ har: [UInt8]) throws -> [[String: Any]] {
        let tree = try #require(try JSONSerialization.jsonObject(with: Data(har)) as? [String: Any])
        let entries = try #require((tree["log"] as? [String: Any])?["entries"] as? [[String: Any]])
        return try entries.flatMap { entry in
            [
                try #require((entry["request"] as? [String: Any])?["postData"] as? [String: Any]),
                try #require((entry["response"] as? [String: Any])?["content"] as? [String: Any]),
            ]
        }
    }

    @Test(arguments: ["gzip", "deflate", "br", "zstd", "br, gzip"])
    func `in HAR, and back`(coding: String) throws {
        try add(Array(Self.text.utf8), coding)
        let har = try har(source)
        for content in try contents(har) {
            #expect(content["text"] as? String == Self.text)
            #expect((content["comment"] as? String)?.hasPrefix("Not decoded: it is not ") == true)
        }
        let again = ArchiveFixture(bytes: har)
        #expect(again.losses.isEmpty && again.body(0, .requestReceived) == Self.text)
        #expect(again.body(0, .responseReceived) == Self.text)
    }

    @Test func `bytes, and text of another charset, come back from our archives`() throws {
        let bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 1, 2, 0xFF]
        try add(bytes, type: "image/png")
        try add(Array("caf\u{E9} ".unicodeScalars.map { UInt8($0.value) }), type: "text/plain; charset=iso-8859-1")
        let again = ArchiveFixture(bytes: try har(source))
        #expect(again.losses.isEmpty && again.error == nil)
        for (record, exchange) in zip(again.records, source.exchanges) {
            let body = try source.body(of: exchange.record.id, side: .responseReceived, offset: 0, limit: 100)
            #expect(record.bodies[.responseReceived] == body && record.bodies[.requestReceived] == body)
        }
    }

    @Test(arguments: ["gzip", "deflate", "br", "zstd"])
    func `masked as plain text, in every form`(coding: String) throws {
        let exchange = try add(Array(Self.text.utf8), coding)
        let masked = try maskedSource()
        let har = try har(masked)
        for content in try contents(har) {
            #expect(content["text"] as? String == Self.masked)
            #expect((content["comment"] as? String)?.hasPrefix("Not decoded: ") == true)
        }
        #expect(String(decoding: har, as: UTF8.self).contains(#""bodySize":\#(Self.text.utf8.count)"#))
        #expect(!String(decoding: har, as: UTF8.self).contains("hunter2word"))
        #expect(ArchiveFixture(bytes: har).body(0, .responseReceived) == Self.masked)
        var raw: [UInt8] = []
        let shown = try #require(try masked.exchange(exchange.record.id))
        let message = try #require(try RawMessage(.response, of: shown, from: masked))
        try message.write { raw += $0.readableBytesView }
        let text = String(decoding: raw, as: UTF8.self)
        #expect(text.hasSuffix("\r\n\r\n\(Self.masked)") && text.contains("Content-Encoding: \(coding)\r\n"), "\(text)")
        #expect(text.contains("Content-Length: \(Self.masked.utf8.count)\r\n"))
    }

    @Test func `what is packed and cannot be unpacked stays out of a masked export, which says so`() throws {
        let broken: [UInt8] = [0x1F, 0x8B, 0x07] + Array(repeating: 0x41, count: 60)
        let exchange = try add(broken)
        let masked = try maskedSource()
        for content in try contents(try har(masked)) {
            #expect(content["text"] as? String == "")
            #expect((content["comment"] as? String)?.hasPrefix("Not decoded in whole: gzip: ") == true)
        }
        let shown = try #require(try masked.exchange(exchange.record.id))
        let body = try TransferredBody(shown, .responseReceived, from: masked)
        #expect(body.size == 0 && body.lacksCoding)
        // Without masking all of it is there.
        let base64 = Data(broken).base64EncodedString()
        #expect(try contents(try har(source)).allSatisfy { $0["text"] as? String == base64 })
    }

    @Test func `in what is shown, and as a body by itself`() throws {
        let exchange = try add(Array(Self.text.utf8))
        let loaded = LoadedBody(exchange, .responseReceived, source: source, limit: 1_000)
        #expect(loaded.text?.text == Self.text && loaded.problem?.kind == .notCoded)
        var written: [UInt8] = []
        let problem = try BodyExport.write(exchange, side: .responseReceived, from: source, raw: false) {
            written += $0.readableBytesView
        }
        #expect(written == Array(Self.text.utf8) && problem?.kind == .notCoded)
    }

    @Test func `a coded body that is cut or damaged later is decoded as far as it goes`() throws {
        let whole = try ContentEncoder.encode(
            ByteBuffer(bytes: (0..<9_000).map { UInt8(truncatingIfNeeded: $0 &* $0 &>> 3) }),
            coding: .gzip
        )
        let exchange = try add(Array(whole.readableBytesView.dropLast(2_000)))
        #expect(LoadedBody(exchange, .responseReceived, source: source, limit: 100_000).problem?.kind == .truncated)
        let problem = try BodyExport.write(exchange, side: .responseReceived, from: source, raw: false) { _ in }
        #expect(problem?.kind == .truncated)
    }
}
