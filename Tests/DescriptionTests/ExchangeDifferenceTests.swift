import Content
import Description
import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("What differs between two exchanges")
struct ExchangeDifferenceTests {
    private func add(
        _ source: MemorySource,
        _ url: String = "https://h/v1/items?page=1",
        fields: String = "",
        body: String = "",
        status: Int = 200,
        responseFields: String = "Content-Type: application/json\r\n",
        response: String = "{}"
    ) throws -> ExchangeDifference.Side {
        let exchange = try source.add(
            url,
            request: "POST /v1/items HTTP/1.1\r\nHost: h\r\n\(fields)\r\n",
            requestBody: Array(body.utf8),
            response: "HTTP/1.1 \(status) X\r\n\(responseFields)\r\n",
            responseBody: Array(response.utf8)
        )
        return ExchangeDifference.Side(exchange, source)
    }

    private func changes(
        _ old: String,
        _ new: String,
        rules: ComparisonRules = ComparisonRules()
    ) throws -> ExchangeDifference {
        let source = MemorySource()
        return try ExchangeDifference(try add(source, response: old), try add(source, response: new), rules: rules)
    }

    @Test("is told by place: status, query, fields, JSON by path, with the values")
    func places() throws {
        let source = MemorySource()
        let old = try add(source, fields: "Accept: a\r\n", response: #"{"items":[{"n":"x"},{"n":"y"}],"gone":1}"#)
        let new = try add(
            source,
            "https://h/v1/items?page=2&all=",
            fields: "Accept: b\r\nX-New: 1\r\n",
            status: 500,
            response: #"{"more":null,"items":[{"n":"x"},{"n":"z"}]}"#
        )
        let difference = try ExchangeDifference(old, new, rules: ComparisonRules())
        let expected = [
            "req.query.page: 1 -> 2", "req.query.all: none -> ", "req.header.accept: a -> b",
            "req.header.x-new: none -> 1", "res.status: 200 -> 500", "res.json.items[1].n: \"y\" -> \"z\"",
            "res.json.gone: 1 -> none", "res.json.more: none -> null",
        ]
        #expect(difference.changes.map { "\($0.subject): \($0.old ?? "none") -> \($0.new ?? "none")" } == expected)
        #expect(difference.count == 8 && !difference.isSame && difference.leftOut.isEmpty)
        let same = try ExchangeDifference(old, old, rules: ComparisonRules(isExact: true))
        #expect(same.isSame && same.leftOut.isEmpty)
        let answers = try ExchangeDifference(old, new, rules: ComparisonRules(), ofResponses: true)
        #expect(answers.changes.map(\.subject) == difference.changes.map(\.subject).suffix(4))
        #expect(
            difference.changes.map(\.subject.part) == Array(repeating: .request, count: 4) + [
                .status, .body, .body, .body,
            ]
        )
    }

