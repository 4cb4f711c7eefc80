import Support
import Testing

extension UserStories {
    @Suite("Agents that ask")
    struct AgentStories {
        /// Environments with the protocol's official SDK, each in a version that speaks another revision.
        private enum Library: String, CaseIterable {
            /// Revision 2026-07-28.
            case newest = "mcp"
            /// Revision 2025-11-25.
            case older = "mcp-2025"
        }

        /// Runs a scenario, which prints a line for each thing that is wrong.
        private func problems(_ scenario: String, _ library: Library) async throws -> String {
            let scratch = try Scratch()
            let outcome = try await Program.run(
                try PeerEnvironment.program("../\(library.rawValue)/bin/python"),
                [script("agent.py"), try SluiceProcess.executable(), scratch.path, scenario],
                environment: ["PYTHONDONTWRITEBYTECODE": "1"],
                within: 600
            )
            return outcome.status == 0 ? outcome.text : "\(outcome.text)\(outcome.errors)"
        }

        /// Runs a scenario with both versions at once, as most of their time they wait for the allowed rate of calls.
        private func expectNoProblems(_ scenario: String) async throws {
            try await withThrowingTaskGroup(of: (Library, String).self) { group in
                for library in Library.allCases {
                    group.addTask { (library, try await problems(scenario, library)) }
                }
                for try await (library, text) in group {
                    #expect(text.isEmpty, "\(library.rawValue): \(text)")
                }
            }
        }

        @Test("An agent finds why a request fails, tries a rule, puts it, repeats the request and withdraws the rule")
        func story() async throws { try await expectNoProblems("story") }

        @Test("An agent finds the failing call of the demo, and answers it by a rule")
        func demo() async throws { try await expectNoProblems("demo") }

        @Test("An agent reads a session without changing it, and texts of the traffic are only in 'untrusted'")
        func reading() async throws { try await expectNoProblems("reading") }

        @Test("An agent that guesses a part of a secret gets the same answers as for a wrong guess")
        func oracle() async throws { try await expectNoProblems("oracle") }

        @Test("Wrong lines get errors and stop nothing, and the server ends at the end of its input")
        func wire() async throws {
            let text = try await problems("wire", .newest)
            #expect(text.isEmpty, "\(text)")
        }
    }
}
