import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Rewriting headers")
struct RewriteTests {
    @Test(
        "Rules edit what they match and leave the rest alone, in both directions",
        arguments: [
            // Adding appends, whether or not there is one.
            ("add: header, name: X, to: new", "X: a", "X: a\nX: new"),
            ("add: header, name: X, to: ''", "Y: a", "Y: a\nX: "),
            // Names: whole and in any case; values: a part, in any case.
            ("remove: header, name: x", "X: a\nY: b\nx: c", "Y: b"),
            ("remove: header, name: X", "XX: a\nX-Y: b", "XX: a\nX-Y: b"),
            ("remove: header, name: X, match: B", "X: a\nX: abc\nY: b", "X: a\nY: b"),
            ("remove: header, name: X, match: B, case: true", "X: abc", "X: abc"),
            ("remove: header, name: X, match: B, case: true", "X: aBc", ""),
            ("remove: header, match: b, whole: true", "X: abc\nY: B", "X: abc"),
            ("remove: header, match: b, whole: true, case: true", "X: b\nY: B", "Y: B"),
            ("remove: header, match: ÄB", "X: cäbc\nY: a", "Y: a"),
            // A name that is a regular expression: a part, in any case.
            ("remove: header, name: '^x-', name-regex: true", "X-A: 1\nx-b: 2\nAX-: 3", "AX-: 3"),
            ("remove: header, name: 'debug', name-regex: true, match: '1'", "X-Debug-A: 1\nDebug: 2", "Debug: 2"),
            // Modifying: each one that matches.
            ("modify: header, name: X, to: new", "X: a\nX: b\nY: a", "X: new\nX: new\nY: a"),
            ("modify: header, to: new, match: a", "X: a\nY: ba", "X: new\nY: bnew"),
            ("modify: header, name: X, match: a, to: o", "X: banana", "X: bonono"),
            ("modify: header, name: X, match: A, to: o, replace: first", "X: banana", "X: bonana"),
            ("modify: header, name: X, match: A, to: o, case: true", "X: banAna", "X: banona"),
            ("modify: header, name: X, match: banana, whole: true, to: o", "X: Banana\nX: bananas", "X: o\nX: bananas"),
            // A blank new value or name keeps what there is.
            ("modify: header, name: X, to: ''", "X: a", "X: a"),
            ("modify: header, name: X, match: a, to: ''", "X: banana", "X: banana"),
            ("modify: header, name: X, rename: Z, to: ''", "X: a", "Z: a"),
            ("modify: header, name: X, rename: '', to: b", "X: a", "X: b"),
            // Renaming.
            ("modify: header, name: X, rename: Z", "X: a\nx: b", "Z: a\nZ: b"),
            ("modify: header, name: X, match: a, rename: Z, to: b", "X: ca\nX: d", "Z: cb\nX: d"),
            ("modify: header, name: '^X-(.*)', name-regex: true, rename: Y-$1", "X-A: 1\nx-b: 2", "Y-A: 1\nY-b: 2"),
            ("modify: header, name: A, name-regex: true, rename: B", "A-a-C: 1", "B-B-C: 1"),
            // $1 is for expressions only.
            ("modify: header, match: a, to: $1", "X: a", "X: $1"),
            ("modify: header, name: X, match: '/(\\w+)=(\\w+)/', to: $2=$1", "X: a=b; c=d", "X: b=a; d=c"),
            ("modify: header, name: X, match: '/(a)|(b)/', to: '<$1$2>'", "X: abc", "X: <a><b>c"),
            ("modify: header, name: X, match: '/b+/', to: '[$0]'", "X: abba", "X: a[bb]a"),
            ("modify: header, name: X, match: '/a*/', to: '-'", "X: baac", "X: -b--c-"),
            ("modify: header, name: X, match: '/é/', to: e$$", "X: aéb", "X: ae$b"),
            ("modify: header, name: X, match: '/A+/', whole: true, to: z", "X: aa\nX: ab", "X: z\nX: ab"),
            ("modify: header, name: X, match: '/.*/', whole: true, to: z", "X: aa", "X: z"),
            ("modify: header, name: X, match: '/a|ab/', whole: true, to: z", "X: ab", "X: z"),
            ("modify: header, name: X, match: '/(?x) a b # c/', whole: true, to: z", "X: ab", "X: z"),
            ("modify: header, name: X, match: '/(?<=a)b\\Qc.d\\E/', to: z", "X: abc.d", "X: az"),
            ("modify: header, match: '\\/x/', to: z", "X: a/x/", "X: az"),
            ("modify: header, name: X, match: '(', to: '.'", "X: a(b(", "X: a.b."),
            // Fields that frame the message are out of reach.
            (
                "remove: header, match: '/^/'", "X: a\nConnection: close\nTransfer-Encoding: x",
                "Connection: close\nTransfer-Encoding: x"
            ),
            ("modify: header, match: '/^.*$/', to: '0'", "Upgrade: x\nX: a", "Upgrade: x\nX: 0"),
        ]
    )
    func edits(rule: String, before: String, after: String) throws {
        let request = try RewrittenExchange(rewriting("{ \(rule), on: request }"), request: before)
        let fields = request.requestFields.split(separator: "\n").filter { !$0.hasPrefix("Host:") }
        #expect(fields.joined(separator: "\n") == after)
        let response = try RewrittenExchange(rewriting("{ \(rule), on: response }"), response: before)
        #expect(response.responseFields == after)
        #expect(response.record.flags.contains(.responseChanged) == (before != after))
        #expect(!response.record.flags.contains(.requestChanged))
        #expect(response.trace.isEmpty == (before == after))
    }

