import Foundation
import Support
import Testing

extension UserStories {
    @Suite("Hidden characters")
    struct HiddenCharacters {
        private static let hidden = "\u{9B}31m\u{202E}gpj.\u{200B}\u{2066}\u{2028}\u{FEFF}\u{E0041}"

        /// An archive with hidden characters wherever a server or a client can put them.
        private func archive(_ scratch: Scratch) throws -> String {
            let hidden = HiddenCharacters.hidden
            let body = String(repeating: "a", count: 5_000) + "\u{1B}]52;c;eA==\u{7}\u{1B}]0;owned\u{1B}\\\(hidden)\n"
            let fields = [["name": "X-\(hidden)", "value": hidden], ["name": "Content-Type", "value": "text/plain"]]
            let entry: [String: Any] = [
                "startedDateTime": "1960-01-01T00:00:00Z", "serverIPAddress": hidden,
                "request": ["method": "POST", "url": "http://a.example/\(hidden)?\(hidden)", "headers": fields]
                    as [String: Any],
                "response": [
                    "status": 200, "statusText": hidden, "headers": fields, "_error": hidden,
                    "content": ["mimeType": "text/plain", "text": body],
                ] as [String: Any],
            ]
            let log = ["log": ["entries": [entry]]]
            return try scratch.write("\(hidden).har", [UInt8](JSONSerialization.data(withJSONObject: log)))
        }

        @Test(
            "Of a hostile archive no command writes one to a terminal",
            .timeLimit(.minutes(2)),
            arguments: [
                ["list", "FILE"], ["list", "FILE", "--json"], ["show", "FILE", "1"], ["why", "FILE", "1"],
                ["show", "FILE", "1", "--body", "response"], ["show", "FILE", "1", "--body", "response", "--raw"],
                ["export", "FILE", "--format", "curl"], ["export", "FILE", "--format", "har"],
                ["export", "FILE", "--format", "json"],
                ["show", "FILE", "7"], ["show", "FILE.none", "1"], ["list", "FILE", "host:\u{202E}("],
                ["list", "--\u{1B}\u{202E}", "FILE"], ["\u{9B}31m"], ["help", "\u{9B}31m"],
                ["profile", "check", "FILE"], ["run", "--ca", "FILE"], ["import", "charles", "FILE"],
            ]
        )
        func terminal(arguments: [String]) async throws {
            let scratch = try Scratch()
            let file = try archive(scratch)
            let command = [try SluiceProcess.executable()] + arguments.map { $0.replacing("FILE", with: file) }
            let line = "\"$0\" \"$@\"; echo; echo That was all."
            let screen = try ConsoleScreen(["-c", line] + command, program: "/bin/sh", scratch: scratch)
            try await eventually("it ends") { screen.written.contains("That was all.") }
            #expect(screen.written.utf8.count > 40, "\(screen.written)")
            let left = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
            #expect(!left.contains { $0.hasPrefix("sluice-archive.") })
            let raw = screen.written.unicodeScalars.filter { scalar in
                switch scalar.value {
                case 0x09, 0x0A, 0x0D: false
                case 0..<0x20, 0x7F..<0xA0, 0x200B...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
                case 0xE0000...0xE0FFF: true
                default: false
                }
            }
            #expect(raw.isEmpty, "\(raw.map { String($0.value, radix: 16) }) in \(screen.written.debugDescription)")
        }

        @Test("A pipe gets a body's own bytes, and JSON the exact values", .timeLimit(.minutes(2)))
        func pipe() async throws {
            let scratch = try Scratch()
            let file = try archive(scratch)
            let body = try await SluiceProcess.run(["show", file, "1", "--body", "response"], scratch: scratch)
            #expect(body.status == 0 && body.text.hasSuffix("\u{1B}\\\(HiddenCharacters.hidden)\n"))
            let list = try await SluiceProcess.run(["list", file, "--json"], scratch: scratch)
            let hidden = HiddenCharacters.hidden
            #expect(try object(list.text)["url"] as? String == "http://a.example/\(hidden)?\(hidden)")
            #expect(try object(list.text)["startedAt"] as? String == "1960-01-01T00:00:00.000000Z")
        }

        @Test(
            "A running proxy writes none of them: its lines, their JSON, and what it says of hosts",
            arguments: [[], ["--json"]]
        )
        func running(options: [String]) async throws {
            let sluice = try await SluiceProcess(options)
            let target = "http://127.0.0.1:1/\u{9B}31m\u{202E}"
            _ = try await blocking {
                let socket = try sluice.connect()
                try socket.send(Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n".utf8))
                return try socket.readToEnd(toleratingReset: true)
            }
            _ = try await sluice.exchange()
            let end = try await sluice.stop()
            #expect(end.output.contains(options.isEmpty ? "/<U+009B>31m<U+202E>" : "/\\u009b31m\\u202e"))
            #expect(!end.output.unicodeScalars.contains { $0 == "\u{9B}" || $0 == "\u{202E}" })
        }
    }
}
