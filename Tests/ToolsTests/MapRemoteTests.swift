import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Map remote")
struct MapRemoteTests {
    private func play(
        _ rules: String,
        _ url: String,
        before: String = "",
        _ fields: [(name: String, value: String)] = []
    ) throws -> DryRunExchange {
        let profile = try RuleProfile("version: 1\n\(before)\nmap-remote: [\(rules)]", file: "p.yaml")
        var dryRun = DryRun(profile)
        var request = try #require(DryRunRequest(url))
        request.fields = fields
        return dryRun.play(request)
    }

    private func sent(_ rules: String, _ url: String) throws -> String {
        try play(rules, url).sentURL?.description ?? "nothing"
    }

    @Test(
        "Fields replace, blank ones keep, and what is left of the path is added",
        arguments: [
            (
                "{ from: 'https://qiita.com/*', to: 'http://localhost:3000/' }", "https://qiita.com/api/v2?x=1",
                "http://localhost:3000/api/v2?x=1"
            ),
            (
                "{ from: 'a.example', to: 'http://bücher.example' }", "http://a.example/",
                "http://xn--bcher-kva.example/"
            ),
            (
                "{ from: 'a.example', to: { host: bücher.example } }", "http://a.example/",
                "http://xn--bcher-kva.example/"
            ),
            ("{ from: 'a.example/path/*', to: '/path2/' }", "http://a.example/path/x/y", "http://a.example/path2/x/y"),
            (
                "{ from: '*', to: 'b.example/openweathermap/' }", "http://a.example/data/2.5/f",
                "http://b.example/openweathermap/data/2.5/f"
            ),
            ("{ from: 'a.example/v1/users', to: '/u.json' }", "http://a.example/v1/users", "http://a.example/u.json"),
            ("{ from: 'a.example/v1/*', to: '/v2' }", "http://a.example/v1/users", "http://a.example/v2/users"),
            ("{ from: 'a.example/v1/*', to: '/v2' }", "http://a.example/v1/", "http://a.example/v2"),
            (
                "{ from: 'a.example/v1/*', to: '/v2/', keep-prefix: true }", "http://a.example/v1/users",
                "http://a.example/v2/v1/users"
            ),
            (
                "{ from: 'a.example/v1/*', to: 'b.example' }", "http://a.example/v1/users?q",
                "http://b.example/v1/users?q"
            ),
            ("{ from: 'a.example', to: { protocol: https } }", "http://a.example/x", "https://a.example/x"),
            ("{ from: 'a.example', to: { protocol: http } }", "https://a.example:8443/x", "http://a.example:8443/x"),
            ("{ from: 'a.example', to: { port: 81 } }", "http://a.example/x", "http://a.example:81/x"),
            ("{ from: 'a.example', to: 'https://b.example' }", "http://a.example:8080/x", "https://b.example/x"),
            ("{ from: 'a.example', to: 'b.example' }", "http://a.example:8080/x", "http://b.example:8080/x"),
            ("{ from: 'a.example', to: { host: '::1', port: 9 } }", "http://a.example/x", "http://[::1]:9/x"),
            ("{ from: 'a.example', to: 'http://[::1]:9' }", "http://a.example/x", "http://[::1]:9/x"),
            ("{ from: 'a.example/x*', to: '/y?b=2' }", "http://a.example/x?a=1", "http://a.example/y/x?b=2"),
            ("{ from: 'a.example', to: { query: 'b=2' } }", "http://a.example/x?a=1", "http://a.example/x?b=2"),
            ("{ from: 'a.example', to: '?b=2' }", "http://a.example/x", "http://a.example/x?b=2"),
            ("{ from: 'a.example', to: '/$metadata' }", "http://a.example/", "http://a.example/$metadata"),
            ("{ from: 'a.example//x/*', to: '/y/' }", "http://a.example//x/z", "http://a.example/y/z"),
            ("{ from: 'http://a.example/*', to: 'wss://b.example/' }", "http://a.example/s", "https://b.example/s"),
        ]
    )
    func fields(rule: String, url: String, sent: String) throws {
        #expect(try self.sent(rule, url) == sent)
    }

