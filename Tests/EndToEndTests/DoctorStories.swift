import Foundation
import Support
import Testing

extension UserStories {
    @Suite("The doctor")
    struct DoctorStories {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func doctor(_ arguments: [String] = ["--listen", "127.0.0.1:0"]) async throws -> Program.Outcome {
            try await SluiceProcess.run(["doctor"] + arguments, scratch: scratch, within: 60)
        }

        @Test("It says what it looked at, changes nothing, and sees what became better")
        func look() async throws {
            let before = try await doctor()
            #expect(before.status == 0, "\(before.text)\(before.errors)")
            for about in ["authority", "port", "terminal", "size", "proxies", "sessions", "descriptors", "clock"] {
                #expect(before.text.contains(try Regex("(?m)^(ok|note) +\(about) ")), "\(about)\n\(before.text)")
            }
            #expect(before.text.contains("the first start will create it"))
            #expect(before.text.contains("Nothing stops Sluice"))

            let path = try await SluiceProcess.run(["ca", "path"], scratch: scratch)
            #expect(path.status == 0)
            let after = try await doctor()
            #expect(after.text.contains(try Regex("(?m)^ok +authority .*valid until ")), "\(after.text)")
            #expect(after.text.contains(try Regex("(?m)^note +system store +does not trust")), "\(after.text)")
            #expect(after.text.contains(try Regex("fix: (sudo )?cp ")))
        }

        @Test("A port that is taken ends it with 1, and the command that fixes it works; JSON says the same")
        func port() async throws {
            let origin = try Origin { _, _ in }
            let place = "127.0.0.1:\(origin.port)"
            let outcome = try await doctor(["--listen", place, "--json"])
            #expect(outcome.status == 1)
            let lines = outcome.text.split(separator: "\n")
            let port = try #require(lines.first { $0.contains("\"about\":\"port\"") })
            #expect(port.contains("\"level\":\"problem\"") && port.contains("\(place) is in use"), "\(port)")
            #expect(port.contains("\"fix\":\"sluice --listen 127.0.0.1:"))
            for wrong in ["nonsense", "127.0.0.1", "127.0.0.1:99999"] {
                #expect(try await doctor(["--listen", wrong]).status == 2, "\(wrong)")
            }
        }
    }
}
