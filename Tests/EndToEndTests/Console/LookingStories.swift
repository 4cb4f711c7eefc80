import Foundation
import Support
import Terminal
import Testing

extension UserStories.Consoles {
    @Suite("Looking")
    struct LookingStories {
        @Test("The first start shows a curl command that works as it stands", .timeLimit(.minutes(2)))
        func firstStart() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(size: Size(width: 100, height: 30))
            try await console.screen.wait(for: "Waiting for traffic on 127.0.0.1:\(console.port).")
            // A line that is too long goes on with a backslash, as a shell takes it.
            let rows = console.screen.rows.map { $0.trimmingCharacters(in: .whitespaces) }
            let start = try #require(rows.firstIndex { $0.hasPrefix("curl --proxy") })
            let end = try #require(rows[start...].firstIndex { !$0.hasSuffix("\\") })
            let command = rows[start...end].joined(separator: "\n")
            #expect(command.hasSuffix("https://example.com/"), "\(command)")
            let here = command.replacing("https://example.com/", with: "https://localhost:\(nginx.secure)/first")
            let outcome = try await Program.run("sh", ["-c", here], environment: ["NO_PROXY": "", "no_proxy": ""])
            #expect(outcome.status == 0, "\(here): \(outcome.errors)")
            #expect(outcome.text.contains("url https://localhost:\(nginx.secure)/first\n"))
            try await console.screen.row(containing: "GET", "localhost:\(nginx.secure)", "/first", "200")
            #expect(!console.screen.text.contains("Waiting for traffic"))
        }

