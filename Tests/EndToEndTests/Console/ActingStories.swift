import Foundation
import Support
import Terminal
import Testing

extension UserStories.Consoles {
    @Suite("Prompts, requests and settings")
    struct ActingStories {
        private static let small = Size(width: 80, height: 24)

        @Test("A prompt keeps what was typed wrongly, and what one types next is text", .timeLimit(.minutes(2)))
        func prompt() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(size: Self.small)
            try await console.visit(nginx, "/prompt")
            try await console.screen.send("V", waitFor: "Filter whose matches are coloured")
            try await console.screen.send("staus:4" + Keys.enter, waitFor: "unknown key 'staus'")
            try await console.screen.wait(for: "│ staus:4")
            try await console.screen.escape(closing: "Filter whose matches are coloured")
            try await console.screen.send(":", waitFor: "Commands")
            try await console.screen.send("columns id method path" + Keys.enter)
            try await console.screen.waitUntilGone("STATUS")
            try await console.screen.row(containing: "METHOD", "PATH")
            // It is found again at the next start, and taken back by --reset-view.
            try await console.screen.send("q")
            #expect(try await console.screen.exitStatus() == 0)
            let next = try await LiveConsole(size: Self.small, scratch: console.scratch)
            try await next.screen.row(containing: "METHOD", "PATH")
            #expect(!next.screen.text.contains("STATUS"))
            try await next.screen.send("q")
            #expect(try await next.screen.exitStatus() == 0)
            let last = try await LiveConsole(["--reset-view"], size: Self.small, scratch: console.scratch)
            try await last.screen.row(containing: "METHOD", "STATUS")
        }

