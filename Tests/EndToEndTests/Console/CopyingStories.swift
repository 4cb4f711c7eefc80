import Foundation
import Support
import Synchronization
import Terminal
import Testing

extension UserStories.Consoles {
    @Suite("Values, paths, copies")
    struct CopyingStories {
        /// Keeps the bodies that it gets, and answers all with the same.
        private static func origin(_ bodies: Bodies, _ answer: String) throws -> Origin {
            try Origin { origin, socket in
                while true {
                    let head = try origin.head(socket)
                    let length = head.firstMatch(of: /(?i)content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
                    let body = length > 0 ? try socket.read(count: length) : []
                    bodies.all.withLock { $0.append(body) }
                    try socket.send(answer)
                }
            }
        }

        private final class Bodies: Sendable {
            let all = Mutex<[[UInt8]]>([])
        }

        /// What the terminal was handed last.
        private func copied(_ console: LiveConsole, _ count: Int) async throws -> String {
            let isCopy = { (command: String) in command.hasPrefix("52;c;") }
            try await eventually("the terminal is handed something") {
                console.screen.screen.commands.filter(isCopy).count >= count
            }
            let command = try #require(console.screen.screen.commands.filter(isCopy).last)
            return String(decoding: try #require(Data(base64Encoded: String(command.dropFirst(5)))), as: UTF8.self)
        }

        @Test("A multipart upload is copied as cURL, and what is copied sends the same bytes", .timeLimit(.minutes(2)))
        func multipart() async throws {
            let bodies = Bodies()
            let server = try CopyingStories.origin(bodies, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            let file = try console.scratch.write("upload.bin", [0, 0x0D, 0x0A, 0xFF, 0x27, 0x25])
            _ = try await console.answer("-F", "a=it's", "-F", "f=@\(file)", "http://localhost:\(server.port)/form")
            try await console.screen.row(containing: "/form", "200")
            try await console.screen.send("c", waitFor: "cURL command")
            try await console.screen.send(Keys.enter, waitFor: "clipboard")
            let text = try await copied(console, 1)
            #expect(text.hasPrefix("printf '"))
            for shell in ["bash", "dash"] {
                let outcome = try await Program.run(shell, ["-c", text])
                #expect(outcome.status == 0, "\(text): \(outcome.errors)")
            }
            let all = bodies.all.withLock { $0 }
            #expect(all.count == 3 && all[1] == all[0] && all[2] == all[0])
        }

        @Test("Within tmux a copy is pasted from tmux, with its own settings", .timeLimit(.minutes(2)))
        func tmux() async throws {
            let scratch = try Scratch()
            let socket = ["-S", scratch.path("tmux"), "-f", "/dev/null"]
            let started = try await Program.run("tmux", socket + ["new-session", "-d", "sleep 120"])
            #expect(started.status == 0, "\(started.errors)")
            let server = try await Program.run("tmux", socket + ["display-message", "-p", "#{socket_path},#{pid},0"])
                .text
            let environment = ["TMUX": server.trimmingCharacters(in: .newlines)]
            let console = try await LiveConsole(size: Size(width: 80, height: 24), environment: environment)
            let origin = try CopyingStories.origin(Bodies(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            _ = try await console.answer("http://localhost:\(origin.port)/copied")
            try await console.screen.row(containing: "/copied", "200")
            try await console.screen.send("C", waitFor: "copied with tmux")
            let buffer = try await Program.run("tmux", socket + ["show-buffer"]).text
            #expect(buffer.contains("curl") && buffer.contains("/copied"), "\(buffer)")
            _ = try await Program.run("tmux", socket + ["kill-server"])
        }

        @Test("A path shows what fits, and a value, its path and a header line are copied", .timeLimit(.minutes(2)))
        func values() async throws {
            let body = #"{"items":[{"id":17,"at":1790000000},{"id":"caf\u00e9"}]}"#
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Note: mine\r\n"
            let server = try CopyingStories.origin(Bodies(), "\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            _ = try await console.answer("http://localhost:\(server.port)/json")
            try await console.screen.row(containing: "/json", "200")
            try await console.screen.send(Keys.enter, waitFor: "#1")
            try await console.screen.send("f", waitFor: "Text to find")
            try await console.screen.send("json.items[*].id" + Keys.enter, waitFor: "2 values;")
            try await console.screen.row(containing: "res.json.items[1].id", "caf\u{E9}")
            try await console.screen.send("j", waitFor: "res.json.items[0].id")
            try await console.screen.send("c", waitFor: "Copy")
            try await console.screen.send("value" + Keys.enter, waitFor: "Value sent to")
            #expect(try await copied(console, 1) == "17")
            try await console.screen.send("c", waitFor: "Copy")
            try await console.screen.send("path" + Keys.enter, waitFor: "Path sent to")
            #expect(try await copied(console, 2) == "res.json.items[0].id")
            try await console.screen.send("f", waitFor: "Text to find")
            try await console.screen.send(Keys.clearLine + "json.items[" + Keys.enter, waitFor: "write [*]")
        }

        @Test("A copy stays whole and says that it holds secrets; Q copies it masked", .timeLimit(.minutes(2)))
        func masked() async throws {
            let body = #"{"password":"hunter2"}"#
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            let server = try CopyingStories.origin(Bodies(), "\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            let url = "http://localhost:\(server.port)/login?api_key=k3y-value-17"
            _ = try await console.answer("-H", "Authorization: Bearer tok-5f4dcc3b5aa765d6", url)
            try await console.screen.row(containing: "/login", "200")
            try await console.screen.send("Q", waitFor: "Nothing was copied yet; c copies.")
            try await console.screen.send("C", waitFor: "It holds 2 secrets; Q")
            let whole = try await copied(console, 1)
            #expect(
                whole.hasPrefix("curl ") && whole.contains("tok-5f4dcc3b5aa765d6") && whole.contains("k3y-value-17")
            )
            try await console.screen.send("Q", waitFor: "2 secrets masked")
            let masked = try await copied(console, 2)
            #expect(masked.contains("\"${SLUICE_TOKEN_1:?token of localhost}\""))
            #expect(!masked.contains("tok-5f4dcc3b5aa765d6") && !masked.contains("k3y-value-17"), "\(masked)")
            // A value that is copied from the open answer stands alone, and is known anyway.
            try await console.screen.send(Keys.enter, waitFor: "#1")
            try await console.screen.send("f", waitFor: "Text to find")
            try await console.screen.send("json.password" + Keys.enter, waitFor: "1 value;")
            try await console.screen.send("j", waitFor: ".password")
            try await console.screen.send("c", waitFor: "Copy")
            try await console.screen.send("value" + Keys.enter, waitFor: "It holds 1 secret; Q")
            #expect(try await copied(console, 3) == "hunter2")
            try await console.screen.send("Q", waitFor: "1 secret masked")
            #expect(try await copied(console, 4) == "sluice-password-1")
        }

        @Test("A download with a length counts up while it comes", .timeLimit(.minutes(2)))
        func progress() async throws {
            let wait = Gate()
            let server = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send("HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Length: 400000\r\n\r\n")
                for _ in 0..<8 {
                    try socket.send([UInt8](repeating: 0x41, count: 12_500))
                    Thread.sleep(forTimeInterval: 0.1)
                }
                while !wait.isOpen { Thread.sleep(forTimeInterval: 0.05) }
                try socket.send([UInt8](repeating: 0x41, count: 300_000))
            }
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            async let answer = console.answer("http://localhost:\(server.port)/slow")
            try await console.screen.row(containing: "/slow", "KB")
            try await console.screen.send(Keys.enter, waitFor: "#1")
            try await console.screen.send("1", waitFor: "of 400 KB")
            try await console.screen.row(containing: "received", " %", "/s")
            wait.open()
            #expect(try await answer.status == 200)
        }

        private final class Gate: Sendable {
            private let state = Mutex(false)
            var isOpen: Bool { state.withLock { $0 } }
            func open() { state.withLock { $0 = true } }
        }
    }
}
