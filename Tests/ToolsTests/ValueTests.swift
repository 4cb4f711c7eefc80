import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Values in rules")
struct ValueTests {
    private static let url = "http://a.example/v1/items/7?page=2"
    private static let rule = "name: m, from: 'a.example/v1/*/*'"

    private func profile(
        _ to: String,
        _ vars: String = "{}",
        overrides: [String: String] = [:],
        seed: Int? = nil,
        file: String = "p.yaml"
    ) throws -> RuleProfile {
        var inputs = VariableInputs()
        inputs.overrides = overrides
        let seed = seed.map { ", seed: \($0)" } ?? ""
        let text = "version: 1\nvars: \(vars)\nmap-remote: { \(Self.rule), to: \(to)\(seed) }"
        return try RuleProfile(
            sources: [ProfileSource(file: file, text: text)],
            tools: .standard,
            variables: inputs
        )
    }

    private func request(_ body: String? = nil, type: String = "application/json") throws -> DryRunRequest {
        var request = try #require(DryRunRequest(method: "POST", target: Self.url))
        request.fields = [("Content-Type", type), ("X-User", "al/ice?#"), ("Cookie", "sid=a b")]
        request.body = body.map { ByteBuffer(string: $0) }
        return request
    }

    private func sent(_ profile: RuleProfile, _ body: String? = nil) throws -> String {
        var dryRun = DryRun(profile)
        let exchange = dryRun.play(try request(body))
        return exchange.sentURL?.pathAndQuery ?? "\(exchange.trace)"
    }

