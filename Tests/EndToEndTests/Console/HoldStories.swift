import Foundation
import Support
import Terminal
import Testing

extension UserStories.Consoles {
    @Suite("Messages that wait")
    struct HoldStories {
        private func start() async throws -> (nginx: ReportingNginx, console: LiveConsole, url: String) {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            try await console.visit(nginx, "/held")
            return (nginx, console, "https://localhost:\(nginx.secure)/held")
        }

        @Test("A rule from an exchange holds the next one, which goes on as edited", .timeLimit(.minutes(2)))
        func edit() async throws {
            let (nginx, console, url) = try await start()
            try await console.addRule("k", remark: "It would match 1 of 1")
            async let pending = console.report("-H", "X-Note: client", url)
            try await console.screen.row(containing: "HELD", "request GET")
            #expect(nginx.requests.count == 1)
            try await console.screen.send("H", waitFor: "Held messages")
            try await console.screen.send(Keys.enter, waitFor: "Held request of GET \(url)")
            try await console.replace("client", with: "edited", at: "x-note: client")
            // A line that is no header field is refused, and the text stays.
            try await console.screen.send(Keys.enter + "nonsense")
            try await console.screen.send(Keys.control("s"), waitFor: "a header field needs a colon")
            try await console.screen.send(String(repeating: "\u{7F}", count: 9))
            try await console.screen.send(Keys.control("s"))
            // The rule holds the response as well. The list may have been empty between the two, and have closed; else
            // nothing is selected in it.
            try await console.screen.row(containing: "HELD", "response")
            try await console.screen.send(Keys.down + "H")
            try await console.screen.row(containing: "> ", "response 200")
            try await console.screen.send(Keys.control("e"))
            let report = try await pending
            #expect(report["note"] == "edited")
            #expect(report["url"] == url)
            try await console.screen.waitUntilGone("Held messages")
            #expect(try await nginx.requests(2).count == 2)
        }

        @Test("What process the client is, is known while its message waits", .timeLimit(.minutes(2)))
        func process() async throws {
            let (_, console, url) = try await start()
            let screen = console.screen
            try await console.addRule("k", "at: \(url)\non: request")
            async let pending = console.answer(url)
            try await screen.row(containing: "HELD", "request GET")
            // In the session, then in the list and on the page.
            try await screen.send("/process:curl id:2" + Keys.enter, waitFor: "1 of 2")
            try await screen.send("Oprocess" + Keys.enter)
            try await screen.row(containing: "2", "curl", "/held")
            try await screen.send(Keys.enter + "1" + "G", waitFor: "curl (process")
            try await screen.send(Keys.control("e"))
            #expect(try await pending.exit == 0)
        }

        @Test("A message that waits is aborted, and never gets there", .timeLimit(.minutes(2)))
        func abort() async throws {
            let (nginx, console, url) = try await start()
            try await console.addRule("k", "at: \(url)\non: request")
            async let pending = console.answer(url)
            try await console.screen.row(containing: "HELD", "request GET")
            try await console.screen.send("H", waitFor: "Held messages")
            try await console.screen.send(Keys.control("a"))
            let answer = try await pending
            #expect(answer.exit != 0)
            #expect(answer.status == 0)
            try await console.screen.waitUntilGone("Held messages")
            try await console.screen.row(containing: "/held", "failed")
            #expect(nginx.requests.count == 1)
        }

        @Test("All that wait go on at once", .timeLimit(.minutes(2)))
        func executeAll() async throws {
            let (nginx, console, url) = try await start()
            try await console.addRule("k", "at: \(url)*\non: request")
            async let first = console.answer(url + "?1")
            async let second = console.answer(url + "?2")
            try await console.screen.wait("two that wait") { $0.components(separatedBy: "HELD ").count == 3 }
            #expect(nginx.requests.count == 1)
            try await console.screen.send("X", waitFor: "Execute all 2 held messages without edits")
            try await console.screen.answer("y", waitFor: "2 messages are executed.")
            #expect(try await first.status == 200)
            #expect(try await second.status == 200)
            try await console.screen.waitUntilGone("HELD")
        }
    }
}
