import Foundation
import HTTPModel
import Recording
import Support
import Testing

extension EndToEnd {
    @Suite("sluice browser")
    struct BrowserStories {
        private static func installed(_ names: [String]) -> String? {
            let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            let files = names.flatMap { name in directories.map { "\($0)/\(name)" } }
            return files.first { FileManager.default.isExecutableFile(atPath: $0) }
        }

        static let chromium = installed(["chromium", "chromium-browser", "google-chrome"])
        static let firefox = installed(["firefox-esr", "firefox"])

        private func leftovers(_ scratch: Scratch) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: scratch.path("tmp")).filter { $0.contains("browser") }
        }

        /// Keeps on this machine what browsers ask for by themselves when they start.
        private static let spoofing =
            "dns-spoofing: [ { host: [\"*.com\", \"*.net\", \"*.org\"], address: 127.0.0.1 } ]\n"

        private func profile(_ scratch: Scratch) throws -> String {
            try scratch.write("p.yaml", "version: 1\n" + Self.spoofing)
        }

        private func environment(_ scratch: Scratch) throws -> [String: String] {
            for name in ["tmp", "home"] where !scratch.exists(name) { try scratch.makeDirectory(name) }
            return SluiceProcess.environment(scratch).merging(["TMPDIR": scratch.path("tmp")]) { $1 }
        }

        @Test(
            "Chromium loads a page over TLS without a warning, and nothing of it is left",
            .enabled(if: chromium != nil)
        )
        func page() async throws {
            let nginx = try await ReportingNginx()
            try nginx.put("page.html", "<title>t</title><p id=x></p><script>x.textContent = 'made-' + 'here'</script>")
            let scratch = try Scratch()
            let url = "https://localhost:\(nginx.secure)/files/page.html"
            let outcome = try await Program.run(
                try SluiceProcess.executable(),
                [
                    "browser", url, "--browser", try #require(Self.chromium), "--plain",
                    "--session", scratch.path("b.sluice"), "--upstream-ca", try await TestAuthority.shared.root,
                    "--profile", try profile(scratch), "--",
                    "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom",
                ],
                environment: try environment(scratch),
                within: 180
            )
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.text.contains("made-here"), "\(outcome.text)\(outcome.errors)")
            let records = try SessionReader(path: scratch.path("b.sluice")).records(limit: 100)
            let record = try #require(records.first { $0.url.path == "/files/page.html" })
            #expect(record.status == 200 && record.url.host == "localhost" && record.url.scheme == "https")
            #expect(try leftovers(scratch) == [])
        }

        @Test("With other modes there is a forward proxy for the browser, too", .enabled(if: chromium != nil))
        func modes() async throws {
            let nginx = try await ReportingNginx()
            let scratch = try Scratch()
            let outcome = try await Program.run(
                try SluiceProcess.executable(),
                [
                    "browser", "https://localhost:\(nginx.secure)/x", "--browser", try #require(Self.chromium),
                    "--plain",
                    "--mode", "socks5@0", "--session", scratch.path("b.sluice"),
                    "--upstream-ca", try await TestAuthority.shared.root, "--profile", try profile(scratch), "--",
                    "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom",
                ],
                environment: try environment(scratch),
                within: 180
            )
            #expect(outcome.status == 0, "\(outcome.errors)")
            let records = try SessionReader(path: scratch.path("b.sluice")).records(limit: 100)
            #expect(records.contains { $0.url.path == "/x" && $0.status == 200 }, "\(records.map(\.url))")
            let left = try FileManager.default.contentsOfDirectory(atPath: scratch.path("tmp"))
            #expect(left.filter { $0.contains("hromium") } == [], "\(left)")
        }

        @Test("A browser is not started where it would be refused (--proxy-auth)")
        func users() async throws {
            let scratch = try Scratch()
            let outcome = try await SluiceProcess.run(
                ["browser", "--proxy-auth", scratch.path("users")],
                scratch: scratch
            )
            #expect(outcome.status == 2 && outcome.errors.contains("--proxy-auth"), "\(outcome.errors)")
        }

        @Test("A certificate that is not Sluice's own is refused as ever", .enabled(if: chromium != nil))
        func foreign() async throws {
            let nginx = try await ReportingNginx()
            let scratch = try Scratch()
            // The profile leaves the host unread, so Chromium sees the server's own certificate.
            let profile = try scratch.write(
                "p.yaml",
                "version: 1\n\(Self.spoofing)intercept: { except: [\"localhost:\(nginx.secure)\"] }\n"
            )
            let outcome = try await Program.run(
                try SluiceProcess.executable(),
                [
                    "browser", "https://localhost:\(nginx.secure)/x", "--browser", try #require(Self.chromium),
                    "--plain",
                    "--session", scratch.path("b.sluice"), "--profile", profile, "--",
                    "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom",
                ],
                environment: try environment(scratch),
                within: 180
            )
            #expect(!outcome.text.contains("note"), "\(outcome.text)")
            let records = try SessionReader(path: scratch.path("b.sluice")).records(limit: 100)
            #expect(!records.contains { $0.url.path == "/x" })
            #expect(records.contains { $0.kind == .tunnel && $0.url.port == nginx.secure })
        }

        @Test("Firefox trusts it, too, behind a Sluice that runs already", .enabled(if: firefox != nil))
        func firefoxBehindRunning() async throws {
            let nginx = try await ReportingNginx()
            try nginx.put("page.html", "<p>hello</p>")
            let scratch = try Scratch()
            let sluice = try await SluiceProcess(
                ["--upstream-ca", try await TestAuthority.shared.root, "--profile", try profile(scratch)],
                environment: try environment(scratch),
                scratch: scratch
            )
            let url = "https://localhost:\(nginx.secure)/files/page.html"
            let outcome = try await Program.run(
                try SluiceProcess.executable(),
                [
                    "browser", url, "--browser", "firefox", "--running", "--", "--headless",
                    "--screenshot", scratch.path("shot.png"),
                ],
                environment: try environment(scratch),
                within: 180
            )
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(scratch.bytes("shot.png").starts(with: [0x89, 0x50, 0x4E, 0x47]))
            let exchange = try await sluice.exchange(path: "/files/page.html")
            #expect(exchange.record.status == 200 && exchange.record.url.host == "localhost")
            #expect(try leftovers(scratch) == [])
            _ = try await sluice.stop()
        }

        #if os(Linux)
        @Test("A browser goes on when its Sluice is killed, and ends when the next one starts")
        func orphan() async throws {
            let scratch = try Scratch()
            let environment = try environment(scratch)
            let waiting = try scratch.write("chromium-waits", "#!/bin/sh\nwhile sleep 0.2; do :; done\n", mode: 0o755)
            /// Processes that run with a profile in the scratch directory.
            func browsers() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc").count { name in
                    let line = Int(name) == nil ? nil : FileManager.default.contents(atPath: "/proc/\(name)/cmdline")
                    return String(decoding: line ?? Data(), as: UTF8.self)
                        .contains("--user-data-dir=\(scratch.path("tmp"))/")
                }
            }
            let arguments = ["browser", "--browser", waiting, "--plain", "--session", scratch.path("b.sluice")]
            let program = try Program(try SluiceProcess.executable(), arguments, environment: environment)
            try await eventually("it runs: \(program.errors)") { try browsers() == 1 }
            program.signal(SIGKILL)
            _ = try await program.outcome(within: 60)
            #expect(try browsers() == 1)
            let next = ["run", "--listen", "127.0.0.1:0", "--no-session", "--", "true"]
            let outcome = try await Program.run(try SluiceProcess.executable(), next, environment: environment)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try browsers() == 0)
            #expect(try leftovers(scratch) == [])
        }
        #endif

        @Test(
            "What a killed Sluice left is removed by the next; a wrong name, a wrong URL and a missing browser say so"
        )
        func ends() async throws {
            let scratch = try Scratch()
            let stale = try environment(scratch)
            try scratch.makeDirectory("tmp/sluice-browser.abcdef/profile")
            let mark = "a temporary directory of sluice, process 1\n"
            try scratch.write("tmp/sluice-browser.abcdef/.sluice-temporary", mark)
            // A browser that waits until it is ended.
            let script = "#!/bin/sh\n: > '\(scratch.path("runs"))'\nexec sleep 600\n"
            let waiting = try scratch.write("chromium-waits", script, mode: 0o755)
            let arguments = ["browser", "--browser", waiting, "--plain", "--session", scratch.path("b.sluice")]
            let program = try Program(try SluiceProcess.executable(), arguments, environment: stale)
            try await eventually("its folder is there: \(program.errors)") {
                // Before its browser runs, Sluice may not be ready for a signal.
                try leftovers(scratch).count == 1 && !scratch.exists("tmp/sluice-browser.abcdef")
                    && scratch.exists("runs")
            }
            let folder = scratch.path("tmp/\(try #require(try leftovers(scratch).first))")
            let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
            #expect(mode == 0o700)
            program.signal(SIGTERM)
            let outcome = try await program.outcome(within: 60)
            #expect(outcome.status == 1, "the browser was ended by a signal: \(outcome.errors)")
            #expect(try leftovers(scratch) == [])
            for (options, status, words) in [
                (["--browser", "netscape"], 2, "not a browser that Sluice can start"),
                (["--browser", scratch.path("none")], 1, "cannot be executed"),
                (["--running", "--session", "x.sluice"], 2, "are those of the running Sluice"),
            ] {
                let outcome = try await Program.run(
                    try SluiceProcess.executable(),
                    ["browser"] + options,
                    environment: stale
                )
                #expect(outcome.status == Int32(status) && outcome.errors.contains(words), "\(outcome.errors)")
            }
        }
    }
}
