import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Rewriting where requests go")
struct RewritePlaceTests {
    @Test(
        "Query rules see decoded names and values, and leave the form of what they do not edit",
        arguments: [
            ("add: query, name: a, to: '1'", "/x", "/x?a=1"), ("add: query, name: a, to: '1'", "/x?a=0", "/x?a=0&a=1"),
            ("add: query, name: a, to: '1'", "/x?", "/x?a=1"),
            ("add: query, name: 'a b', to: 'é&=+ #%/?'", "/", "/?a%20b=%C3%A9%26=%2B%20%23%25/?"),
            ("add: query, name: a, to: '1', if: { name: B }", "/?b", "/?b&a=1"),
            ("add: query, name: a, to: '1', if: { name: B }", "/?c", "/?c"),
            ("add: query, name: a, to: $1, if: { name: b, match: '/(.)/' }", "/?b=xy", "/?b=xy&a=x"),
            ("modify: query, name: A, to: '2'", "/?a=1&b=1&a", "/?a=2&b=1&a=2"),
            ("modify: query, name: a, to: ''", "/?a=1", "/?a=1"),
            ("modify: query, name: a, rename: b", "/?a=1&aa=1", "/?b=1&aa=1"),
            ("modify: query, match: 1, to: '2'", "/?a=11&b=21&1=3", "/?a=22&b=22&1=3"),
            ("modify: query, match: 1, to: '2', replace: first", "/?a=11", "/?a=21"),
            ("modify: query, match: 1, whole: true, to: '2'", "/?a=11&b=1", "/?a=11&b=2"),
            ("modify: query, name: q, match: 'b c', to: x", "/?q=a+b+c%2Fd&z=%2f+", "/?q=a+x%2Fd&z=%2f+"),
            ("modify: query, name: q, match: é, to: e", "/?q=%c3%a9%2f", "/?q=e%2f"),
            ("modify: query, name: 'a b', to: c", "/?a+b=1&a%20b=2", "/?a+b=c&a%20b=c"),
            ("modify: query, name: q, match: '/(\\d+)-(\\d+)/', to: $2-$1", "/?q=1-23", "/?q=23-1"),
            ("modify: query, name: q, match: a, to: b", "/?q=%FFa%2F", "/?q=%FFb%2F"),
            ("remove: query, name: utm_source", "/?utm_source=1&a=%20", "/?a=%20"),
            ("remove: query, name: a", "/?a=1", "/"), ("remove: query, name: a", "/?a=1&&A", "/?"),
            ("remove: query, name: '^utm_', name-regex: true", "/?utm_a=1&b=2&UTM_c=3&my_utm_=4", "/?b=2&my_utm_=4"),
            ("remove: query, match: secret", "/?a=my%53ecret&b=1", "/?b=1"),
            ("remove: query, name: b", "/?a=1&&c", "/?a=1&&c"),
        ]
    )
    func query(rule: String, before: String, after: String) throws {
        let exchange = try RewrittenExchange(rewriting("{ \(rule) }"), url: "http://example.com\(before)")
        #expect(exchange.requestLine == "> GET \(after) (none)")
        #expect(exchange.connect == "http://example.com:80")
        #expect(exchange.requestFields == "Host: example.com")
        #expect(exchange.record.flags.contains(.requestChanged) == (before != after))
        #expect(exchange.record.sentURL?.pathAndQuery == (before == after ? nil : after))
    }

    @Test(
        "Path rules edit the path as it was sent, never the query",
        arguments: [
            ("match: v1, to: v2", "/v1/V1?v1", "/v2/v2?v1"), ("match: v1, to: v2, case: true", "/V1/v1", "/V1/v2"),
            ("match: v1, to: v2, replace: first", "/v1/v1", "/v2/v1"), ("match: '', to: /new", "/a/b?q", "/new?q"),
            ("to: new", "/a", "/new"), ("match: '\\/v1/', to: /", "/v1/x", "/x"), ("match: /a, to: ''", "/a", "/"),
            ("match: '\\/a/', to: ''", "/a/b", "/b"), ("match: '/^\\/(\\w+)\\/(\\w+)$/', to: /$2/$1", "/a/b", "/b/a"),
            ("match: a, whole: true, to: b", "/a", "/a"), ("match: /a, whole: true, to: /b", "/a", "/b"),
            ("match: b, to: 'é c%2F'", "/%61b", "/%61%C3%A9%20c%2F"), ("match: '%2F', to: x", "/a%2fb", "/axb"),
        ]
    )
    func path(rule: String, before: String, after: String) throws {
        let exchange = try RewrittenExchange(rewriting("{ modify: path, \(rule) }"), url: "http://example.com\(before)")
        #expect(exchange.requestLine == "> GET \(after) (none)")
        #expect(exchange.connect == "http://example.com:80")
    }

