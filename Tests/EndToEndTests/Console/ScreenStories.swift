import Foundation
import Support
import Terminal
import Testing

extension UserStories.Consoles {
    @Suite("The screen itself")
    struct ScreenStories {
        @Test("It fits a very small screen and a large one again", .timeLimit(.minutes(2)))
        func resize() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(size: Size(width: 120, height: 30))
            try await console.visit(nginx, "/size")
            try await console.screen.send(Keys.enter + "1", waitFor: "TLS")
            console.screen.resize(20, 5)
            // Every spot is drawn anew, and nothing of the old size is left.
            try await console.screen.wait("a whole small screen") { !$0.contains("METHOD") && !$0.isEmpty }
            #expect(console.screen.rows.count == 5)
            console.screen.resize(200, 60)
            try await console.screen.row(containing: "/size", "200", "GET")
            try await console.screen.wait("a whole large screen") { !$0.contains("##") }
            try await console.screen.closeDetail(with: "TLS")
            try await console.visit(nginx, "/afterwards")
            #expect(console.screen.screen.unknown.allSatisfy { !$0.hasPrefix("byte") })
        }

        @Test("A click selects, the wheel scrolls, a drag moves the split", .timeLimit(.minutes(2)))
        func mouse() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(size: Size(width: 120, height: 20))
            let url = "https://localhost:\(nginx.secure)/"
            for number in 10...39 { try await console.visit(nginx, "/n\(number)") }
            let row = try #require(console.screen.rows.firstIndex { $0.contains("/n36") })
            console.screen.mouse(.press, x: 30, y: row)
            console.screen.mouse(.release, x: 30, y: row)
            try await console.screen.send(Keys.enter + "1", waitFor: url + "n36")
            // The divider: where it stands, all rows have it in one column.
            let column = { (text: String) -> Int? in
                text.split(separator: "\n").first { $0.contains("│") }
                    .flatMap { row in row.firstIndex(of: "│").map { row.distance(from: row.startIndex, to: $0) } }
            }
            let before = try #require(column(console.screen.text))
            console.screen.mouse(.press, x: before, y: 8)
            console.screen.mouse(.drag, x: before - 10, y: 8)
            console.screen.mouse(.release, x: before - 10, y: 8)
            try await console.screen.wait("a moved divider") { column($0) == before - 10 }
            try await console.screen.closeDetail(with: "│")
            #expect(!console.screen.text.contains("/n12"))
            for _ in 1...10 { console.screen.mouse(.wheelUp, x: 30, y: 8) }
            try await console.screen.wait(for: "/n12")
            for _ in 1...10 { console.screen.mouse(.wheelDown, x: 30, y: 8) }
            try await console.screen.wait(for: "/n39")
        }

        @Test("NO_COLOR leaves no colour in all that is written", .timeLimit(.minutes(2)))
        func noColor() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole(environment: ["NO_COLOR": "1"])
            try await console.visit(nginx, "/plain")
            try await console.visit(nginx, "/fails/plain")
            try await console.screen.send(Keys.enter + "1", waitFor: "TLS")
            try await console.screen.send(":", waitFor: "Commands")
            let colors = console.screen.written.matches(of: /\u{1B}\[([0-9;]*)m/).filter { match in
                match.1.split(separator: ";").contains { number in
                    Int(number).map { (30...49).contains($0) && $0 != 39 && $0 != 49 || $0 >= 90 } ?? false
                }
            }
            #expect(colors.isEmpty, "\(colors.map(\.1))")
            // The selected row is told without colour.
            try await console.screen.escape(closing: "Commands")
            try await console.screen.row(containing: ">", "/fails/plain")
        }

        @Test("Colours are used where they may be", .timeLimit(.minutes(2)))
        func colors() async throws {
            let nginx = try await ReportingNginx()
            let console = try await LiveConsole()
            try await console.visit(nginx, "/fails/red")
            #expect(console.screen.screen.spots.contains { $0.style.foreground != .standard })
        }
    }
}
