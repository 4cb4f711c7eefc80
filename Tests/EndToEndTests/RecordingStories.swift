import Foundation
import HTTPModel
import Recording
import Support
import Testing

extension EndToEnd {
    @Suite("What is recorded, and what is removed again")
    struct RecordingStories {
        /// Whether a text stands anywhere in the session's files.
        private func isWritten(_ text: String, _ sluice: SluiceProcess) throws -> Bool {
            try ["", "-wal"].contains { end in
                let file = URL(filePath: sluice.session + end)
                guard FileManager.default.fileExists(atPath: file.path) else { return false }
                return try Data(contentsOf: file).firstRange(of: Data(text.utf8)) != nil
            }
        }

        @Test("While recording is off rules and holds act, nothing is written, and the summary counts")
        func off() async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting { _ in
                "block: [ { at: \"*/blocked*\", action: 403 } ]\nbreakpoints: [ { at: \"*/held*\", on: request } ]"
            }
            let url = "https://localhost:\(nginx.secure)"
            #expect(try await sluice.told("record", "off").contains("Recording is off"))
            #expect(try await sluice.answer(url + "/blocked-mark").status == 403)
            async let pending = sluice.answer(url + "/held-mark")
            try await sluice.told("hold", "execute", try await sluice.held(url + "/held-mark"))
            #expect(try await pending.status == 200)
            #expect(try await sluice.told("record", "on").contains("Recording is on"))
            #expect(try await sluice.answer(url + "/written").status == 200)
            #expect(try await sluice.told("record", "off").contains("Recording is off"))
            #expect(try await sluice.answer(url + "/late-mark").status == 200)
            _ = try await sluice.stop()
            #expect(sluice.errors.contains("3 exchanges passed while recording was off"), "\(sluice.errors)")
            #expect(try sluice.records().map(\.url.path) == ["/written"])
            for text in ["blocked-mark", "held-mark", "late-mark"] { #expect(try !isWritten(text, sluice), "\(text)") }
        }

        @Test("What the profile leaves out is not written, nor the connections that only it used")
        func leftOut() async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting { nginx in
                "record: { except: [\"127.0.0.1:\(nginx.plain)\", \"*/secret*\"] }\n"
                    + "rewrite: [ { name: n, at: \"*/secret*\", rules: [ { add: header, on: response, name: X-Seen, to: seen } ] } ]"
            }
            let url = "https://localhost:\(nginx.secure)"
            let secret = try await sluice.answer(url + "/secret-mark")
            #expect(secret.status == 200 && secret.value("x-seen") == "seen")
            _ = try await sluice.answer("http://127.0.0.1:\(nginx.plain)/other-mark")
            // One connection for both: it is recorded with the second.
            _ = try await sluice.answers([[url + "/secret-first"], [url + "/kept"]])
            _ = try await sluice.stop()
            #expect(sluice.errors.contains("3 exchanges passed unrecorded ('record' in the profile)"))
            #expect(try sluice.records().map(\.url.path) == ["/kept"])
            for text in ["secret-mark", "other-mark", "secret-first"] {
                #expect(try !isWritten(text, sluice), "\(text)")
            }
            let record = try #require(try sluice.records().first)
            let used = [record.clientConnection, try #require(record.upstreamConnection)]
            let reader = try sluice.reader()
            for id in used { #expect(try reader.connection(id)?.closedAt != nil, "\(id)") }
            let count = try await Program.run("sqlite3", [sluice.session, "SELECT count(*) FROM connection"])
            #expect(count.text == "2\n", "\(count.text)\(count.errors)")
        }

        @Test(
            "What one console deletes is gone for another that is attached, its export and filter, at once; then for good"
        )
        func deleted() async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting { _ in "block: []" }
            let url = "https://localhost:\(nginx.secure)"
            try nginx.put("body.txt", "the body with a marked-text in it")
            for path in ["/first", "/files/body.txt", "/third"] { _ = try await sluice.answer(url + path) }
            let one = try ConsoleScreen(["attach"], scratch: sluice.scratch)
            let other = try ConsoleScreen(["attach"], scratch: sluice.scratch)
            for screen in [one, other] { try await screen.row(containing: "/files/body.txt", "200") }
            try await one.send("k")
            try await one.send("d", waitFor: "1 exchange deleted; u brings it back.")
            try await other.waitUntilGone("/files/body.txt")
            #expect(try await !sluice.told("export", sluice.session, "--format", "har").contains("body.txt"))
            #expect(try await !sluice.told("list", sluice.session, "path:/files*").contains("body.txt"))
            try await one.send("u", waitFor: "1 exchange is restored.")
            try await other.row(containing: "/files/body.txt", "200")
            #expect(try await sluice.told("export", sluice.session, "--format", "har").contains("body.txt"))
            #expect(try isWritten("marked-text", sluice))
            try await one.send("Z", waitFor: "3 exchanges deleted")
            try await other.waitUntilGone("/third")
            for screen in [one, other] {
                try await screen.send("q")
                #expect(try await screen.exitStatus() == 0)
            }
            _ = try await sluice.stop()
            #expect(try sluice.reader().count() == 0)
            for text in ["marked-text", "body.txt", "/third"] { #expect(try !isWritten(text, sluice), "\(text)") }
        }

        @Test("Comments and colours go into a HAR and JSON, and come back from the HAR")
        func notes() async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting { _ in "block: []" }
            for path in ["/plain", "/noted"] { _ = try await sluice.answer("https://localhost:\(nginx.secure)\(path)") }
            _ = try await sluice.stop()
            let comment = "breaks on Mondays: \"caf\u{E9}\" \u{1F600}"
            let editor = try SessionEditor(path: sluice.session)
            _ = try editor.edit(.annotate(ExchangeNumbers([2]), .comment(comment)))
            _ = try editor.edit(.annotate(ExchangeNumbers([2]), .colour(.green)))
            try editor.close()
            for format in ["har", "json"] {
                let text = try await sluice.told("export", sluice.session, "--format", format)
                try Data(text.utf8).write(to: URL(filePath: sluice.scratch.path("notes.\(format)")))
            }
            let lines = latin1(sluice.scratch.bytes("notes.json")).split(separator: "\n")
            #expect(lines.count { $0.contains("\"comment\":") && $0.contains("\"colour\":\"green\"") } == 1)
            let har = sluice.scratch.path("notes.har")
            #expect(try await sluice.told("list", har, "is:commented colour:green").contains("/noted"))
            #expect(try await !sluice.told("list", har, "is:commented or colour:green").contains("/plain"))
            let screen = try ConsoleScreen(["open", har], scratch: sluice.scratch)
            try await screen.row(containing: "\"g2", "/noted")
            try await screen.send(Keys.enter + "1", waitFor: comment)
            // Written once more, it is the same.
            let again = try await sluice.told("export", har, "--format", "har")
            let entries = try #require((try object(again)["log"] as? [String: Any])?["entries"] as? [[String: Any]])
            #expect(entries.map { $0["comment"] as? String } == [nil, comment])
        }
    }
}
