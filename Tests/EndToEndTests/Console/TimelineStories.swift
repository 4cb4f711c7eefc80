import Foundation
import Support
import Terminal
import Testing

extension UserStories.Consoles {
    @Suite("Over time")
    struct TimelineStories {
        @Test("The timeline has what came when, by host, and goes to the exchanges of a time", .timeLimit(.minutes(2)))
        func timeline() async throws {
            let nginx = try await ReportingNginx()
            try nginx.put("a.json", "{}")
            let console = try await LiveConsole()
            for path in ["/files/a.json", "/fails/b", "/fails/c"] { try await console.visit(nginx, path) }
            try await console.screen.send(Keys.tab + Keys.tab, waitFor: "all, 1 host")
            let sum = try await console.screen.row(containing: "all, 1 host")
            #expect(sum.contains(/all, 1 host +3 +2\b/), "\(sum)")
            let host = try await console.screen.row(containing: "localhost", "3", "2")
            #expect(host.contains("ms"), "\(host)")
            try await console.screen.send(Keys.enter, waitFor: "UTC;")
            try await console.screen.wait(for: "/fails/c")
            try await console.screen.send("\\", waitFor: "/files/a.json")
            try await console.screen.send(Keys.tab + Keys.tab, waitFor: "all, 1 host")
            try await console.screen.send("oerrors" + Keys.enter, waitFor: "ERRORS▼")
        }

        @Test("A regular expression filters the list, and TAB completes what is typed", .timeLimit(.minutes(2)))
        func expression() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            for path in ["/one", "/two", "/fails/three"] { try await console.visit(nginx, path) }
            try await console.screen.send("/pa\t", waitFor: "filter: path:")
            try await console.screen.send(#"/^\/(one|two)$/"#, waitFor: #"path:/^\/(one|two)$/"#)
            try await console.screen.wait(for: "/two")
            try await console.screen.send(Keys.enter, waitFor: "2 of 3")
            #expect(!console.screen.text.contains("/fails/three"))
            try await console.screen.send("/\u{15}path:/a(b/", waitFor: "regular expression is wrong")
            try await console.screen.send("\u{1B}", waitFor: "2 of 3")
        }

        @Test("The client's program is found and shown in a column that is chosen", .timeLimit(.minutes(2)))
        func process() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            // The look-up takes some milliseconds, which a request of its own may not.
            for path in ["/one", "/two", "/three", "/four"] { try await console.visit(nginx, path) }
            try await console.screen.send("O", waitFor: "[ ] process")
            try await console.screen.send("process", waitFor: "> [ ] process")
            try await console.screen.send(Keys.enter, waitFor: "PROCESS")
        }
    }
}