    @Test(
        "Values of the request, of variables and of locations are encoded in a path and a query",
        arguments: [
            ("/x-${tier}", "/x-pro/items/7?page=2"), ("/a/${req.header.x-user}/", "/a/al%2Fice%3F%23/items/7?page=2"),
            ("/?u=${req.cookie.sid},${limit}", "/items/7?u=a%20b,1.50"), ("/${at.2}/$1", "/7/items?page=2"),
            ("/${req.json.user.id}/", "/12345678901234567890/items/7?page=2"),
            ("/${list}", "/%5B1%2C%22a%22%5D/items/7?page=2"),
            ("/${req.method}${req.query.page}", "/POST2/items/7?page=2"), ("/$${tier}", "/${tier}/items/7?page=2"),
            ("/${dollar}", "/%241/items/7?page=2"), ("/${crlf}", "/a%0D%0Ab/items/7?page=2"),
            ("/${req.json.\"a}b\"}", "/1/items/7?page=2"),
        ]
    )
    func texts(to: String, target: String) throws {
        let vars = #"{ tier: pro, limit: 1.50, list: [ 1, a ], dollar: "$1", crlf: "a\r\nb" }"#
        let body = #"{"user":{"id":12345678901234567890},"a}b":true,"x":1}"#
        let made = target.replacing("true", with: "1")
        #expect(try sent(profile("'http://b.example\(to)'", vars), body.replacing("true", with: "1")) == made)
        guard !to.hasPrefix("/?") else { return }
        #expect(
            try sent(profile("{ host: b.example, path: '\(to)' }", vars), body.replacing("true", with: "1")) == made
        )
    }

    @Test(
        "A value that is missing leaves the request unchanged, and the trace says why",
        arguments: [
            (
                "${req.header.x-none}", "{}", "application/json",
                "${req.header.x-none} has no value: it is not in the request"
            ),
            ("${req.json.a}", "{}", "application/json", "${req.json.a} has no value: it is not in the request"),
            ("${req.json.a}", "{", "application/json", "${req.json.a} has no value: the body is not valid JSON"),
            (
                "${req.json.a}", "{}", "image/png",
                "${req.json.a} has no value: a body of the type image/png cannot have it"
            ),
            ("${req.json.a}", "{\(String(repeating: " ", count: 2 << 20))}", "application/json", "longer than 1 MiB"),
            ("${dots}", "{}", "application/json", "the path has a part '.' or '..'"),
        ]
    )
    func missing(value: String, body: String, type: String, reason: String) throws {
        var dryRun = DryRun(try profile("'/x/\(value)'", "{ dots: .. }"))
        let exchange = dryRun.play(try request(body, type: type))
        #expect(exchange.sentURL?.pathAndQuery ?? "/v1/items/7?page=2" == "/v1/items/7?page=2")
        #expect(exchange.trace.contains { $0.text.contains(reason) }, "\(exchange.trace)")
    }

    @Test(
        "A rule waits for the body only if a value is in it, and together with a condition",
        arguments: [("", true), (", when: 'req.json.a:1'", true), (", when: 'req.json.a:2'", false)]
    )
    func waiting(condition: String, acts: Bool) throws {
        let text = """
            version: 1
            map-remote:
              - { from: 'a.example/v1/*', to: '/x/${req.json.a}/'\(condition) }
              - { from: 'a.example', to: '/y/' }
            """
        let exchange = try sent(RuleProfile(text, file: "p.yaml"), #"{"a":1}"#)
        #expect(exchange.hasPrefix(acts ? "/x/1/items" : "/y/"), "\(exchange)")
    }

    @Test(
        "Mistakes have their place and a remedy",
        arguments: [
            ("'/${teir}'", "there is no value 'teir'; did you mean '${tier}'?", 4),
            ("'/a${}'", "a name is missing", 5),
            ("'/${tier'", "the '${' has no '}'; write $${", 2), ("'/${req.jsn.a}'", "did you mean 'json'", 8),
            ("'/${res.json.a}'", "come from its request: write ${req.…}", 4), ("'/${at.3}'", "'from' has 2 stars", 4),
            ("'/${at.0}'", "the first star of the location is ${at.1}", 4),
            ("'/${random:6..1}'", "${random:1..6}", 4),
            ("'/${now+5}'", "a time is ${now}", 4), ("'/${now+200000d}'", "at most 100 years away", 4),
            ("'http://${tier}/'", "values act in the path and the query", 0),
            ("{ host: '${tier}' }", "values act in the path and the query", 8),
            ("'/${req.trailer.a}'", "comes only after the message", 4),
            ("'/${random:1..9223372036854775807}'", "10^15", 4),
        ]
    )
    func mistakes(to: String, message: String, offset: Int) throws {
        let column = "map-remote: { \(Self.rule), to: ".count + 1 + offset
        let error = #expect(throws: ProfileError.self) { try profile(to, "{ tier: pro }") }
        let issue = try #require(error?.issues.first)
        #expect(issue.message.contains(message) && issue.column == column && issue.line == 3, "\(issue)")
    }

    @Test(
        "Variables are checked",
        arguments: [
            ("{ now: 1 }", "the name of a variable has letters"),
            ("{ a: '${b}' }", "a variable cannot have values in it"),
            ("{ a: { b: [ '${c}' ] } }", "a variable cannot have values"), ("[ a ]", "vars must be a mapping"),
            ("{ a: { env: SLUICE_HAS_NO_SUCH } }", "has no variable 'SLUICE_HAS_NO_SUCH'; set it, or use --var"),
            ("{ a: { file: ../x } }", "'../x' is not in the profile's folder"),
            ("{ a: .inf }", "JSON has no number '.inf'"),
            ("{ a: { file: link } }", "'link' is not in the profile's folder"),
            ("{ a: { file: no } }", "'no' cannot be read"),
            ("{ a: { file: large } }", "'large' is larger than 1 MiB"),
            ("{ a: { file: bytes } }", "'bytes' is not UTF-8"),
        ]
    )
    func variables(vars: String, message: String) throws {
        let folder = TestFolder(["large": String(repeating: "x", count: (1 << 20) + 1)])
        try folder.write("bytes", Data([0xFF]))
        try folder.link("link", to: "/etc/passwd")
        let error = #expect(throws: ProfileError.self) {
            try profile("/", vars, file: "\(folder.path)/p.yaml")
        }
        #expect(error?.description.contains(message) == true, "\(String(describing: error))")
    }

    @Test("Values from files, the environment and the command line are secret")
    func secrets() throws {
        let folder = TestFolder(["key.txt": "top secret"])
        let vars =
            "{ key: { file: key.txt }, home: { env: PATH }, n: 3, tier: { env: SLUICE_HAS_NO_SUCH }, short: abc }"
        let overrides = ["tier": "gold", "n": "4", "extra": "x1"]
        let made = try profile(
            "'/${key}/${tier}${n}${extra}'",
            vars,
            overrides: overrides,
            file: "\(folder.path)/p.yaml"
        )
        #expect(made.mask.secrets.contains("top secret") && made.mask.secrets.contains("gold"))
        #expect(!made.mask.secrets.contains("4"))
        #expect(made.variableSources == ["key: file key.txt", "home: environment variable PATH"])
        var dryRun = DryRun(made)
        let exchange = dryRun.play(try request())
        #expect(exchange.sentURL?.path == "/top%20secret/gold4x1/items/7")
        let trace = exchange.trace.map(\.text).joined()
        #expect(trace.contains("/${key}/${tier}${n}${extra}/items") && !trace.contains("gold"), "\(trace)")
        #expect(!made.listing.contains("gold") && !made.listing.contains("secret"))
    }

    @Test("The file that includes has the last word, and rules of all files have its variables")
    func included() throws {
        let inner = "version: 1\nvars: { tier: free, other: o }\nmap-remote: { from: '*', to: '/${tier}/${other}/' }"
        let sources = [
            ProfileSource(file: "i.yaml", text: inner),
            ProfileSource(file: "p.yaml", text: "version: 1\nvars: { tier: pro }"),
        ]
        #expect(try sent(RuleProfile(sources: sources)).hasPrefix("/pro/o/"))
    }

    @Test("Random values repeat with a seed; counts go on after a reload, and are not those of dry runs")
    func state() throws {
        let to = "'/${count}-${uuid}-${uuid}-${random:1..6}'"
        let first = try profile(to)
        var dryRun = DryRun(first)
        let paths = try (1...20).compactMap { _ in dryRun.play(try request()).sentURL?.path }
        #expect(Set(paths).count == 20 && paths.count == 20)
        for (number, path) in paths.enumerated() {
            let expected = try Regex(
                "^/\(number + 1)(-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}){2}-[1-6]/"
            )
            #expect(path.firstMatch(of: expected) != nil, "\(path)")
        }
        // A dry run has counts of its own.
        #expect(try target(first).hasPrefix("/1-") && target(first).hasPrefix("/2-"))
        #expect(try sent(first).hasPrefix("/3-") && sent(first).hasPrefix("/3-"))
        let second = try profile("'/${count}/'")
        second.prepare(toReplace: first)
        #expect(try target(second).hasPrefix("/3/"))
        let seeded = try (1...2).map { _ in try profile("'/${uuid}/${random:1..1000}/', seed: 42") }
        let targets = try seeded.map { [try target($0), try target($0)] }
        #expect(targets[0] == targets[1] && targets[0][0] != targets[0][1])
    }

    /// The target of a request that passes the profile's own chain.
    private func target(_ profile: RuleProfile) throws -> String {
        let dialogue = dialogue(profile, Self.url)
        dialogue.request()
        _ = dialogue.takePending()
        dialogue.ready()
        _ = dialogue.takePending()
        dialogue.leaveOpen()
        return try #require(dialogue.requestHead).target
    }

    @Test(
        "Times have forms and offsets",
        arguments: [
            ("${now}", 0, "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}%3A[0-9]{2}%3A[0-9]{2}Z"),
            ("${now.http}", 0, "[A-Z][a-z]{2}%2C%20[0-9]{2}%20[A-Z][a-z]{2}%20[0-9]{4}%20.*%20GMT"),
            ("${now.ms}", 0, "[0-9]{13}"), ("${now+5m.unix}", 300, "[0-9]{10}"),
            ("${now.unix-2h}", -7_200, "[0-9]{10}"),
        ]
    )
    func times(value: String, offset: Int64, form: String) throws {
        let text = try #require(try sent(profile("'/\(value)/'")).split(separator: "/").first)
        #expect(try Regex(form).wholeMatch(in: text) != nil, "\(text)")
        guard let seconds = Int64(text), value.contains("unix") else { return }
        #expect(abs(seconds - offset - WallClock.now() / 1_000_000) < 100)
    }

    @Test("In the older words of rewrite a literal ${ is written $${")
    func literals() throws {
        let rule = "{ add: header, on: request, name: X, to: 'a ${b}' }"
        #expect(
            issues("version: 1\n" + rewriting(rule)).contains {
                $0.hasPrefix("6:53 values act in") && $0.contains("$${")
            }
        )
        var dryRun = DryRun(
            try RuleProfile("version: 1\n" + rewriting(rule.replacing("${", with: "$${")), file: "p.yaml")
        )
        let head = dryRun.play(try request()).sent?.head
        #expect(head?.fields.value(of: "x") == "a ${b}")
    }
}