        @Test("An HTTPS exchange opens, and its JSON is laid out", .timeLimit(.minutes(2)))
        func inspect() async throws {
            let nginx = try await ReportingNginx()
            try nginx.put("user.json", #"{"name":"Ada","roles":["admin","author"]}"#)
            let console = try await LiveConsole()
            try await console.visit(nginx, "/files/user.json")
            // The page that says most is open: the response.
            try await console.screen.send(Keys.enter, waitFor: #""name": "Ada""#)
            let rows = console.screen.rows
            let name = try #require(rows.firstIndex { $0.contains(#""name": "Ada""#) })
            #expect(rows[name + 1].contains(#""roles":"#))
            #expect(rows[name + 2].contains(#""admin","#))
            #expect(rows.contains { $0.lowercased().contains("content-type") && $0.contains("application/json") })
            try await console.screen.send("2", waitFor: "curl/")
        }

        @Test("The filter works while it is typed, and tells what is wrong", .timeLimit(.minutes(2)))
        func filter() async throws {
            let nginx = try await ReportingNginx()
            try nginx.put("fine.json", "{}")
            let console = try await LiveConsole()
            try await console.visit(nginx, "/files/fine.json")
            try await console.visit(nginx, "/fails/once")
            try await console.screen.send("/status:500")
            try await console.screen.waitUntilGone("/files/fine.json")
            try await console.screen.row(containing: "/fails/once", "500")
            // A comparison without a number: the mark is below the place.
            try await console.screen.send(Keys.clearLine + "status:5xyz", waitFor: "^ ")
            let rows = console.screen.rows
            let mark = try #require(rows.firstIndex { $0.contains("^ ") })
            let column = try #require(rows[mark].firstIndex(of: "^")).utf16Offset(in: rows[mark])
            let typed = try #require(rows[mark - 1].range(of: "status:")?.lowerBound)
            #expect(column >= typed.utf16Offset(in: rows[mark - 1]), "\(rows[mark - 1])\n\(rows[mark])")
            try await console.screen.send(Keys.clearLine + "method:GET host:nowhere.example" + Keys.enter)
            try await console.screen.wait(for: "None of 2 exchanges match.")
            try await console.screen.wait("the term that excludes everything") { screen in
                let rows = screen.split(separator: "\n", omittingEmptySubsequences: false)
                guard let row = rows.firstIndex(where: { $0.contains("Nothing matches this term:") }) else {
                    return false
                }
                return rows.indices.contains(row + 1)
                    && rows[row + 1].trimmingCharacters(in: .whitespaces) == "host:nowhere.example"
            }
            try await console.screen.send("\\", waitFor: "/files/fine.json")
        }

        @Test("A text is found in the bodies of all exchanges", .timeLimit(.minutes(2)))
        func bodies() async throws {
            let nginx = try await ReportingNginx()
            try nginx.put("hay.json", #"{"what":"straw"}"#)
            try nginx.put("stack.json", #"{"what":"a needle"}"#)
            let console = try await LiveConsole()
            // Compressed bodies are looked into as well.
            try await console.visit(nginx, "/files/stack.json", ["--compressed"])
            try await console.visit(nginx, "/files/hay.json", ["--compressed"])
            try await console.screen.send("S", waitFor: "Text to find in bodies")
            try await console.screen.send("needle" + Keys.enter)
            try await console.screen.waitUntilGone("/files/hay.json")
            try await console.screen.wait(for: "/files/stack.json")
        }

        @Test("Two keys go from error to error", .timeLimit(.minutes(2)))
        func jump() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            for path in ["/fails/first", "/one", "/two", "/fails/second", "/three"] {
                try await console.visit(nginx, path)
            }
            let detail = { (path: String) in "https://localhost:\(nginx.secure)\(path)" }
            try await console.screen.send("J", waitFor: "Jump with ] and [")
            try await console.screen.send("errors" + Keys.enter, waitFor: "] and [ jump to: errors, failed")
            try await console.screen.send(Keys.enter + "1", waitFor: detail("/three"))
            try await console.screen.send("\u{1B}", waitFor: "space mark")
            try await console.screen.send("[", waitFor: detail("/fails/second"))
            try await console.screen.send("[", waitFor: detail("/fails/first"))
            try await console.screen.send("]", waitFor: detail("/fails/second"))
        }

        @Test("A marked exchange is compared with another, value by value", .timeLimit(.minutes(2)))
        func compare() async throws {
            let nginx = try await ReportingNginx()
            try nginx.put("before.json", #"{"plan":"free","seats":3}"#)
            try nginx.put("after.json", #"{"seats":3,"plan":"paid"}"#)
            let console = try await LiveConsole()
            try await console.visit(nginx, "/files/before.json")
            try await console.screen.send(" ", waitFor: "marked 1")
            try await console.visit(nginx, "/files/after.json")
            try await console.screen.send(Keys.end + "=", waitFor: "paid")
            let text = console.screen.text
            #expect(text.contains("free"), "\(text)")
            #expect(!text.contains("seats"), "what is the same is not shown as changed\n\(text)")
        }

        @Test("The structure has hosts and paths with counts and errors", .timeLimit(.minutes(2)))
        func structure() async throws {
            let nginx = try await ReportingNginx()
            try nginx.put("a.json", "{}")
            let console = try await LiveConsole()
            for path in ["/files/a.json", "/fails/b", "/fails/c"] { try await console.visit(nginx, path) }
            try await console.screen.send(Keys.tab, waitFor: "HOST AND PATH")
            let host = try await console.screen.row(containing: "localhost:\(nginx.secure)", "3")
            #expect(host.contains(/3 +2\s*$/), "\(host)")
            try await console.screen.send(Keys.enter, waitFor: "fails")
            let fails = try await console.screen.row(containing: "fails")
            #expect(fails.contains(/fails +2 +2\s*$/), "\(fails)")
            let files = try await console.screen.row(containing: "files")
            #expect(files.contains(/files +1\s*$/), "\(files)")
            try await console.screen.send(Keys.tab, waitFor: "all, 1 host")
            try await console.screen.send(Keys.tab, waitFor: "/fails/c")
        }

        @Test("Lines that are longer than the screen are read page by page, to the last word", .timeLimit(.minutes(2)))
        func longLines() async throws {
            let nginx = try await ReportingNginx()
            let words = (100..<130).map { line in (10..<30).map { "\(line)-\($0)xxxx" } }
            try nginx.put("long.txt", words.map { $0.joined(separator: " ") }.joined(separator: "\n"))
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            try await console.visit(nginx, "/files/long.txt")
            try await console.screen.send(Keys.enter, waitFor: "▾Body")
            try await console.screen.send("f", waitFor: "Text to find")
            try await console.screen.send("100-10" + Keys.enter, waitFor: "Match 1 of 1")
            var seen = ""
            for _ in 0..<100 {
                seen += console.screen.text
                guard !seen.contains("129-29x") else { break }
                // A frame is written from its top: with the lowest row of the page all of it is there.
                let last = console.screen.rows[21]
                try await console.screen.send("\u{1B}[6~")
                try await console.screen.wait("the next page") {
                    $0.split(separator: "\n", omittingEmptySubsequences: false)[21] != last
                }
            }
            for word in words.joined() { #expect(seen.contains(word), "\(word)") }
            // What is found is on the screen, in the middle of a line too.
            try await console.screen.send("f", waitFor: "Text to find")
            try await console.screen.send(Keys.clearLine + "110-25" + Keys.enter)
            try await console.screen.row(containing: "»", "110-25xxxx")
        }

        @Test("At 80×24 a body is read below the list, and searched, and then the next", .timeLimit(.minutes(2)))
        func reading() async throws {
            let nginx = try await ReportingNginx()
            let rows = (10..<90).map { "row \($0) of the text" }
            try nginx.put("one.txt", rows.joined(separator: "\n"))
            try nginx.put("two.txt", rows.map { "second " + $0 }.joined(separator: "\n"))
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            try await console.visit(nginx, "/files/one.txt")
            try await console.visit(nginx, "/files/two.txt")
            try await console.screen.send(Keys.home + Keys.enter, waitFor: "row 21 of the text")
            #expect(console.screen.text.contains("/files/two.txt"), "the list is there\n\(console.screen.text)")
            try await console.screen.row(containing: "▸Headers", "content-type: ")
            // A wrong expression stays to be mended, and says where it is wrong.
            try await console.screen.send("f", waitFor: "Text to find, or /expression/")
            try await console.screen.send("/row (5[27]/" + Keys.enter, waitFor: "Character 12 of the expression:")
            try await console.screen.send(Keys.clearLine + "/row 5[27]/" + Keys.enter, waitFor: "Match 1 of 2")
            try await console.screen.row(containing: "»", "row 52 of")
            try await console.screen.send("n", waitFor: "Match 2 of 2")
            try await console.screen.row(containing: "»", "row 57 of")
            try await console.screen.send("N", waitFor: "Match 1 of 2")
            // The headers that were unfolded are so in the next exchange; letters that send do nothing here.
            try await console.screen.send("gjz", waitFor: "▾Headers")
            try await console.screen.send("p", waitFor: "use :repeat.")
            try await console.screen.send(" ", waitFor: "second row 10")
            try await console.screen.wait(for: "▾Headers")
            try await console.screen.send("\u{7F}", waitFor: " row 10")
            try await console.screen.waitUntilGone("second row")
            try await console.screen.send("-")
            try await console.screen.waitUntilGone("METHOD")
            try await console.screen.send("-", waitFor: "METHOD")
            try await console.screen.waitUntilGone("row 10")
        }

        @Test("A hit of the search in bodies opens where it is, and is marked", .timeLimit(.minutes(2)))
        func hit() async throws {
            let nginx = try await ReportingNginx()
            let lines = (0..<200).map { $0 == 150 ? "here is the needle" : "straw \($0)" }
            try nginx.put("stack.txt", lines.joined(separator: "\n"))
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            try await console.visit(nginx, "/files/stack.txt")
            try await console.screen.send("S", waitFor: "Text to find in bodies")
            try await console.screen.send("NEEDLE" + Keys.enter, waitFor: "bodies with")
            try await console.screen.row(containing: "/files/stack.txt")
            try await console.screen.send(Keys.enter)
            try await console.screen.row(containing: "»", "here is the needle")
        }
    }
}
