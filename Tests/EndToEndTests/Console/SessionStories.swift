import Foundation
import HTTPModel
import Recording
import Support
import Terminal
import Testing

extension UserStories.Consoles {
    @Suite("The session as a thing one edits")
    struct SessionStories {
        private static let size = Size(width: 80, height: 24)

        @Test(
            "Exchanges are deleted, the list is cleared and brought back; at the end they are gone",
            .timeLimit(.minutes(2))
        )
        func clear() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(size: Self.size)
            let screen = console.screen
            for name in ["one", "two", "three"] { try await console.visit(nginx, "/\(name)") }
            try await screen.send("k")
            try await screen.send("d", waitFor: "1 exchange deleted; u brings it back.")
            try await screen.waitUntilGone("/two")
            try await screen.send("u", waitFor: "1 exchange is restored.")
            try await screen.row(containing: "/two", "200")
            try await screen.send("/path:/one" + Keys.enter)
            try await screen.waitUntilGone("/three")
            try await screen.send("Z", waitFor: "1 exchange deleted")
            try await screen.send("\\")
            try await screen.row(containing: "/three", "200")
            #expect(!screen.text.contains("/one"))
            try await screen.send("Z", waitFor: "2 exchanges deleted; u brings them back.")
            try await screen.waitUntilGone("/three")
            // What comes then has the next number.
            try await console.visit(nginx, "/after")
            #expect(try await screen.row(containing: "/after", "200").contains("4 GET"))
            try await screen.send("q")
            #expect(try await screen.exitStatus() == 0)
            let reader = try SessionReader(path: console.session)
            #expect(try reader.records(limit: 9).map(\.id.number) == [4])
            let bytes = try Data(contentsOf: URL(filePath: console.session))
            #expect(bytes.firstRange(of: Data("/three".utf8)) == nil)
        }

        @Test("A list of the marked alone is cleared of them, a branch of what is below it", .timeLimit(.minutes(2)))
        func clearParts() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(size: Self.size)
            let screen = console.screen
            for name in ["one", "two"] { try await console.visit(nginx, "/\(name)") }
            try await screen.send(" ", waitFor: "marked 1")
            try await screen.send("%", waitFor: "filter: marked")
            try await screen.waitUntilGone("/one")
            try await screen.send("Z", waitFor: "1 exchange deleted; u brings it back.")
            try await screen.send("%")
            try await screen.row(containing: "/one", "200")
            try await screen.send(Keys.tab, waitFor: "HOST AND PATH")
            // The tree is read after its heading is there, and the word of the first deletion may still be.
            try await screen.row(containing: "▸", "localhost", "1")
            try await screen.send("d")
            try await screen.waitUntilGone("localhost")
            try await screen.send("q")
            #expect(try await screen.exitStatus() == 0)
            #expect(try SessionReader(path: console.session).count() == 0)
        }

        @Test("Recording goes off and on; what passes meanwhile is counted", .timeLimit(.minutes(2)))
        func record() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(size: Self.size)
            let screen = console.screen
            try await console.visit(nginx, "/before")
            try await screen.send(Keys.control("r"), waitFor: "Recording is off")
            _ = try await console.answers([["https://localhost:\(nginx.secure)/secret"]])
            try await screen.wait(for: "NOT RECORDING · 1 passed", within: 20)
            try await screen.send(Keys.control("r"), waitFor: "Recording is on")
            try await console.visit(nginx, "/later")
            #expect(!screen.text.contains("/secret"))
            try await screen.send("q")
            #expect(try await screen.exitStatus() == 0)
            #expect(try SessionReader(path: console.session).count() == 2)
        }

        @Test("A comment and a colour are kept in the session, and found; a copy has them", .timeLimit(.minutes(2)))
        func annotate() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(size: Self.size)
            let screen = console.screen
            for name in ["one", "two"] { try await console.visit(nginx, "/\(name)") }
            try await screen.send(";", waitFor: "Comment")
            try await screen.send("breaks on Mondays" + Keys.enter, waitFor: "1 exchange commented.")
            try await screen.send(",", waitFor: "Colour of exchange 2")
            try await screen.send("red" + Keys.enter, waitFor: "1 exchange is red.")
            try await screen.send("/is:commented" + Keys.enter)
            try await screen.waitUntilGone("/one")
            try await screen.send(Keys.control("w"), waitFor: "File for a copy")
            let copy = console.scratch.path("copy.sluice")
            try await screen.send(copy + Keys.enter, waitFor: "Copy of the session saved to")
            try await screen.send("q")
            #expect(try await screen.exitStatus() == 0)
            for path in [console.session, copy] {
                let opened = try ConsoleScreen(["open", path], scratch: console.scratch)
                try await opened.row(containing: "\"r2", "/two")
                try await opened.send(Keys.enter + "1", waitFor: "breaks on Mondays")
                try await opened.closeDetail(with: "breaks on Mondays")
                // A recorded session is edited as well.
                try await opened.send("d", waitFor: "1 exchange deleted")
                try await opened.send("q")
                #expect(try await opened.exitStatus() == 0)
                #expect(try SessionReader(path: path).records(limit: 9).map(\.id.number) == [1])
            }
        }

        @Test("A HAR is imported into the session that is recorded, and is there at the end", .timeLimit(.minutes(2)))
        func importing() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(size: Self.size)
            let screen = console.screen
            try await console.visit(nginx, "/one")
            let archive = console.scratch.path("one.har")
            try await screen.send(":", waitFor: "Commands")
            try await screen.send("export har \(archive)" + Keys.enter)
            try await screen.wait(for: "1 exchange is in")
            try await screen.send("Y", waitFor: "+ imports a file")
            try await screen.send("+", waitFor: "to import into this session")
            try await screen.send(archive + Keys.enter)
            try await screen.row(containing: "2 GET", "/one")
            // What comes then has the next number.
            #expect(try await console.visit(nginx, "/after").status == 200)
            try await screen.row(containing: "3 GET", "/after")
            try await screen.send("/is:imported" + Keys.enter)
            try await screen.waitUntilGone("/after")
            try await screen.send(Keys.enter + "1", waitFor: "HAR one.har")
            try await screen.closeDetail(with: "HAR one.har")
            try await screen.send("q")
            #expect(try await screen.exitStatus() == 0)
            #expect(
                try SessionReader(path: console.session).records(limit: 9).map(\.url.path) == [
                    "/one", "/one", "/after",
                ]
            )
        }
    }
}
