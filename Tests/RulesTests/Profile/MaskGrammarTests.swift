import HTTPModel
import Testing
import Tools

@testable import Rules

@Suite("What a profile says of masking")
struct MaskGrammarTests {
    private func profile(_ text: String) throws -> RuleProfile {
        try RuleProfile("version: 1\n\(text)", file: "p.yaml")
    }

    @Test("is names to mask, names to leave, and patterns")
    func grammar() throws {
        #expect(try profile("").mask == MaskRules())
        let mask = try profile(#"mask: { also: [ x-tenant, "*pin" ], except: sid, patterns: [ email ] }"#).mask
        #expect(mask.also == ["x-tenant", "*pin"] && mask.except == ["sid"] && mask.patterns == [.email])
    }

    @Test(
        "is wrong with a name that is none, an unknown pattern, an unknown key",
        arguments: [
            ("also: [ '--' ]", "'--' is not a name"), ("also: [ 'x-*' ]", "'*' only at its beginning"),
            ("except: [ '' ]", "is not a name"), ("patterns: [ phone ]", "phone"), ("only: [ x ]", "only"),
        ]
    )
    func wrong(text: String, word: String) throws {
        let error = #expect(throws: ProfileError.self) { try profile("mask: { \(text) }") }
        #expect(error?.description.contains(word) == true)
    }

    @Test("is read of rules that have been in force, whatever else is in them")
    func recorded() throws {
        let text = "version: 1\nmask: { also: x-tenant }\nfrom-a-later-sluice: { a: b }\n"
        let sources = [ProfileSource(file: "p.yaml", text: text)]
        #expect(throws: ProfileError.self) { try RuleProfile(sources: sources) }
        #expect(try RuleProfile.mask(in: sources, tools: .standard).also == ["x-tenant"])
        #expect(try RuleProfile.mask(in: [], tools: .standard) == MaskRules())
        let broken = [ProfileSource(file: "p.yaml", text: "mask: [")]
        #expect(throws: ProfileError.self) { try RuleProfile.mask(in: broken, tools: .standard) }
    }
}
