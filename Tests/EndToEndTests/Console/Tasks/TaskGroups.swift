import Foundation
import HTTPModel
import Recording
import Support
import Testing

/// What every task begins with, what is to be seen and heard, and what then is so.
extension UserStories.Consoles.TaskStories {
    static let groups: [String: [TaskStory]] = [
        "reading": reading, "finding": finding, "sending": sending, "rules": rules, "held messages": held,
        "the session": session,
    ]

    static let reading = [
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
        TaskStory(
            task: "find in body, next match",
            sees: "Match 2 of 2",
            hears: "Grace",
            after: { try await $0.console.screen.row(containing: "»", "Grace") }
        ),
        TaskStory(
            task: "copy cURL",
            sees: "cURL command sent to the terminal's clipboard",
            hears: "/files/user.json",
            after: { try await $0.copies("curl ") }
        ),
        TaskStory(
            task: "copy body",
            sees: "Response body sent to the terminal's clipboard",
            hears: #""Ada""#,
            after: { try await $0.copies(TaskBench.user) }
        ),
        TaskStory(
            task: "copy a header",
            sees: "Header line sent to the terminal's clipboard",
            hears: "etag: ",
            after: { try await $0.copies("etag: ") }
        ),
        TaskStory(
            task: "save a body",
            waits: ["ctrl-o": "File for the body"],
            sees: "body is saved to",
            hears: "body.bin",
            after: { bench in
                let file = "local/localhost_\(bench.nginx.secure)/files/user.json"
                #expect(bench.console.scratch.text(file) == TaskBench.user)
                #expect(bench.lines.scratch.text("body.bin") == TaskBench.user)
            }
        ),
        TaskStory(
            task: "open a body in the pager",
            sees: #"{"name":"Ada""#,
            hears: "The body is in ",
            after: { bench in
                try await bench.press([.key("enter")], waits: ["enter": "The body was shown with"])
                #expect(bench.console.scratch.text("paged") == TaskBench.user)
                let path = bench.lines.output.matches(of: /The body is in (\S+)/).last.map { String($0.1) } ?? ""
                #expect(try String(contentsOfFile: path, encoding: .utf8) == TaskBench.user)
            }
        ),
        TaskStory(task: "why", sees: "Why: exchange 2", hears: "exchange 2"),
    ]

    static let finding = [
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
        TaskStory(
            task: "columns",
            sees: "SCHEME",
            hears: "scheme https",
            after: { bench in
                try await bench.console.screen.waitUntilGone("Columns:")
                try await bench.console.screen.row(containing: "/files/none", "404", "https")
            }
        ),
        TaskStory(task: "sort by time", sees: "TIME▲", hears: "Sorted by time, ascending."),
    ]

    static let sending = [
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
        TaskStory(
            task: "repeat 10×",
            sees: "Sent 10 times",
            hears: "Sent 10 times",
            after: { bench in
                try await eventually("ten requests of both and the one before are at the server") {
                    bench.nginx.requests.count { $0.hasSuffix("GET /edited") } >= 2 * (2 + 10)
                }
            }
        ),
        TaskStory(
            task: "new request",
            waits: ["ctrl-n": "New request", "enter": "ctrl-s send"],
            sees: "Sent: GET http://localhost:1/, 502",
            hears: "Sent: GET http://localhost:1/, 502",
            after: { bench in
                try await bench.console.screen.row(containing: "localhost:1 ", "502")
                try await bench.lines.says("list 1", until: "GET localhost:1/, 502")
            }
        ),
    ]

