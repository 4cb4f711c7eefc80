import Support
import Testing

@Suite("All mistakes within one entry")
struct AllMistakesTests {
    @Test("are told at once, in tests, assertions and rules that lack their place")
    func all() {
        let expect = "version: 1\nexpect:\n  - request: nonsense\n    fires: [ blok ]\n    blocked: maybe\n"
        #expect(issues(expect).count == 3)
        let assert = "version: 1\nassert:\n  - filter: 'nope:1'\n    count: many\n    status: high\n    within: soon\n"
        #expect(issues(assert).count == 4)
        let hold = "version: 1\nbreakpoints:\n  - on: reply\n    after: soon\n    then: stop\n    method: 'A B'\n"
        #expect(issues(hold).filter { !$0.contains("lint") }.count == 4)
    }
}
