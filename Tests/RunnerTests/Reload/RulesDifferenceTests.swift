import Rules
import Runner
import Testing
import Tools

@Suite("What a changed profile comes to")
struct RulesDifferenceTests {
    private static let base = """
        version: 1
        intercept: { except: ["bank.example"] }
        block:
          - { name: trackers, at: "*.tracker.example", action: drop }
          - at: "ads.example"   # a comment
            action: 403
          - at: "old.example"
        rewrite:
          - name: header
            at: "api.example.com"
            rules:
              - { add: header, on: response, name: X-A, to: "1" }
        """

    private func difference(_ change: (inout String) -> Void) throws -> String {
        var text = Self.base
        change(&text)
        #expect(text != Self.base)
        let before = try RuleProfile(Self.base, file: "p.yaml")
        return RulesDifference(before: before, after: try RuleProfile(text, file: "p.yaml")).description
    }

    @Test("is nothing where only comments, blanks and lines about it have changed")
    func nothing() throws {
        #expect(try difference { $0 = $0.replacing("# a comment", with: "# another") } == "no rule has changed")
        #expect(
            try difference { $0 = $0.replacing("action: drop }", with: "action: drop }  ") } == "no rule has changed"
        )
        #expect(try difference { $0 = "# top\n\n" + $0 } == "no rule has changed")
        #expect(try difference { $0 = $0.replacing("block:\n", with: "block:\n\n  # here\n") } == "no rule has changed")
    }

    @Test("counts rules that were added, wherever they stand")
    func added() throws {
        let rule = "  - { at: \"new.example\" }\n"
        #expect(try difference { $0 = $0.replacing("block:\n", with: "block:\n" + rule) } == "1 rule added")
        #expect(
            try difference {
                $0 = $0.replacing("rewrite:", with: rule + rule.replacing("new", with: "n2") + "rewrite:")
            } == "2 rules added"
        )
    }

    @Test("counts rules that say something else, by name, by place or by what they do")
    func changed() throws {
        #expect(try difference { $0 = $0.replacing("drop", with: "403") } == "1 rule changed")
        #expect(try difference { $0 = $0.replacing("action: 403", with: "action: drop") } == "1 rule changed")
        #expect(try difference { $0 = $0.replacing("ads.example", with: "ad.example") } == "1 rule changed")
        #expect(try difference { $0 = $0.replacing("to: \"1\"", with: "to: \"2\"") } == "1 rule changed")
        #expect(
            try difference { $0 = $0.replacing("name: header\n", with: "name: header\n    enabled: false\n") }
                == "1 rule changed"
        )
    }

    @Test("counts rules that were removed, and says all in one line")
    func removed() throws {
        #expect(try difference { $0 = $0.replacing("  - at: \"old.example\"\n", with: "") } == "1 rule removed")
        let text = try difference {
            $0 = $0.replacing("  - at: \"old.example\"\n", with: "").replacing("drop", with: "403")
                .replacing("rewrite:\n", with: "allow: { at: \"*.example.com\" }\nrewrite:\n")
        }
        #expect(text == "1 rule added, 1 changed, 1 removed")
    }

    @Test("counts rules that an earlier one now keeps from acting, once")
    func shadowed() throws {
        let rule = "  - { at: \"*.example\" }\n"
        let first = try difference { $0 = $0.replacing("block:\n", with: "block:\n" + rule) }
        #expect(first == "1 rule added, 3 now shadowed")
        let before = try RuleProfile(Self.base.replacing("block:\n", with: "block:\n" + rule), file: "p.yaml")
        let text = Self.base.replacing("block:\n", with: "block:\n" + rule).replacing("\"1\"", with: "\"2\"")
        #expect(
            RulesDifference(before: before, after: try RuleProfile(text, file: "p.yaml")).description
                == "1 rule changed"
        )
    }

    @Test("names what has changed beside the rules")
    func others() throws {
        #expect(try difference { $0 = $0.replacing("bank.example", with: "b.example") } == "intercept changed")
        #expect(try difference { $0 += "\naccess: [\"10.0.0.0/8\"]\n" } == "access changed")
        #expect(try difference { $0 += "\noff: [block]\n" } == "block switched off")
        let off = try RuleProfile("version: 1\noff: [block, rewrite]", file: "p")
        let on = try RuleProfile("version: 1", file: "p")
        #expect(RulesDifference(before: off, after: on).description == "block switched on, rewrite switched on")
    }

    @Test("tells rules apart that share a line, or stretch over several")
    func flow() throws {
        func rules(_ text: String) throws -> RuleProfile {
            try RuleProfile("version: 1\nblock: \(text)\n", file: "p.yaml")
        }
        let one = try rules("{ at: \"*/{a}\" }")
        let two = try rules("[ { at: \"*/{a}\" }, { at: \"b\", action: drop } ]")
        let three = try rules("[ { at: \"*/{a}\" },\n  { at: \"b\", # why\n  action: 403 }, { at: c } ]")
        #expect(RulesDifference(before: one, after: two).description == "1 rule added")
        #expect(RulesDifference(before: two, after: one).description == "1 rule removed")
        #expect(RulesDifference(before: two, after: three).description == "1 rule added, 1 changed")
    }

    @Test("counts from nothing, and to nothing")
    func fromNothing() throws {
        let profile = try RuleProfile(Self.base, file: "p.yaml")
        #expect(RulesDifference(before: nil, after: profile).description == "4 rules added, intercept changed")
        #expect(RulesDifference(before: profile, after: nil).description == "4 rules removed, intercept changed")
        #expect(RulesDifference(before: nil, after: nil).description == "no rule has changed")
    }
}
