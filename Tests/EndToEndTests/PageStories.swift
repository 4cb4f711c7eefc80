import Foundation
import Support
import Testing

extension UserStories {
    @Suite("The exported page")
    struct PageStories {
        @Test("A page of hostile traffic shows it in a browser, runs nothing, asks for nothing, and is accessible")
        func browser() async throws {
            let scratch = try Scratch()
            let outcome = try await Peers.start("page.py", [try SluiceProcess.executable(), scratch.path])
                .outcome(within: 300)
            #expect(outcome.status == 0 && outcome.text.isEmpty, "\(outcome.text)\(outcome.errors)")
        }
    }
}
