import Foundation
import Recording
import Support
import Terminal
import Testing

extension UserStories.Consoles {
    @Suite("Starting, stopping, other sessions")
    struct LifeStories {
        @Test("The console attaches to a run elsewhere, sees its traffic and steers it", .timeLimit(.minutes(2)))
        func attach() async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting { _ in
                "block: [{ at: \"*/blocked*\", action: 403 }]"
            }
            let url = "https://localhost:\(nginx.secure)"
            _ = try await sluice.answer(url + "/earlier")
            let screen = try ConsoleScreen(["attach"], scratch: sluice.scratch)
            try await screen.row(containing: "/earlier", "200")
            try await screen.wait(for: "on: block")
            #expect(try await sluice.answer(url + "/blocked").status == 403)
            try await screen.row(containing: "/blocked", "403")
            try await screen.send("b", waitFor: "Block list: off.")
            #expect(try await sluice.answer(url + "/blocked").status == 200)
            // Its end is not the end of the run.
            try await screen.send("q")
            #expect(try await screen.exitStatus() == 0)
            #expect(screen.isRestored)
            #expect(try await sluice.answer(url + "/later").status == 200)
            let view = try ConsoleScreen(["attach", "--view"], scratch: sluice.scratch)
            try await view.row(containing: "/later", "200")
            try await view.send("b", waitFor: "attached with --view")
            #expect(try await sluice.told("tool", "list").contains("block"))
            #expect(try await sluice.answer(url + "/blocked").status == 200)
        }

        @Test("A recorded session opens, and has no proxy to steer", .timeLimit(.minutes(2)))
        func openRecorded() async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting { _ in "block: []" }
            _ = try await sluice.answer("https://localhost:\(nginx.secure)/recorded", "-H", "X-Note: kept")
            _ = try await sluice.exchange(path: "/recorded")
            _ = try await sluice.stop()
            let screen = try ConsoleScreen(["open", sluice.session], scratch: sluice.scratch)
            try await screen.row(containing: "/recorded", "200")
            try await screen.send(Keys.enter + "1", waitFor: "https://localhost:\(nginx.secure)/recorded")
            try await screen.send("3", waitFor: "note kept")
            try await screen.closeDetail(with: "note kept")
            try await screen.send("p", waitFor: "viewing a recording")
            try await screen.send("q")
            #expect(try await screen.exitStatus() == 0)
        }

        @Test("What was recorded before kill -9 is there when the session goes on", .timeLimit(.minutes(2)))
        func killed() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            for number in 1...5 { try await console.visit(nginx, "/before/\(number)") }
            console.screen.signal(SIGKILL)
            #expect(try await console.screen.exitStatus() == -SIGKILL)
            let next = try await LiveConsole(scratch: console.scratch)
            for number in 1...5 { try await next.screen.row(containing: "/before/\(number)", "200") }
            try await next.visit(nginx, "/after")
            let ids = next.screen.rows.compactMap { row in
                row.firstMatch(of: /(\d+) .*\/(?:before\/\d|after)/).flatMap { Int($0.1) }
            }
            #expect(ids == Array(1...6), "\(next.screen.text)")
        }

        @Test("SIGTERM ends it in order, and gives the terminal back", .timeLimit(.minutes(2)))
        func terminated() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            try await console.visit(nginx, "/last")
            #expect(!console.screen.isRestored)
            console.screen.signal(SIGTERM)
            #expect(try await console.screen.exitStatus() == 0)
            try await eventually("the terminal is as it was") { console.screen.isRestored }
            let listed = try await SluiceProcess.run(["list", console.session], scratch: console.scratch)
            #expect(listed.text.contains("/last"))
        }

        @Test("A terminal that is closed, and says so more than once, leaves a closed session", .timeLimit(.minutes(2)))
        func hungUp() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            try await console.visit(nginx, "/last")
            try await eventually("it ends") {
                console.screen.signal(SIGHUP)
                return console.screen.status != nil
            }
            #expect(try await console.screen.exitStatus() == 0)
            let reader = try SessionReader(path: console.session)
            #expect(try reader.runs().allSatisfy { $0.endedAt != nil } && reader.count() == 1)
            for suffix in ["-wal", "-shm", "-journal"] {
                #expect(!FileManager.default.fileExists(atPath: console.session + suffix))
            }
        }

        @Test("It is suspended to the shell and comes back", .timeLimit(.minutes(2)))
        func suspended() async throws {
            let nginx = try await ReportingNginx()
            let scratch = try Scratch()
            let screen = try ConsoleScreen(
                ["--norc", "--noprofile", "-i"],
                program: try Program.path(of: "bash"),
                environment: ["PS1": "shell> "],
                scratch: scratch
            )
            try await screen.wait(for: "shell>")
            let sluice = try SluiceProcess.executable()
            try await screen.send("\(sluice) --listen 127.0.0.1:\(try unusedPort()) --session s.sluice\r")
            try await screen.wait(for: "Waiting for traffic")
            #expect(screen.screen.modes.contains(1049))
            try await screen.send(Keys.control("z"), waitFor: "topped")
            #expect(!screen.screen.modes.contains(1049))
            try await screen.send("echo ........sum $((20+3))\r", waitFor: "sum 23")
            try await screen.send("fg\r", waitFor: "Waiting for traffic")
            try await screen.wait("the alternate screen") { _ in screen.screen.modes.contains(1049) }
            let address = try #require(screen.text.firstMatch(of: /127\.0\.0\.1:\d+/)).output
            let outcome = try await Program.run(
                "curl",
                ["-sS", "--noproxy", "", "--proxy", "http://\(address)", "http://127.0.0.1:\(nginx.plain)/resumed"]
            )
            #expect(outcome.text.contains("/resumed"), "\(outcome.errors)")
            try await screen.row(containing: "/resumed", "200")
            try await screen.send("q", waitFor: "shell>")
            try await screen.send("echo ........left $?\r", waitFor: "left 0")
            try await screen.send("exit\r")
            #expect(try await screen.exitStatus() == 0)
        }

        @Test("Without a terminal it ends with the three ways to start", .timeLimit(.minutes(2)))
        func noTerminal() async throws {
            let scratch = try Scratch()
            let outcome = try await SluiceProcess.run([], scratch: scratch)
            #expect(outcome.status == 2)
            #expect(outcome.output.isEmpty)
            for way in ["sluice run  ", "sluice run --profile", "sluice demo"] {
                #expect(outcome.errors.contains(way), "\(outcome.errors)")
            }
        }

        @Test("The demo has something of every kind", .timeLimit(.minutes(2)))
        func demo() async throws {
            let screen = try ConsoleScreen(["demo"], size: Size(width: 160, height: 50))
            // A message that waits, a rule that fired, WebSocket, events, gRPC, an unread tunnel, an answer that failed.
            try await screen.row(containing: "HELD", "/api/login")
            for (path, sign) in [
                ("/api/chat", "101"), ("/api/events", "event-str"), ("/pixel.gif", "403"), ("/api/broken", "500"),
                ("/locks.v1.Locks/GetLevel", "grpc"), ("not decrypted", "CONNECT"), ("/api/stock", "502"),
            ] {
                try await screen.row(containing: path, sign)
            }
            // The held one goes on, and the exchange ends.
            try await screen.send("X")
            try await screen.waitUntilGone("HELD")
            try await screen.send("q")
            #expect(try await screen.exitStatus() == 0)
        }
    }
}
