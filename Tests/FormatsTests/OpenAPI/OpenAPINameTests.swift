import Content
import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Formats

@Suite("What a description has no name for stays out of it")
struct OpenAPINameTests {
    private typealias Object = [String: Any]
    private static let form = "application/x-www-form-urlencoded"

    private func export(_ requests: [(target: String, body: [UInt8])]) throws -> (text: String, remark: String?) {
        let source = MemorySource()
        for (target, body) in requests {
            try source.add(
                "http://api.test\(target)",
                request: "POST \(target) HTTP/1.1\r\nHost: api.test\r\nContent-Type: \(Self.form)\r\n\r\n",
                requestBody: body
            )
        }
        var output = ByteBuffer()
        var export = OpenAPIExport(source: source, version: "1") { output.writeImmutableBuffer($0) }
        for exchange in source.exchanges { try export.add(exchange) }
        try export.finish()
        return (String(buffer: output), export.remark)
    }

    private func schema(_ text: String, _ path: String = "/a") throws -> Object? {
        let api = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? Object)
        return [path, "post", "requestBody", "content", Self.form, "schema"]
            .reduce(api["paths"]) { ($0 as? Object)?[$1] } as? Object
    }

    @Test func `JSON that is called a form is described as JSON`() throws {
        let (text, remark) = try export([("/a", Array(#" {"user":"grace","pw":"hunter2"}"#.utf8))])
        #expect(!text.contains("grace") && !text.contains("hunter2") && remark == nil, "\(text)")
        #expect((try schema(text)?["properties"] as? Object)?.keys.sorted() == ["pw", "user"])
        #expect(try schema(text)?["required"] as? [String] == ["user", "pw"])

        let both = try export([("/a", Array(#"{"user":"grace"}"#.utf8)), ("/a", Array("n=1".utf8))]).text
        // One schema fits both.
        #expect((try schema(both)?["properties"] as? Object)?.keys.sorted() == ["n", "user"])
        #expect(try schema(both)?["type"] as? String == "object" && schema(both)?["required"] == nil)
    }

    @Test func `text, base64 and bytes that are called a form give no names`() throws {
        var bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 256) }
        bytes += Array("&privateName=1".utf8)
        let bodies: [[UInt8]] = [
            Array("private text of a letter".utf8), Array("private=text & more = of it".utf8),
            Array("{\"private\": \"unfinished=1".utf8), Array("cHJpdmF0ZSB0ZXh0IG9mIGE=".utf8),
            Array("cHJpdmF0ZSB0ZXh0IG9mIA==".utf8), Array("<private a=\"1\"/>".utf8),
            Array(repeating: UInt8(ascii: "p"), count: 300_000), bytes,
            Array(repeating: UInt8(ascii: "p"), count: 70) + Array("=1".utf8),
            Array("privatetext".utf8),
        ]
        for body in bodies {
            let (text, remark) = try export([("/a", body)])
            #expect(
                !text.contains("priva") && !text.contains("cHJpdmF0") && text.utf8.count < 1_500,
                "\(text.prefix(900))"
            )
            #expect(
                try schema(text) == nil
                    && remark == "bodies without a schema (not JSON, not a form, or too long): 1"
            )
        }
    }

    @Test func `the names of forms stay`() throws {
        let names = [
            "user", "user[name]", "items[0][id]", "a.b", "__VIEWSTATEGENERATOR", "ctl00$Main$TextBox1", "utf8",
            "_method", "strasse-\u{E4}", "dates.from", "x:y", "$top", "shipping_address_postal_code",
        ]
        let (text, remark) = try export([("/a", Array(names.map { "\($0)=1" }.joined(separator: "&").utf8))])
        #expect(Set((try schema(text)?["properties"] as? Object ?? [:]).keys) == Set(names))
        #expect(remark == nil)
        // A name alone is passed over and told.
        let alone = try export([("/a", Array("a=1&flag".utf8))])
        #expect((try schema(alone.text)?["properties"] as? Object)?.keys.sorted() == ["a"])
        #expect(alone.remark?.hasPrefix("bodies without a schema") == true)
    }

    @Test func `of a query only what has a name is a parameter`() throws {
        let (text, remark) = try export([
            ("/q?private-query-text", []), ("/q?page=1&private%20words=2", []), ("/q?exact=true", []),
        ])
        #expect(!text.contains("private"), "\(text)")
        #expect(text.contains(#""page""#) && text.contains(#""exact""#))
        #expect(remark == "queries with parts that have no name: 2")
    }
}
