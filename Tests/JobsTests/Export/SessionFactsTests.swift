import Formats
import Foundation
import HTTPModel
import Masking
import Recording
import Support
import Testing

@testable import Jobs

@Suite("What an export tells of its session")
struct SessionFactsTests {
    @Test("Labels and rules have no secrets where there is a mask, and are as they were where there is none")
    func secrets() throws {
        let scratch = try Scratch()
        let path = scratch.path("s.sluice")
        let secret = "k3y-value-17-abcdefgh"
        var configuration = RecorderConfiguration(path: path)
        configuration.labels = ["note": "uses \(secret)", "kind": "plain words"]
        let recorder = try Recorder(configuration)
        let rules = "rewrite:\n  - { add: header, name: Authorization, to: \"Bearer \(secret)\" }\n"
        recorder.noteRules(sources: [ProfileSource(file: "p.yaml", text: rules)], switchedOff: [], at: 7)
        recorder.flush()
        recorder.close()
        let reader = try SessionReader(path: path)
        let masked = MaskedSource(reader, TextMask())
        ProfileMask.collect(rules, masked)
        masked.mask.endCollecting()
        let facts = SessionFacts(reader, masked: masked)
        #expect(facts.labels == ["note": "uses sluice-credential-1", "kind": "plain words"])
        let text = try #require(facts.rules.first?.sources.first?.text)
        #expect(!text.contains(secret) && text.contains("to: \"Bearer sluice-credential-1\""), "\(text)")
        let whole = SessionFacts(reader)
        #expect(whole.labels["note"] == "uses \(secret)" && whole.rules.first?.sources.first?.text == rules)
    }
}
