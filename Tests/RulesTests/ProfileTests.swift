import Foundation
import HTTPModel
import Rules
import Support
import Testing
import Tools

@Suite("Rule profiles")
struct ProfileTests {
    @Test(
        "What is wrong is said with line and column",
        arguments: [
            ("", "1:1 the profile is empty; it needs at least 'version: 1'"),
            ("- a", "1:1 a profile is a mapping that begins with 'version: 1', not a list"),
            ("name: x", "1:1 a profile needs 'version'"),
            ("version: 2", "1:10 this Sluice does not know version '2' of the profile; a newer Sluice may"),
            ("version: x", "1:10 this Sluice does not know version 'x' of the profile; it is 1"),
            ("version: 1\nblok: []", "2:1 a profile has no key 'blok' (did you mean 'block'?)"),
            ("version: 1\nthrotle: { preset: 3g }", "2:1 a profile has no key 'throtle' (did you mean 'throttle'?)"),
            ("version: 1\nblock: { at: a, enabled: yes }", "2:26 enabled must be true or false"),
            (
                "version: 1\naccess: [ 10.0.0.0/8, 10.0.0.0/33 ]",
                "2:23 '10.0.0.0/33' is not an address or a network such as 192.168.0.0/16"
            ),
            ("version: 1\naccess: home", "2:9 'home' is not an address or a network such as 192.168.0.0/16"),
            ("version: 1\nblock: x", "2:8 a block rule must be a mapping, as in { at: … }, not a text"),
            (
                "version: 1\nblock:\n  - { at: a.example, acton: drop }",
                "3:22 a block rule has no key 'acton' (did you mean 'action'?)"
            ),
            (
                "version: 1\nblock:\n  - { at: a.example, action: 200 }",
                "3:30 action must be drop or a status from 400 to 599, not '200'"
            ),
            ("version: 1\nblock:\n  - { action: drop }", "3:5 a block rule needs 'at'"),
            ("version: 1\nblock: { at: { hst: a } }", "2:16 a location has no key 'hst' (did you mean 'host'?)"),
            ("version: 1\nblock: { at: [[a]] }", "2:15 a location must be a text, not a list"),
            (
                "version: 1\nrewrite: { at: '*', rules: [{ add: header, on: request, name: 'X Y', to: y }] }",
                "2:63 'X Y' cannot be the name of a header"
            ),
            (
                "version: 1\nrewrite: { at: '*', rules: [{ add: header, on: request, name: X, to: \"a\\nb\" }] }",
                "2:70 the value of a header cannot have line breaks or control characters"
            ),
            (
                "version: 1\nrewrite: { at: '*', rules: [{ remove: header, on: request, name: Content-Length }] }",
                "2:66 Content-Length frames the message; only Sluice sets it"
            ),
            (
                "version: 1\nrewrite: { at: '*', rules: [{ modify: header, on: request, match: '/(a/', to: x }] }",
                "2:71 bad regular expression: missing closing parenthesis"
            ),
            (
                "version: 1\nrewrite: { at: '*', rules: [{ modify: header, on: request, match: '/a./', to: $1 }] }",
                "2:79 there is no group $1 in the match; it has 0"
            ),
            (
                "version: 1\nrewrite: { at: '*', rules: [{ remove: header, on: request, name: X, to: y }] }",
                "2:73 'to' has no effect with 'remove: header'"
            ),
            (
                "version: 1\nintercept: { only: ['a.example/path'] }",
                "2:20 intercept accepts a host and a port; 'a.example/path' has more"
            ),
            ("version: 1\nversion: 1", "1:1 the key 'version' appears twice in the same mapping"),
            (
                "version: 1\nblock: { at: *.example }",
                "2:14 not valid YAML: did not find expected alphabetic or numeric character, while scanning an alias; a text that begins with *, or has [*] inside { }, needs quotes"
            ),
            (
                "version: 1\nname: &a x",
                "2:7 anchors (&name) are not allowed in profiles; if it is text, write \\x26 for & in double quotes"
            ),
            (
                "version: 1\nname: \"é\u{7}\"",
                "2:9 not valid YAML: control characters are not allowed (U+0007); in double quotes it is written \\u0007"
            ),
            (
                "version: 1\r\n# \u{1B}[0m",
                "2:3 not valid YAML: control characters are not allowed (U+001B); in double quotes it is written \\u001B"
            ),
            ("version: 1\nblock:\n\t- at: a", "3:1 not valid YAML: a tab; indent with spaces"),
            (
                "version: 1\nname: a: b",
                "2:8 not valid YAML: mapping values are not allowed in this context; is the indentation right?"
            ),
            (
                "version: 1\nrewrite: { at: a, rules: [ { remove: res.json.a[0].b } ] }",
                "2:48 not valid YAML: did not find expected ',' or '}', while parsing a flow mapping; inside { } a text with [ ] or { } needs quotes"
            ),
            (
                "version: 1\nmap-remote: { from: a, to: http://b/${at.1} }",
                "2:38 not valid YAML: did not find expected ',' or '}', while parsing a flow mapping; inside { } a text with [ ] or { } needs quotes"
            ),
            (
                "version: 1\nthrottle: { latency: [100, 900] }",
                "2:22 latency must be a number (ms), not a list"
            ),
            (
                "version: 1\nthrottle: { down: 3 parsec }",
                "2:19 down must be a number (kbit/s), or with its unit, as 300kbit/s or 2mbit/s, not '3 parsec'"
            ),
            (
                "version: 1\nthrottle: { event-gap: [1s] }",
                "2:24 event-gap must be a time, as 500ms, 30s or 2m, not a list"
            ),
            (
                "version: 1\nblock: [",
                "3:1 not valid YAML: did not find expected node content, while parsing a flow node"
            ),
        ]
    )
    func errors(text: String, issue: String) {
        #expect(issues(text) == [issue])
    }

