import HTTPModel
import Support
import Testing

@Suite("Rewriting cookies")
struct RewriteCookieTests {
    @Test(
        "A cookie is taken out of Cookie, and the rest stays as it is",
        arguments: [
            ("name: _ga", "Cookie: sid=1; _ga=2; b=3", "Cookie: sid=1; b=3"),
            ("name: _ga", "Cookie: _ga=2; sid=1", "Cookie: sid=1"),
            ("name: _ga", "Cookie: sid=1;_ga=2;  b = 3;", "Cookie: sid=1;  b = 3;"),
            ("name: _ga", "Cookie: sid=_ga=; _gab=1; _GA=2", "Cookie: sid=_ga=; _gab=1; _GA=2"),
            ("name: _ga", "Cookie: _ga=2", ""), ("name: _ga", "Cookie: _ga=2; ", ""), ("name: _ga", "Cookie: _ga", ""),
            ("name: '_ga*'", "Cookie: _ga=1; sid=2; _ga_X=3", "Cookie: sid=2"),
            ("name: '_g?'", "Cookie: _ga=1; _gid=2", "Cookie: _gid=2"),
            ("name: '^_g(a|id)', name-regex: true", "Cookie: _ga=1; x_ga=2; _gid=3", "Cookie: x_ga=2"),
            ("match: secret", "Cookie: a=my-Secret; b=secre", "Cookie: b=secre"),
            ("name: a, match: '/^\\d+$/'", "Cookie: a=x; a=12; b=3", "Cookie: a=x; b=3"),
            ("name: a", "Cookie: b=1\nX: a=1\nCookie: a=2; c=3", "Cookie: b=1\nX: a=1\nCookie: c=3"),
            ("name: a, on: response", "Cookie: a=1", "Cookie: a=1"),
        ]
    )
    func requests(rule: String, before: String, after: String) throws {
        let exchange = try RewrittenExchange(rewriting("{ remove: cookie, \(rule) }"), request: before)
        #expect(exchange.requestFields == "Host: example.com" + (after.isEmpty ? "" : "\n\(after)"))
        #expect(exchange.record.flags.contains(.requestChanged) == (before != after))
    }

    @Test("The Set-Cookie of a cookie is taken out of the response; the trace has names alone")
    func responses() throws {
        let exchange = try RewrittenExchange(
            rewriting("{ remove: cookie, name: '_ga*' }"),
            request: "Cookie: _ga=1; a=1",
            response: "Set-Cookie: _ga=2; Path=/\nSet-Cookie: sid=_ga; Path=/_ga=\nSet-Cookie: _ga_x"
        )
        #expect(exchange.responseFields == "Set-Cookie: sid=_ga; Path=/_ga=")
        #expect(
            exchange.trace == [
                "rewrite(set #1): request cookie: removed _ga", "rewrite(set #1): response cookie: removed _ga, _ga_x",
            ]
        )
        let request = try RewrittenExchange(
            rewriting("{ remove: cookie, on: request, name: a }"),
            response: "Set-Cookie: a=1"
        )
        #expect(request.responseFields == "Set-Cookie: a=1")
    }

    @Test("A cookie is added to the Cookie line that is there, since a request has one (RFC 6265 §5.4)")
    func added() throws {
        for (before, after) in [
            ("Cookie: a=1", "Cookie: a=1; b=2"), ("Cookie: ", "Cookie: b=2"), ("X: y", "X: y\nCookie: b=2"),
        ] {
            let exchange = try RewrittenExchange(
                rewriting("{ add: header, on: request, name: Cookie, to: b=2 }"),
                request: before
            )
            #expect(exchange.requestFields == "Host: example.com\n\(after)")
        }
    }

    @Test(
        "What is wrong with a rule for cookies is said where it stands",
        arguments: [
            ("remove: cookie", "6:9 removing a cookie needs 'name' or 'match'"),
            ("remove: cookie, name: a=b", "6:33 a cookie's name cannot have '='; use 'match' for its value"),
            (
                "remove: cookie, name: /a/",
                "6:33 a cookie's name cannot begin with '/'; for a regular expression use name-regex: true"
            ),
            ("remove: cookie, name: '['", "6:33 name: '[' has no ']'; write \\[ for a bracket"),
            ("remove: cookie, name: '(', name-regex: true", "6:35 bad regular expression: missing closing parenthesis"),
            ("remove: cookie, name: a, to: b", "6:40 'to' has no effect with 'remove: cookie'"),
            (
                "modify: cookie, name: a, to: b",
                "6:19 'modify' must be header or query or host or path or url or status or body, not 'cookie'"
            ),
        ]
    )
    func mistakes(rule: String, issue: String) {
        #expect(issues("version: 1\n" + rewriting("{ \(rule) }")) == [issue])
    }
}
