import Content
import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Rewriting bodies")
struct RewriteBodyTests {
    @Test(
        "A blank match replaces all, a blank new value deletes, $1 is the match's group",
        arguments: [
            ("match: free, to: pro", "a free, Free, c", "a pro, pro, c"),
            ("match: free, to: pro, replace: first", "Free free", "pro free"),
            ("match: free, to: pro, case: true", "Free free", "Free pro"),
            ("match: free, to: pro, whole: true", "free free", "free free"),
            ("match: FREE, to: pro, whole: true", "free", "pro"), ("match: a, to: ''", "banana", "bnn"),
            ("match: \"\\x26token=1\", to: ''", "a=1&token=1&b=2", "a=1&b=2"),
            ("match: '', to: all new", "old", "all new"),
            ("to: ''", "old", ""), ("to: new", "", "new"), ("match: x, to: y", "", ""), ("match: x, to: y", "a", "a"),
            ("match: '/\"plan\":\"(\\w+)\"/', to: '\"plan\":\"pro-$1\"'", "{\"plan\":\"a\"}", "{\"plan\":\"pro-a\"}"),
            ("match: '/^b/', to: x", "a\nb", "a\nb"), ("match: '/(?m)^b/', to: x", "a\nb", "a\nx"),
            ("match: '/a.b/', to: x", "a\nb", "a\nb"), ("match: '/(?s)a.b/', to: x", "a\nb", "x"),
            ("match: '/b*/', to: '-'", "abc", "-a--c-"), ("match: '/é+/', to: e", "caféé ☕", "cafe ☕"),
            ("match: ÉT, to: e", "été", "eé"), ("match: $, to: €", "5 $", "5 €"),
        ]
    )
    func edits(rule: String, before: String, after: String) throws {
        let rule = rewriting("{ modify: body, on: [request, response], \(rule) }")
        let body = ByteBuffer(string: before)
        let exchange = try RewrittenExchange(
            rule,
            method: "POST",
            request: "Content-Type: text/plain",
            requestBody: body,
            response: "Content-Type: application/json",
            responseBody: body
        )
        #expect(String(buffer: exchange.requestBody) == after)
        #expect(String(buffer: exchange.responseBody) == after)
        #expect(exchange.requestLine == "> POST / (\(after.utf8.count))")
        #expect(exchange.responseLine == "< 200 (\(after.utf8.count))")
        #expect(exchange.record.flags.contains(.responseBodyChanged) == (before != after))
        #expect(exchange.trace.count == (before == after ? 0 : 2))
    }