        @Test("A request is written from nothing, from a pasted command, and opened again", .timeLimit(.minutes(2)))
        func newRequest() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(size: Self.small)
            let url = "http://localhost:\(nginx.plain)"
            try await console.screen.send("\u{0E}", waitFor: "New request: [METHOD] URL")
            try await console.screen.send("post \(url)/new" + Keys.enter, waitFor: "POST \(url)/new HTTP/1.1")
            try await console.screen.send("\u{1B}[1;5F" + "a=1", waitFor: "a=1")
            try await console.screen.send(Keys.control("s"), waitFor: "Sent: POST \(url)/new, 200")
            let paste = "\u{1B}[200~curl '\(url)/pasted' \\\n -H 'X-Note: from a paste' --data-raw 'q X'\n\u{1B}[201~"
            try await console.screen.send(paste, waitFor: "X-Note: from a paste")
            try await console.screen.send(Keys.control("s"), waitFor: "Sent: POST \(url)/pasted, 200")
            try await console.screen.send("\u{1B}[200~qqq\u{1B}[201~", waitFor: "Pasted text ignored")
            #expect(console.screen.status == nil)
            try await console.command("Requests sent from here")
            try await console.screen.row(containing: "> POST \(url)/pasted")
            try await console.screen.send(Keys.down + Keys.enter, waitFor: "POST \(url)/new HTTP/1.1")
            #expect(try await nginx.requests(2).count == 2)
        }

        @Test(
            "A profile in the folder is loaded by one key; a host is passed, and that is saved",
            .timeLimit(.minutes(2))
        )
        func profile() async throws {
            let nginx = try await ReportingNginx()
            let scratch = try Scratch()
            try scratch.write("sluice-rules.yaml", "version: 1\nblock:\n  - at: \"*/blocked\"\n")
            let console = try await LiveConsole(size: Self.small, scratch: scratch)
            try await console.screen.send("U", waitFor: "Loaded sluice-rules.yaml")
            #expect(try await console.visit(nginx, "/blocked").status == 403)
            try await console.screen.send(Keys.control("d"), waitFor: "will not be decrypted")
            _ = try await console.answer("https://localhost:\(nginx.secure)/passed")
            try await console.screen.row(containing: "CONNECT", "not decrypted")
            try await console.screen.send(Keys.control("s"), waitFor: "Saved to")
            let text = String(decoding: scratch.bytes("sluice-rules.yaml"), as: UTF8.self)
            #expect(text.contains("except: [\"localhost:\(nginx.secure)\"]"), "\(text)")
            try await console.screen.send("G")
            try await console.screen.send(Keys.control("d"), waitFor: "is decrypted from its next connection on")
            #expect(try await console.visit(nginx, "/again").status == 200)
        }

        @Test("Map local answers from a file that it makes from the recorded answer", .timeLimit(.minutes(2)))
        func mapLocal() async throws {
            let nginx = try await ReportingNginx()
            // Too long to stand in the rule.
            let recorded = #"{"name":"Ada","padding":"\#(String(repeating: "x", count: 20_000))"}"#
            try nginx.put("user.json", recorded)
            let console = try await LiveConsole(size: Self.small)
            try await console.visit(nginx, "/files/user.json")
            try await console.screen.send("al", waitFor: "ctrl-s apply")
            try await console.screen.wait(for: "It would match")
            try await console.screen.send(Keys.control("s"), waitFor: "does not exist")
            try await console.screen.answer("y", waitFor: "on: map-local")
            try nginx.put("user.json", #"{"name":"Grace"}"#)
            let answer = try await console.answer("https://localhost:\(nginx.secure)/files/user.json")
            #expect(answer.text == recorded)
        }

        @Test("An image goes to the system's viewer, in a file that goes with the console", .timeLimit(.minutes(2)))
        func viewer() async throws {
            let png = [0x89] + Array("PNG\r\n\u{1A}\n0123".utf8)
            let server = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: \(png.count)\r\n\r\n")
                try socket.send(png)
            }
            let scratch = try Scratch()
            let (seen, path) = (scratch.path("seen"), scratch.path("path"))
            try FileManager.default.createDirectory(atPath: scratch.path("bin"), withIntermediateDirectories: true)
            let script =
                "#!/bin/sh\ncp \"$1\" '\(seen).part' && printf %s \"$1\" > '\(path)' && mv '\(seen).part' '\(seen)'\n"
            try scratch.write("bin/xdg-open", script, mode: 0o755)
            let found = "\(scratch.path("bin")):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
            let console = try await LiveConsole(
                size: Self.small,
                environment: ["PATH": found, "DISPLAY": ":99"],
                scratch: scratch
            )
            _ = try await console.answer("http://localhost:\(server.port)/image")
            try await console.screen.row(containing: "/image", "200")
            try await console.screen.send("|", waitFor: "The body was opened with")
            try await eventually("the viewer has it") { FileManager.default.fileExists(atPath: seen) }
            #expect(scratch.bytes("seen") == png)
            let file = latin1(scratch.bytes("path"))
            #expect(file.hasSuffix("/1-response.png"), "\(file)")
            try await console.screen.send("q")
            #expect(try await console.screen.exitStatus() == 0)
            #expect(!FileManager.default.fileExists(atPath: file))
        }

        @Test(
            "A body opens in the pager, another session in the console, and both are left again",
            .timeLimit(.minutes(2))
        )
        func opening() async throws {
            let nginx = try await ReportingNginx()
            let scratch = try Scratch()
            let first = try await LiveConsole(size: Self.small, scratch: scratch)
            try await first.visit(nginx, "/early")
            try await first.screen.send("q")
            #expect(try await first.screen.exitStatus() == 0)
            try FileManager.default.moveItem(atPath: first.session, toPath: scratch.path("early.sluice"))
            let pager = try scratch.write("pager", "#!/bin/sh\ncp \"$1\" '\(scratch.path("seen"))'\n", mode: 0o755)
            let console = try await LiveConsole(size: Self.small, environment: ["PAGER": pager], scratch: scratch)
            try nginx.put("page.txt", "What the pager has to show")
            try await console.visit(nginx, "/files/page.txt")
            try await console.screen.send("|", waitFor: "The body was shown with")
            #expect(latin1(scratch.bytes("seen")) == "What the pager has to show")
            try await console.screen.send("Y", waitFor: "Session or HAR to open;")
            try await console.screen.send("ear\t" + Keys.enter, waitFor: "goes back")
            try await console.screen.row(containing: "/early")
            try await console.visitElsewhere(nginx)
            try await console.screen.send("q", waitFor: "Back to live traffic.")
            try await console.screen.row(containing: "/meanwhile", "200")
            #expect(!console.screen.text.contains("/early"))
        }
    }
}

extension LiveConsole {
    /// Asks for a page while the console shows another session.
    fileprivate func visitElsewhere(_ nginx: ReportingNginx) async throws {
        let answer = try await answer("https://localhost:\(nginx.secure)/meanwhile")
        guard answer.status == 200 else { throw Program.ProgramError(description: "no answer: \(answer.status)") }
    }
}