    static let rules = [
        TaskStory(
            task: "block a URL",
            before: { try await $0.visit("/blocked") },
            waits: ["b": "ctrl-s apply"],
            sees: "added; it is active.",
            hears: "added; it is active.",
            after: { try await $0.check("/blocked") { $0.status == 403 } }
        ),
        TaskStory(task: "undo a rule", sees: "Rule change undone", hears: "Rule change undone"),
        TaskStory(
            task: "block a host",
            waits: ["b": "ctrl-s apply"],
            sees: "added; it is active.",
            hears: "added; it is active.",
            after: { bench in
                try await bench.check("/any") { $0.status == 403 }
                try await bench.press([.key("u")], waits: ["u": "Rule change undone"])
                try await bench.lines.says("undo", until: "Rule change undone")
            }
        ),
        TaskStory(
            task: "map remote",
            before: { try await $0.visit("/mapped") },
            waits: ["m": "ctrl-s apply"],
            sees: "added; it is active.",
            hears: "added; it is active."
        ),
        TaskStory(
            task: "map local with the recorded answer",
            before: { bench in
                try bench.nginx.put("local.json", longAnswer)
                try await bench.visit("/files/local.json")
            },
            waits: ["l": "ctrl-s apply", "ctrl-s": "save it and apply"],
            // In the notice, or where the line says what is on.
            sees: "map-local",
            hears: "added; it is active.",
            after: { bench in
                try bench.nginx.put("local.json", "another one by now")
                let file = "local/localhost_\(bench.nginx.secure)/files/local.json"
                for scratch in [bench.console.scratch, bench.lines.scratch] {
                    try await eventually("the recorded answer is in \(file)") { scratch.text(file) == longAnswer }
                }
                try await bench.check("/files/local.json") { $0.text == longAnswer }
            }
        ),
        TaskStory(
            task: "rewrite a header",
            before: { try await $0.visit("/rewritten") },
            waits: ["r": "ctrl-s apply"],
            sees: "added; it is active.",
            hears: "added; it is active.",
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

    static let held = [
        TaskStory(
            task: "breakpoint on this",
            before: { try await $0.visit("/held") },
            waits: ["k": "ctrl-s apply"],
            sees: "added; it is active.",
            hears: "added; it is active."
        ),
        TaskStory(
            task: "let one go as edited",
            before: { try await $0.hold("/held") },
            waits: ["e": "Held request"],
            sees: "Sent with your edits.",
            hears: "Sent with your edits.",
            after: { try await $0.letResponsesGo() }
        ),
        TaskStory(
            task: "let all go",
            before: { try await $0.hold("/held") },
            sees: "executed.",
            hears: "executed.",
            after: { try await $0.letResponsesGo() }
        ),
        TaskStory(
            task: "abort a held one",
            before: { try await $0.hold("/held") },
            sees: "The message is aborted.",
            hears: "The message is aborted.",
            after: { try await $0.clientsEnd { $0 != 0 } }
        ),
    ]

    static let session = [
        TaskStory(
            task: "export HAR",
            before: { try await $0.visit("/one", "/two", "/three") },
            sees: "in sluice.har",
            hears: "are in all.har"
        ),
        TaskStory(
            task: "comment",
            sees: "1 exchange commented.",
            hears: "1 exchange commented.",
            after: { bench in
                try await bench.press([.key("/"), .text("comment:slow"), .key("enter")])
                try await bench.console.screen.wait(for: "1 of 3")
                try await bench.console.screen.row(containing: "\"3", "/three")
                try await bench.lines.says("list 1", until: "comment slow")
            }
        ),
        TaskStory(
            task: "save the session",
            sees: "saved to a.",
            hears: "saved to a.",
            after: { bench in
                for scratch in [bench.console.scratch, bench.lines.scratch] {
                    let records = try SessionReader(path: scratch.path("a")).records(limit: 10)
                    #expect(records.map(\.url.path).sorted() == ["/one", "/three", "/two"])
                }
            }
        ),
        TaskStory(
            task: "decrypt a host",
            before: { bench in
                try await bench.press([.key("ctrl-d")], waits: ["ctrl-d": "will not be decrypted"])
                try await bench.lines.says("pass last", until: "will not be decrypted")
                let server = ["--cacert", try await TestAuthority.shared.root, "\(bench.site)/unread"]
                for answers in [try await bench.console.answers([server]), try await bench.lines.answers([server])] {
                    #expect(answers[0].status == 200)
                }
                try await bench.console.screen.row(containing: "CONNECT", "200")
                try await bench.lines.hears("tunnel to localhost")
            },
            sees: "is decrypted from its next connection on",
            hears: "is decrypted from its next connection on",
            after: { try await $0.check("/decrypted") { $0.status == 200 } }
        ),
        TaskStory(
            task: "delete",
            sees: "1 exchange deleted",
            hears: "1 exchange deleted",
            after: { bench in
                try await bench.console.screen.waitUntilGone("/decrypted")
                try await bench.lines.hears("4 exchanges.")
                let rest = try await bench.lines.says("list 10", until: "4 exchanges.")
                #expect(rest.contains("/three") && !rest.contains("/decrypted"))
                try await bench.press([.key("u")], waits: ["u": "1 exchange is restored."])
                try await bench.console.screen.row(containing: "/decrypted", "200")
            }
        ),
        TaskStory(
            task: "clear",
            sees: "Waiting for traffic",
            hears: "4 exchanges deleted",
            after: { bench in
                try await bench.lines.hears("0 exchanges.")
                #expect(!bench.console.screen.text.contains("/one"))
            }
        ),
        TaskStory(
            task: "record off",
            sees: "Recording is off",
            hears: "Recording is off",
            after: { bench in
                for proxy in [bench.console as any ProxyUnderTest, bench.lines] {
                    #expect(try await proxy.answer("\(bench.site)/unrecorded").status == 200)
                }
                try await bench.console.screen.wait(for: "1 passed")
                #expect(!bench.console.screen.text.contains("/unrecorded"))
                try await bench.lines.says("status", until: "0 exchanges.")
            }
        ),
    ]
}

/// Too long to stand in a rule, so that the rule names a file.
private let longAnswer = String(repeating: "as recorded ", count: 2_000)
