import ExchangeCore
import Rules
import Testing
import Tools

@testable import Rules
@testable import Tools

@Suite("Editing a profile's text")
struct EditableProfileTests {
    private static let block = ProfileSection.tool(.blockList)

    private func edit(
        _ text: String,
        _ body: (inout EditableProfile) throws -> Void
    ) throws -> String {
        var profile = EditableProfile(text: text, file: nil)
        try body(&profile)
        return profile.text
    }

    private func id(_ index: Int, _ slot: Tool = .blockList) -> EditableRule.ID {
        EditableRule.ID(.tool(slot), index)
    }

    // MARK: - Looking

    @Test("tells rules with their text, comments in it included, and what is wrong with them")
    func rules() throws {
        let text = """
            version: 1
            # about ads
            block:
              - name: ads
                at: "*.ads.example"   # theirs
                # cut them off
                action: drop
              - { at: "*.b.example", enabled: false } # not now
              - at: c.example
                acton: drop
            no-caching: true

            """
        let rules = try EditableProfile(text: text, file: "p.yaml").rules()
        #expect(rules.map(\.id.index) == [0, 1, 2, 0])
        #expect(rules[0].yaml == "name: ads\nat: \"*.ads.example\"   # theirs\n# cut them off\naction: drop")
        #expect(rules[0].name == "ads" && rules[0].line == 4 && rules[0].column == 5)
        #expect(rules[0].summary == "*.ads.example: drop the connection")
        #expect(rules[0].title == "ads" && rules[1].title == "*.b.example")
        #expect(rules[1].yaml == "{ at: \"*.b.example\", enabled: false } # not now" && !rules[1].isEnabled)
        #expect(rules[2].problem?.contains("action") == true)
        #expect(rules[3].yaml == "true" && rules[3].id.section == .tool(.noCaching))
    }

    // MARK: - Coming