    @Test(
        "$1 is what the first star or group stands for; with one in the path nothing is added",
        arguments: [
            (
                "{ from: 'https://*.example.com/v1/*', to: 'http://$1.test:3000/' }", "https://api.example.com/v1/u/7",
                "http://api.test:3000/u/7"
            ),
            (
                "{ from: 'https://*.example.com/v1/*', to: 'http://x.test/$1/$2' }",
                "https://api.example.com/v1/u/7?q=1", "http://x.test/api/u/7?q=1"
            ),
            (
                "{ from: 'https://*/v1/*', to: 'http://x.test/$1/$2' }", "https://api.example.com/v1/u",
                "http://x.test/api.example.com/u"
            ),
            (
                "{ from: 'a.example/*', to: { path: '$1', host: b.example } }", "http://a.example/u/7",
                "http://b.example/u/7"
            ),
            (
                "{ from: 'a.example/*?id=*', to: '/by-id/$2' }", "http://a.example/u?id=7",
                "http://a.example/by-id/7?id=7"
            ),
            (
                "{ from: 'a.example/*?id=*', to: '/by-id?key=$2' }", "http://a.example/u?id=7",
                "http://a.example/by-id/u?key=7"
            ),
            ("{ from: 'a.example/*', to: '/$$1/$1' }", "http://a.example/u", "http://a.example/$1/u"),
            ("{ from: 'a.example/*', to: '/$$1/' }", "http://a.example/u", "http://a.example/$1/u"),
            ("{ from: 'a.example/*', to: '/$$metadata/' }", "http://a.example/u", "http://a.example/$metadata/u"),
            ("{ from: 'a.example', to: { path: '/$$$$x' } }", "http://a.example/", "http://a.example/$$x"),
            ("{ from: 'a.example', to: { path: '/$x', query: '$$y' } }", "http://a.example/", "http://a.example/$x?$y"),
            (
                "{ from: '/^https:\\/\\/(\\w+)\\.example\\.com(\\/.*)/', to: 'http://localhost:3000/$1$2' }",
                "https://api.example.com/v1?x=1", "http://localhost:3000/api/v1?x=1"
            ),
            (
                "{ from: '/^https:\\/\\/(\\w+)\\.example\\.com(\\/.*)/', to: 'http://localhost$2' }",
                "https://api.example.com/v1?x=1", "http://localhost/v1?x=1"
            ),
            (
                "{ from: '/users\\/(\\d+)/', to: { host: 'shard$1.test' } }", "https://api.example.com/users/7/x?y",
                "https://shard7.test/users/7/x?y"
            ),
            ("{ from: '/users\\/(\\d+)/', to: '/u' }", "https://a.example/users/7/x", "https://a.example/u"),
            ("{ from: '/(a)|(b)\\.test/', to: '/$1-$2' }", "https://b.test/", "https://b.test/-b"),
            (
                "{ from: '/nothing/', to: '/u' }, { from: a.example, to: '/v' }", "https://a.example/",
                "https://a.example/v"
            ),
        ]
    )
    func captures(rule: String, url: String, sent: String) throws {
        #expect(try self.sent(rule, url) == sent)
    }