    @Test(
        "A header is added only where there is another that meets the condition, whose groups the value may have",
        arguments: [
            ("if: { name: server }, to: b", "Server: x", "b"), ("if: { name: server }, to: b", "X: x", nil),
            ("if: { match: X }, to: b", "Y: axb", "b"), ("if: { match: X, case: true }, to: b", "Y: axb", nil),
            ("if: { match: x, whole: true }, to: b", "Y: xx", nil),
            ("if: { name: '^x-', name-regex: true }, to: b", "X-A: 1", "b"),
            ("if: { name: Server, match: '/(\\w+)\\/(\\d)/' }, to: $1-$2", "Server: a\nServer: nginx/1.2", "nginx-1"),
        ]
    )
    func conditions(rule: String, before: String, value: String?) throws {
        let exchange = try RewrittenExchange(
            rewriting("{ add: header, on: response, name: X-Was, \(rule) }"),
            response: before
        )
        #expect(exchange.responseFields == before + (value.map { "\nX-Was: \($0)" } ?? ""))
    }

    @Test("Sets apply in order where a location of theirs matches; the trace names set and rule")
    func sets() throws {
        let profile = """
            rewrite:
              - name: one
                at: ["http://a.example/*", "http://*.example/x"]
                rules:
                  - { add: header, on: [request, response], name: X-One, to: 1 }
                  - { add: header, on: request, name: X-Off, to: 1, enabled: false }
                  - { modify: header, on: response, name: x-one, match: 1, to: 2 }
              - { at: b.example, rules: { add: header, on: request, name: X-Two, to: 2 } }
              - { name: off, enabled: false, at: "*", rules: { add: header, on: request, name: X-Off, to: 3 } }
              - { name: post, at: "*", method: POST, rules: { add: header, on: request, name: X-Post, to: 3 } }
            """
        #expect(try RuleProfile("version: 1\n\(profile)", file: "p.yaml").summary == "3 rewrite rules")
        let exchange = try RewrittenExchange(profile, url: "http://a.example/x")
        #expect(exchange.requestFields == "Host: a.example\nX-One: 1")
        #expect(exchange.responseFields == "X-One: 2")
        #expect(
            exchange.trace == [
                "rewrite(one #1): request header: added X-One: 1", "rewrite(one #1): response header: added X-One: 1",
                "rewrite(one #3): response header: changed X-One: 1 to 2",
            ]
        )
        #expect(exchange.record.flags == [.requestChanged, .responseChanged])
        let other = try RewrittenExchange(profile, url: "http://b.example/x", method: "POST")
        #expect(other.requestFields == "Host: b.example\nX-One: 1\nX-Two: 2\nX-Post: 3")
        #expect(try RewrittenExchange(profile, url: "http://c.other/").trace.isEmpty)
    }

    @Test("The trace tells every change")
    func trace() throws {
        let exchange = try RewrittenExchange(
            rewriting(
                "{ remove: header, on: response, name: X }",
                "{ modify: header, on: response, name: Y, rename: Z, match: a, to: b }",
                "{ modify: header, on: response, name: '.', name-regex: true, rename: 'a b' }"
            ),
            response: "X: 1\nX: 2\nY: a"
        )
        #expect(
            exchange.trace == [
                "rewrite(set #1): response header: removed X: 1; X: 2",
                "rewrite(set #2): response header: changed Y: a to Z: b",
                "rewrite: set #3: 'a b' cannot be the name of a header; nothing was changed",
            ]
        )
        #expect(exchange.responseFields == "Z: b")
    }

    @Test("A tunnel that is not decrypted is no rule's business")
    func tunnels() throws {
        let profile = try RuleProfile("version: 1\n" + rewriting("{ modify: host, to: b.example }"), file: "p.yaml")
        #expect(outcome(profile, "a.example:443", kind: .tunnel) == "passed")
        let tunnel = dialogue(profile, "a.example:443", method: "CONNECT", kind: .tunnel)
        tunnel.request()
        tunnel.expect("connect tunnel://a.example:443", "stop client")
        abandon(tunnel)
        #expect(tunnel.trace.isEmpty)
    }

    @Test(
        "What is wrong with a rule is said where it stands",
        arguments: [
            ("{ add: header, on: request, to: 1 }", "6:9 adding a header needs 'name'"),
            ("{ add: header, on: request, name: X }", "6:9 adding a header needs 'to'"),
            (
                "{ add: header, on: request, name: X, to: 1, match: a }",
                "6:60 'match' has no effect with 'add: header'; to add only if there is another header, say "
                    + "if: { name: …, match: … }"
            ),
            ("{ add: body, to: 1 }", "6:16 'add' must be header or query, not 'body'"),
            (
                "{ modify: cookie, to: 1 }",
                "6:19 'modify' must be header or query or host or path or url or status or body, not 'cookie'"
            ),
            (
                "{ add: header, remove: header, name: X }",
                "6:9 a rewrite rule has one of 'set', 'add', 'modify' and 'remove'"
            ),
            ("{ modify: header, name: X, to: 1 }", "6:9 modifying a header needs 'on': request, response or both"),
            (
                "{ modify: header, on: [], name: X, to: 1 }",
                "6:31 'on' is empty, so the rule would never act: request, response or both"
            ),
            ("{ modify: body, to: 1 }", "6:9 modifying a body needs 'on': request, response or both"),
            ("{ modify: path, on: response, to: /x }", "6:29 a response has no path to edit; leave 'on' out"),
            ("{ modify: status, on: request, to: 404 }", "6:31 a request has no status to edit; leave 'on' out"),
            ("{ modify: header, on: request, name: X }", "6:9 modifying a header needs 'to' or 'rename'"),
            ("{ remove: header, on: request }", "6:9 removing a header needs 'name' or 'match'"),
            ("{ remove: query, name: a, to: b }", "6:39 'to' has no effect with 'remove: query'"),
            ("{ modify: path, name: a, to: b }", "6:31 'name' has no effect with 'modify: path'"),
            ("{ remove: header, on: request, name: 'a b' }", "6:46 'a b' cannot be the name of a header"),
            (
                "{ remove: header, on: request, name: /a/ }",
                "6:46 '/a/' cannot be the name of a header; for a regular expression use name-regex: true"
            ),
            (
                "{ remove: header, on: request, name: Content-Length }",
                "6:46 Content-Length frames the message; only Sluice sets it"
            ),
            (
                "{ add: header, on: request, name: X, to: \"a\\nb\" }",
                "6:50 the value of a header cannot have line breaks or control characters"
            ),
            (
                "{ modify: body, on: request, match: '/(a/', to: b }",
                "6:49 bad regular expression: missing closing parenthesis"
            ),
            (
                "{ modify: body, on: request, match: '/aé[z-a]/', to: b }",
                "6:52 bad regular expression: range out of order in character class"
            ),
            (
                "{ modify: body, on: request, match: '/(a)/', to: $2 }",
                "6:58 there is no group $2 in the match; it has 1"
            ),
            (
                "{ remove: header, on: request, name: 'x(', name-regex: true }",
                "6:49 bad regular expression: missing closing parenthesis"
            ),
            (
                "{ modify: body, on: request, match: a, to: b, replace: some }",
                "6:64 replace must be first or all, not 'some'"
            ),
            ("{ modify: host, to: 'a b' }", "6:29 'a b' cannot be a host"),
            ("{ modify: url, to: a.example }", "6:28 'a.example' is not an http or https URL"),
            ("{ modify: url, to: 'http://a.example/#b' }", "6:28 the part after '#' is never sent"),
            (
                "{ modify: path, to: '/a?b' }",
                "6:29 a path ends before the '?'; for a query there are 'add: query' and 'modify: url'"
            ),
            ("{ modify: status, to: 99 }", "6:31 a status is a number from 200 to 999, as in 404 or \"404 Not Found\""),
            ("{ modify: status, match: 200 }", "6:9 modifying a status needs 'to'"),
            ("{ modify: path, match: a, whole: maybe, to: b }", "6:42 whole must be true or false"),
            (
                "{ modify: header, on: request, name: X, to: '' }",
                "6:53 lint an empty 'to' keeps the value; 'remove' takes it out"
            ),
            (
                "{ modify: path, match: /v1/, to: /v2/ }",
                "6:32 lint /v1/ is a regular expression; the text is written \\/v1/"
            ),
        ]
    )
    func mistakes(rule: String, issue: String) {
        #expect(issues("version: 1\n" + rewriting(rule)) == [issue])
    }

    @Test(
        "Credentials are not added for a name that is only the client's word for the address of its tunnel",
        arguments: [
            "{ add: header, name: Authorization, to: Bearer secret, on: request }",
            "{ add: header, name: cookie, to: sid=secret, on: request }",
            "{ modify: header, name: Proxy-Authorization, to: secret, on: request }",
            "{ modify: header, name-regex: /auth/, match: sent, to: secret, on: request }",
            "{ modify: header, match: sent, to: secret, on: [request, response] }",
            "{ modify: header, name: X-Plain, rename: Cookie, to: secret, on: request }",
        ]
    )
    func claimed(rule: String) throws {
        let profile = try RuleProfile(
            "version: 1\n" + rewriting(rule, "{ add: header, name: X-Plain, to: plain, on: request }"),
            file: "p.yaml"
        )
        for isNamed in [true, false] {
            let claim = NameClaim(address: "10.0.0.1", isVerified: false)
            let exchange = dialogue(profile, "http://api.example/", claim: claim)
            exchange.request([("Proxy-Authorization", "sent"), ("X-Plain", "sent")])
            exchange.expect("look up api.example for 10.0.0.1", "stop client")
            exchange.tell { $0.nameLookedUp(isVerified: isNamed, now: $1) }
            _ = exchange.takePending()
            exchange.ready()
            _ = exchange.takePending()
            let sent = exchange.requestHead.map { "\($0.fields)" } ?? ""
            #expect(sent.contains("secret") == isNamed, "\(sent)")
            #expect(sent.contains("plain"))
            abandon(exchange)
            let note = "credentials were not added, because that 10.0.0.1 is api.example is only the client's word"
            #expect(exchange.trace.contains { $0.hasSuffix(note) } == !isNamed, "\(exchange.trace)")
        }
    }

    @Test(
        "No name is looked up for rules that add no credentials, or where it is verified",
        arguments: [
            ("{ add: header, name: X-Plain, to: a, on: request }", false),
            ("{ remove: header, name: Authorization, on: request }", false), ("{ remove: cookie, name: a }", false),
            ("{ add: header, name: Authorization, to: a, on: response }", false),
            ("{ add: header, name: Authorization, to: a, on: request }", true),
        ]
    )
    func notLookedUp(rule: String, isVerified: Bool) throws {
        let profile = try RuleProfile("version: 1\n" + rewriting(rule), file: "p.yaml")
        let claim = NameClaim(address: "10.0.0.1", isVerified: isVerified)
        let exchange = dialogue(profile, "http://api.example/", claim: claim)
        exchange.request()
        exchange.expect("connect http://api.example:80", "stop client")
        abandon(exchange)
    }
}
