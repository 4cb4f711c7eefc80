import Testing

@Suite("Block cookies")
struct BlockCookiesTests {
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
        "Acts everywhere, or where a rule says",
        arguments: [
            ("true", true, true), ("false", false, false), ("{ only: a.example }", true, false),
            ("{ except: a.example }", false, true), ("{ method: POST }", false, false),
            ("[{ only: a.example }, { only: b.example, enabled: false }]", true, false),
        ]
    )
    func scope(value: String, a: Bool, b: Bool) throws {
        for (host, isIn) in [("a.example", a), ("b.example", b)] {
            let exchange = try RewrittenExchange(
                "block-cookies: \(value)",
                url: "http://\(host)/",
                request: "Cookie: 1"
            )
            #expect(exchange.requestFields.contains("Cookie") == !isIn)
        }
    }

    @Test("Interim responses, too, lose cookies")
    func interim() throws {
        let (sent, trace) = try interimResponse("block-cookies: true", fields: [("Set-Cookie", "a=1")])
        #expect(sent == "Link: </s.css>")
        #expect(
            trace.filter { $0.contains("response") } == ["block-cookies(rule 1): response: removed Set-Cookie: a"]
        )
    }
}
