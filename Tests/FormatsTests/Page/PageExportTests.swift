import Content
import Foundation
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Formats

@Suite("Page export")
struct PageExportTests {
    private typealias Object = [String: Any]

    /// A page, taken apart: its text, and what the data in it says.
    private struct Page {
        var text = ""
        /// What was written each time, in bytes.
        var pieces: [Int] = []
        var rows: [Object] = []
        var details: [Object] = []
        var facts: Object = [:]
        var totals: Object = [:]
        var remark: String?

        /// The contents of the elements of `script`, each with its attributes, as a browser finds them: up to the next
        /// end tag, whatever stands before it.
        func scripts() -> [(attributes: String, content: String)] {
            text.components(separatedBy: "<script").dropFirst().compactMap { piece in
                guard let close = piece.firstIndex(of: ">"), let end = piece.range(of: "</script") else { return nil }
                return (String(piece[..<close]), String(piece[piece.index(after: close)..<end.lowerBound]))
            }
        }
    }

    private func page(
        _ source: MemorySource,
        facts: SessionFacts = SessionFacts(name: "a.sluice", version: "1.2.3", system: "Test"),
        masked: MaskedSource? = nil,
        limits: PageExport.Limits = .init()
    ) throws -> Page {
        var bytes = ByteBuffer()
        var page = Page()
        var export = PageExport(source: masked ?? source, facts: facts, limits: limits) {
            page.pieces.append($0.readableBytes)
            bytes.writeImmutableBuffer($0)
        }
        for exchange in source.exchanges { try export.add(masked?.masked(exchange) ?? exchange) }
        try export.finish()
        page.remark = export.remark
        page.text = try #require(String(validating: bytes.readableBytesView, as: UTF8.self))
        for (attributes, content) in page.scripts() where attributes.contains("application/json") {
            let lines = try content.split(separator: "\n").map { line in
                try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? Object)
            }
            if attributes.contains("id=\"facts\"") {
                page.facts = lines[0]
            } else if attributes.contains("id=\"totals\"") {
                page.totals = lines[0]
            } else {
                try #require(lines.count == 2)
                page.rows.append(lines[0])
                page.details.append(lines[1])
            }
        }
        return page
    }

    private func body(_ page: Page, _ index: Int, _ message: String = "response", _ name: String = "body") -> Object? {
        (page.details[index][message] as? Object)?[name] as? Object
    }

    private static let hostile =
        "</script><script>alert(1)</script><!--<script>]]>&lt;<img src=x onerror=alert(1)>"
        + "\u{2028}\u{2029}\u{202E}\u{1}\u{7F}\u{FEFF}'\"`"

    @Test("What was recorded cannot leave its element, and is there whole")
    func hostile() throws {
        let source = MemorySource()
        let hostile = PageExportTests.hostile
        let field = hostile.filter { $0 != "\u{1}" && $0 != "\u{7F}" }
        try source.add(
            "http://h/?q=" + field,
            request: "GET /?q=\(field) HTTP/1.1\r\nX-Hostile: \(field)\r\nCookie: a=\(field)\r\n\r\n",
            response: "HTTP/1.1 200 \(field)\r\nContent-Type: text/html; charset=utf-8\r\n\r\n",
            responseBody: Array(hostile.utf8) + [0xFF, 0xC3, 0x28]
        ) {
            $0.messages.trace = [TraceEntry(stage: "x", rule: hostile, outcome: .fired, text: hostile)]
            $0.record.extras.annotation.comment = hostile
        }
        var facts = SessionFacts(name: hostile, version: hostile, system: hostile)
        facts.labels = [hostile: hostile]
        facts.rules = [(0, [ProfileSource(file: hostile, text: hostile)], [hostile])]
        let page = try page(source, facts: facts)
        // Two elements for the session, one for the exchange, and our own script.
        #expect(page.scripts().count == 4)
        #expect(page.text.components(separatedBy: "</script").count == 5)
        let ours = page.text.components(separatedBy: "<script>\(PageFile.script)</script>")
        #expect(ours.count == 2)
        let data = ours.joined().components(separatedBy: "<dialog").last ?? ""
        for forbidden in ["<img", "<!--", "\u{2028}", "\u{2029}", "\u{202E}", "\u{1}", "\u{7F}", "\u{FEFF}"] {
            #expect(data.range(of: forbidden, options: .literal) == nil, "\(forbidden.debugDescription)")
        }
        #expect((body(page, 0)?["text"] as? String)?.hasPrefix(hostile) == true)
        #expect(page.rows[0]["comment"] as? String == hostile)
        let trace = try #require((page.details[0]["trace"] as? [Object])?.first)
        #expect(trace["text"] as? String == hostile && trace["rule"] as? String == hostile)
        #expect(page.facts["name"] as? String == hostile)
        let rules = try #require((page.facts["rules"] as? [Object])?.first?["files"] as? [Object])
        #expect(rules.first?["text"] as? String == hostile)
        // The title is markup, in which what hides is shown.
        #expect(page.text.contains("<title>&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--"))
    }

    @Test("The policy admits our own script and style by their digests, and nothing else")
    func policy() throws {
        // What the digests are compared with is right: a known answer (FIPS 180-4), base64.
        #expect(SHA256.base64("abc") == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
        #expect(PageMarkup.scriptDigest == SHA256.base64(PageFile.script), "put it into PageMarkup.scriptDigest")
        #expect(PageMarkup.styleDigest == SHA256.base64(PageFile.style), "put it into PageMarkup.styleDigest")
        let page = try page(MemorySource())
        #expect(page.text.contains("<style>\(PageFile.style)</style>"))
        #expect(page.text.components(separatedBy: "<style").count == 2)
        #expect(page.scripts().last?.content == PageFile.script)
        let directives = PageMarkup.policy.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(
            directives == [
                "default-src 'none'", "script-src 'sha256-\(SHA256.base64(PageFile.script))'",
                "style-src 'sha256-\(SHA256.base64(PageFile.style))'", "img-src data:", "base-uri 'none'",
                "form-action 'none'",
            ]
        )
        // Before the policy is nothing that it is for.
        let head = try #require(page.text.range(of: "Content-Security-Policy")).lowerBound
        #expect(!page.text[..<head].contains("<script") && !page.text[..<head].contains("<style"))
        // Markup is never read, and nothing is fetched.
        for forbidden in ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "fetch("] {
            #expect(!PageFile.script.contains(forbidden), "\(forbidden)")
        }
        #expect(!PageFile.style.contains("url(") && !PageFile.style.contains("@import"))
    }

    @Test("Bodies are cut where they are long, at a whole character, and the page and its summary say so")
    func bounds() throws {
        let source = MemorySource()
        let plain = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
        try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\n\r\n",
            response: plain,
            responseBody: Array("short".utf8)
        )
        var limits = PageExport.Limits()
        (limits.text, limits.binary) = (100, 16)
        try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\n\r\n",
            response: plain,
            responseBody: Array(String(repeating: "日", count: 1_000).utf8)
        )
        try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\n\r\n",
            responseBody: Array(repeating: 0, count: 50)
        )
        let page = try page(source, limits: limits)
        #expect(body(page, 0)?["text"] as? String == "short" && body(page, 0)?["cut"] == nil)
        let long = try #require(body(page, 1))
        #expect(long["text"] as? String == String(repeating: "日", count: 33))
        #expect(long["cut"] as? Bool == true && long["shown"] as? Int == 99 && long["size"] as? Int == 3_000)
        let bytes = try #require(body(page, 2))
        #expect(Data(base64Encoded: bytes["base64"] as? String ?? "")?.count == 16)
        #expect(bytes["cut"] as? Bool == true && bytes["text"] == nil)
        let remark = try #require(page.remark)
        #expect(remark.hasPrefix("2 bodies are shortened by at least 2.9 KB;"))
        #expect(page.totals["remark"] as? String == remark)

        // All bodies together have a bound, too: the second one finds no room.
        limits = PageExport.Limits()
        limits.all = 5
        let full = try self.page(source, limits: limits)
        #expect(body(full, 0)?["text"] as? String == "short")
        #expect(body(full, 1)?["text"] as? String == "" && body(full, 1)?["cut"] as? Bool == true)
        #expect((body(full, 1)?["notes"] as? [String])?.contains { $0.contains("can hold") } == true)
    }

    @Test("Only images that run nothing are images, by their bytes and not by their type")
    func images() throws {
        func png(_ side: UInt8) -> [UInt8] {
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
                + [0, 0, side, 1, 0, 0, side, 1, 8, 2, 0, 0, 0, 1, 2, 3, 4]
        }
        let source = MemorySource()
        let drawing = Array("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>".utf8)
        let bodies: [(type: String, bytes: [UInt8])] = [
            ("image/png", png(0)), ("image/svg+xml", drawing), ("image/png", drawing), ("application/x", png(0)),
            // More pixels than a browser should unpack.
            ("image/png", png(0xF0)), ("image/bmp", Array("BM".utf8) + Array(repeating: 0, count: 60)),
        ]
        for body in bodies {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: \(body.type)\r\n\r\n"
            try source.add("http://h/", request: "GET / HTTP/1.1\r\n\r\n", response: head, responseBody: body.bytes)
        }
        let page = try page(source)
        let types = bodies.indices.map { body(page, $0)?["image"] as? String }
        #expect(types == ["image/png", nil, nil, "image/png", nil, nil])
        #expect(body(page, 1)?["text"] as? String == String(decoding: drawing, as: UTF8.self))
        var small = PageExport.Limits()
        small.image = 10
        #expect(try body(self.page(source, limits: small), 0)?["image"] == nil)
    }

    @Test("Secrets are masked in the data, in the rules and in the list of what was masked")
    func masked() throws {
        let source = MemorySource()
        let secret = "tok-5f4dcc3b5aa765d6"
        let exchange = try source.add(
            "http://h/?api_key=k3y-value-17",
            request: "GET /?api_key=k3y-value-17 HTTP/1.1\r\nAuthorization: Bearer \(secret)\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n",
            responseBody: Array(#"{"token":"\#(secret)","name":"Ada"}"#.utf8)
        ) {
            $0.messages.responseHeadSent = ByteBuffer(string: "HTTP/1.1 200 OK\r\nX-Token: \(secret)\r\n\r\n")
            $0.record.flags = [.responseChanged]
        }
        let masked = MaskedSource(source, TextMask())
        try masked.collectAll(exchange)
        masked.mask.endCollecting()
        let page = try page(source, masked: masked)
        #expect(!page.text.contains(secret) && !page.text.contains("k3y-value-17"))
        #expect(page.text.contains("sluice-token-1") && page.text.contains("sluice-key-1") && page.text.contains("Ada"))
        #expect(page.rows[0]["isMasked"] as? Bool == true && page.facts["isMasked"] as? Bool == true)
        let parts = try #require(page.details[0]["masked"] as? [String])
        #expect(Set(parts).isSuperset(of: ["URL", "request headers", "response headers", "response body"]), "\(parts)")
        #expect(page.totals["secrets"] as? Int == 2)
        let placeholders = try #require(page.totals["placeholders"] as? [Object])
        #expect(placeholders.contains { $0["text"] as? String == "sluice-token-1" && $0["host"] as? String == "h" })
        // Without a mask all is there, and the page says that.
        let whole = try self.page(source)
        #expect(whole.text.contains(secret) && whole.facts["isMasked"] as? Bool == false)
    }

    @Test("An exchange is written when it is added, and of a long body no more is read than is in the page")
    func streamed() throws {
        let source = MemorySource()
        for _ in 0..<5 {
            try source.add(
                "http://h/",
                request: "GET / HTTP/1.1\r\n\r\n",
                response: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n",
                responseBody: Array(repeating: UInt8(ascii: "<"), count: 3 << 20)
            )
        }
        let page = try page(source)
        // The beginning, each exchange, the end.
        #expect(page.pieces.count == 7)
        #expect(page.pieces[1...5].allSatisfy { $0 < (64 << 10) * 6 + 4_096 })
        #expect(source.largestRead <= (64 << 10) + 1)
        #expect(page.rows.map { $0["id"] as? Int } == [1, 2, 3, 4, 5])
        let empty = try self.page(MemorySource())
        #expect(empty.rows.isEmpty && empty.totals["exchanges"] as? Int == 0 && empty.text.hasSuffix("</html>\n"))
    }

    @Test("A stream has its first messages, and how many are left out")
    func messages() throws {
        let source = MemorySource()
        let events = (1...30).map { "event: tick\ndata: number \($0)\n\n" }.joined()
        try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
            responseBody: Array(events.utf8)
        ) { $0.record.tally.fromServer = 30 }
        var limits = PageExport.Limits()
        limits.messages = 12
        limits.payload = 8
        let page = try page(source, limits: limits)
        let messages = try #require(page.details[0]["messages"] as? [Object])
        #expect(messages.count == 12 && messages[11]["text"] as? String == "number 1")
        #expect(messages[0]["event"] as? String == "tick" && messages[11]["leftOut"] as? Int == 1)
        #expect(page.details[0]["messagesLeftOut"] as? Int == 18)
        #expect(page.remark?.hasPrefix("18 messages of streams are left out") == true)
        #expect(try self.page(source).details[0]["messagesLeftOut"] == nil)
    }

    @Test("What a rule changed names the rule, and who read the page finds both versions")
    func changes() throws {
        let source = MemorySource()
        let exchange = try source.add(
            "http://h/",
            request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n",
            responseBody: Array(#"{"plan":"free"}"#.utf8)
        ) {
            $0.messages.responseHeadSent = ByteBuffer(
                string: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-New: 1\r\n\r\n"
            )
            $0.record.flags = [.responseChanged, .responseBodyChanged]
            $0.messages.trace = [
                TraceEntry(stage: "edits", rule: "stamp", outcome: .fired, text: "response header: added X-New: 1")
            ]
        }
        source.setBody(exchange.record.id, .responseSent, Array(#"{"plan":"pro"}"#.utf8))
        var facts = SessionFacts(name: "a")
        facts.changes = ["edits": .response]
        let page = try page(source, facts: facts)
        let lines = try #require(page.details[0]["difference"] as? [[Any]])
        let texts = lines.map { line in
            stride(from: 1, to: line.count, by: 2).map { "\(line[$0])" }.joined()
        }
        #expect(texts.contains { $0.contains("res.header.x-new") && $0.contains("edits stamp") }, "\(texts)")
        #expect(
            texts.contains { $0.contains("res.json.plan") && $0.contains("free") && $0.contains("pro") },
            "\(texts)"
        )
        #expect(texts.contains { $0.contains("Body") && $0.contains("edits stamp") }, "\(texts)")
        #expect(body(page, 0)?["text"] as? String == #"{"plan":"free"}"#)
        #expect(body(page, 0, "response", "bodySent")?["text"] as? String == #"{"plan":"pro"}"#)
        #expect(page.details[0]["remarks"] as? [String] == ["the response was changed before it was sent"])
    }

    @Test("Who answered is named, and a request has its cURL command, with variables for what is masked")
    func answerers() throws {
        let source = MemorySource()
        let request = "GET /?api_key=k3y-value-17 HTTP/1.1\r\nHost: h\r\n\r\n"
        let exchange = try source.add("http://h/?api_key=k3y-value-17", request: request) {
            ($0.record.status, $0.record.flags) = (503, [.answeredLocally])
            $0.messages.trace = [TraceEntry(stage: "block", rule: "flaky", outcome: .fired, text: "answered 503")]
        }
        try source.add("http://h/", request: "GET / HTTP/1.1\r\nHost: h\r\n\r\n") {
            ($0.record.status, $0.record.serverAddress) = (500, "10.0.0.1:80")
        }
        let whole = try page(source)
        #expect(whole.rows[0]["by"] as? String == "rule flaky" && whole.rows[1]["by"] == nil)
        #expect(whole.details[0]["answeredBy"] as? String == "block, rule 'flaky', not the server")
        #expect(whole.details[1]["answeredBy"] as? String == "the server, 10.0.0.1:80")
        #expect((whole.details[0]["curl"] as? String)?.hasPrefix("curl -H 'Host: h'") == true)
        #expect(whole.rows[0]["flags"] as? [String] == ["local"])
        let masked = MaskedSource(source, TextMask())
        try masked.collectAll(exchange)
        masked.mask.endCollecting()
        let command = try #require(try page(source, masked: masked).details[0]["curl"] as? String)
        #expect(command.hasPrefix("curl ") && !command.contains("k3y"), "\(command)")
        #expect(command.contains("\"${SLUICE_KEY_1:?key of h}\""), "\(command)")
    }

    @Test("The page's filter knows each key of the language, and what is: asks of an exchange")
    func language() throws {
        let page = try page(MemorySource())
        let filter = try #require(page.facts["filter"] as? Object)
        #expect(filter["keys"] as? [String] == Filter.reference.map(\.name))
        let facts = try #require(filter["facts"] as? [String: [String]])
        #expect(Set(facts.keys) == Set(Filter.properties.map(\.name)))
        #expect(facts["local"] == ["flags", "local"] && facts["dns"] == ["failure", "dns"])
        for key in Filter.reference {
            let name = key.name.contains("-") ? "'\(key.name)'" : key.name
            #expect(PageFile.text("language-keys.js").contains(" \(name): "), "\(key.name)")
        }
    }

    @Test("Of many sets of rules the page has the latest, and counts the others")
    func rules() throws {
        var facts = SessionFacts(name: "a.sluice")
        facts.rules = (1...12).map { (Int64($0), [], ["tool-\($0)"]) }
        let page = try page(MemorySource(), facts: facts)
        let sets = try #require(page.facts["rules"] as? [Object])
        #expect(sets.compactMap { ($0["off"] as? [String])?.first } == (3...12).map { "tool-\($0)" })
        #expect(page.facts["earlierRules"] as? Int == 2)
    }

    @Test("Title and note are at the top, as text")
    func note() throws {
        var facts = SessionFacts(name: "a.sluice")
        (facts.title, facts.note) = ("Orders <fail>", "Since Monday.\nSee </script>")
        let page = try page(MemorySource(), facts: facts)
        #expect(page.text.contains("<title>Orders &lt;fail&gt; – Sluice</title>"))
        #expect(page.facts["note"] as? String == "Since Monday.\nSee </script>")
    }

    @Test("What has no difference has no changes")
    func unchanged() throws {
        let source = MemorySource()
        try source.add("http://h/", request: "GET / HTTP/1.1\r\n\r\n", response: "HTTP/1.1 200 OK\r\n\r\n") {
            $0.record.flags = [.responseChanged]
            $0.messages.responseHeadSent = $0.messages.responseHead
        }
        #expect(try page(source).details[0]["difference"] == nil)
    }

    @Test("Tunnels, failures and exchanges in flight say what they are")
    func kinds() throws {
        let source = MemorySource()
        try source.add("http://h/", request: "CONNECT h:443 HTTP/1.1\r\n\r\n") {
            $0.record.kind = .tunnel
            $0.record.url = RequestURL(scheme: "tunnel", host: "h", port: 443, path: "")
            $0.record.flags = [.tunnelledTLS, .notIntercepted]
            $0.record.sizes.responseBody = 5_000
        }
        try source.add("http://h/", request: "GET / HTTP/1.1\r\n\r\n") {
            $0.record.state = .failed
            $0.record.failure = ExchangeFailure(.dns, "No such name: h.", hint: "Look at the name.")
        }
        try source.add("http://h/", request: "POST /a?b=c%20d HTTP/1.1\r\nCookie: x=1; y=2\r\n\r\n") {
            $0.record.url = RequestURL(scheme: "http", host: "h", port: 80, path: "/a", query: "b=c%20d")
            $0.record.state = .inFlight
        }
        let page = try page(source)
        #expect(page.details[0]["kindText"] as? String == "tunnel: the bytes passed through unread")
        #expect((page.details[0]["remarks"] as? [String])?.count == 2 && page.rows[0]["host"] as? String == "h:443")
        #expect(body(page, 0)?["notes"] as? [String] == ["its bytes were not recorded"])
        #expect(page.remark == nil)
        #expect((page.rows[1]["failure"] as? Object)?["hint"] as? String == "Look at the name.")
        #expect(page.rows[1]["isError"] as? Bool == true && page.rows[2]["isError"] == nil)
        #expect(page.rows[2]["state"] as? String == "in-flight" && page.rows[2]["path"] as? String == "/a?b=c%20d")
        let request = try #require(page.details[2]["request"] as? Object)
        #expect(request["query"] as? [[String: String]] == [["name": "b", "value": "c d"]])
        #expect((request["cookies"] as? [Object])?.count == 2)
    }
}