    @Test("is of responses as sent, after the tools, or as received: status, fields and body of one version")
    func versions() throws {
        let source = MemorySource()
        let plain = try add(source, responseFields: "X-A: 1\r\n", response: "one\n")
        let changed = try source.add(
            "https://h/v1/items?page=1",
            request: "POST /v1/items HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 X\r\nX-A: 1\r\n\r\n",
            responseBody: "one\n".utf8
        ) { exchange in
            exchange.messages.responseHeadSent = ByteBuffer(string: "HTTP/1.1 503 X\r\nX-A: 1\r\nX-B: 2\r\n\r\n")
            exchange.record.status = 503
            exchange.record.flags = [.responseChanged, .responseBodyChanged]
        }
        source.setBody(changed.record.id, .responseSent, "two\n".utf8)
        let new = ExchangeDifference.Side(changed, source)
        func told(_ old: ExchangeDifference.Side, _ version: MessageVersion) throws -> [String] {
            try ExchangeDifference(old, new, rules: ComparisonRules(), responses: version).changes
                .map { "\($0.subject): \($0.old ?? "none") -> \($0.new ?? "none")" }
        }
        let expected = ["res.status: 200 -> 503", "res.header.x-b: none -> 2", "res.body line 1: one -> two"]
        #expect(try told(plain, .sent) == expected)
        #expect(try told(plain, .received).isEmpty)
        #expect(try told(new, .sent).isEmpty && told(new, .received).isEmpty)

        // The page of both says the same.
        func lines(_ version: MessageVersion) -> [String] {
            Comparison.document(plain.exchange, changed, source: source, responses: version).lines.map(\.plain)
        }
        let sent = lines(.sent)
        for line in ["  ~ res.status  200 → 503", "  + res.header.x-b  2"] { #expect(sent.contains(line), "\(sent)") }
        #expect(sent.contains { $0.contains("+ two") } && sent.contains { $0.contains("as sent") }, "\(sent)")
        let received = lines(.received)
        #expect(received.contains { $0.contains("as received") }, "\(received)")
        #expect(!received.contains { $0.contains("503") || $0.contains("x-b") || $0.contains("two") }, "\(received)")
    }

    @Test("belongs to the request, the status, the fields or the body")
    func parts() throws {
        let source = MemorySource()
        let old = try add(source, responseFields: "X-A: 1\r\n", response: "one")
        let new = try add(source, responseFields: "X-A: 2\r\n", response: "two")
        let difference = try ExchangeDifference(old, new, rules: ComparisonRules(), ofResponses: true)
        #expect(difference.changes.map(\.subject.part) == [.fields, .body], "\(difference.changes)")
    }

    @Test(
        "leaves out moments and identifiers of one shape by default, and counts them",
        arguments: [
            (
                #"{"at":"2026-11-22T10:00:00Z"}"#, #"{"at":"2027-01-02T03:04:05.678+01:00"}"#,
                ComparisonRules.Reason.moment
            ),
            (#"{"at":1795000000}"#, #"{"at":1795000123}"#, .moment),
            (#"{"at":1795000000123}"#, #"{"at":1795000999123}"#, .moment),
            (#"{"at":"Sun, 22 Nov 2026 10:57:03 GMT"}"#, #"{"at":"Mon, 23 Nov 2026 10:57:03 GMT"}"#, .moment),
            (
                #"{"ref":"550e8400-e29b-41d4-a716-446655440000"}"#, #"{"ref":"123e4567-e89b-12d3-a456-426614174000"}"#,
                .identifier
            ),
            (#"{"etag":"a"}"#, #"{"etag":"b"}"#, .identifier),
            (#"{"userId":17}"#, #"{"userId":18}"#, .identifier),
            (#"{"next":"/v1/items/17"}"#, #"{"next":"/v1/items/99"}"#, .identifier),
            (#"{"k":"9f3A7c21Bd08e6QzKm41Wx77"}"#, #"{"k":"0d4B1e92Ac77f5LpJn83Yv12"}"#, .identifier),
            (
                #"{"c":"sid=9f3A7c21Bd08e6QzKm41Wx77; Path=/"}"#, #"{"c":"sid= 0d4B1e92Ac77f5LpJn83Yv12 ; Path=/"}"#,
                .identifier
            ),
            (#"{"c":"seen 1795000000, ok"}"#, #"{"c":"seen 1795000123, ok"}"#, .moment),
            (
                #"{"t":"eyJhbGciOiJIUzI1.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJl"}"#,
                #"{"t":"eyJhbGciOiJub25l.eyJzdWIiOiI0MyJ9.c2lnbmF0dXJm"}"#, .identifier
            ),
        ]
    )
    func volatile(old: String, new: String, reason: ComparisonRules.Reason) throws {
        let difference = try changes(old, new)
        #expect(difference.isSame && difference.leftOut == [reason: 1], "\(difference)")
        #expect(try !changes(old, new, rules: ComparisonRules(isExact: true)).isSame)
    }

    @Test(
        "keeps what is behaviour, however alike it looks",
        arguments: [
            (#"{"count":17}"#, #"{"count":18}"#), (#"{"price":1.5}"#, #"{"price":1.6}"#),
            (#"{"at":"2026-11-22T10:00:00Z"}"#, #"{"at":null}"#),
            (#"{"at":"2026-11-22T10:00:00Z"}"#, #"{"at":"never"}"#),
            (#"{"state":"open"}"#, #"{"state":"closed"}"#), (#"{"userId":17}"#, #"{"userId":null,"x":1}"#),
            (#"{"ref":"550e8400-e29b-41d4-a716-446655440000"}"#, #"{"ref":"none"}"#),
            (#"{"id":1}"#, #"{"id":null}"#), (#"{"id":1}"#, #"{"id":"x"}"#), (#"{"id":1}"#, #"{"id":"1"}"#),
            (#"{"id":true}"#, #"{"id":null}"#), (#"{"id":{}}"#, #"{"id":"x"}"#),
            (#"{"at":1795000000}"#, #"{"at":"1795000000"}"#),
            (#"{"k":"0123456789abcdef"}"#, #"{"k":"0123456789abcdef01"}"#), (#"[1,2]"#, #"[2,1]"#),
            (#"{"number":12345678}"#, #"{"number":12345679}"#),
            (#"{"c":"a=1; b=2"}"#, #"{"c":"a=1; b=3"}"#),
            (#"{"c":"seen 1795000000, ok"}"#, #"{"c":"seen 1795000123"}"#),
            (#"{"c":"1795000000, yes"}"#, #"{"c":"1795000123, no"}"#),
            (#"{"a":1,"b":2}"#, #"{"b":2,"a":3}"#), (#"{"a":1,"a":2}"#, #"{"a":2,"a":2}"#),
            (#"{"path":"/v1/items"}"#, #"{"path":"/v2/items"}"#), ("", "{}"), ("{", "[}"),
        ]
    )
    func behaviour(old: String, new: String) throws {
        #expect(try !changes(old, new).isSame)
    }

    @Test("leaves out what the user names: fields, members, places in JSON")
    func ignored() throws {
        let (old, new) = (
            #"{"a":{"took":1},"items":[{"price":1,"n":1},{"price":2,"n":1}]}"#,
            #"{"a":{"took":9},"items":[{"price":3,"n":1},{"price":4,"n":2}]}"#
        )
        #expect(try changes(old, new).count == 4)
        func rules(_ texts: String...) throws -> ComparisonRules {
            ComparisonRules(ignoring: try texts.map { try IgnoreRule($0) })
        }
        for ignored in ["took", "TOOK", "a", "res.json.a", "res.json.a.took", "res.json[*].took"] {
            #expect(try changes(old, new, rules: rules(ignored)).count == 3, "\(ignored)")
        }
        for ignored in ["res.json.items[*].price", "price", "\"price\""] {
            let difference = try changes(old, new, rules: rules(ignored))
            #expect(difference.count == 2 && difference.leftOut == [.named: 2], "\(ignored)")
        }
        #expect(try changes(old, new, rules: rules("res.json.items[-1].price", "req.json.a")).count == 3)
        #expect(try changes(old, new, rules: rules("res.json.item", "res.json.items[*].pri")).count == 4)
        for whole in ["res.json", "res.body", "body"] { #expect(try changes(old, new, rules: rules(whole)).isSame) }
        // Ignored elements keep the numbers of the others.
        let elements = try changes("[1,2,3]", "[9,2,4,5]", rules: rules("res.json[0]"))
        #expect(elements.changes.map { "\($0.subject)" } == ["res.json[2]", "res.json[3]"], "\(elements)")
        let source = MemorySource()
        let sides = try [
            add(source, responseFields: "Date: a\r\nX-Mine: 1\r\nContent-Length: 5\r\nServer: a\r\n"),
            add(source, responseFields: "Date: b\r\nX-Mine: 2\r\nContent-Length: 6\r\nServer: b\r\n"),
        ]
        // A name that stands twice has its values in any order.
        let twice = try [
            add(source, responseFields: "X-A: 1\r\nx-a: 2\r\n"), add(source, responseFields: "X-A: 2\r\nx-a: 1\r\n"),
            add(source, responseFields: "X-A: 2\r\nx-a: 3\r\n"),
        ]
        #expect(try ExchangeDifference(twice[0], twice[1], rules: ComparisonRules()).isSame)
        let third = try ExchangeDifference(twice[0], twice[2], rules: ComparisonRules())
        #expect(third.changes.map { ["\($0.subject)", $0.old, $0.new] } == [["res.header.x-a[1]", "1", "3"]])
        let difference = try ExchangeDifference(sides[0], sides[1], rules: rules("x-mine"))
        #expect(difference.changes.map(\.subject.description) == ["res.header.server"])
        #expect(difference.leftOut == [.field: 2, .named: 1])
    }

    @Test("is found in text by lines, in bytes by place, under a content coding, and behind the limit of what is read")
    func bodies() throws {
        let source = MemorySource()
        let plain = "Content-Type: text/plain\r\n"
        func difference(_ old: [UInt8], _ new: [UInt8], fields: String = plain) throws -> [String] {
            let sides = try [old, new].map { bytes in
                let side = try add(source, responseFields: fields)
                source.setBody(side.exchange.record.id, .responseReceived, bytes)
                var exchange = side.exchange
                exchange.record.sizes.responseBody = Int64(bytes.count)
                return ExchangeDifference.Side(exchange, source)
            }
            return try ExchangeDifference(sides[0], sides[1], rules: ComparisonRules()).changes.map(
                \.subject.description
            )
        }
        #expect(try difference(Array("a\nb\nc\n".utf8), Array("a\nx\nc\n".utf8)) == ["res.body line 2"])
        #expect(try difference([0, 1, 2, 3], [0, 1, 9, 3], fields: "") == ["res.body"])
        let gzip = try ["{\"a\":1}", "{\"a\":2}"].map {
            Array(try ContentEncoder.encode(ByteBuffer(string: $0), codings: [.gzip]).readableBytesView)
        }
        let coded = "Content-Type: application/json\r\nContent-Encoding: gzip\r\n"
        #expect(try difference(gzip[0], gzip[1], fields: coded) == ["res.json.a"])
        var long = [UInt8](repeating: 0x61, count: ExchangeDifference.bodyLimit + 1_000)
        let other = long
        long[ExchangeDifference.bodyLimit + 500] = 0x62
        #expect(try difference(other, long) == ["res.body after 1.0 MB"])
        #expect(try difference(other, other).isEmpty)
        let forms = ["a=1&b=2", "a=1&b=3"].map { Array($0.utf8) }
        let form = "Content-Type: application/x-www-form-urlencoded\r\n"
        #expect(try difference(forms[0], forms[1], fields: form) == ["res.form.b"])
    }

    @Test("keeps so many changes and counts all, of whatever is sent")
    func bounds() throws {
        func object(_ value: Int) -> String {
            "{" + (0..<500).map { "\"member\($0)\":\(value)" }.joined(separator: ",") + "}"
        }
        let difference = try changes(object(1), object(2))
        #expect(difference.count == 500 && difference.changes.count == ExchangeDifference.mostChanges)
        let long = String(repeating: "x", count: 5_000)
        #expect(try changes("{\"a\":\"\"}", "{\"a\":\"\(long)\"}").changes.first?.new?.count ?? 0 <= 201)
    }

    @Test("Forms differ by field and multipart bodies by part, whatever their boundary is")
    func named() throws {
        let source = MemorySource()
        func multipart(_ boundary: String, _ value: String, _ other: String) -> String {
            ["name=\"a\"\r\n\r\n\(value)", "name=\"f\"; filename=\"x\"\r\nContent-Type: text/plain\r\n\r\n\(other)"]
                .map { "--\(boundary)\r\nContent-Disposition: form-data; \($0)\r\n" }.joined()
                + "--\(boundary)--\r\n"
        }
        func side(_ type: String, _ body: String) throws -> ExchangeDifference.Side {
            try add(source, responseFields: "Content-Type: \(type)\r\n", response: body)
        }
        func told(
            _ old: ExchangeDifference.Side,
            _ new: ExchangeDifference.Side,
            _ ignored: String...
        ) throws -> [String] {
            let rules = ComparisonRules(ignoring: try ignored.map { try IgnoreRule($0) })
            return try ExchangeDifference(old, new, rules: rules, ofResponses: true).changes
                .filter { "\($0.subject)" != "res.header.content-type" }
                .map { "\($0.subject): \($0.old ?? "none") -> \($0.new ?? "none")" }
        }
        let type = "multipart/form-data; boundary="
        let parts = try [
            side(type + "one", multipart("one", "1", "x")), side(type + "two", multipart("two", "2", "y")),
        ]
        let file = "res.part.f: file 'x': text/plain: x -> file 'x': text/plain: y"
        #expect(try told(parts[0], parts[1]) == ["res.part.a: 1 -> 2", file])
        #expect(try told(parts[0], parts[1], "res.part.f", "A").isEmpty)
        let form = "application/x-www-form-urlencoded"
        let forms = try [side(form, "a=1&t=x&t=y"), side(form, "t=x&t=z&a=1"), side(form, "")]
        #expect(try told(forms[0], forms[1]) == ["res.form.t[1]: y -> z"])
        #expect(try told(forms[0], forms[1], "res.form.t[1]").isEmpty)
        #expect(try told(forms[0], forms[1], "res.form.t[0]") == ["res.form.t[1]: y -> z"])
        #expect(try told(forms[2], forms[0], "t") == ["res.form.a: none -> 1"])
        #expect(try told(forms[2], side("", #"{"a":1}"#)) == [#"res.json: none -> {"a":1}"#])
    }

    @Test("Messages differ by their number over both directions, JSON in them by place")
    func messages() throws {
        let source = MemorySource()
        func socket(_ client: [String], _ server: [String]) throws -> ExchangeDifference.Side {
            let socket = try source.add(
                "wss://h/chat",
                request: "GET /chat HTTP/1.1\r\nHost: h\r\n\r\n",
                response: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
            ) { $0.record.kind = .webSocket }
            func frames(_ texts: [String], from start: Int64, _ mask: UInt8) -> [(Int64, [UInt8])] {
                texts.enumerated().map { index, text in
                    let key = mask == 0 ? [] : [UInt8](repeating: 0, count: 4)
                    return (start + Int64(index) * 100, [0x81, mask | UInt8(text.utf8.count)] + key + Array(text.utf8))
                }
            }
            source.setStream(socket, .requestReceived, frames(client, from: 1_000, 0x80))
            source.setStream(socket, .responseReceived, frames(server, from: 1_050, 0))
            return ExchangeDifference.Side(socket, source)
        }
        let old = try socket(["one", #"{"a":[1]}"#], ["hello"])
        let new = try socket(["two", #"{"a":[2]}"#], ["hello", "more"])
        func told(_ ignored: String...) throws -> [String] {
            let rules = ComparisonRules(ignoring: try ignored.map { try IgnoreRule($0) })
            return try ExchangeDifference(old, new, rules: rules).changes
                .map { "\($0.subject): \($0.old ?? "none") -> \($0.new ?? "none")" }
        }
        let changed = ["message#1.body: one -> two", "message#3.json.a[0]: 1 -> 2"]
        #expect(try told() == changed + ["messages of the server: 1 -> 2"])
        #expect(try told("message#1.body", "message#3.json.a[*]") == ["messages of the server: 1 -> 2"])
    }
}
