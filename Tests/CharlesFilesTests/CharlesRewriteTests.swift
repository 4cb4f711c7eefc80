import CharlesFiles
import HTTPModel
import Rules
import Testing
import Tools

@testable import CharlesFiles
@testable import Rules
@testable import Tools

/// The rules that come out of one set for `a.example`, as they stand in the profile, with their comments.
private func rules(_ rules: [CharlesRewriteRule]) throws -> [String] {
    var settings = CharlesSettings()
    let place = CharlesPlace(CharlesLocation(host: "a.example"))
    settings.rewrite = CharlesTool([CharlesRewriteSet(name: "s", locations: [place], rules: rules)])
    return try lines(settings, from: "    rules:")
}

private func rule(
    _ kind: CharlesRewriteRule.Kind,
    _ change: (inout CharlesRewriteRule) -> Void = { _ in }
) throws -> String {
    var rule = CharlesRewriteRule(kind)
    rule.onResponse = kind.hasDirection
    change(&rule)
    return try rules([rule]).joined(separator: "\n")
}

/// The lines of the profile behind one of them, without what they are indented by.
private func lines(_ settings: CharlesSettings, from line: String) throws -> [String] {
    let text = try CharlesImport(settings, source: "x").text
    #expect(throws: Never.self) { try RuleProfile(text, file: "p.yaml") }
    return text.split(separator: "\n").map(String.init).drop { !$0.hasPrefix(line) }.dropFirst().map(\.trimmed)
}

