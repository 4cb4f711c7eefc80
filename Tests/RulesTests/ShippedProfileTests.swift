import Foundation
import HTTPModel
import Rules
import Support
import Testing
import Tools

@Suite("Profiles that come with Sluice")
struct ShippedProfileTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(path: "Profiles")

    private func load(_ name: String) throws -> RuleProfile {
        try RuleProfile.load(paths: [ShippedProfileTests.folder.appending(path: name).path])
    }

    @Test("Every one loads without an error or lint, and has a name")
    func all() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: ShippedProfileTests.folder.path)
            .filter { $0.hasSuffix(".yaml") }
        #expect(names.count >= 2)
        for name in names {
            let profile = try load(name)
            #expect(profile.lints.isEmpty)
            #expect(!profile.name.isEmpty)
            #expect(profile.summary != "no rules")
        }
    }

    @Test("What each expects of itself holds")
    func expectations() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: ShippedProfileTests.folder.path)
            .filter { $0.hasSuffix(".yaml") }
        for name in names {
            for result in try load(name).dryRun() {
                #expect(result.passes, "\(name): \(result.expectation.name): \(result.differences)")
            }
        }
    }

    @Test("block-trackers.yaml blocks trackers and nothing else")
    func blockTrackers() throws {
        let profile = try load("block-trackers.yaml")
        #expect(outcome(profile, "https://www.google-analytics.com/g/collect?v=2") == "403")
        #expect(outcome(profile, "https://stats.g.doubleclick.net/x") == "dropped")
        #expect(outcome(profile, "stats.g.doubleclick.net:443", kind: .tunnel) == "dropped")
        #expect(outcome(profile, "https://example.com/collect") == "passed")
    }

    @Test("add-header.yaml marks responses, and edits the requests of one API")
    func addHeader() throws {
        let profile = try load("add-header.yaml")
        let dialogue = dialogue(profile, "https://api.example.com/v1")
        dialogue.request([("User-Agent", "curl/8.5 (x)"), ("Cookie", "_ga=1"), ("Cookie", "a=b"), ("X-Debug", "1")])
        dialogue.expect("connect https://api.example.com:443", "stop client")
        dialogue.ready()
        dialogue.expect("> GET /v1 (none)", "> end", "read client")
        #expect(
            dialogue.requestHead?.fields.description
                == "Host: api.example.com\nUser-Agent: curl/8.5 (through Sluice)\nCookie: a=b\nX-Test-Run: 1"
        )
        dialogue.responseHead(200, .length(0), [("X-Debug", "2")])
        dialogue.expect("< 200 (0)")
        #expect(dialogue.responseHead?.fields.description == "X-Sluice: seen")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        #expect(dialogue.trace.count == 6)
    }
}
