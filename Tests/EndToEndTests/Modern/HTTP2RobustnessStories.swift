import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("HTTP/2 from clients that are wrong, or hostile")
    struct HTTP2Robustness {
        private func proxy(_ options: [String] = []) async throws -> SluiceProcess {
            // What these clients do is no sign that they distrust our certificate.
            try await SluiceProcess(
                ["--no-auto-tunnel", "--upstream-ca", try await TestAuthority.shared.root] + options
            )
        }

        @Test("What h2spec asks in its generic, hpack and http2 sections holds on intercepted connections")
        func conformance() async throws {
            let nginx = try await HTTP2Nginx()
            let sluice = try await proxy()
            let outcome = try await Peers.start(
                "h2_conformance.py",
                HTTP2Client.arguments(sluice, nginx.secure)
            ).outcome(within: 120)
            #expect(outcome.text.isEmpty, "failures of \(outcome.errors)\(outcome.text)")
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.errors.contains(" of 142 cases"), "\(outcome.errors)")
        }

        /// What `h2_window.py` got.
        private struct Opened: Decodable {
            let before: Int
            let come: Int
        }

        @Test("All that waits for the connection's window goes out once it is opened", arguments: [true, false])
        func lateWindow(isSecure: Bool) async throws {
            let nginx = try await HTTP2Nginx()
            _ = try nginx.makeFile("file", size: 60_000)
            let sluice = try await proxy()
            let way = HTTP2Client.arguments(
                sluice,
                isSecure ? nginx.secure : nginx.plain,
                isSecure ? .intercepted : .tunnelled
            )
            let opened: Opened = try await Peers.run("h2_window.py", way + ["--path", "/file", "--size", "60000"])
            #expect(opened.before == 65_535)
            #expect(opened.come == 600_000)
        }

        /// How an abused connection ended.
        private struct End: Decodable {
            let sent: Int
            let ended: String?
        }

        @Test(
            "A flood ends its own connection, in bounded memory, while others are served",
            arguments: [
                "rapid-reset", "made-to-reset", "continuation-flood", "empty-continuations", "settings-flood",
                "ping-flood", "read-ping-flood", "empty-data", "priority-flood", "window-flood", "unknown-flood",
            ]
        )
        func flood(abuse: String) async throws {
            let nginx = try await HTTP2Nginx()
            let sluice = try await proxy()
            #expect(
                try await sluice.get("--http2", "https://localhost:\(nginx.secure)/hello.txt") == "Hello, Sluice.\n"
            )
            let before = try sluice.memory()
            let hostile = try Peers.start("h2_hostile.py", HTTP2Client.arguments(sluice, nginx.secure) + [abuse])
            let served = try await sluice.get("--http2", "https://localhost:\(nginx.secure)/hello.txt")
            #expect(served == "Hello, Sluice.\n")
            let outcome = try await hostile.outcome(within: 120)
            let end = try JSONDecoder().decode(End.self, from: Data(outcome.output))
            #expect(end.ended == "ENHANCE_YOUR_CALM" || end.ended == "closed", "\(abuse): \(end) \(outcome.errors)")
            let grown = try sluice.peakMemory() - before
            #expect(grown < 96 << 20, "\(abuse): grown by \(grown >> 20) MiB")
            #expect(try await sluice.get("--http2", "https://localhost:\(nginx.secure)/") == "an answer to anything\n")
            #expect(sluice.program.status == nil)
        }

        @Test("Heads that are small on the wire and huge when unpacked are refused, in bounded memory")
        func headerBomb() async throws {
            let nginx = try await HTTP2Nginx()
            let sluice = try await proxy()
            _ = try await sluice.get("--http2", "https://localhost:\(nginx.secure)/hello.txt")
            let before = try sluice.memory()
            let outcome = try await Peers.start(
                "h2_hostile.py",
                HTTP2Client.arguments(sluice, nginx.secure) + ["hpack-bomb", "--count", "10"]
            ).outcome(within: 120)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let grown = try sluice.peakMemory() - before
            #expect(grown < 32 << 20, "grown by \(grown >> 20) MiB; one head unpacked is 60 MB")
            #expect(try await sluice.get("--http2", "https://localhost:\(nginx.secure)/") == "an answer to anything\n")
        }

        @Test(
            "A thousand streams for which the client never has room hold what their windows allow, and no other client"
        )
        func zeroWindow() async throws {
            let nginx = try await HTTP2Nginx()
            _ = try nginx.makeFile("large", size: 4 << 20)
            let sluice = try await proxy()
            _ = try await sluice.get("--http2", "https://localhost:\(nginx.secure)/hello.txt")
            let before = try sluice.memory()
            let hostile = try Peers.start(
                "h2_hostile.py",
                HTTP2Client.arguments(sluice, nginx.secure) + ["zero-window", "--path", "/large"]
            )
            try await eventually("the streams are open") { hostile.output.contains("ready") }
            try await eventually("all of them wait", within: 120) {
                try sluice.records().filter { $0.url.path == "/large" }.count >= 100
            }
            for _ in 0..<5 {
                let served = try await sluice.get("--http2", "https://localhost:\(nginx.secure)/hello.txt")
                #expect(served == "Hello, Sluice.\n")
            }
            let grown = try sluice.peakMemory() - before
            #expect(grown < 400 << 20, "grown by \(grown >> 20) MiB, where 1,000 windows of 256 KiB are 250")
            hostile.signal(SIGKILL)
            #expect(try await sluice.get("--http2", "https://localhost:\(nginx.secure)/") == "an answer to anything\n")
        }

        private struct Downloads: Decodable {
            let right: Int
            let wrong: [String]
            let atOnce: Int
        }

        @Test(
            "A thousand streams at once to slow readers arrive whole, and memory stays within their windows",
            arguments: [128, 1_024]
        )
        func manyStreams(limit: Int) async throws {
            let nginx = try await HTTP2Nginx(streams: limit)
            let file = try nginx.makeFile("part", size: 64 << 10)
            let sum = try await Program.require("sha256sum", [nginx.scratch.path("www/part")]).text.prefix(64)
            #expect(file.count == 65_536)
            let sluice = try await proxy()
            let result: Downloads = try await Peers.run(
                "h2_many.py",
                HTTP2Client.arguments(sluice, nginx.secure) + [
                    "--path", "/part", "--sha256", String(sum), "--streams", "1000",
                ],
                within: 120
            )
            #expect(result.wrong.isEmpty, "\(result)")
            #expect(result.right == 1_000)
            #expect(result.atOnce == 1_000)
            let peak = try sluice.peakMemory()
            #expect(peak < 256 << 20, "\(peak >> 20) MiB, where all bodies together are 64")
            try await eventually("all are recorded") {
                try sluice.records().count { $0.url.path == "/part" && $0.state == .complete } == 1_000
            }
            #expect(try sluice.records().allSatisfy { $0.upstreamVersion == .http2 })
        }

        private struct Stall: Decodable {
            let alone, besideStalled, ratio: Double
        }

        @Test("A stream whose reader has stopped does not hold up the others of its connection")
        func stalled() async throws {
            let nginx = try await HTTP2Nginx()
            _ = try nginx.makeFile("file", size: 512 << 10)
            let sluice = try await proxy()
            let stall: Stall = try await Peers.run(
                "h2_stalled.py",
                HTTP2Client.arguments(sluice, nginx.secure) + ["--path", "/file", "--rounds", "5", "--streams", "4"]
            )
            // Ten percent is what it must be on a machine that does nothing else; here other tests' leftovers run, too.
            #expect(stall.ratio < 1.6, "\(stall)")
        }

        private struct StalledEnd: Decodable {
            let reset: String?
            let goesOn: Bool
        }

        @Test("A stream whose reader takes nothing for its time is reset, and its connection goes on")
        func stalledEnd() async throws {
            let nginx = try await HTTP2Nginx()
            _ = try nginx.makeFile("file", size: 8 << 20)
            let sluice = try await proxy(["--idle-timeout", "1"])
            let end: StalledEnd = try await Peers.run(
                "h2_stalled.py",
                HTTP2Client.arguments(sluice, nginx.secure) + ["--path", "/file", "--ended"]
            )
            #expect(end.reset == "CANCEL" && end.goesOn, "\(end)")
            try await eventually("both are recorded") { try sluice.records().count { $0.state != .inFlight } == 2 }
            let records = try sluice.records()
            let failure = try #require(records.first?.failure)
            #expect(failure.code == .clientTimeout && failure.message.contains("for 1 second,"), "\(failure)")
            #expect(records.last?.state == .complete, "\(records)")
        }
    }
}