@Suite("Charles' rewrite rules become ours")
struct CharlesRewriteTests {
    @Test("All eleven kinds")
    func kinds() throws {
        var all = CharlesRewriteRule.Kind.allCases.map { CharlesRewriteRule($0) }
        for index in all.indices {
            let kind = all[index].kind
            if kind.hasDirection { (all[index].onRequest, all[index].onResponse) = (true, kind != .removeHeader) }
            if kind.verb == "add" { all[index].newName = "Nam" } else if kind.hasName { all[index].matchName = "Nam" }
            if !kind.hasName { all[index].matchValue = "m" }
            if kind.verb != "remove" { all[index].newValue = kind == .status ? "404 Not Found" : "v" }
        }
        let lines = try rules(all)
        #expect(
            lines == [
                "- { add: header, on: [request, response], name: Nam, to: v }",
                "- { remove: header, on: request, name: Nam }",
                "- { modify: header, on: [request, response], name: Nam, to: v }",
                "- { modify: host, match: m, to: v }",
                "- { modify: path, match: m, to: v }",
                "- { modify: url, match: m, to: v }",
                "- { modify: body, on: [request, response], match: m, to: v }",
                "- { add: query, name: Nam, to: v }",
                "- { modify: query, name: Nam, to: v }",
                "- { remove: query, name: Nam }",
                "- { modify: status, match: m, to: \"404 Not Found\" }",
            ]
        )
    }

    @Test("Both flags false is usual where there is one place, and never where there are two")
    func directions() throws {
        #expect(try rule(.host) { ($0.matchValue, $0.newValue) = ("a", "b") } == "- { modify: host, match: a, to: b }")
        #expect(
            try rule(.addHeader) { ($0.newName, $0.newValue, $0.onResponse) = ("a", "b", false) } == """
                # approximated: it was neither for requests nor for responses, so it is not enabled
                - { add: header, on: [request, response], name: a, to: b, enabled: false }
                """
        )
    }

    @Test("A blank new value keeps what has a name, and deletes the match in everything else")
    func blanks() throws {
        #expect(
            try rule(.modifyHeader) { ($0.matchName, $0.newName) = ("A", "B") }
                == "- { modify: header, on: response, name: A, rename: B }"
        )
        #expect(
            try rule(.modifyHeader) { ($0.matchName, $0.newName) = ("A", "A") }.hasPrefix(
                "# skipped: it changes nothing"
            )
        )
        #expect(try rule(.modifyQuery) { $0.matchValue = "x" }.hasPrefix("# skipped: it changes nothing"))
        #expect(
            try rule(.body) { $0.matchValue = "&secret=[^&]*" }
                == "- { modify: body, on: response, match: \"\\x26secret=[^&]*\", to: \"\" }"
        )
        #expect(try rule(.body) { $0.newValue = "{}" } == "- { modify: body, on: response, to: \"{}\" }")
        #expect(try rule(.url) { $0.matchValue = "?debug=1" } == "- { modify: url, match: \"?debug=1\", to: \"\" }")
        #expect(try rule(.path).hasPrefix("# skipped: it changes nothing"))
        #expect(try rule(.status) { $0.matchValue = "200" }.hasPrefix("# skipped: it has no new status"))
        #expect(try rule(.addHeader) { $0.newValue = "x" }.hasPrefix("# skipped: it adds something without a name"))
        #expect(try rule(.addHeader) { $0.newName = "X" } == "- { add: header, on: response, name: X, to: \"\" }")
    }

    @Test("Plain texts and regular expressions are told apart by slashes")
    func matching() throws {
        func body(_ match: String, to: String = "x", isExpression: Bool = false) throws -> String {
            try rule(.body) { ($0.matchValue, $0.newValue, $0.isValueExpression) = (match, to, isExpression) }
        }
        #expect(try body("/a/") == "- { modify: body, on: response, match: '\\/a/', to: x }")
        #expect(try body("a", to: "$1") == "- { modify: body, on: response, match: a, to: \"$1\" }")
        #expect(try body("\\/a$", to: "$1") == "- { modify: body, on: response, match: '/\\\\/a\\$/', to: \"$$1\" }")
        #expect(
            try body("\"plan\":\"(\\w+)\"", to: "\"plan\":\"pro-$1\"", isExpression: true)
                == "- { modify: body, on: response, match: '/\"plan\":\"(\\w+)\"/', to: '\"plan\":\"pro-$1\"' }"
        )
        #expect(
            try body("(?x) \\d+ # number", isExpression: true) == """
                # approximated: in sets, blanks count even under the flag x
                - { modify: body, on: response, match: '/(?x) \\d+ # number/', to: x }
                """
        )
        #expect(
            try body("it's", to: "&apos;") == "- { modify: body, on: response, match: \"it's\", to: \"\\x26apos;\" }"
        )
        #expect(
            try body("[a-z&&[^b]]", isExpression: true).hasPrefix(
                "# skipped: the regular expression has sets within a set, or &&, which PCRE2 does not have"
            )
        )
        #expect(
            try body("a", to: "line\n\tnext") == "- { modify: body, on: response, match: a, to: \"line\\n\\tnext\" }"
        )
    }

    @Test("A condition for adding, and blank rules")
    func conditions() throws {
        #expect(
            try rule(.addHeader) { rule in
                (rule.newName, rule.newValue) = ("X-Was", "was $1")
                (rule.matchName, rule.matchValue, rule.isValueExpression) = ("Server", "(\\w+)", true)
            } == "- { add: header, on: response, name: X-Was, to: \"was $1\", if: { name: Server, match: '/(\\w+)/' } }"
        )
        #expect(
            try rule(.addQuery) { ($0.newName, $0.newValue, $0.matchName) = ("a", "b", "c") }
                == "- { add: query, name: a, to: b, if: { name: c } }"
        )
        #expect(
            try rule(.removeHeader) == "- { remove: header, on: response, name: \".\", name-regex: true }"
        )
        #expect(try rule(.modifyHeader) { $0.newValue = "x" } == "- { modify: header, on: response, to: x }")
    }

    @Test("Case, whole, first, and names that are regular expressions")
    func flags() throws {
        #expect(
            try rule(.modifyHeader) { rule in
                (rule.matchName, rule.matchValue, rule.newValue) = ("^X-", "a", "b")
                (rule.isNameExpression, rule.isCaseSensitive, rule.matchesWhole) = (true, true, true)
                rule.replacesFirst = true
            }
                == """
                - modify: header
                  on: response
                  name: "^X-"
                  name-regex: true
                  match: a
                  case: true
                  whole: true
                  to: b
                  replace: first
                """.split(separator: "\n").map { String($0).trimmed }.joined(separator: "\n")
        )
        #expect(try rule(.removeHeader) { $0.matchName = "A" } == "- { remove: header, on: response, name: A }")
        #expect(
            try rule(.removeHeader) {
                $0.isActive = false
                $0.matchValue = "x"
            }.hasSuffix("match: x, enabled: false }")
        )
    }

    @Test("Framing headers cannot be rewritten, and say so where they stand")
    func framing() throws {
        let text = try rule(.modifyHeader) { ($0.matchName, $0.newValue) = ("Content-Length", "5") }
        #expect(text.hasPrefix("# skipped: Content-Length frames the message"))
        #expect(text.hasSuffix("# - { modify: header, on: response, name: Content-Length, to: \"5\" }"))
    }

    @Test("Sets keep their names and states; one without a location that counts is not enabled")
    func sets() throws {
        let a = CharlesPlace(CharlesLocation(host: "a.example", path: "/x"))
        let b = CharlesPlace(CharlesLocation(host: "b.example"), isEnabled: false)
        let noOne = CharlesPlace(CharlesLocation(protocol: "https"))
        var header = CharlesRewriteRule(.removeHeader)
        (header.onRequest, header.matchName) = (true, "A")
        var settings = CharlesSettings()
        settings.rewrite = CharlesTool(
            isEnabled: false,
            [
                CharlesRewriteSet(name: "<M> & \"co\"", isActive: false, locations: [a, noOne], rules: [header]),
                CharlesRewriteSet(name: "", locations: [a, b], rules: [header]),
                CharlesRewriteSet(name: "none", locations: [], rules: [header]),
                CharlesRewriteSet(name: "off", locations: [b], rules: []),
            ]
        )
        #expect(
            try lines(settings, from: "rewrite:").joined(separator: "\n") == """
                - name: '<M> & "co"'
                enabled: false
                at: [a.example/x, "https://*"]
                rules:
                - { remove: header, on: request, name: A }
                # approximated: skipped, because they were not enabled: b.example
                - name: "set 2"
                at: a.example/x
                rules:
                - { remove: header, on: request, name: A }
                # approximated: the set has no location, so it is not enabled
                - name: none
                enabled: false
                at: "*"
                rules:
                - { remove: header, on: request, name: A }
                # approximated: none of its locations was enabled, so the set is not
                - name: "off"
                enabled: false
                at: b.example
                rules: []
                """
        )
        #expect(
            try CharlesImport(settings, source: "x").report.lines.map(\.description) == [
                "imported      Rewrite '<M> & \"co\"' 1: remove header A",
                "approximated  Rewrite 'set 2' (skipped, because they were not enabled: b.example)",
                "imported      Rewrite 'set 2' 1: remove header A",
                "approximated  Rewrite 'none' (the set has no location, so it is not enabled)",
                "imported      Rewrite 'none' 1: remove header A",
                "approximated  Rewrite 'off' (none of its locations was enabled, so the set is not)",
            ]
        )
    }
}
