import Foundation
import Support
import Testing

extension UserStories {
    @Suite("The console as lines")
    struct LinearConsole {
        @Test("A whole job by words: look, filter, make a rule, hold and edit, save, compare, export")
        func wholeJob() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LinearProcess()
            let origin = "http://127.0.0.1:\(nginx.plain)/"
            // A rule that is written out needs no exchange to be made from.
            try await console.says("rule block {at: \"*/nothing\"}", until: "apply activates it")
            try await console.says("discard", until: "Draft discarded.")
            try await console.curl("\(origin)one?a=1")
            try await console.hears("1, GET ")
            try await console.curl("\(origin)two")
            try await console.hears("2, GET ")

            #expect(try await console.says("list", until: "2 exchanges.").contains("/one?a=1, 200, "))
            #expect(try await console.says("filter path:/two", until: "1 exchange of 2.").contains("1 exchange of 2."))
            #expect(try await console.says("filter path:(", until: "Filter:").contains("Filter:"))
            try await console.says("clear-filter", until: "2 exchanges.")
            #expect(try await console.says("show 1 request", until: "End of request").contains("GET \(origin)one?a=1"))

            // A rule from the exchange that was shown is drafted, counted, and put in force.
            let draft = try await console.says("rule block", until: "apply activates it")
            #expect(draft.contains("It would match 1 of 2 recorded exchanges"))
            try await console.says("apply", until: "added; it is active.")
            try await console.curl("\(origin)one?a=1")
            #expect(try await console.hears("3, GET ").contains("403"))
            try await console.says("undo", until: "Rule change undone")

            // A request is held, changed, and goes on.
            try await console.says("rule breakpoints {at: \"*/held\", on: [request]}", until: "apply activates it")
            try await console.says("apply", until: "added; it is active.")
            let held = try console.startCurl("\(origin)held")
            try await console.hears("Held 4.1, request GET \(origin)held; execute, edit, cancel, abort")
            try await console.says("edit 4.1 method=PUT header=\"X-Mode: a b\"", until: "Sent with your edits.")
            #expect(try await held.outcome().status == 0)
            try await console.hears("4, ")
            #expect(try await console.says("show 4 difference", until: "End of").contains("req.header.x-mode"))

            // What is wrong is said, and the next line is taken anyway.
            try await console.says("nonsense", until: "Unknown command 'nonsense'")
            try await console.says("toggle", until: "throttle: Throttle")

            try await console.says("mark 1", until: "1 is marked.")
            try await console.says("go 2", until: "2, GET ")
            try await console.says("compare", until: "1 and 2 compared:")
            try await console.says("mark 1", until: "1 is not marked any more.")
            let har = console.scratch.path("all.har")
            try await console.says("export har \(har)", until: "4 exchanges are in \(har)")
            let rules = console.scratch.path("rules.yaml")
            try await console.says("save-profile \(rules)", until: "Copy of the rules saved to")
            #expect(try String(contentsOfFile: rules, encoding: .utf8).contains("*/held"))
            try await console.says("status", until: "Breakpoints: on, 1 rule.")
            try console.type("quit")
            try await console.hears("Answer s: save the rules and quit; y: quit anyway; n: stay.")
            try console.type("yes")
            // Some of the lines were in vain.
            let end = try await console.end()
            #expect(end == 1)
            #expect(!console.output.contains("\u{1B}"))
        }

