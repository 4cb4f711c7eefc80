import ExchangeCore
import HTTPModel
import NIOCore
import Stages
import Support
import Testing

@Suite("No caching and block cookies")
struct NoCachingTests {
    private static let untouched =
        "If-Range: a\nIf-Match: b\nIf-Unmodified-Since: c\nAge: 1\nVary: d\nCDN-Cache-Control: max-age=9"

    @Test("Conditions and validators go, and both messages say no-cache, whatever they said before")
    func noCaching() throws {
        let exchange = try RewrittenExchange(
            "no-caching: true",
            request:
                "If-Modified-Since: x\nif-none-match: \"1\"\nIF-NONE-MATCH: \"2\"\nCache-Control: max-age=0\nX: y\n"
                + NoCachingTests.untouched,
            response:
                "Cache-Control: max-age=600\nCache-Control: public\nExpires: tomorrow\nLast-Modified: x\nETag: \"1\"\n"
                + "Pragma: cache\n" + NoCachingTests.untouched
        )
        #expect(
            exchange.requestFields == "Host: example.com\nCache-Control: no-cache\nX: y\n\(NoCachingTests.untouched)\n"
                + "Pragma: no-cache"
        )
        #expect(
            exchange.responseFields == "Cache-Control: no-cache\nExpires: 0\nPragma: cache\n\(NoCachingTests.untouched)"
        )
        #expect(
            exchange.trace == [
                "no-caching(rule 1): request: removed If-Modified-Since: x; removed If-None-Match: \"1\", \"2\"; "
                    + "set Pragma: no-cache; set Cache-Control: no-cache in place of max-age=0",
                "no-caching(rule 1): response: removed Last-Modified: x; removed ETag: \"1\"; "
                    + "set Expires: 0 in place of tomorrow; set Cache-Control: no-cache in place of max-age=600, public",
            ]
        )
    }

    @Test("Messages that say no-cache already pass as they are")
    func alreadySo() throws {
        let exchange = try RewrittenExchange(
            "no-caching: true",
            request: "pragma: no-cache\ncache-control: no-cache",
            response: "expires: 0\ncache-control: no-cache"
        )
        #expect(exchange.trace.isEmpty)
        #expect(exchange.record.flags.isDisjoint(with: [.requestChanged, .responseChanged]))
    }

    @Test("Cookies go both ways, all of them, and nothing else does; the trace has their names only")
    func cookies() throws {
        let exchange = try RewrittenExchange(
            "block-cookies: true",
            request: "Cookie: a=secret; b=2\ncookie: c\nCookie2: x\nX: y",
            response: "Set-Cookie: a=secret; Path=/; Expires=Thu\nset-cookie: b=\nSet-Cookie2: x\nX: y"
        )
        #expect(exchange.requestFields == "Host: example.com\nCookie2: x\nX: y")
        #expect(exchange.responseFields == "Set-Cookie2: x\nX: y")
        #expect(
            exchange.trace == [
                "block-cookies(rule 1): request: removed Cookie: a, b, c",
                "block-cookies(rule 1): response: removed Set-Cookie: a, b",
            ]
        )
        #expect(try RewrittenExchange("block-cookies: true").trace.isEmpty)
    }

    @Test(
        "Both act everywhere, or where a rule says",
        arguments: [
            ("true", true, true), ("false", false, false), ("{ only: a.example }", true, false),
            ("{ except: a.example }", false, true), ("{ only: '*', except: b.example }", true, false),
            ("[{ only: a.example }, { only: b.example, enabled: false }]", true, false),
            ("{ method: POST }", false, false),
            ("{ enabled: false }", false, false), ("[]", false, false), ("{}", true, true),
        ]
    )
    func scope(value: String, a: Bool, b: Bool) throws {
        for (host, isIn) in [("a.example", a), ("b.example", b)] {
            let url = "http://\(host)/"
            let caching = try RewrittenExchange("no-caching: \(value)", url: url, response: "ETag: 1")
            #expect(caching.responseFields.contains("ETag") == !isIn)
            let cookies = try RewrittenExchange("block-cookies: \(value)", url: url, request: "Cookie: 1")
            #expect(cookies.requestFields.contains("Cookie") == !isIn)
        }
    }

    @Test("Interim responses, too, lose cookies and validators")
    func interim() throws {
        let profile = try RuleProfile("version: 1\nno-caching: true\nblock-cookies: true", file: "p.yaml")
        let dialogue = dialogue(profile, "http://example.com/")
        var sent: [ResponseHead] = []
        dialogue.onEffect = { effect, _ in
            if case .sendInterim(let head) = effect { sent.append(head) }
        }
        dialogue.request()
        _ = dialogue.takePending()
        dialogue.ready()
        _ = dialogue.takePending()
        let hints = ResponseHead(
            status: 103,
            fields: [("Link", "</s.css>"), ("Set-Cookie", "a=1"), ("ETag", "x"), ("Last-Modified", "y")]
        )
        dialogue.tell { $0.interimReceived(hints, now: $1) }
        _ = dialogue.takePending()
        abandon(dialogue)
        #expect(sent.map(\.fields.description) == ["Link: </s.css>"])
        #expect(dialogue.messages.interimHeads.map { String(buffer: $0) }?.contains("Set-Cookie: a=1") == true)
        #expect(
            dialogue.trace.filter { $0.contains("response") } == [
                "no-caching(rule 1): response 103: removed Last-Modified: y; removed ETag: x",
                "block-cookies(rule 1): response: removed Set-Cookie: a",
            ]
        )
    }

    @Test("Rewrite rules see what no-caching left")
    func order() throws {
        let exchange = try RewrittenExchange(
            "no-caching: true\n"
                + rewriting("{ modify: header, on: response, name: cache-control, match: no-, to: '' , rename: X }")
                .replacing("to: '' ,", with: "to: 'yes-',"),
            response: "Cache-Control: public"
        )
        #expect(exchange.responseFields == "X: yes-cache\nExpires: 0")
    }
}
