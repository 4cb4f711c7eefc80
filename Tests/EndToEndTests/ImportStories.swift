import Foundation
import Support
import Testing

extension UserStories {
    @Suite("Files of other programs")
    struct ImportStories {
        @Test("A session given to 'import charles' is told from settings, and the other command is named")
        func charlesOfSession() async throws {
            let sluice = try await SluiceProcess()
            #expect(try await sluice.stop().status == 0)
            let outcome = try await sluice.command(["import", "charles", sluice.session])
            #expect(outcome.status == 1 && outcome.errors.contains("is a session, not settings of Charles"))
            #expect(outcome.errors.contains("sluice import session FILE"), "\(outcome.errors)")
        }

        @Test("HAR, Charles, mitmproxy, cURL, sessions and bundles come in and are shown; traps are refused")
        func files() async throws {
            let scratch = try Scratch()
            let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "FormatsTests/Archives/Fixtures")
            let outcome = try await Program.run(
                "python3",
                [script("importing.py"), try SluiceProcess.executable(), scratch.path, fixtures.path],
                environment: ["PYTHONDONTWRITEBYTECODE": "1"],
                within: 300
            )
            #expect(outcome.status == 0 && outcome.text.isEmpty, "\(outcome.text)\(outcome.errors)")
        }
    }
}