        @Test("A script on a recorded session does the same each time, and its end says whether a line was in vain")
        func script() async throws {
            let nginx = try await ReportingNginx()
            let sluice = try await SluiceProcess()
            _ = try await sluice.get("http://127.0.0.1:\(nginx.plain)/one")
            _ = try await sluice.get("http://127.0.0.1:\(nginx.plain)/two")
            _ = try await sluice.stop()
            func run(_ script: String) async throws -> Program.Outcome {
                try await Program.run(
                    try SluiceProcess.executable(),
                    ["open", "--linear", sluice.session],
                    environment: SluiceProcess.environment(sluice.scratch).merging(
                        ["HOME": sluice.scratch.path]
                    ) { $1 },
                    input: Array(script.utf8)
                )
            }
            let outcome = try await run("list 1\nfilter path:/one\nlist\nshow 1\n")
            #expect(outcome.status == 0, "\(outcome.errors)")
            let lines = outcome.text.split(separator: "\n").map(String.init)
            let list = try #require(lines.firstIndex { $0.hasPrefix("2, GET ") })
            #expect(lines[list + 1] == "2 exchanges.")
            #expect(lines[list + 2] == "1 exchange of 2.")
            #expect(lines[list + 3].hasPrefix("1, GET "))
            #expect(outcome.text.contains("Exchange 1, overview:"))
            #expect(try await run("repeat 1").status == 1)
            #expect(try await run("list\nfilter (\n").status == 1)
            #expect(try await run("filter (\nlist").status == 1)
            #expect(try await run("").status == 0)

            // What names an exchange is about that one, or in vain.
            func says(_ line: String) async throws -> (status: Int32?, text: String) {
                let outcome = try await run("show 2\n\(line)\n")
                return (outcome.status, outcome.text.components(separatedBy: "shows more.\n").last ?? "")
            }
            #expect(try await says("why 1").text.contains("exchange 1"))
            #expect(try await says("copy-curl 1").text.contains("/one"))
            #expect(try await says("copy url").text.contains("/two"))
            #expect(try await run("show 1").text.contains("/one"))
            for (line, words) in [
                ("go 77", "Exchange 77 is not in the list."), ("show 99", "Exchange 99 is not in this session."),
                ("why x", "'x' is not an exchange number."), ("copy-curl 99", "not in this session."),
                ("show 1 messages", "Exchange 1 has no page 'messages'."), ("list x", "list takes a number"),
                ("next 3", "next takes no argument"), ("export curl -", "'-' is not a file name"),
                ("save-body 1 --x", "'--x' is not a file name"), ("sort size up", "The order is"),
            ] {
                let (status, text) = try await says(line)
                #expect(status == 1 && text.contains(words), "\(line): \(text)")
            }
            for line in [
                "export har \(sluice.session)", "save-body 2 \(sluice.session)", "save-session \(sluice.session)",
            ] {
                let (status, text) = try await says(line)
                #expect(status == 1 && text.contains("is the session itself."), "\(line): \(text)")
            }
            #expect(try sluice.records().count == 2)
            // A name of one character is one.
            let folder = sluice.scratch.path("here")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let short = try await Program.run(
                try SluiceProcess.executable(),
                ["open", "--linear", sluice.session],
                environment: SluiceProcess.environment(sluice.scratch).merging(["HOME": sluice.scratch.path]) { $1 },
                input: Array("save-body 2 z\nexport har x\nexport json 1\nsave-body 2 é\n".utf8),
                directory: folder
            )
            #expect(short.status == 0, "\(short.errors)")
            #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder)) == ["z", "x", "1", "é"])
            let name = sluice.scratch.path("the body")
            #expect(try await says("save-body 1 \"\(name)\"").status == 0)
            #expect(FileManager.default.fileExists(atPath: name))
            #expect(try await says("save-body ~/home").status == 0)
            // The last of the list, a question without an answer, and one with a wrong answer.
            #expect(try await run("show last").text.contains("/two"))
            #expect(try await says("sort time\nwhy last").status == 0)
            #expect(try await run("filter path:/one\nshow last").text.contains("/one"))
            let har = sluice.scratch.path("twice.har")
            #expect(try await says("export har \(har)").status == 0)
            let unanswered = try await says("export har \(har)")
            #expect(unanswered.status == 1 && unanswered.text.contains("The question was not answered"))
            #expect(try await says("export har \(har)\nperhaps\noverwrite").status == 1)
            #expect(try await says("export har \(har)\noverwrite").status == 0)
            #expect(try await says("redraw").text.contains("'redraw' is for the screen."))
            #expect(FileManager.default.fileExists(atPath: sluice.scratch.path("home")))
            #expect(try await says("copy raw").text.contains("^M") == false)
            #expect(try await says("mark 1\ncompare 2").text.contains("1 and 2 compared:"))
            #expect(try await says("sort time\nsort size").text.contains("not in the list") == false)
            #expect(try await says("sort size").text.contains("Sorted by size, ascending."))
            #expect(try await says("highlight path:/one\nlist\nhighlight").text.contains(", highlight 1\n"))
        }
    }
}