    @Test("Rules act one after the other, and the trace says how often and on how much")
    func trace() throws {
        let exchange = try RewrittenExchange(
            rewriting(
                "{ modify: body, on: response, match: '/a(.)/', to: '$1' }",
                "{ modify: body, on: response, match: nowhere, to: x }",
                "{ modify: body, on: response, match: x, to: '' }",
                "{ modify: body, on: response, to: \(String(repeating: "z", count: 1_024)) }"
            ),
            response: "Content-Type: text/html",
            responseBody: ByteBuffer(string: "axayb")
        )
        #expect(
            exchange.trace == [
                "rewrite(set #1): response body: 2 matches of /a(.)/ replaced",
                "rewrite(set #3): response body: 1 match of 'x' deleted",
                "rewrite(set #4): response body: replaced whole (5 → 1,024 bytes)",
            ]
        )
        #expect(exchange.responseBody.readableBytes == 1_024)
    }

    @Test(
        "Content codings come off before the rules and go on again after them",
        arguments: ["gzip", "deflate", "br", "zstd", "gzip, br"]
    )
    func codings(coding: String) throws {
        let plain = ByteBuffer(string: String(repeating: "some plan: free; ", count: 500))
        let coded = try ContentEncoder.encode(plain, codings: ContentCoding.list(coding))
        let exchange = try RewrittenExchange(
            rewriting("{ modify: body, on: [request, response], match: free, to: pro }"),
            method: "PUT",
            request: "Content-Type: text/plain\nContent-Encoding: \(coding)",
            requestBody: coded,
            response: "Content-Type: text/plain\nContent-Encoding: \(coding)",
            responseBody: coded
        )
        let expected = String(repeating: "some plan: pro; ", count: 500)
        for body in [exchange.requestBody, exchange.responseBody] {
            let decoded = ContentDecoder.decode(body, codings: ContentCoding.list(coding), limit: 1 << 20)
            #expect(String(buffer: decoded.bytes) == expected)
        }
        #expect(exchange.responseFields.contains("Content-Encoding: \(coding)"))
        #expect(
            exchange.trace.last
                == "rewrite(set #1): response body: 500 matches of 'free' replaced (8,500 → 8,000 bytes)"
        )
        let untouched = try RewrittenExchange(
            rewriting("{ modify: body, on: response, match: nowhere, to: pro }"),
            response: "Content-Type: text/plain\nContent-Encoding: \(coding)",
            responseBody: coded
        )
        #expect(untouched.responseBody == coded)
        #expect(untouched.trace.isEmpty)
    }

    @Test(
        "Character encodings are kept",
        arguments: [
            (
                "text/plain; charset=iso-8859-1", [0x63, 0xE9, 0x80] as [UInt8], "é, to: è",
                [0x63, 0xE8, 0x80] as [UInt8]
            ),
            ("text/plain; charset=windows-1252", [0x63, 0xE9], "c, to: '€'", [0x80, 0xE9]),
            ("text/plain", [0x63, 0xE9, 0x81], "é, to: È", [0x63, 0xC8, 0x81]),
            ("text/plain", [0xEF, 0xBB, 0xBF, 0x61], "'/^a/', to: é", [0xEF, 0xBB, 0xBF, 0xC3, 0xA9]),
            ("text/plain", [0xFF, 0xFE, 0x61, 0x00, 0xE9, 0x00], "é, to: '☕'", [0xFF, 0xFE, 0x61, 0x00, 0x15, 0x26]),
            ("text/plain", [0xFE, 0xFF, 0x00, 0x61], "a, to: '😀'", [0xFE, 0xFF, 0xD8, 0x3D, 0xDE, 0x00]),
            ("text/plain; charset=utf-16be", [0x00, 0x61], "a, to: b", [0x00, 0x62]),
            ("text/plain; charset=shift_jis", [0x93, 0xFA, 0x61], "日, to: 本", [0x96, 0x7B, 0x61]),
            ("text/plain; charset=euc-jp", [0xC6, 0xFC, 0x61], "日, to: 本", [0xCB, 0xDC, 0x61]),
            ("text/plain; charset=koi8-r", [0xD0, 0x61], "П, to: п", [0xD0, 0x61]),
            (
                "text/html", Array("<meta charset=iso-8859-2>".utf8) + [0xB3], "ł, to: Ł",
                Array("<meta charset=iso-8859-2>".utf8) + [0xA3]
            ),
        ]
    )
    func charsets(type: String, before: [UInt8], match: String, after: [UInt8]) throws {
        let coded = try ContentEncoder.encode(ByteBuffer(bytes: before), coding: .gzip)
        let exchange = try RewrittenExchange(
            rewriting("{ modify: body, on: response, case: true, match: \(match) }"),
            response: "Content-Type: \(type)\nContent-Encoding: gzip",
            responseBody: coded
        )
        let decoded = ContentDecoder.decode(exchange.responseBody, codings: [.gzip], limit: 1 << 20)
        #expect(Array(decoded.bytes.readableBytesView) == after)
        #expect(exchange.trace.isEmpty == (before == after))
    }

    @Test(
        "What cannot be read or written as text passes unmodified, and the trace says why",
        arguments: [
            (
                "Content-Type: text/plain; charset=iso-8859-1", [0x61] as [UInt8],
                "'☕' cannot be written in windows-1252"
            ),
            ("Content-Type: text/plain; charset=shift_jis", [0x61], "'☕' cannot be written in shift_jis"),
            ("Content-Type: text/plain; charset=utf-8", [0x61, 0xFF], "it is not valid UTF-8"),
            ("Content-Type: text/plain; charset=utf-16le", [0x61], "it is not valid utf-16le"),
            ("Content-Type: text/plain; charset=klingon-1", [0x61], "its charset 'klingon-1' is not known"),
            ("Content-Type: application/octet-stream", [0x61, 0x00], "it is not text (application/octet-stream)"),
            ("X: y", [0x61, 0x00], "it is not text (of no known type)"),
            ("Content-Type: image/png", [0x61], "image/png is not text"),
        ]
    )
    func unreadable(fields: String, bytes: [UInt8], reason: String) throws {
        let body = ByteBuffer(bytes: bytes)
        let exchange = try RewrittenExchange(
            rewriting("{ modify: body, on: response, match: a, to: '☕' }"),
            response: fields,
            responseBody: body
        )
        #expect(exchange.responseBody == body)
        #expect(exchange.trace == ["rewrite: the response body passes unmodified: \(reason)"])
        #expect(!exchange.record.flags.contains(.responseChanged))
    }

    @Test("Text is known by its type or, where that says nothing, by its looks")
    func types() throws {
        for type in [
            "text/css", "application/json", "application/problem+json", "image/svg+xml", "application/javascript",
            "application/x-www-form-urlencoded", "application/graphql", "application/octet-stream", "x/y", "",
        ] {
            let exchange = try RewrittenExchange(
                rewriting("{ modify: body, on: response, match: a, to: b }"),
                response: type.isEmpty ? "" : "Content-Type: \(type)",
                responseBody: ByteBuffer(string: "aaa")
            )
            #expect(String(buffer: exchange.responseBody) == "bbb", "\(type)")
        }
    }

    @Test("Streams, parts of bodies and other protocols are not gathered")
    func streams() throws {
        let rule = rewriting("{ modify: body, on: [request, response], match: a, to: b }")
        let profile = try RuleProfile("version: 1\n\(rule)", file: "p.yaml")
        for (status, fields, note) in [
            (
                200, [("Content-Type", "text/event-stream; charset=utf-8")],
                "a stream (text/event-stream) passes unmodified; body rules do not apply to it"
            ),
            (
                200, [("Content-Type", "application/x-ndjson")],
                "a stream (application/x-ndjson) passes unmodified; body rules do not apply to it"
            ),
            (
                206, [("Content-Type", "text/plain"), ("Content-Range", "bytes 0-1/9")],
                "a partial body (206) passes unmodified, because it must fit the other parts"
            ),
        ] {
            let dialogue = dialogue(profile, "http://example.com/")
            dialogue.request()
            _ = dialogue.takePending()
            dialogue.ready()
            _ = dialogue.takePending()
            dialogue.responseHead(status, .chunked, fields)
            dialogue.expect("< \(status) (chunked)")
            dialogue.responsePart("data: a\n\n")
            #expect(dialogue.takePending().count == 1)
            abandon(dialogue)
            #expect(String(buffer: dialogue.responseBody) == "data: a\n\n")
            #expect(dialogue.trace == ["rewrite: \(note)"])
        }
        let call = try RewrittenExchange(
            rule,
            method: "POST",
            request: "Content-Type: application/grpc",
            requestBody: ByteBuffer(string: "a"),
            response: "Content-Type: text/plain",
            responseBody: ByteBuffer(string: "a")
        )
        #expect(String(buffer: call.requestBody) == "a")
        #expect(String(buffer: call.responseBody) == "b")
        let upload = try RewrittenExchange(
            rule,
            method: "POST",
            request: "Content-Type: application/x-ndjson",
            requestBody: ByteBuffer(string: "a")
        )
        #expect(String(buffer: upload.requestBody) == "b")
    }

    @Test("A body over the limit streams on, and the trace says so")
    func overflow() throws {
        let profile = try RuleProfile(
            "version: 1\n" + rewriting("{ modify: body, on: response, match: a, to: b }"),
            file: "p.yaml"
        )
        let dialogue = dialogue(profile, "http://example.com/")
        dialogue.request()
        _ = dialogue.takePending()
        dialogue.ready()
        _ = dialogue.takePending()
        dialogue.responseHead(200, .length(17 << 20), [("Content-Type", "text/plain")])
        dialogue.expect("< 200 (\(17 << 20))")
        dialogue.responsePart("a")
        dialogue.expect("< part 'a'")
        abandon(dialogue)
        #expect(dialogue.trace.first?.contains("larger than the limit of 16777216 bytes") == true)
    }

    @Test("A strict set refuses what it cannot edit: too large a body, or one for which there is no room")
    func strict() throws {
        func outcome(_ length: Int, on direction: String, budget: Int = 64 << 20) throws -> [String] {
            let set = "at: \"*\", strict: true, rules: [ { modify: body, on: \(direction), match: a, to: b } ]"
            let profile = try RuleProfile("version: 1\nrewrite: [ { \(set) } ]", file: "p.yaml")
            let dialogue = Dialogue(chain: profile.chain, bodyBudget: ByteBudget(limit: budget))
            var effects: [String] = []
            if direction == "request" {
                dialogue.requestHead(.length(Int64(length)), [("Content-Type", "text/plain")])
                effects += dialogue.takePending()
                if effects.isEmpty { dialogue.tell { $0.requestPartReceived(ByteBuffer(string: "a"), now: $1) } }
            } else {
                dialogue.request()
                _ = dialogue.takePending()
                dialogue.ready()
                _ = dialogue.takePending()
                dialogue.responseHead(200, .length(Int64(length)), [("Content-Type", "text/plain")])
                effects += dialogue.takePending()
                if effects.isEmpty { dialogue.responsePart("a") }
            }
            effects += dialogue.takePending()
            abandon(dialogue)
            return effects
        }
        #expect(try outcome(17 << 20, on: "request").contains { $0.hasPrefix("< 413") })
        #expect(try outcome(17 << 20, on: "response").contains { $0.hasPrefix("< 502") })
        #expect(try outcome(1 << 10, on: "request", budget: 0).contains { $0.hasPrefix("< 503") })
        #expect(try outcome(1 << 10, on: "response", budget: 0).contains { $0.hasPrefix("< 503") })
    }

    @Test("Messages that have no body are given none")
    func withoutBody() throws {
        let rule = rewriting("{ modify: body, on: [request, response], to: new }")
        let get = try RewrittenExchange(rule, response: "Content-Type: text/plain")
        #expect(get.requestLine == "> GET / (none)")
        #expect(String(buffer: get.responseBody) == "new")
        let head = try RewrittenExchange(rule, method: "HEAD", response: "Content-Type: text/plain")
        #expect(head.responseBody.readableBytes == 0)
        #expect(head.trace.isEmpty)
        let notModified = try RewrittenExchange(rule, status: 304, response: "Content-Type: text/plain")
        #expect(notModified.responseBody.readableBytes == 0)
        let empty = try RewrittenExchange(rule, method: "POST", requestBody: ByteBuffer())
        #expect(String(buffer: empty.requestBody) == "new")
    }

    @Test("Digests of a body that was edited are removed, its ETag stays; untouched ones keep theirs")
    func digests() throws {
        let fields =
            "ETag: \"1\"\nContent-MD5: x\nDigest: y\nContent-Digest: z\nRepr-Digest: z\nContent-Type: text/plain"
        let rule = rewriting("{ modify: body, on: response, match: a, to: b }")
        let edited = try RewrittenExchange(rule, response: fields, responseBody: ByteBuffer(string: "a"))
        #expect(edited.responseFields == "ETag: \"1\"\nContent-Type: text/plain")
        #expect(edited.trace.count == 5)
        let untouched = try RewrittenExchange(rule, response: fields, responseBody: ByteBuffer(string: "c"))
        #expect(untouched.responseFields == fields)
    }

    @Test("Random bodies that no rule matches pass byte for byte")
    func invariance() throws {
        let seed: UInt64 = 0x510C_E005
        var random = SplitMix(seed)
        let types = [
            "text/plain", "text/plain; charset=utf-8", "text/html; charset=shift_jis", "application/json", "",
            "text/plain; charset=utf-16le", "application/octet-stream", "text/xml; charset=iso-2022-jp",
        ]
        let rule = rewriting(
            "{ modify: body, on: [request, response], match: '/\\x{10FFFF}{3}/', to: x }",
            "{ modify: body, on: [request, response], match: no such text, to: x }"
        )
        for round in 0..<1_000 {
            let alphabet: [UInt8] = round % 2 == 0 ? Array(0...255) : Array("abc {}\":,é日\n".utf8)
            let body = ByteBuffer(
                bytes: (0..<Int.random(in: 0..<64, using: &random)).map { _ in
                    alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                }
            )
            let type = types[round % types.count]
            let exchange = try RewrittenExchange(
                rule,
                method: "POST",
                request: type.isEmpty ? "" : "Content-Type: \(type)",
                requestBody: body,
                response: type.isEmpty ? "" : "Content-Type: \(type)",
                responseBody: body
            )
            guard exchange.requestBody == body, exchange.responseBody == body,
                !exchange.record.flags.contains(.responseChanged), !exchange.record.flags.contains(.requestChanged)
            else {
                Issue.record("seed \(seed), round \(round): \(Array(body.readableBytesView)) as \(type)")
                return
            }
        }
    }

    @Test("Random texts come out as though edited in UTF-8, whatever their encoding")
    func equivalence() throws {
        let seed: UInt64 = 0x510C_E005
        var random = SplitMix(seed)
        let rule = rewriting("{ modify: body, on: response, case: true, match: ab, to: äb }")
        let letters = Array("abä c")
        for round in 0..<300 {
            let text = String(
                (0..<Int.random(in: 0..<40, using: &random)).map { _ in letters[Int.random(in: 0..<5, using: &random)] }
            )
            let expected = text.replacing("ab", with: "äb")
            let latin = try RewrittenExchange(
                rule,
                response: "Content-Type: text/plain; charset=iso-8859-1",
                responseBody: ByteBuffer(bytes: text.unicodeScalars.map { UInt8($0.value) })
            )
            let wide = try RewrittenExchange(
                rule,
                response: "Content-Type: text/plain; charset=utf-16be",
                responseBody: ByteBuffer(bytes: text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] })
            )
            let inLatin = Array(latin.responseBody.readableBytesView) == expected.unicodeScalars.map { UInt8($0.value) }
            let inWide =
                Array(wide.responseBody.readableBytesView)
                == expected.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
            guard inLatin, inWide else {
                Issue.record("seed \(seed), round \(round): '\(text)'")
                return
            }
        }
    }
}
