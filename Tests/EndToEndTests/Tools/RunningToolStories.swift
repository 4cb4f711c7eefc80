import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("Tools and profiles of a running proxy")
    struct RunningToolStories {
        @Test("A tool is switched off and on while requests go on", arguments: bothVersions)
        func switches(version: String) async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting {
                """
                off: no-caching
                no-caching: true
                block: { at: "https://localhost:\($0.secure)/blocked" }
                """
            }
            let url = "https://localhost:\(nginx.secure)/blocked"
            func status() async throws -> Int { try await sluice.answer(version, url).status }
            func isOn(_ tool: String) async throws -> Bool? {
                let lines = try await sluice.told("tool", "list", "--json").split(separator: "\n")
                return try lines.map { try object(String($0)) }.first { $0["name"] as? String == tool }?["on"] as? Bool
            }
            #expect(try await status() == 403)
            #expect(try await isOn("block") == true)
            #expect(try await isOn("no-caching") == false)
            try await sluice.told("tool", "off", "block")
            #expect(try await isOn("block") == false)
            #expect(try await status() == 200)
            #expect(try await sluice.report(version, url)["cache"] == "")
            try await sluice.told("tool", "on", "block", "no-caching")
            #expect(try await status() == 403)
            #expect(try await sluice.report(version, "https://localhost:\(nginx.secure)/")["cache"] == "no-cache")
            let wrong = try await sluice.command(["tool", "off", "blok"])
            #expect(wrong.status == 1)
            #expect(wrong.errors.contains("no tool 'blok'"), "\(wrong.errors)")
        }

        @Test("An edited profile counts at once, and a bad edit leaves the old rules in force")
        func reload() async throws {
            let nginx = try await ReportingNginx()
            let sluice = try await SluiceProcess(
                profile: "version: 1\nblock: { at: \"*/one\", action: 410 }\n"
            )
            func statuses() async throws -> [Int] {
                try await sluice.answers(["/one", "/two"].map { ["http://localhost:\(nginx.plain)\($0)"] }).map(
                    \.status
                )
            }
            func said(_ text: String) async throws {
                do {
                    try await eventually("it is said") { sluice.errors.contains(text) }
                } catch {
                    throw Program.ProgramError(description: "sluice does not say '\(text)' but: \(sluice.errors)")
                }
            }
            #expect(try await statuses() == [410, 200])
            // An editor that writes a new file and puts it in the old one's place.
            try sluice.scratch.write(
                "next.yaml",
                "version: 1\nblock:\n  - { at: \"*/two\", action: 411 }\n  - { at: \"*/three\" }\n  - { at: \"*/two\" }\n"
            )
            #expect(rename(sluice.scratch.path("next.yaml"), sluice.scratch.path("profile.yaml")) == 0)
            try await said("sluice: profile read again: 3 rules added, 1 removed, 1 now shadowed")
            #expect(try await statuses() == [200, 411])
            // One that writes into the file itself.
            try sluice.scratch.write("profile.yaml", "version: 1\nblock: { at: \"*/one\", actoin: drop }\n")
            try await said("profile.yaml:2:23: a block rule has no key 'actoin' (did you mean 'action'?)")
            try await said("the rules are unchanged")
            #expect(try await statuses() == [200, 411])
            try FileManager.default.removeItem(atPath: sluice.scratch.path("profile.yaml"))
            try await said("cannot be read: No such file or directory")
            #expect(try await statuses() == [200, 411])
            try sluice.scratch.write("profile.yaml", "version: 1\n")
            try await said("3 rules removed")
            #expect(try await statuses() == [200, 200])
        }

        @Test("An exchange that is under way keeps the rules that it began with")
        func snapshot() async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting {
                """
                breakpoints: { at: "https://localhost:\($0.secure)/held", on: request }
                rewrite: { at: "*/held", rules: [ { add: header, on: response, name: X-Rules, to: old } ] }
                """
            }
            let url = "https://localhost:\(nginx.secure)/held"
            async let pending = sluice.answer(url)
            let name = try await sluice.held(url)
            try sluice.scratch.write("profile.yaml", "version: 1\nblock: { at: \"*/held\" }\n")
            try await eventually("the profile is read again") { sluice.errors.contains("profile read again") }
            #expect(try await sluice.answer(url).status == 403)
            try await sluice.told("hold", "execute", name)
            let answer = try await pending
            #expect(answer.status == 200)
            #expect(answer.value("X-Rules") == "old")
        }
    }
}
