import Foundation
import Support
import Testing

extension UserStories.Consoles {
    @Suite("The forty everyday tasks")
    struct TaskStories {
        @Test("The table counts its keys right, and no task takes more of them than in mitmproxy")
        func table() throws {
            let table = try TaskTable()
            #expect(table.rows.count >= 40)
            #expect(Set(table.rows.map(\.task)).count == table.rows.count)
            for row in table.rows {
                let count = row.keys.reduce(0) { $0 + $1.count }
                #expect(row.count == count && count > 0, "\(row.task): \(count)")
                #expect(!row.words.isEmpty, "\(row.task)")
                guard let others = row.others?.reduce(0, { $0 + $1.count }) else { continue }
                #expect(row.otherCount == others, "\(row.task): mitmproxy \(others)")
                #expect(count <= others, "\(row.task): \(count) and \(others)")
            }
            let told = Set(Self.groups.values.flatMap { $0.map(\.task) })
            for row in table.rows { #expect(told.contains(row.task), "\(row.task) has no story") }
        }

        @Test(
            "A task is done by the keys of the table, and by its words",
            .timeLimit(.minutes(3)),
            arguments: groups.keys.sorted()
        )
        func tasks(group: String) async throws {
            let rows = Dictionary(try TaskTable().rows.map { ($0.task, $0) }) { first, _ in first }
            let bench = try await TaskBench()
            for story in Self.groups[group] ?? [] {
                guard let row = rows[story.task] else {
                    Issue.record("'\(story.task)' is not in the table")
                    continue
                }
                do {
                    try await story.run(row, on: bench)
                } catch {
                    throw Program.ProgramError(description: "\(story.task): \(error)")
                }
            }
        }
    }
}
