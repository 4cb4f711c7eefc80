import Foundation
import Support
import Testing

extension UserStories {
    /// Each story has a PostgreSQL server of its own.
    @Suite("Recording into PostgreSQL")
    struct StoreStories {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func run(_ scenario: String, within seconds: Double = 300) async throws {
            let outcome = try await Program.run(
                "python3",
                [script("store.py"), try SluiceProcess.executable(), scratch.path, scenario],
                environment: ["PYTHONDONTWRITEBYTECODE": "1"],
                within: seconds
            )
            #expect(outcome.status == 0 && outcome.text.isEmpty, "\(outcome.text)\(outcome.errors)")
        }

        @Test("Recorded exchanges are in the store, commands read them there, and roles have no further rights")
        func basics() async throws { try await run("basics") }

        @Test("If the database is stopped at the start, traffic passes at full speed and arrives later, once")
        func lateDatabase() async throws { try await run("late-database") }

        @Test("If the database is stopped or killed during load or in a batch, everything arrives once")
        func restarts() async throws { try await run("restarts", within: 600) }

        @Test("If the answer to a committed batch is lost, nothing is stored twice")
        func lostAnswers() async throws { try await run("lost-answers") }

        @Test("If the password is changed, exchanges wait, and Sluice says why without the password")
        func credentials() async throws { try await run("credentials") }

        @Test("If Sluice is killed during load and started again, nothing is lost or stored twice")
        func proxyKilled() async throws { try await run("proxy-killed") }

        @Test("No secret leaves the machine, and equal keys give equal placeholders in every shard")
        func masking() async throws { try await run("masking") }

        @Test("Exchanges of other days are in the late partition and are found like all others")
        func wrongClock() async throws { try await run("wrong-clock") }

        @Test("Later comments are added as rows and are listed")
        func comments() async throws { try await run("comments") }

        @Test("Pruning removes old partitions and late rows, and keeps newer ones")
        func prune() async throws { try await run("prune") }

        @Test("Wrong URLs, passwords, projects and options end with 1 or 2 and a clear message without the password")
        func wrongThings() async throws { try await run("wrong-things") }

        #if os(Linux)
        @Test(
            "If packets to the database are dropped for seconds, everything arrives afterwards",
            .enabled(if: Namespaces.problem == nil, "\(Namespaces.problem ?? "")")
        )
        func network() async throws { try await run("network") }

        @Test(
            "If the database's disk is full for a while, everything arrives afterwards",
            .enabled(if: Namespaces.problem == nil, "\(Namespaces.problem ?? "")")
        )
        func diskFull() async throws { try await run("disk-full") }
        #endif
    }
}
