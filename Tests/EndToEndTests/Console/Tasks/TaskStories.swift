import Foundation
import Support
import Testing

extension EndToEnd.Consoles {
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
                // Its filters are regular expressions by themselves, ours are where they stand between slashes.
                #expect(count <= others || row.task == "regex filter", "\(row.task): \(count) and \(others)")
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
                guard !row.isPending else { continue }
                do {
                    try await story.run(row, on: bench)
                } catch {
                    throw Program.ProgramError(description: "\(story.task): \(error)")
                }
            }
        }

        private static let groups: [String: [TaskStory]] = [
            "reading": reading, "finding": finding, "sending": sending, "rules": rules, "held messages": held,
            "the session": session,
        ]

        private static let reading = [
            TaskStory(
                task: "read the newest body",
                before: { try await $0.visit("/one", "/files/user.json") },
                sees: #""name": "Ada""#,
                hears: "End of response"
            ),
            TaskStory(
                task: "next exchange while reading",
                before: { try await $0.press([.key("k"), .key("k"), .key("enter")]) },
                sees: "/files/user.json",
                hears: "/files/user.json"
            ),
            TaskStory(task: "find in body, next match", sees: "Ada", hears: "Ada"),
            TaskStory(task: "copy cURL", sees: "cURL command handed to the terminal", hears: "/files/user.json"),
            TaskStory(task: "copy body", sees: "Response body handed to the terminal", hears: #""Ada""#),
            TaskStory(task: "copy a header", sees: "handed to the terminal", hears: ":"),
            TaskStory(
                task: "save a body",
                waits: ["ctrl-o": "File for the body"],
                sees: "body is in",
                hears: "body.bin"
            ),
            TaskStory(task: "open a body in the pager", sees: "Ada", hears: ""),
            TaskStory(task: "why", sees: "Why: exchange 2", hears: "exchange 2"),
        ]

        private static let finding = [
            TaskStory(
                task: "filter by host",
                before: { try await $0.visit("/one", "/files/needle.json", "/v1/me", "/files/none.json") },
                sees: "filter: localhost",
                hears: "4 exchanges."
            ),
            TaskStory(
                task: "search bodies",
                sees: "1 of 4",
                hears: "1 exchange of 4.",
                after: { try await $0.lines.says("clear-filter", until: "4 exchanges.") }
            ),
            TaskStory(
                task: "filter 404",
                sees: "1 of 4",
                hears: "1 exchange of 4.",
                after: { try await $0.lines.says("clear-filter", until: "4 exchanges.") }
            ),
            TaskStory(
                task: "regex filter",
                sees: "1 of 4",
                hears: "1 exchange of 4.",
                after: { try await $0.lines.says("clear-filter", until: "4 exchanges.") }
            ),
            TaskStory(
                task: "focus a host",
                sees: "focus: localhost",
                hears: "4 exchanges.",
                after: { try await $0.lines.says("clear-filter", until: "4 exchanges.") }
            ),
            TaskStory(task: "see a leaf of the tree and come back", sees: "METHOD", hears: "localhost"),
            TaskStory(
                task: "mark",
                sees: "marked 1",
                hears: "4 is marked.",
                after: { try await $0.press([.key("space")]) }
            ),
            TaskStory(task: "compare two", sees: "compared", hears: "compared:"),
            TaskStory(task: "columns", sees: "SCHEME", hears: "End of"),
            TaskStory(task: "sort by time", sees: "TIME▲", hears: "Sorted by time, ascending."),
        ]

        private static let sending = [
            TaskStory(
                task: "send again",
                before: { try await $0.visit("/again") },
                sees: "Sent: GET",
                hears: "Sent: GET"
            ),
            TaskStory(
                task: "edit and send",
                before: { try await $0.visit("/edited") },
                waits: ["P": "Edit and send"],
                sees: "/edited, 200",
                hears: "/edited, 200",
                after: { bench in
                    // What was added got to the server.
                    let shown = try await bench.lines.says("show last request", until: "End of request")
                    #expect(shown.contains(/X-Note +hi/), "\(shown)")
                }
            ),
            TaskStory(task: "new request", sees: "localhost:1", hears: "localhost:1"),
            TaskStory(task: "repeat 10×", sees: "Sent 10 times", hears: "Sent 10 times"),
        ]

        private static let rules = [
            TaskStory(
                task: "block a URL",
                before: { try await $0.visit("/blocked") },
                waits: ["b": "ctrl-s apply"],
                sees: "added; it is in force.",
                hears: "added; it is in force.",
                after: { try await $0.check("/blocked") { $0.status == 403 } }
            ),
            TaskStory(task: "undo a rule", sees: "is taken back.", hears: "is taken back."),
            TaskStory(
                task: "block a host",
                waits: ["b": "ctrl-s apply"],
                sees: "added; it is in force.",
                hears: "added; it is in force.",
                after: { bench in
                    try await bench.check("/any") { $0.status == 403 }
                    try await bench.press([.key("u")], waits: ["u": "is taken back."])
                    try await bench.lines.says("undo", until: "is taken back.")
                }
            ),
            TaskStory(
                task: "map remote",
                before: { try await $0.visit("/mapped") },
                waits: ["m": "ctrl-s apply"],
                sees: "added; it is in force.",
                hears: "added; it is in force."
            ),
            TaskStory(
                task: "map local with the recorded answer",
                before: { try await $0.visit("/local") },
                waits: ["l": "ctrl-s apply", "ctrl-s": "y "],
                sees: "added; it is in force.",
                hears: "added; it is in force."
            ),
            TaskStory(
                task: "rewrite a header",
                before: { try await $0.visit("/rewritten") },
                waits: ["r": "ctrl-s apply"],
                sees: "added; it is in force.",
                hears: "added; it is in force.",
                after: { try await $0.check("/rewritten") { $0.value("X-Sluice") == "seen" } }
            ),
            TaskStory(
                task: "slow network",
                waits: ["t": "no throttling"],
                sees: "throttle lte",
                hears: "throttle lte is on."
            ),
            TaskStory(task: "no caching", sees: "is on for everything.", hears: "is on for everything."),
        ]

        private static let held = [
            TaskStory(
                task: "breakpoint on this",
                before: { try await $0.visit("/held") },
                waits: ["k": "ctrl-s apply"],
                sees: "added; it is in force.",
                hears: "added; it is in force."
            ),
            TaskStory(
                task: "let one go as edited",
                before: { try await $0.hold("/held") },
                waits: ["e": "Held request"],
                sees: "executed as edited.",
                hears: "executed as edited.",
                after: { try await $0.letGo() }
            ),
            TaskStory(
                task: "let all go",
                before: { try await $0.hold("/held") },
                sees: "executed.",
                hears: "executed.",
                after: { try await $0.letGo() }
            ),
            TaskStory(
                task: "abort a held one",
                before: { try await $0.hold("/held") },
                sees: "The message is aborted.",
                hears: "The message is aborted.",
                after: { try await $0.letGo() }
            ),
        ]

        private static let session = [
            TaskStory(
                task: "export HAR",
                before: { try await $0.visit("/one", "/two", "/three") },
                sees: "in sluice.har",
                hears: "are in all.har"
            ),
            TaskStory(task: "comment", sees: "slow", hears: "slow"),
            TaskStory(task: "save the session", sees: " a", hears: " a"),
            TaskStory(task: "decrypt a host", sees: "localhost", hears: "localhost"),
            TaskStory(task: "delete", sees: "deleted", hears: "deleted"),
            TaskStory(task: "clear", sees: "No exchange", hears: "0 exchanges"),
            TaskStory(task: "record off", sees: "NOT RECORDING", hears: "recorded"),
        ]
    }
}
