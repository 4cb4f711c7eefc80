import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("No caching")
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

    @Test(
        "Acts everywhere, or where a rule says",
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
            let exchange = try RewrittenExchange("no-caching: \(value)", url: "http://\(host)/", response: "ETag: 1")
            #expect(exchange.responseFields.contains("ETag") == !isIn)
        }
    }

    @Test("Interim responses, too, lose validators")
    func interim() throws {
        let (sent, trace) = try interimResponse("no-caching: true", fields: [("ETag", "x"), ("Last-Modified", "y")])
        #expect(sent == "Link: </s.css>")
        #expect(
            trace.filter { $0.contains("response") } == [
                "no-caching(rule 1): response 103: removed Last-Modified: y; removed ETag: x"
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
