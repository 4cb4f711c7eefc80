import Foundation
import Support
import Testing

extension UserStories {
    @Suite("Recording into PostgreSQL")
    struct StoreStories {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Each has a PostgreSQL server, proxies and an origin of its own.
        private static let scenarios: [(name: String, holds: String, needsNamespaces: Bool)] = [
            (
                "restarts", "If the database is stopped or killed during load or in a batch, everything arrives once",
                false
            ),
            ("wrong-things", "What is wrong ends with 1 or 2 and a clear message without the password", false),
            ("network", "If packets to the database are dropped for seconds, everything arrives afterwards", true),
            ("lost-answers", "If the answer to a committed batch is lost, nothing is stored twice", false),
            ("late-database", "If the database is away at the start, traffic passes and arrives later, once", false),
            ("basics", "What a run records is in the store, commands read it there, roles do only their part", false),
            ("disk-full", "If the database's disk is full for a while, everything arrives afterwards", true),
            ("comments", "Later comments are added as rows and are listed", false),
            ("masking", "No secret leaves the machine, and equal keys give equal placeholders", false),
            ("credentials", "If the password is changed, exchanges wait, and Sluice says why without it", false),
            ("filters", "A filter finds in a store what it finds in the session", false),
            ("prune", "Pruning removes old partitions and late rows, and keeps newer ones", false),
            ("wrong-clock", "Exchanges of other days are in the late partition and are found like others", false),
            (
                "proxy-killed", "If Sluice is killed during load and started again, nothing is lost or stored twice",
                false
            ),
        ]

        private func run(_ scenario: String) async throws -> String {
            let outcome = try await Program.run(
                "python3",
                [script("store.py"), try SluiceProcess.executable(), scratch.path, scenario],
                environment: ["PYTHONDONTWRITEBYTECODE": "1"],
                within: 600
            )
            return outcome.status == 0 ? outcome.text : "\(outcome.text)\(outcome.errors)"
        }

        /// Most of their time they wait, so that several run at once.
        @Test("Nothing is lost, stored twice or shown that should not be, whatever happens to the database")
        func scenarios() async throws {
            let scenarios = Self.scenarios.filter { !$0.needsNamespaces || Namespaces.problem == nil }
            try await withThrowingTaskGroup(of: (String, String).self) { group in
                var rest = scenarios[...]
                func begin() {
                    guard let next = rest.popFirst() else { return }
                    group.addTask { (next.holds, try await run(next.name)) }
                }
                for _ in 0..<6 { begin() }
                while let (holds, text) = try await group.next() {
                    #expect(text.isEmpty, "\(holds): \(text)")
                    begin()
                }
            }
        }
    }
}
