import Foundation
import Support
import Terminal
import Testing

extension UserStories.Consoles {
    @Suite("The tree and the first steps")
    struct TreeStories {
        @Test("A leaf opens in place, arrows go on to the next, and the filter stays", .timeLimit(.minutes(2)))
        func leaves() async throws {
            let nginx = try await ReportingNginx()
            for name in ["a.json", "b.json"] { try nginx.put(name, #"{"name":"\#(name)"}"#) }
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            for path in ["/files/a.json", "/files/a.json?page=2", "/files/b.json"] {
                try await console.visit(nginx, path)
            }
            try await console.screen.send("/status:200" + Keys.enter, waitFor: "3 of 3")
            try await console.screen.send(Keys.tab, waitFor: "HOST AND PATH")
            try await console.screen.wait(for: "▸")
            try await console.screen.send(Keys.enter, waitFor: "files")
            try await console.screen.send(Keys.down + Keys.enter, waitFor: "a.json")
            try await console.screen.send(Keys.down + Keys.enter + "1", waitFor: "/files/a.json?page=2")
            // The tree has the keys, and its cursor takes the detail along.
            try await console.screen.send(Keys.down, waitFor: "/files/b.json")
            #expect(console.screen.text.contains("filter: status:200"))
            // The leaf's exchanges are rows of their own.
            try await console.screen.send(Keys.up + "\u{1B}[C", waitFor: "GET ?page=2")
            try await console.screen.row(containing: "GET ?page=2", "200")
            try await console.screen.send(Keys.down + Keys.down, waitFor: "[1 overview]")
            try await console.screen.wait("the older one") { text in
                text.contains("/files/a.json") && !text.contains("/files/a.json?page=2")
            }
            try await console.screen.send(" ", waitFor: "marked 1")
        }

        @Test("Hosts are focused and ignored, and marks shown alone", .timeLimit(.minutes(2)))
        func hosts() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            for path in ["/one", "/two", "/three"] { try await console.visit(nginx, path) }
            try await console.screen.send("I")
            try await console.screen.wait(for: "ignored: localhost:\(nginx.secure)")
            try await console.screen.waitUntilGone("/two ")
            try await console.screen.send("\\", waitFor: "There is no filter, search, time or focus to clear.")
            try await console.screen.send(":", waitFor: "Commands")
            try await console.screen.send("ignored host" + Keys.enter, waitFor: "all of them")
            try await console.screen.send(Keys.enter, waitFor: "/two")
            try await console.screen.send(Keys.up, waitFor: "not following")
            try await console.screen.send(" ", waitFor: "marked 1")
            try await console.screen.send("%", waitFor: "filter: marked")
            try await console.screen.waitUntilGone("/three")
            try await console.screen.send("%", waitFor: "/three")
            try await console.screen.send("*", waitFor: "marked 3")
            try await console.screen.send(Keys.control("u"), waitFor: "3 exchanges are unmarked.")
        }

        @Test("A failed HTTPS says what to do, and then it works at once", .timeLimit(.minutes(2)))
        func trust() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(
                size: Size(width: 80, height: 24),
                environment: ["SLUICE_CLIPBOARD": "file"]
            )
            try await console.screen.send("4", waitFor: "127.0.0.1:\(console.port) saved to")
            let url = "https://localhost:\(nginx.secure)/first"
            let none = ["NO_PROXY": "", "no_proxy": ""]
            let failed = try await Program.run("curl", ["-s", "-x", console.url, url], environment: none)
            #expect(failed.status == 60)
            try await console.screen.wait(for: "the client rejected Sluice's")
            try await console.screen.wait(for: "then try again;")
            #expect(!console.screen.text.contains("sluice decrypt"), "the log's words are not for the console")
            let right = ["-s", "-x", console.url, "--cacert", console.authority, url]
            let outcome = try await Program.run("curl", right, environment: none)
            #expect(outcome.status == 0)
            try await console.screen.row(containing: "GET", "/first", "200")
            #expect(console.screen.text.contains("the client rejected Sluice's"))
            try await console.screen.send(Keys.up)
            try await console.screen.waitUntilGone("the client rejected Sluice's")
            try await console.screen.send("!", waitFor: "HTTP and HTTPS proxy: 127.0.0.1:\(console.port)")
        }
    }
}