    @Test("begins a new profile, a new section, and puts sections before a profile's tests")
    func begin() throws {
        let rule = RuleText("at: x.example\naction: drop")
        #expect(
            try edit("") { try $0.insert(rule, into: Self.block) }
                == "version: 1\n\nblock:\n  - at: x.example\n    action: drop\n"
        )
        #expect(
            try edit("# mine\nversion: 1 # yes") { try $0.insert(rule, into: Self.block) }
                == "# mine\nversion: 1 # yes\n\nblock:\n  - at: x.example\n    action: drop\n"
        )
        #expect(
            try edit("version: 1\r\nname: n\r\n...\r\n") { try $0.insert(rule, into: Self.block) }
                == "version: 1\r\nname: n\r\n\r\nblock:\r\n  - at: x.example\r\n    action: drop\r\n...\r\n"
        )
        #expect(
            try edit("version: 1\n\n# tests\nexpect: { request: GET http://x.example/, fires: [] }\n") {
                try $0.insert(RuleText("true"), into: .tool(.noCaching))
                try $0.setTool(.noCaching, isOn: false)
            } == "version: 1\n\nno-caching: false\n\n# tests\nexpect: { request: GET http://x.example/, fires: [] }\n"
        )
    }

    @Test(
        "puts a rule into every form of a list",
        arguments: [
            ("block:\n- at: a\n", "block:\n- at: a\n- at: x\n  action: drop\n"),
            (
                "block:\n    -   at: a # c\n    # own\n",
                "block:\n    -   at: a # c\n    - at: x\n      action: drop\n    # own\n"
            ),
            ("block: [ { at: a } ] # c\n", "block: [ { at: a }, { at: x, action: drop } ] # c\n"),
            (
                "block: [ # ads\n  { at: a }, # first\n  # second\n  { at: b }\n] # end\n",
                "block: # ads\n  # end\n  - { at: a } # first\n  # second\n  - { at: b }\n  - at: x\n    action: drop\n"
            ),
            ("block: { at: a } # c\n", "block: # c\n  - { at: a }\n  - at: x\n    action: drop\n"),
            (
                "block:\n  # why\n  at: a\n  # how\n  action: drop # so\n",
                "block:\n  # why\n  - at: a\n    # how\n    action: drop # so\n  - at: x\n    action: drop\n"
            ),
            ("block: [] # none\n", "block: # none\n  - at: x\n    action: drop\n"),
            ("block: # none\n", "block: # none\n  - at: x\n    action: drop\n"),
            (
                "block:\n  - at: a\n\n  - at: b\n\nname: n\n",
                "block:\n  - at: a\n\n  - at: b\n\n  - at: x\n    action: drop\n\nname: n\n"
            ),
            ("block:\n  - at: a", "block:\n  - at: a\n  - at: x\n    action: drop\n"),
        ]
    )
    func insert(_ before: String, _ after: String) throws {
        let edited = try edit("version: 1\n" + before) {
            try $0.insert(RuleText("at: x\naction: drop"), into: Self.block)
        }
        #expect(edited == "version: 1\n" + after)
    }

    @Test("keeps the comments of a rule that is put in, and takes a hyphen before it for none of it")
    func insertComments() throws {
        let text = "version: 1\nblock:\n  - at: a\n"
        let rule = RuleText("# why\n- at: x # where\n  # how\n  action: drop\n  # end\n")
        #expect(
            try edit(text) { try $0.insert(rule, into: Self.block, at: 0) }
                == "version: 1\nblock:\n  # why\n  - at: x # where\n    # how\n    action: drop\n    # end\n  - at: a\n"
        )
    }

    @Test("edits a profile that stands in braces, as JSON does")
    func braces() throws {
        let text = "{\n  \"version\": 1,\n  \"block\": [{\"at\": \"a\"}]\n}\n"
        let rule = RuleText("at: x\naction: drop")
        #expect(
            try edit(text) { try $0.insert(rule, into: Self.block) }
                == "{\n  \"version\": 1,\n  \"block\": [{\"at\": \"a\"}, { at: x, action: drop }]\n}\n"
        )
        #expect(
            try edit(text) { try $0.insert(RuleText("only: x"), into: .tool(.noCaching)) }
                == "{\n  \"version\": 1,\n  \"block\": [{\"at\": \"a\"}],\n  \"no-caching\": [ { only: x } ]\n}\n"
        )
        #expect(try edit(text) { try $0.remove(id(0)) } == "{\n  \"version\": 1\n}\n")
        #expect(throws: ProfileError.self) {
            try edit(text) { try $0.insert(RuleText("at: x # c"), into: Self.block) }
        }
    }

    @Test("turns 'true' into a rule beside which others can stand")
    func flags() throws {
        let text = "version: 1\nno-caching: true # all\n"
        #expect(
            try edit(text) { try $0.insert(RuleText("only: x"), into: .tool(.noCaching)) }
                == "version: 1\nno-caching: # all\n  - enabled: true\n  - only: x\n"
        )
        #expect(
            try edit(text) { try $0.setEnabled(id(0, .noCaching), false) } == "version: 1\nno-caching: false # all\n"
        )
        #expect(
            try edit("version: 1\nno-caching: false # all\n") {
                try $0.insert(RuleText("only: x"), into: .tool(.noCaching))
            }
                == "version: 1\nno-caching: # all\n  - only: x\n"
        )
    }

    // MARK: - Changing

    @Test("puts another text in the place of a rule's")
    func replace() throws {
        let text = "version: 1\nblock:\n  # ads\n  - at: a # c\n    # d\n\n  - at: b\n"
        let rule = RuleText("at: x\n# e\naction: drop")
        #expect(
            try edit(text) { try $0.replace(id(0), with: rule) }
                == "version: 1\nblock:\n  # ads\n  - at: x\n    # e\n    action: drop\n\n  - at: b\n"
        )
        #expect(
            try edit("version: 1\nblock: { at: a } # c\n") { try $0.replace(id(0), with: rule) }
                == "version: 1\nblock:\n  at: x\n  # e\n  action: drop\n"
        )
        #expect(
            try edit("version: 1\nblock: [ { at: a }, { at: b } ] # c\n") {
                try $0.replace(id(1), with: RuleText("{ at: x }"))
                try $0.replace(id(0), with: rule)
            } == "version: 1\nblock: # c\n  - at: x\n    # e\n    action: drop\n  - { at: x }\n"
        )
        let rules = try EditableProfile(text: text, file: nil).rules(of: Self.block)
        #expect(try edit(text) { try $0.replace(id(0), with: rules[0].text) } == text)
    }

    @Test(
        "switches a rule on and off in every form",
        arguments: [
            ("block:\n  - at: a\n    action: drop\n", "block:\n  - at: a\n    enabled: false\n    action: drop\n"),
            ("block:\n  - at: a\n    name: n # c\n", "block:\n  - at: a\n    name: n # c\n    enabled: false\n"),
            ("block: { at: a }\n", "block: { at: a, enabled: false }\n"),
            ("block: [ at: a ]\n", "block: [ { at: a, enabled: false } ]\n"),
            ("block:\n  at: a", "block:\n  at: a\n  enabled: false\n"),
            (
                "block:\n  - at:\n      - a\n      - b # c\n    action: drop\n",
                "block:\n  - at:\n      - a\n      - b # c\n    enabled: false\n    action: drop\n"
            ),
            ("block:\n  - at: a\n    enabled:  true  # yes\n", "block:\n  - at: a\n    enabled:  false  # yes\n"),
        ]
    )
    func enabled(_ before: String, _ after: String) throws {
        var profile = EditableProfile(text: "version: 1\n" + before, file: nil)
        try profile.setEnabled(id(0), false)
        #expect(profile.text == "version: 1\n" + after)
        #expect(try profile.rules()[0].isEnabled == false)
        try profile.setEnabled(id(0), true)
        #expect(try profile.rules()[0].isEnabled)
    }

    @Test("takes rules out with the comments directly above them; with the last goes the section")
    func remove() throws {
        let text =
            "# top\nversion: 1\n\n# tool\nblock:\n  # one\n  - at: a\n\n  # two\n  - at: b # c\n\n# next\nname: n\n"
        #expect(
            try edit(text) { try $0.remove(id(0)) }
                == "# top\nversion: 1\n\n# tool\nblock:\n  # two\n  - at: b # c\n\n# next\nname: n\n"
        )
        #expect(
            try edit(text) { try $0.remove(id(1)) }
                == "# top\nversion: 1\n\n# tool\nblock:\n  # one\n  - at: a\n\n# next\nname: n\n"
        )
        #expect(
            try edit(text) {
                try $0.remove(id(1))
                try $0.remove(id(0))
            } == "# top\nversion: 1\n\n# next\nname: n\n"
        )
        #expect(
            try edit("version: 1\nblock: [ { at: a }, { at: b }, { at: c } ]\n") {
                try $0.remove(id(1))
                try $0.remove(id(1))
            } == "version: 1\nblock: [ { at: a } ]\n"
        )
    }

    @Test("moves rules with the comments above them, and leaves what is between them")
    func move() throws {
        let text = "version: 1\nblock:\n  # one\n  - at: a # c\n\n  # two\n  - at: b\n  - { at: c }"
        #expect(
            try edit(text) { try $0.move(id(2), to: 0) }
                == "version: 1\nblock:\n  - { at: c }\n\n  # one\n  - at: a # c\n  # two\n  - at: b\n"
        )
        #expect(
            try edit("version: 1\nblock: [ { at: a }, { at: b } ]\n") { try $0.move(id(0), to: 1) }
                == "version: 1\nblock: [ { at: b }, { at: a } ]\n"
        )
    }

    // MARK: - Hostile

    @Test("understands texts of every style, and columns that are no bytes")
    func styles() throws {
        let text = """
            \u{FEFF}--- # start
            version: 1
            rewrite:
              - name: größe 😀 "x"
                at: [ 'it''s.example', "a\\"b.example" ]
                rules:
                  - modify: body
                    on: response
                    to: |
                      { "a": 1 }   # no comment
                       - at: none

                    match: >-
                      folded
                      text
              - name: plain text
                 over lines
                at: ! b.example
                rules: []\t# tab
            block: [ { at: "ö#[]" , }, at: "x" , ]
            ...

            """
        var profile = EditableProfile(text: text, file: nil)
        let rules = try profile.rules()
        #expect(rules.map(\.name) == ["größe 😀 \"x\"", "plain text over lines", nil, nil])
        #expect(rules[0].yaml.hasSuffix("folded\n      text"))
        try profile.setEnabled(id(1, .rewrite), false)
        try profile.move(id(1, .rewrite), to: 0)
        try profile.insert(RuleText("{ at: z }"), into: Self.block)
        try profile.setEnabled(id(0), false)
        #expect(profile.text.contains("block: [ { at: \"ö#[]\", enabled: false , }, at: \"x\", { at: z } , ]\n...\n"))
        #expect(profile.text.contains("\t# tab") && profile.text.hasPrefix("\u{FEFF}--- # start\n"))
        #expect(try profile.rules(of: .tool(.rewrite)).map(\.isEnabled) == [false, true])
    }

    @Test("says what is wrong with a rule at its place in the rule, and changes nothing")
    func wrong() throws {
        var profile = EditableProfile(text: "version: 1\nblock: [ { at: a } ]\n", file: nil)
        let before = profile
        for (rule, message) in [
            ("at: x\n acton: drop", "rule:2:"), ("at: x\nacton: drop", "rule:2:1: "),
            ("", "rule:1:1: the rule is empty"),
            ("at: x\n---\nat: y", "rule:"), ("- at: x\n- at: y", "rule:1:1: this is a list of 2 rules"),
            ("just text", "rule:1:1: "), ("at: x }", "rule:"), ("&a at: x", "rule:"),
        ] {
            do throws(ProfileError) {
                try profile.insert(RuleText(rule), into: Self.block)
                if rule != "at: x }" { Issue.record("\(rule) is no rule") } else { profile = before }
            } catch {
                #expect(error.description.hasPrefix(message), "\(rule)")
            }
            #expect(profile == before)
        }
        #expect(throws: ProfileError.self) { try profile.remove(id(3)) }
        #expect(throws: ProfileError.self) { try EditableProfile(text: "a: [", file: nil).rules() }
    }

    @Test("refuses what would make the profile wrong, but lets a wrong one be mended rule by rule")
    func mistakes() throws {
        var tested = EditableProfile(
            text:
                "version: 1\nblock: { name: n, at: a.example }\nexpect: { request: GET http://a.example/, fires: [block/n] }\n",
            file: nil
        )
        #expect(throws: ProfileError.self) { try tested.remove(id(0)) }
        var broken = EditableProfile(text: "version: 1\nblock:\n  - at: a\n    x: 1\n  - at: b\n    y: 1\n", file: nil)
        try broken.replace(id(0), with: RuleText("at: a"))
        #expect(broken.issues.count == 1)
        try broken.remove(id(1))
        #expect(broken.issues.isEmpty && broken.text == "version: 1\nblock:\n  - at: a\n")
    }
}