    @Test("Host follows, unless it is to stay; SNI always does")
    func host() throws {
        let moved = try play(
            "{ name: m, from: 'https://a.example/*', to: 'https://b.example:8443/x/' }",
            "https://a.example/y"
        )
        #expect(moved.sent?.head.fields.value(of: .host) == "b.example:8443")
        #expect(moved.destination == Destination(scheme: "https", host: "b.example", port: 8_443))
        #expect(moved.record.sentURL?.description == "https://b.example:8443/x/y")
        #expect(
            moved.trace.map(\.text) == [
                "sent to https://b.example:8443/x/y in place of https://a.example/y; changed Host: a.example to b.example:8443"
            ]
        )
        let kept = try play("{ from: a.example, to: 'http://b.example', preserve-host: true }", "https://a.example/y")
        #expect(kept.sent?.head.fields.value(of: .host) == "a.example")
        #expect(kept.destination?.host == "b.example")
        #expect(
            kept.trace.map(\.text) == [
                "sent to http://b.example/y in place of https://a.example/y; kept Host: a.example"
            ]
        )
        let path = try play("{ from: a.example, to: '/z' }", "https://a.example/y", [("Host", "A.example:443")])
        #expect(path.sent?.head.fields.value(of: .host) == "A.example:443")
        let scheme = try play(
            "{ from: a.example, to: { protocol: http } }",
            "https://a.example/y",
            [("Host", "A.example")]
        )
        #expect(scheme.sent?.head.fields.value(of: .host) == "a.example")
        #expect(scheme.destination?.port == 80)
    }

    @Test("What 'to' leaves blank is as rewrite left it; what is appended is what the client asked for")
    func afterRewrite() throws {
        let stage = ScriptedStage.on(.rewrite) { handler in
            handler.onRequestHead = { head, _ in
                head.target = "/rewritten?page=1"
                return .forward
            }
        }
        for (rule, line) in [
            ("{ from: 'a.example/x/*', to: 'b.example' }", "> GET /rewritten?page=1 (none)"),
            ("{ from: 'a.example/x/*', to: 'b.example/n/' }", "> GET /n/y?page=1 (none)"),
        ] {
            let profile = try RuleProfile("version: 1\nmap-remote: [\(rule)]", file: "p.yaml")
            let dialogue = Dialogue([stage] + profile.chain.stages, url: "http://a.example/x/y?q=0")
            dialogue.request()
            dialogue.expect("connect http://b.example:80", "stop client")
            dialogue.ready()
            dialogue.expect(line, "> end", "read client")
            dialogue.leaveOpen()
        }
    }

    @Test("The first rule in force that matches wins, by location, method and exception")
    func first() throws {
        let rules = """
            { from: a.example, to: off.example, enabled: false }, { from: a.example, to: post.example, method: POST },
            { from: a.example, to: one.example, except: 'a.example/not/*' }, { from: a.example, to: two.example }
            """
        #expect(try sent(rules, "http://a.example/") == "http://one.example/")
        #expect(try sent(rules, "http://a.example/not/x") == "http://two.example/not/x")
        #expect(try sent(rules, "http://b.example/") == "http://b.example/")
    }

    @Test("Of the locations of a rule that match, the first in its list says what is left over, whatever else there is")
    func locations() throws {
        let rules = [
            ("{ from: ['http://*.example.com/*', 'http://a.example.com/x/*'], to: 'http://h/p/' }", "http://h/p/x/y"),
            ("{ from: ['http://a.example.com/x/*', 'http://*.example.com/*'], to: 'http://h/p/' }", "http://h/p/y"),
            ("{ from: ['*/x/*', 'http://*.example.com/*'], to: 'http://h/$1/$2' }", "http://h/a.example.com/y"),
            ("{ from: ['http://*.example.com/*', '*/x/*'], to: 'http://h/$1/$2' }", "http://h/a/x/y"),
        ]
        for (rule, url) in rules {
            for others in ["", ", { from: '/none/', to: 'http://none/' }"] {
                #expect(try sent(rule + others, "http://a.example.com/x/y") == url, "\(rule)\(others)")
            }
        }
    }

    @Test("A tunnel that is not decrypted is mapped by host and port alone")
    func tunnels() throws {
        let only = "intercept: { only: none.example }"
        let mapped = try play("{ from: a.example, to: 'http://b.example:8443/x' }", "https://a.example/y", before: only)
        #expect(mapped.isTunnel)
        #expect(mapped.destination == Destination(scheme: "tunnel", host: "b.example", port: 8_443))
        #expect(
            mapped.trace.map(\.text)
                == ["connects to b.example:8443 in place of a.example:443; the bytes pass unchanged"]
        )
        let path = try play("{ from: a.example, to: '/x' }", "https://a.example/y", before: only)
        #expect(path.destination == Destination(scheme: "tunnel", host: "a.example", port: 443))
        #expect(
            path.trace.map(\.text) == ["rule 1: this tunnel is not decrypted, so only host and port could be mapped"]
        )
        let located = try play("{ from: 'a.example/y', to: 'b.example' }", "https://a.example/y", before: only)
        #expect(located.destination?.host == "a.example")
    }

    @Test(
        "What makes a bad URL is not mapped, and the trace says so",
        arguments: [
            (
                "{ from: 'http://a.example/*', to: 'http://$1/' }", "http://a.example/b@c",
                "'b@c' is not a host, nor a host and a port"
            ),
            (
                "{ from: 'http://a.example/*', to: 'http://x:$1/' }", "http://a.example/99999",
                "'x:99999' is not a host, nor a host and a port"
            ),
            ("{ from: 'http://a.example/*', to: { port: '$1' } }", "http://a.example/x", "'x' is no port"),
            (
                "{ from: 'http://a.example/*', to: '$1://b.example/' }", "http://a.example/ftp",
                "'ftp' is no protocol to map to; there are http, https, ws and wss"
            ),
        ]
    )
    func badURLs(rule: String, url: String, problem: String) throws {
        let exchange = try play(rule, url)
        #expect(exchange.sentURL?.description == url)
        #expect(exchange.trace.map(\.text) == ["rule 1: not mapped, because the new URL is invalid: \(problem)"])
        #expect(exchange.record.flags.isEmpty)
    }

    @Test(
        "A regular expression that would run away is stopped; the request goes where it was going",
        .timeLimit(.minutes(5))
    )
    func runaway() throws {
        let url = "http://a.example/" + String(repeating: "a", count: 3_000) + "!"
        let exchange = try play("{ from: '/\\/(a+)+$/', to: b.example }", url)
        #expect(exchange.destination?.host == "a.example")
        #expect(
            exchange.trace.map(\.text)
                == ["rule 1: the regular expression took too long and was stopped; the request was not mapped"]
        )
    }

    @Test("OPTIONS of a whole server keeps its asterisk")
    func asterisk() throws {
        let profile = try RuleProfile("version: 1\nmap-remote: { from: a.example, to: 'b.example/x/' }", file: "p.yaml")
        let dialogue = Dialogue(profile.chain.stages, url: "http://a.example/", method: "OPTIONS")
        dialogue.tell { machine, now in
            var head = RequestHead(method: "OPTIONS", target: "*", fields: [("Host", "a.example")])
            head.version = .http11
            machine.requestHeadReceived(head, framing: .none, now: now)
        }
        dialogue.expect("connect http://b.example:80", "stop client")
        dialogue.ready()
        dialogue.expect("> OPTIONS * (none)", "read client")
        dialogue.leaveOpen()
    }

    @Test(
        "What is wrong is said with its place",
        arguments: [
            ("{ from: a }", "2:13 a map-remote rule needs 'to'"), ("{ to: a }", "2:13 a map-remote rule needs 'from'"),
            ("{ from: a, to: '' }", "2:28 'to' is empty, so nothing would be mapped"),
            ("{ from: a, to: {} }", "2:28 'to' is empty, so nothing would be mapped"),
            ("{ from: a, to: { hots: b } }", "2:30 'to' has no key 'hots' (did you mean 'host'?)"),
            ("{ from: a, to: { host: 'b:3000' } }", "2:36 'b:3000' is no host; the port has a key of its own"),
            ("{ from: a, to: { port: 0 } }", "2:36 '0' is no port"),
            ("{ from: a, to: 'ftp://b/' }", "2:28 'ftp' is no protocol to map to; there are http, https, ws and wss"),
            ("{ from: a, to: 'ftp://b/$1' }", "2:28 'ftp' is no protocol to map to; there are http, https, ws and wss"),
            (
                "{ from: a, to: 'https://' }",
                "2:28 the host after '://' is missing; to change only the protocol, write { protocol: … }"
            ),
            (
                "{ from: a, to: 'b/x y' }",
                "2:28 a path or query cannot have spaces or control characters; write %20 for a space"
            ),
            ("{ from: a, to: 'b/x#y' }", "2:28 '#' begins a fragment, which is never sent; write %23"),
            ("{ from: a, to: 'b:x/' }", "2:28 'b:x' is not a host, nor a host and a port"),
            ("{ from: 'a/*', to: 'b/$2' }", "2:32 there is no $2: 'from' has 1 star"),
            ("{ from: ['a/*/*', 'a/*'], to: 'b/$2' }", "2:43 there is no $2: 'from' has 1 star"),
            ("{ from: '/(a)(b)/', to: 'b/$3' }", "2:37 there is no $3: 'from' has 2 groups"),
            ("{ from: '/(a/', to: b }", "2:25 bad regular expression: missing closing parenthesis"),
            ("{ from: 'a:x', to: b }", "2:24 port: a port cannot have 'x'"),
            (
                "{ from: 'a?x=1', to: 'b?x=2' }",
                "2:34 lint the query that 'from' asks for is replaced by the one in 'to'"
            ),
            (
                "{ from: /charles/, to: b }",
                "2:21 lint '/charles/' is taken for a regular expression; for the path write \"*/charles/\""
            ),
            ("{ from: a, to: http//localhost:1 }", "2:28 lint did you mean http://localhost:1?"),
            (
                "{ from: 'a/*', to: b, keep-prefix: true }",
                "2:48 lint 'keep-prefix' has no effect if 'to' has no path: the path stays unchanged"
            ),
        ]
    )
    func issues(rule: String, issue: String) {
        #expect(Support.issues("version: 1\nmap-remote: \(rule)") == [issue])
    }

    @Test("A mistyped URL in 'from' is pointed out; the port of a host with the name of a protocol is none")
    func mistypedURL() {
        let issues = Support.issues("version: 1\nmap-remote: { from: 'https//a/b', to: 'http:8080/x' }")
        let mistyped = issues.filter { $0.contains("did you mean") }
        #expect(mistyped == ["2:21 lint 'https//a/b' is not a usual URL; did you mean https://a/b?"])
    }
}
