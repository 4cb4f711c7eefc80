import Foundation
import Support
import Testing

extension UserStories {
    @Suite("Exports that other programs read")
    struct ExportStories {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func run(_ name: String, python: String = "python3", _ arguments: String...) async throws {
            let outcome = try await Program.run(
                python,
                [script(name), try SluiceProcess.executable(), scratch.path] + arguments,
                environment: ["PYTHONDONTWRITEBYTECODE": "1"]
            )
            #expect(outcome.status == 0 && outcome.text.isEmpty, "\(outcome.text)\(outcome.errors)")
        }

        @Test("Raw messages are the bytes that passed, Python's parsers read them, an origin understands them again")
        func rawMessages() async throws { try await run("raw_messages.py") }

        @Test("haralyzer and mitmproxy read our HARs, and we read mitmproxy's flows, with the same fields and bodies")
        func archives() async throws {
            let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "SharingTests/Archives/Fixtures")
            // An environment of its own, since mitmproxy wants other versions of what the peers have.
            let python = try PeerEnvironment.program("../archives/bin/python")
            try await run("archive_readers.py", python: python, fixtures.path)
        }
    }
}
