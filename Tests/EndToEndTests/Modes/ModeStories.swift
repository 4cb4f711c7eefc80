import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("Listeners")
    struct Modes {
        @Test(
            "A mode that cannot be is wrong usage, with what to write",
            arguments: [
                (["--mode", "upstream:http://proxy:3128"], "--upstream-proxy"),
                (["--mode", "reverse:api.example.com"], "http://"),
                (["--mode", "reverse:https://api.example.com/v1"], "/v1"),
                (["--mode", "socks5@x"], "not an address to listen on"),
                (["--mode", "regular@8080", "--mode", "socks5@8080"], "127.0.0.1:8080"),
                (["--mode", "socks5@0", "--listen", "127.0.0.1:0"], "--mode regular"),
                (["--reverse-keep-host"], "--mode reverse:URL"),
            ]
        )
        func mistakes(options: [String], words: String) async throws {
            let outcome = try await SluiceProcess.run(["run"] + options, scratch: try Scratch())
            #expect(outcome.status == 2 && outcome.text.isEmpty, "\(outcome.errors)")
            #expect(outcome.errors.contains(words), "\(outcome.errors)")
        }

        @Test("One port that is in use keeps all of them from being served, and is named with its mode")
        func portInUse() async throws {
            let origin = try Origin { _, _ in }
            let free = try unusedPort()
            let scratch = try Scratch()
            let outcome = try await SluiceProcess.run(
                ["run", "--listen", "127.0.0.1:\(free)", "--mode", "regular", "--mode", "socks5@\(origin.port)"],
                scratch: scratch
            )
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("127.0.0.1:\(origin.port) (socks5) is in use"), "\(outcome.errors)")
            #expect(!outcome.errors.contains("listening on"))
            // No empty session is left to be found as 'last'.
            let sessions = scratch.path("state") + "/sluice/sessions"
            #expect((try? FileManager.default.contentsOfDirectory(atPath: sessions))?.isEmpty ?? true)
        }

        @Test("Each listener for other machines needs --allow")
        func access() async throws {
            for mode in ["regular@0.0.0.0:0", "socks5@0.0.0.0:0", "reverse:http://a.example@[::]:0"] {
                let outcome = try await SluiceProcess.run(["run", "--mode", mode], scratch: try Scratch())
                #expect(outcome.status == 2 && outcome.errors.contains("--allow"), "\(outcome.errors)")
            }
        }

        @Test("A command has a forward proxy, whatever the modes are")
        func command() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let scratch = try Scratch()
            let outcome = try await SluiceProcess.run(
                ["run", "--mode", "socks5@0", "--", "curl", "-sS", "http://127.0.0.1:\(origin.port)/"],
                scratch: scratch
            )
            #expect(outcome.status == 0 && outcome.text == "ok", "\(outcome.errors)")
            #expect(outcome.errors.contains("as socks5"), "\(outcome.errors)")
        }

        @Test("A session says of each exchange how it came in, and the control socket of all listeners")
        func together() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", closes: true)
            let server = "http://127.0.0.1:\(origin.port)"
            let sluice = try await SluiceProcess.listening("reverse:\(server)@0", "socks5@0")
            _ = try await sluice.get("\(server)/regular")
            _ = try await sluice.plainCurl("http://127.0.0.1:\(try sluice.port(of: "reverse:"))/reverse")
            _ = try await sluice.plainCurl("--socks5", "127.0.0.1:\(try sluice.port(of: "socks5"))", "\(server)/socks5")
            for path in ["/regular", "/reverse", "/socks5"] {
                let record = try await sluice.exchange(path: path).record
                #expect(record.url.description == "\(server)\(path)")
                #expect(
                    record.extras.listeningMode
                        == (path == "/regular" ? nil : path == "/socks5" ? "socks5" : "reverse:\(server)")
                )
            }
            for (path, mode) in [("/regular", "regular"), ("/reverse", "reverse:\(server)"), ("/socks5", "socks5")] {
                let id = try await sluice.exchange(path: path).record.id
                let shown = try await sluice.told("show", sluice.session, "\(id)")
                let line = shown.split(separator: "\n").first { $0.hasPrefix("  mode ") } ?? ""
                #expect(line.hasSuffix(" " + mode), "\(shown)")
                let row = try object(try await sluice.told("list", sluice.session, "path:\(path)", "--json"))
                #expect(row["mode"] as? String == mode, "\(row)")
            }
            let socks = try await sluice.told("list", sluice.session, "mode:socks5")
            #expect(socks.contains("/socks5") && !socks.contains("/reverse"))
        }

        @Test("A repeat goes through the forward proxy, not through another listener")
        func repeated() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess(
                ["--mode", "reverse:http://127.0.0.1:\(origin.port)@0", "--mode", "regular"]
            )
            _ = try await sluice.plainCurl("http://127.0.0.1:\(try sluice.port(of: "reverse:"))/again")
            _ = try await sluice.exchange(path: "/again")
            let text = try await sluice.told("repeat", sluice.session, "1", "--control", "\(sluice.program.identifier)")
            #expect(text.contains("1 of 1 the same"), "\(text)")
            try await eventually("both are recorded") { try sluice.records().count == 2 }
            #expect(try sluice.records().last?.url.description == "http://127.0.0.1:\(origin.port)/again")
        }
    }
}
