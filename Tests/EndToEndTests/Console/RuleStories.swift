import Foundation
import Support
import Terminal
import Testing

extension UserStories.Consoles {
    @Suite("Rules and tools")
    struct RuleStories {
        @Test("A path is blocked from its exchange", .timeLimit(.minutes(2)))
        func block() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            try await console.visit(nginx, "/tracker/pixel")
            try await console.addRule("b", remark: "It would match 1 of 1 recorded exchanges")
            let answer = try await console.visit(nginx, "/tracker/pixel")
            #expect(answer.status == 403)
            #expect(try await console.visit(nginx, "/other").status == 200)
            #expect(try await nginx.requests(2).count == 2)
            // The tool is switched off, and everything passes.
            try await console.screen.send("b", waitFor: "Block list: off.")
            #expect(try await console.answer("https://localhost:\(nginx.secure)/tracker/pixel").status == 200)
        }

        @Test("A body is saved, changed, and answered with instead", .timeLimit(.minutes(2)))
        func mapLocal() async throws {
            let nginx = try await ReportingNginx()
            try nginx.put("user.json", #"{"name":"Ada"}"#)
            let console = try await LiveConsole()
            try await console.visit(nginx, "/files/user.json")
            try await console.screen.send(Keys.control("o"), waitFor: "File for the body")
            try await console.screen.send("user.json" + Keys.enter, waitFor: "body is saved to user.json")
            #expect(latin1(console.scratch.bytes("user.json")) == #"{"name":"Ada"}"#)
            try console.scratch.write("user.json", #"{"name":"Grace"}"#)
            let url = "https://localhost:\(nginx.secure)/files/user.json"
            try await console.addRule("l", "from: \(url)\nto: user.json", remark: "It would match 1 of 1")
            let answer = try await console.answer(url)
            #expect(answer.text == #"{"name":"Grace"}"#)
            #expect(answer.value("Content-Type") == "application/json")
            #expect(try await nginx.requests(1).count == 1)
        }

        @Test("Rules are made from the open exchange: a value is set, and its answer is kept", .timeLimit(.minutes(2)))
        func fromTheScreen() async throws {
            let nginx = try await ReportingNginx()
            try nginx.put("user.json", #"{"name":"Ada","plan":"free"}"#)
            let console = try await LiveConsole()
            let screen = console.screen
            let url = "https://localhost:\(nginx.secure)/files/user.json"
            try await console.visit(nginx, "/files/user.json")
            try await screen.send(Keys.enter, waitFor: #""plan": "free""#)
            try await screen.send("/plan" + Keys.enter, waitFor: "Match 1 of 1")
            try await screen.send("ar", waitFor: "set: res.json.plan")
            try await console.replace("to: free", with: "to: pro")
            // The rule is tried on what was recorded.
            try await screen.wait(for: "It would match 1 of 1 recorded exchanges, for example #1: ")
            try await screen.send(Keys.control("s"), waitFor: "added; it is active.")
            #expect(try await console.answer(url).text == #"{"name":"Ada","plan":"pro"}"#)
            // The answer as it was received stands in the rule.
            try await screen.send("al", waitFor: "status: 200")
            try await console.replace("Ada", with: "Grace")
            try await screen.wait(for: "It would match")
            try await screen.send(Keys.control("s"), waitFor: "added; it is active.")
            let answer = try await console.answer(url)
            #expect(answer.text == #"{"name":"Grace","plan":"pro"}"#)
            #expect(answer.value("Content-Type") == "application/json")
            #expect(try await nginx.requests(2).count == 2)
        }

        @Test("A rewrite rule works at once, and undo takes it back", .timeLimit(.minutes(2)))
        func rewriteAndUndo() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            try await console.visit(nginx, "/page")
            try await console.addRule("r")
            #expect(try await console.visit(nginx, "/page").value("X-Sluice") == "seen")
            try await console.screen.send("u", waitFor: "Rule change undone")
            #expect(try await console.visit(nginx, "/page").value("X-Sluice") == "")
        }

        @Test("The network is slow with a preset, and fast again without", .timeLimit(.minutes(2)))
        func throttle() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            try await console.visit(nginx, "/slow")
            try await console.screen.send("xp", waitFor: "off: no throttling")
            try await console.screen.send("3g", waitFor: "> 3g ")
            try await console.screen.send(Keys.enter)
            try await console.screen.waitUntilGone("off: no throttling")
            try await console.screen.send("T", waitFor: "Throttle: on, 1 rule")
            try await console.screen.escape(closing: "Throttle: on")
            let slow = try await console.answer("https://localhost:\(nginx.secure)/slow?throttled")
            #expect(slow.status == 200)
            // The latency of the preset is a few hundred milliseconds for each round trip.
            #expect(slow.seconds > 0.15, "\(slow.seconds)")
            try await console.screen.send("T", waitFor: "Throttle: on")
            try await console.screen.send("o", waitFor: "Throttle: off")
            try await console.screen.escape(closing: "Throttle: off")
            try await console.screen.send("t", waitFor: "Throttle: on.")
            try await console.screen.send("xp", waitFor: "off: no throttling")
            try await console.screen.send(Keys.enter)
            try await console.screen.waitUntilGone("off: no throttling")
            try await console.screen.send("T", waitFor: "Throttle: off, 1 rule")
            let fast = try await console.answer("https://localhost:\(nginx.secure)/slow?free")
            #expect(fast.seconds < slow.seconds, "\(fast.seconds) \(slow.seconds)")
        }

        @Test("Rules are saved into the profile's file, and its comments stay", .timeLimit(.minutes(2)))
        func save() async throws {
            let nginx = try await ReportingNginx()
            let profile = """
                # What we agreed on in March.
                version: 1
                rewrite:
                  - name: a note  # for the backend
                    at: "*"
                    rules:
                      - { add: header, on: request, name: X-Note, to: "from the file" }

                """
            let console = try await LiveConsole(profile: profile)
            try await console.visit(nginx, "/save")
            #expect(try await console.report("https://localhost:\(nginx.secure)/save")["note"] == "from the file")
            try await console.addRule("b")
            #expect(console.profile == profile)
            try await console.screen.send(Keys.control("s"), waitFor: "Saved to")
            #expect(console.profile.hasPrefix("# What we agreed on in March.\n"), "\(console.profile)")
            #expect(console.profile.contains("- name: a note  # for the backend\n"), "\(console.profile)")
            #expect(console.profile.contains("block:\n"), "\(console.profile)")
            #expect(console.profile.contains("localhost:\(nginx.secure)/save"), "\(console.profile)")
            // What is in the file is what another run does.
            try await console.screen.send("q")
            #expect(try await console.screen.exitStatus() == 0)
            let next = try await LiveConsole(
                ["--profile", console.scratch.path("profile.yaml")],
                scratch: console.scratch
            )
            #expect(try await next.answer("https://localhost:\(nginx.secure)/save").status == 403)
        }

        @Test("Quitting asks where rules are in no file, and saves them if told to", .timeLimit(.minutes(2)))
        func quitUnsaved() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(profile: "version: 1\n")
            try await console.visit(nginx, "/quit")
            try await console.addRule("b")
            try await console.screen.send("q", waitFor: "You have unsaved rule changes.")
            try await console.screen.send("n")
            try await console.screen.waitUntilGone("You have unsaved rule changes.")
            #expect(console.profile == "version: 1\n")
            try await console.screen.send("q", waitFor: "You have unsaved rule changes.")
            try console.scratch.write("profile.yaml", "version: 1\n# theirs\n")
            try await console.screen.send("s", waitFor: "reload the file")
            #expect(!console.screen.text.contains("\"force\""))
            try await console.screen.send("o")
            #expect(try await console.screen.exitStatus() == 0)
            #expect(console.profile.contains("block:"), "\(console.profile)")
            #expect(console.screen.isRestored)
        }
    }
}