    @Test("A bad location is pointed at within its text")
    func badLocation() {
        let found = issues("version: 1\nblock:\n  - at: \"a.example:99999\"")
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("3:20 port: 99999 is no port") == true)
    }

    @Test("All mistakes are found in one go, in the order of the file")
    func allAtOnce() {
        let found = issues("version: 3\nblok: 1\nblock: { at: 'x y', action: 1 }\nthrottle: 1")
        #expect(found.count >= 4)
        #expect(found.map { $0.prefix(1) } == found.map { $0.prefix(1) }.sorted())
    }

    @Test("What is allowed but hardly meant is a lint")
    func lints() {
        #expect(
            issues("version: 1\nallow: []") == [
                "2:8 lint the allow list is empty and therefore not in force; to block all, use block: { at: \"*\" }"
            ]
        )
        #expect(
            issues("version: 1\nblock: { at: [] }") == ["2:14 lint the list of locations is empty, so nothing matches"]
        )
        #expect(issues("version: 1").isEmpty)
        let many = issues("version: 1\nblock: { at: a, except: [\(String(repeating: "a,", count: 80_000))] }")
        #expect(many.first?.hasSuffix("about 10,000 fit in a file; put the others into a second one") == true)
        #expect(
            issues("version: 1\nblock: { at: a.example, method: GTE }") == [
                "2:33 lint 'GTE' is not a usual method; did you mean GET?"
            ]
        )
        #expect(issues("version: 1\nblock: { at: a.example, method: [PURGE, MKCOL] }").isEmpty)
        let body = "rules: [ { modify: body, on: response, match: a, to: b } ]"
        #expect(
            issues("version: 1\nrewrite: { at: 'wss://a.example', \(body) }") == [
                "2:42 lint this set matches only WebSockets, and body rules do not change their messages"
            ]
        )
        #expect(issues("version: 1\nrewrite: { at: ['wss://a.example', a.example], \(body) }").isEmpty)
    }

    @Test("Assertions alone are counted, and numbers have units")
    func summary() throws {
        let text = "version: 1\nassert: [ { filter: \"*\", count: 1 } ]"
        #expect(try RuleProfile(text, file: "p.yaml").summary == "1 assertion")
        for (written, read) in [
            ("latency: 300ms, down: 400kbit/s, stability: 90%", "down 400 kbit/s, latency 300 ms"),
            ("latency: 2 s, down: 1.5mbit/s", "down 1500 kbit/s, latency 2000 ms"), ("latency: 300", "latency 300 ms"),
        ] {
            let profile = try RuleProfile("version: 1\nthrottle: { quality: 100, \(written) }", file: "p.yaml")
            #expect(profile.tools.last?.rules.first?.action == read)
        }
    }

    @Test("A file that is not UTF-8 is reported with the place, and standard input is read for '-' only if pipes are")
    func encoding() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        try Data("version: 1\n# a\n# caf\u{E9}\n".unicodeScalars.map { UInt8($0.value) }).write(
            to: URL(filePath: scratch.path("p.yaml"))
        )
        let error = #expect(throws: ProfileError.self) { try ProfileText.read(scratch.path("p.yaml")) }
        #expect(error?.description.hasSuffix("p.yaml:3:6: not UTF-8 text; save the file as UTF-8") == true)
        #expect(throws: ProfileError.self) { try ProfileText.read("-") }
    }

    @Test("Issues are printed as editors read them")
    func printed() {
        #expect(throws: ProfileError.self) { try RuleProfile("blok: 1", file: "dir/p.yaml") }
        do throws(ProfileError) {
            _ = try RuleProfile("version: 1\nx: 1", file: "dir/p.yaml")
        } catch {
            #expect(error.description.hasPrefix("dir/p.yaml:2:1: a profile has no key 'x'"))
        }
    }

    @Test("intercept says which hosts are decrypted")
    func intercept() throws {
        let all = try RuleProfile("version: 1", file: "p").intercept
        #expect(all.decrypts(host: "a.example", port: 443))
        let some = try RuleProfile(
            "version: 1\nintercept: { only: ['*.example', 'b.test:8443'], except: '*.bank.example' }",
            file: "p"
        ).intercept
        #expect(some.decrypts(host: "a.example", port: 1))
        #expect(!some.decrypts(host: "www.bank.example", port: 443))
        #expect(!some.decrypts(host: "a.test", port: 443))
        #expect(some.decrypts(host: "b.test", port: 8_443))
        #expect(!some.decrypts(host: "b.test", port: 443))
    }

    @Test("Of a host that is asked for by an address both are what intercept may have")
    func interceptByAddress() throws {
        let rules = try RuleProfile(
            "version: 1\nintercept: { only: ['*.example', 10.0.0.1], except: ['*.bank.example', 10.0.0.2] }",
            file: "p"
        ).intercept
        for (host, address, isDecrypted) in [
            ("a.example", "10.0.0.3", true), ("a.test", "10.0.0.1", true), ("a.test", "10.0.0.3", false),
            ("a.example", "10.0.0.2", false), ("www.bank.example", "10.0.0.1", false), (nil, "10.0.0.3", true),
            (nil, "10.0.0.2", false),
        ] as [(String?, String, Bool)] {
            let isSo = rules.decrypts(host: host, port: 443, address: address)
            #expect(isSo == isDecrypted, "\(host ?? "no host") at \(address)")
        }
    }

    @Test("A file that cannot be read says why", arguments: ["/nowhere/p.yaml", "/"])
    func unreadable(path: String) {
        #expect(throws: ProfileError.self) { try RuleProfile.load(paths: [path]) }
    }
}
