import Foundation
import Support
import Terminal
import Testing

extension UserStories.Consoles {
    @Suite("Help and the palette")
    struct HelpStories {
        @Test(
            "Help is a screen about where one is, whose pages are turned; a prompt keeps its text",
            .timeLimit(.minutes(2))
        )
        func help() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            try await console.visit(nginx, "/helped")
            try await console.screen.send("?", waitFor: "[1 now]")
            try await console.screen.row(containing: "/ ", "Filter the list")
            try await console.screen.send("4", waitFor: "[4 rules]")
            // The tools with their letters lie below the commands.
            try await console.screen.send("G", waitFor: "Throttle: no rules")
            try await console.screen.row(containing: "T ", "a t", "Throttle")
            try await console.screen.send("0", waitFor: "[0 signs]")
            try await console.screen.row(containing: "200~", "a rule changed")
            try await console.screen.escape(closing: "[0 signs]")
            try await console.screen.send("/status:2", waitFor: "filter: status:2")
            // F1, as xterm sends it.
            try await console.screen.send("\u{1B}OP", waitFor: "[1 now]")
            try await console.screen.row(containing: "host:*.example.com", "host: ")
            try await console.screen.escape(closing: "[1 now]")
            try await console.screen.send("00" + Keys.enter, waitFor: "filter: status:200  1 of 1")
        }

        @Test("The palette takes a command with its argument, and another program's word", .timeLimit(.minutes(2)))
        func palette() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            try await console.visit(nginx, "/one")
            try await console.visit(nginx, "/fails/two")
            try await console.screen.send(":", waitFor: "Commands")
            // What failed is selected.
            try await console.screen.row(containing: "> Why:")
            try await console.screen.send("filter status:500" + Keys.enter, waitFor: "1 of 2")
            try await console.screen.send("\\")
            try await console.screen.send(":", waitFor: "Commands")
            try await console.screen.send("replay", waitFor: "> Send the request again")
            try await console.screen.send(
                Keys.enter,
                waitFor: "Sent: GET https://localhost:\(nginx.secure)/fails/two, 500"
            )
        }
    }
}
