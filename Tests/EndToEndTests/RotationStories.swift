import Foundation
import HTTPModel
import Recording
import Support
import Testing

extension EndToEnd {
    @Suite("Recording into several files, and into one that stays small")
    struct RotationStories {
        private func sessions(_ scratch: Scratch) throws -> [String] {
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
            return names.filter { $0.hasSuffix(".sluice") }.sorted().map(scratch.path)
        }

        @Test("The sum of the sessions is what the client counted; each file is whole, list, show and export read it")
        func rotates() async throws {
            let body = String(repeating: "0123456789", count: 3_000)
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 30000\r\n\r\n" + body)
            let sluice = try await SluiceProcess(["--rotate", "1mb", "--keep", "100"], session: "t-%N.sluice")
            let count = 120
            for first in stride(from: 0, to: count, by: 20) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in first..<first + 20 {
                        group.addTask {
                            let text = try await sluice.get("http://127.0.0.1:\(origin.port)/n/\(number)")
                            #expect(text.count == 30_000)
                        }
                    }
                    try await group.waitForAll()
                }
            }
            // What runs is attached to the newest file.
            let status = try await sluice.told("record", "on")
            #expect(status.contains("Recording is on"))
            let end = try await sluice.stop()
            #expect(end.status == 0 && end.errors.contains("the last of "), "\(end.errors)")
            let files = try sessions(sluice.scratch)
            #expect(files.count > 2)
            var paths: [String] = []
            for file in files {
                paths += try SessionReader(path: file).records(limit: 10_000).map(\.url.path)
                #expect(!FileManager.default.fileExists(atPath: file + "-wal"))
                #expect(try await Program.run("sqlite3", [file, "PRAGMA integrity_check"]).text == "ok\n")
            }
            #expect(Set(paths) == Set((0..<count).map { "/n/\($0)" }) && paths.count == count)
            let har = try await sluice.told("export", files[1], "--format", "har")
            #expect(har.contains("/n/") && har.contains("0123456789"))
        }

        @Test("What --max-session drops is said by show, list and every export, and the body is not sent again")
        func small() async throws {
            let body = String(repeating: "0123456789", count: 20_000)
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + body)
            let sluice = try await SluiceProcess(["--max-session", "2mb"])
            for number in 0..<20 { _ = try await sluice.get("http://127.0.0.1:\(origin.port)/n/\(number)") }
            let end = try await sluice.stop()
            #expect(end.errors.contains("the bodies of its oldest exchanges are dropped"), "\(end.errors)")
            #expect(end.errors.contains("lost their bodies (--max-session)"), "\(end.errors)")
            let size = try FileManager.default.attributesOfItem(atPath: sluice.session)[.size] as? Int ?? 0
            #expect(size > 0 && size <= 2_000_000)
            let words = "the body was dropped to keep the session below 2mb"
            #expect(try await sluice.told("show", sluice.session, "1").contains(words))
            #expect(try await sluice.told("list", sluice.session, "is:incomplete").contains("/n/0"))
            for format in ["har", "json"] {
                #expect(
                    try await sluice.told("export", sluice.session, "id:1", "--format", format).contains(words),
                    "\(format)"
                )
            }
            let last = try await sluice.told("export", sluice.session, "id:20", "--format", "har")
            #expect(last.contains("0123456789") && !last.contains(words))
        }

        @Test(
            "Wrong values of the options end with 2 and say what is meant",
            arguments: [
                (["--rotate", "1x"], "--rotate takes one time"), (["--rotate", "10kb"], "--rotate takes one time"),
                (["--keep", "3"], "--keep needs --rotate"),
                (["--rotate", "1h", "--keep", "0"], "--keep takes a number"),
                (["--max-session", "3kb"], "--max-session takes a size"),
                (["--rotate", "1h", "--session", "a-%Q"], "%Q is not a directive"),
                (["--rotate", "1h", "--no-session"], "has no file to rotate"),
            ]
        )
        func wrong(options: [String], words: String) async throws {
            let outcome = try await SluiceProcess.run(["run"] + options, scratch: try Scratch())
            #expect(outcome.status == 2 && outcome.errors.contains(words), "\(outcome.status) \(outcome.errors)")
        }

        /// The two hundred moments, and the 200 ms that hold where nothing else keeps the machine busy, are for
        /// maintainers: `Tests/Soak/crash.py`.
        @Test("After kill -9 at random moments under load every session opens, and only the last moments are lost")
        func killed() async throws {
            for options in [[], ["--rotate"]] {
                let outcome = try await Program.run(
                    "python3",
                    [
                        soakScript("crash.py"), try SluiceProcess.executable(), "--moments", "5", "--seed", "1123",
                        "--allowed", "1",
                    ] + options,
                    within: 300
                )
                #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
            }
        }

        private func soakScript(_ name: String) -> String {
            URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "Soak/\(name)").path
        }
    }
}
