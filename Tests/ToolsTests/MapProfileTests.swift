import Foundation
import HTTPModel
import Rules
import Testing
import Tools

@Suite("Shipped profiles that map requests")
struct MapProfileTests {
    @Test(
        "Each passes its own tests",
        arguments: ["staging-to-local", "fixtures", "mirror-site", "dns-to-local"]
    )
    func expectations(name: String) throws {
        let folder = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let profile = try RuleProfile.load(paths: [folder.appending(path: "Profiles/\(name).yaml").path])
        #expect(profile.lints.isEmpty)
        let results = profile.dryRun()
        #expect(results.count >= 2)
        for result in results { #expect(result.differences.isEmpty, "\(result.expectation.name)") }
    }
}
