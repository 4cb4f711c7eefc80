import Foundation
import Support
import Terminal
import Testing

extension UserStories.Consoles {
    @Suite("Copying, exporting, sending again")
    struct SharingStories {
        @Test("What is copied as cURL runs and asks for the same", .timeLimit(.minutes(2)))
        func curl() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            try await console.visit(nginx, "/copied?a=1&b=2", ["-H", "X-Note: it's here"])
            try await console.screen.send("C", waitFor: "clipboard")
            try await eventually("the terminal is handed something") { !console.screen.screen.commands.isEmpty }
            let command = try #require(console.screen.screen.commands.first { $0.hasPrefix("52;c;") })
            let copied = try #require(Data(base64Encoded: String(command.dropFirst(5))))
            let text = String(decoding: copied, as: UTF8.self)
            let outcome = try await Program.run(
                "sh",
                ["-c", text],
                environment: ["CURL_CA_BUNDLE": try await TestAuthority.shared.root]
            )
            #expect(outcome.status == 0, "\(text): \(outcome.errors)")
            let report = ReportingNginx.Report(outcome.text)
            #expect(report["url"] == "https://localhost:\(nginx.secure)/copied?a=1&b=2")
            #expect(report["note"] == "it's here")
            #expect(try await nginx.requests(2).count == 2)
        }

        @Test("The marked exchanges, and no others, go to a HAR file", .timeLimit(.minutes(2)))
        func har() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            try await console.visit(nginx, "/unmarked")
            try await console.visit(nginx, "/marked")
            try await console.screen.send(" ", waitFor: "marked 1")
            try await console.screen.send("E", waitFor: "HAR: the 1 marked")
            try await console.screen.send("har" + Keys.enter, waitFor: "File for the HAR")
            try await console.screen.row(containing: "sluice.har")
            try await console.screen.send("mine.har" + Keys.enter)
            try await console.screen.wait(for: "1 exchange is in mine.har")
            let har = try object(latin1(console.scratch.bytes("mine.har")))
            let log = try #require(har["log"] as? [String: Any])
            let entries = try #require(log["entries"] as? [[String: Any]])
            #expect(entries.count == 1)
            let request = try #require(entries.first?["request"] as? [String: Any])
            #expect(request["url"] as? String == "https://localhost:\(nginx.secure)/marked")
        }

        @Test("An export is masked, and keeps secrets where that is said", .timeLimit(.minutes(2)))
        func masking() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            let token = "tok-5f4dcc3b5aa765d6"
            try await console.visit(nginx, "/masked", ["-H", "Authorization: Bearer \(token)"])
            for form in ["har", "json", "curl", "html"] {
                try await console.screen.send("E", waitFor: "the selected exchange")
                try await console.screen.send("\(form) sel" + Keys.enter, waitFor: "masked; type 'secrets FILE'")
                try await console.screen.send("masked.\(form)" + Keys.enter, waitFor: "in masked.\(form)")
                try await console.screen.wait(for: "'secrets'")
                let masked = latin1(console.scratch.bytes("masked.\(form)"))
                #expect(!masked.contains(token), "\(form)")
                let placeholder = form == "curl" ? "\"${SLUICE_TOKEN_1:?token of " : "Bearer sluice-token-1"
                #expect(masked.contains(placeholder), "\(form)")
            }
            try await console.screen.send("E", waitFor: "the selected exchange")
            try await console.screen.send("har" + Keys.enter, waitFor: "masked; type 'secrets FILE'")
            try await console.screen.send("secrets whole.har" + Keys.enter, waitFor: "with its secrets.")
            #expect(latin1(console.scratch.bytes("whole.har")).contains("Bearer \(token)"))
        }

        @Test("A request is sent again as it was", .timeLimit(.minutes(2)))
        func again() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            try await console.visit(nginx, "/again?x=1", ["-X", "PUT", "-d", "body"])
            try await console.screen.send("p", waitFor: "Sent: PUT https://localhost:\(nginx.secure)/again?x=1, 200")
            #expect(
                try await nginx.requests(2).map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
                    == ["PUT /again?x=1", "PUT /again?x=1"]
            )
            try await console.screen.wait("two rows") { $0.components(separatedBy: "/again?x=1").count == 3 }
        }

        @Test("A request is edited and then sent", .timeLimit(.minutes(2)))
        func compose() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            try await console.visit(nginx, "/draft", ["-H", "X-Note: before"])
            try await console.screen.send("P", waitFor: "Edit and send")
            try await console.screen.wait(for: "x-note: before")
            try await console.replace("before", with: "after")
            try await console.replace("/draft", with: "/final", at: "/draft HTTP")
            try await console.screen.send(Keys.control("s"), waitFor: "/final")
            try await console.screen.waitUntilGone("Edit and send")
            #expect(try await nginx.requests(2).last?.hasSuffix("GET /final") == true)
            try await console.screen.row(containing: "  2 ", "GET", "/final")
            try await console.screen.send("#", waitFor: "Number of the exchange")
            try await console.screen.send("2" + Keys.enter)
            try await console.screen.waitUntilGone("Number of the exchange")
            try await console.screen.send(Keys.enter, waitFor: "#2")
            try await console.screen.send("3", waitFor: "note after")
        }

        @Test("A request is sent many times, and a strange host is asked about first", .timeLimit(.minutes(2)))
        func many() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            try await console.visit(nginx, "/many")
            try await console.screen.send("A", waitFor: "Requests x parallel")
            try await console.screen.send(Keys.clearLine + "25 x 5" + Keys.enter, waitFor: "Sent 25 times")
            try await console.screen.row(containing: "sent", "25 of 25")
            try await console.screen.row(containing: "status 200", "25")
            for figure in ["p50", "p95", "max"] { try await console.screen.row(containing: figure, "s") }
            #expect(try await nginx.requests(26).count == 26)
            try await console.screen.escape(closing: "Sent 25 times")
            // Nobody has this name: the exchange fails, and is there to be sent again.
            _ = try await console.answer("http://nobody.invalid/strange")
            try await console.screen.row(containing: "nobody.invalid")
            try await console.screen.send("A", waitFor: "Requests x parallel")
            try await console.screen.send(Keys.clearLine + "200 4 0" + Keys.enter)
            try await console.screen.wait(for: "Send 200 requests to nobody.invalid, which is not this")
            try await console.screen.send("n")
            try await console.screen.waitUntilGone("Send 200 requests")
            #expect(console.screen.text.components(separatedBy: "/strange").count == 2)
        }
    }
}