    @Test(
        "Host rules change the destination, and Host follows",
        arguments: [
            ("to: b.example", "http://a.example/", "http://b.example:80", "b.example"),
            ("to: 'b.example:3000'", "http://a.example/", "http://b.example:3000", "b.example:3000"),
            ("match: A, to: b, replace: first", "https://a.example:8443/", "https://b.example:8443", "b.example:8443"),
            ("match: a., to: ''", "http://a.example/", "http://example:80", "example"),
            ("match: '/^(.*)\\.example$/', to: '$1.test:81'", "http://a.example/", "http://a.test:81", "a.test:81"),
            ("match: example, whole: true, to: b", "http://a.example/", "http://a.example:80", "a.example"),
            ("to: '::1'", "http://a.example/", "http://[::1]:80", "[::1]"),
            ("to: '[::1]:81'", "http://a.example/", "http://[::1]:81", "[::1]:81"),
        ]
    )
    func host(rule: String, url: String, destination: String, field: String) throws {
        let exchange = try RewrittenExchange(rewriting("{ modify: host, \(rule) }"), url: url)
        #expect(exchange.connect == destination)
        #expect(exchange.requestFields == "Host: \(field)")
        #expect(exchange.requestLine == "> GET / (none)")
    }

    @Test(
        "URL rules change all of it, scheme and port too",
        arguments: [
            ("to: 'https://b.example/y?z=1'", "http://a.example/x", "https://b.example:443 GET /y?z=1 b.example"),
            (
                "match: a.example/x, to: 'b.example:81/'", "http://a.example/x?q",
                "http://b.example:81 GET /?q b.example:81"
            ),
            (
                "match: '/^https:\\/\\/[^\\/]+/', to: 'http://localhost:3000'", "https://a.example/%2F?b",
                "http://localhost:3000 GET /%2F?b localhost:3000"
            ),
            ("match: '?debug=1', to: ''", "http://a.example/x?debug=1", "http://a.example:80 GET /x a.example"),
            ("match: nothing, to: x", "http://a.example/x", "http://a.example:80 GET /x a.example"),
            ("match: 'wss://', to: 'ws://'", "https://a.example/", "https://a.example:443 GET / a.example"),
            ("match: 'https://', to: 'ws://'", "https://a.example/", "http://a.example:80 GET / a.example"),
        ]
    )
    func url(rule: String, before: String, after: String) throws {
        let exchange = try RewrittenExchange(rewriting("{ modify: url, \(rule) }"), url: before)
        let field = exchange.requestFields.split(separator: " ").last ?? ""
        #expect(
            "\(exchange.connect) \(exchange.requestLine.dropFirst(2).replacing(" (none)", with: "")) \(field)" == after
        )
    }

    @Test("Rules that would make a bad URL are dropped, and the trace says so; those after them act")
    func badURLs() throws {
        let exchange = try RewrittenExchange(
            rewriting(
                "{ modify: host, match: a, to: 'a b' }",
                "{ modify: url, match: 'http:', to: 'ftp:' }",
                "{ modify: url, match: '.example', to: ':99999' }",
                "{ modify: path, match: x, to: y }"
            ),
            url: "http://a.example/x"
        )
        #expect(exchange.connect == "http://a.example:80")
        #expect(exchange.requestLine == "> GET /y (none)")
        #expect(
            exchange.trace == [
                "rewrite: set #1: 'a b.exa bmple' cannot be a host; nothing was changed",
                "rewrite: set #2: 'ftp://a.example/x' is not an http or https URL; nothing was changed",
                "rewrite: set #3: 'http://a:99999/x' is not an http or https URL; nothing was changed",
                "rewrite(set #4): changed path: /x to /y",
            ]
        )
    }

    @Test("Each rule sees what the one before it made, and the record has both URLs")
    func order() throws {
        let exchange = try RewrittenExchange(
            rewriting(
                "{ modify: path, match: a, to: b }",
                "{ modify: path, match: b, to: c }",
                "{ add: query, name: n, to: '1' }",
                "{ modify: url, match: 'c?n=1', to: 'd?n=2' }",
                "{ modify: query, name: n, match: 2, to: '3' }",
                "{ modify: host, to: 'h.example:81' }",
                "{ modify: header, on: request, name: host, match: h, to: g, replace: first }"
            ),
            url: "http://example.com/a"
        )
        #expect(exchange.connect == "http://h.example:81")
        #expect(exchange.requestLine == "> GET /d?n=3 (none)")
        #expect(exchange.requestFields == "Host: g.example:81")
        #expect(exchange.record.url.description == "http://example.com/a")
        #expect(exchange.record.sentURL?.description == "http://h.example:81/d?n=3")
        #expect(
            exchange.trace.map { String($0.drop { $0 != ":" }.dropFirst(2)) } == [
                "changed path: /a to /b", "changed path: /b to /c", "query: added n=1",
                "changed URL: http://example.com/c?n=1 to http://example.com/d?n=2", "query: changed n=2 to 3",
                "changed host: example.com to h.example:81",
                "request header: changed Host: h.example:81 to g.example:81",
            ]
        )
    }

    @Test("A tunnel's destination stays where just the path changes")
    func tunnelDestination() throws {
        let profile = try RuleProfile("version: 1\n" + rewriting("{ modify: url, match: /x, to: /y }"), file: "p.yaml")
        let opening = ExchangeOpening(
            id: ExchangeID(1),
            url: RequestURL(scheme: "https", host: "a.example", port: 443, path: "/x"),
            head: RequestHead(method: "OPTIONS", target: "*"),
            clientAddress: "127.0.0.1:1"
        )
        #expect(profile.chain.stages.first?.handler(for: opening) != nil)
        let asterisk = dialogue(profile, "http://example.com/x", method: "OPTIONS")
        asterisk.tell { machine, now in
            machine.requestHeadReceived(
                RequestHead(method: "OPTIONS", target: "*", fields: [("Host", "example.com")]),
                framing: .none,
                now: now
            )
        }
        #expect(asterisk.takePending() == ["connect http://example.com:80", "stop client"])
        abandon(asterisk)
        #expect(asterisk.trace == ["rewrite: set #1: the target '*' has no path; nothing was changed"])
    }

    @Test(
        "Status rules take the standard reason where none is given",
        arguments: [
            ("to: 404", 200, "404 Not Found"), ("to: '404 Nope, not here'", 200, "404 Nope, not here"),
            ("match: 200, to: 500", 200, "500 Internal Server Error"), ("match: 200, to: 500", 201, "201 Created"),
            ("match: not found, to: 410", 404, "410 Gone"),
            ("match: not found, to: 410, case: true", 404, "404 Not Found"),
            ("match: 20, to: 503", 204, "503 Service Unavailable"),
            ("match: 20, whole: true, to: 503", 204, "204 No Content"),
            ("match: 204, whole: true, to: 503", 204, "503 Service Unavailable"),
            ("match: '/^5(\\d\\d)$/', to: 4$1", 503, "403 Forbidden"), ("match: '/^5/', to: 200", 502, "200 OK"),
            ("to: 200", 200, "200 OK"), ("to: 999", 200, "999 "),
        ]
    )
    func status(rule: String, status: Int, after: String) throws {
        let exchange = try RewrittenExchange(rewriting("{ modify: status, \(rule) }"), status: status)
        #expect(exchange.status == after)
        #expect(exchange.record.status == Int(after.prefix(3)))
    }

    @Test("A status that comes out wrong is not set")
    func badStatus() throws {
        let exchange = try RewrittenExchange(rewriting("{ modify: status, match: '/(.*)/', to: 1$1 }"), status: 200)
        #expect(exchange.status == "200 OK")
        #expect(exchange.trace == ["rewrite: set #1: '1200' is not a status; use 200 to 999; nothing was changed"])
    }
}
