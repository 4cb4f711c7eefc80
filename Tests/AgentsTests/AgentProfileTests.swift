import HTTPModel
import Rules
import Testing

@testable import Agents

@Suite("Rules of agents")
struct AgentProfileTests {
    private func problem(_ text: String, hosts: Set<String> = []) -> String? {
        do {
            _ = try AgentProfile.compile("version: 1\n" + text, sendingTo: hosts, MaskRules())
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "An agent may use these rules",
        arguments: [
            "block: [{ at: 'a.example/ads/*', action: 503, share: 20, seed: 1 }]",
            "allow: [{ at: 'a.example' }]",
            "throttle: { preset: 3g, only: ['a.example'] }",
            "no-caching: true",
            "block-cookies: [{ only: 'a.example' }]",
            "breakpoints: [{ at: 'a.example/orders/*', on: [request], after: 30s, then: execute }]",
            "rewrite: [{ at: 'a.example', rules: [{ set: res.json.plan, to: pro }, { add: req.header.x-tenant, to: acme }] }]",
            "rewrite: [{ at: 'a.example', rules: [{ remove: query, name: debug }] }]",
            "map-local: [{ from: 'a.example/*', answer: { status: 503, json: { file: x, error: busy } } }]",
            "map-local: [{ from: 'a.example/*', answers: [{ status: 503 }, pass] }]",
            "map-remote: [{ from: 'a.example/*', to: 'http://localhost:3000/' }]",
            "map-remote: [{ from: 'a.example/*', to: { host: 127.0.0.1, port: 3000 } }]",
            "block: [{ at: a.example, when: 'req.header.x-user:alice req.header.authorization:* method:POST' }]",
            "block: [{ at: a.example, when: 'req.json.order.state:open' }]",
        ]
    )
    func permitted(text: String) { #expect(problem(text) == nil) }

    @Test(
        "What reads files, sends to other hosts or could find out secrets is refused, with the place and the reason",
        arguments: [
            ("include: [other.yaml]", "cannot use 'include'"),
            ("vars: { key: { env: HOME } }", "cannot use 'vars'"),
            ("mirror: [{ at: a.example, to: /tmp }]", "cannot use 'mirror'"),
            ("dns-spoofing: [{ host: a.example, to: 127.0.0.1 }]", "cannot use 'dns-spoofing'"),
            ("upstream: direct", "cannot use 'upstream'"),
            ("access: [10.0.0.0/8]", "cannot use 'access'"),
            ("intercept: { except: [a.example] }", "cannot use 'intercept'"),
            ("mask: { except: [authorization] }", "cannot use 'mask'"),
            ("map-local: [{ from: 'a.example/*', to: /etc }]", "read no files"),
            ("map-local: [{ from: 'a.example/*', answer: { file: /etc/passwd } }]", "read no files"),
            ("map-local: [{ from: 'a.example/*', answers: [pass, { file: /etc/passwd }] }]", "read no files"),
            ("map-remote: [{ from: 'a.example/*', to: 'https://evil.example/' }]", "not to 'evil.example'"),
            ("map-remote: [{ from: 'a.example/*', to: { path: /other } }]", "with a host in 'to'"),
            ("map-remote: [{ from: '/^https:..a.*token=a/', to: 'http://localhost/' }]", "no regular expressions"),
            ("rewrite: [{ at: a.example, rules: [{ modify: host, to: b.example }] }]", "no host and no URL"),
            ("rewrite: [{ at: a.example, rules: [{ modify: path, match: /a, to: /b }] }]", "no host and no URL"),
            ("rewrite: [{ at: a.example, rules: [{ set: req.header.host, to: b.example }] }]", "no host and no URL"),
            ("rewrite: [{ at: a.example, rules: [{ modify: header, name: Host, to: b }] }]", "no host and no URL"),
            ("rewrite: [{ at: a.example, rules: [{ modify: body, match: a, to: b }] }]", "by place"),
            (
                "rewrite: [{ at: a.example, rules: [{ modify: header, name: x, match: '/(.)/', to: $1 }] }]",
                "no 'match'"
            ),
            ("block: [{ at: 'a.example/*?token=a*' }]", "has no query"),
            ("block: [{ at: a.example, when: 'req.header.authorization:a*' }]", "may be a secret"),
            ("block: [{ at: a.example, when: 'not req.header.cookie:a*' }]", "may be a secret"),
            ("block: [{ at: a.example, when: 'req.cookie.sid:a*' }]", "secrets"),
            ("block: [{ at: a.example, when: 'req.json.password:a*' }]", "may be a secret"),
            ("block: [{ at: a.example, when: 'req.json.user.password:a*' }]", "may be a secret"),
            ("block: [{ at: a.example, when: 'reqbody:secret' }]", "whole body"),
            (#"block: [{ at: a.example, when: 'reqheader:"Cookie: sid=a*"' }]"#, "may be a secret"),
            ("block: [{ at: a.example, when: 'query:token=a' }]", "whole body, query or URL"),
        ]
    )
    func refused(text: String, words: String) {
        let problem = problem(text) ?? "nothing is refused"
        #expect(problem.contains(words), "\(problem)")
        #expect(problem.contains(AgentProfile.file), "\(problem)")
    }

    @Test("A host of send= may be mapped to")
    func sendingHost() {
        #expect(problem("map-remote: [{ from: 'a.example/*', to: 'https://b.example/' }]", hosts: ["b.example"]) == nil)
    }
}
