import HTTPModel
import Support
import Testing
import Tools

@testable import Rules

@Suite("What a profile has recorded")
struct RecordRulesTests {
    private func profile(_ text: String) throws -> RuleProfile {
        try RuleProfile("version: 1\n\(text)", file: "p.yaml")
    }

    private func url(_ text: String) throws -> RequestURL { try #require(RequestURL(text)) }

    @Test("is everything, what 'only' has, and without what 'except' has")
    func admission() throws {
        let all = try profile("")
        #expect(all.record.isEverything && all.record.text == nil)
        #expect(try all.record.admits(url("http://a.example/x")))
        let some = try profile(#"record: { only: ["*.example", "localhost:3000/api/*"], except: "*/health" }"#).record
        #expect(try some.admits(url("https://a.example/x")))
        #expect(try some.admits(url("http://localhost:3000/api/1")))
        #expect(try !some.admits(url("http://localhost:3000/other")))
        #expect(try !some.admits(url("https://a.example/health")))
        #expect(some.text == "recorded: *.example, localhost:3000/api/* except */health")
        #expect(some.admits(RequestURL(scheme: "tunnel", host: "a.example", port: 443, path: "")))
        #expect(try !profile("record: { only: [] }").record.admits(url("http://a.example/")))
    }

    @Test("is listed and explained, and its locations are checked")
    func texts() throws {
        let some = try profile("record: { except: a.example/x }\nintercept: { except: a.example }")
        #expect(some.listing.contains("\nrecord\n      recorded: everything except a.example/x\n"))
        #expect(
            some.lints.map(\.message) == [
                "a.example/x has a path or query, but 'intercept' excludes a.example from decryption: it matches plain http only"
            ]
        )
        let request = try #require(DryRunRequest("http://a.example/x"))
        #expect(request.explained(by: some).text().hasSuffix("not recorded: 'record' in the profile excludes it\n"))
        let other = try #require(DryRunRequest("http://a.example/y"))
        #expect(!other.explained(by: some).text().contains("not recorded"))
        let error = #expect(throws: ProfileError.self) { try profile("record: { onyl: a.example }") }
        #expect(error?.description.contains("onyl") == true)
    }
}
