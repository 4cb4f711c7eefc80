import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("Mirror")
    struct MirrorStories {
        @Test(
            "Successful answers are saved by host and path, and can be played back without the server",
            arguments: bothVersions
        )
        func roundTrip(version: String) async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting {
                "mirror: { to: mirrored/, only: \"https://localhost:\($0.secure)/*\", except: \"*/private/*\" }"
            }
            let base = "https://localhost:\(nginx.secure)"
            try nginx.put("data.json", "{\"a\": [1, 2, 3]}\n")
            try nginx.scratch.write("www/files/noise.bin", noise(300_000))
            let paths = [
                "/files/data.json", "/files/noise.bin", "/report", "/report?page=2", "/files/none", "/fails/x",
                "/private/x", "/dots/..%2f..%2fescape",
            ]
            let answers = try await sluice.answers(paths.map { [version, "--compressed", "--path-as-is", base + $0] })
            _ = try await sluice.answer(version, "-d", "x", base + "/posted")
            #expect(try await sluice.stop().status == 0)
            let root = "mirrored/localhost_\(nginx.secure)"
            #expect(latin1(sluice.scratch.bytes("\(root)/files/data.json")) == "{\"a\": [1, 2, 3]}\n")
            #expect(answers[0].value("Content-Encoding") == "gzip")
            #expect(sluice.scratch.bytes("\(root)/files/noise.bin") == noise(300_000))
            #expect(sluice.scratch.bytes("\(root)/report") == answers[2].body)
            #expect(sluice.scratch.bytes("\(root)/report?page=2") == answers[3].body)
            let saved = FileManager.default.enumerator(atPath: sluice.scratch.path("mirrored"))?.compactMap {
                $0 as? String
            }
            for name in saved ?? [] {
                for other in ["none", "fails", "private", "posted"] { #expect(!name.contains(other), "\(name)") }
            }
            #expect(!FileManager.default.fileExists(atPath: sluice.scratch.path("escape")))
            #expect(!FileManager.default.fileExists(atPath: sluice.scratch.path("mirrored/escape")))

            let player = try await SluiceProcess(
                profile: "version: 1\nmap-local: { from: \"played.test\", to: \(root)/, on-miss: 404 }\n",
                scratch: sluice.scratch
            )
            let played = try await player.answers(
                ["/files/data.json", "/files/noise.bin", "/report", "/private/x"].map {
                    [version, "https://played.test\($0)"]
                }
            )
            #expect(played.map(\.status) == [200, 200, 200, 404])
            #expect(played[0].text == "{\"a\": [1, 2, 3]}\n")
            #expect(played[0].value("Content-Type").hasPrefix("application/json"))
            #expect(played[1].body == noise(300_000))
            #expect(played[2].body == answers[2].body)
            #expect(played[2].value("Content-Type").hasPrefix("text/plain"), "\(played[2].head)")
        }

        @Test("A response that breaks off leaves no file")
        func broken() async throws {
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                try socket.send(noise(500_000))
            }
            let sluice = try await SluiceProcess(profile: "version: 1\nmirror: { to: mirrored/ }\n")
            let answer = try await sluice.answer("http://localhost:\(origin.port)/broken")
            // What broke before the client had any of it becomes an error page.
            #expect(answer.exit != 0 || answer.status == 502)
            let exchange = try await sluice.exchange { $0.state == .failed }
            #expect(exchange.trace.contains("not saved, because the response was incomplete"), "\(exchange.trace)")
            #expect(!exchange.trace.contains("saved as"), "\(exchange.trace)")
            #expect(try await sluice.stop().status == 0)
            let files = FileManager.default.enumerator(atPath: sluice.scratch.path("mirrored"))?.compactMap {
                $0 as? String
            }
            #expect((files ?? []).filter { $0.contains("broken") }.isEmpty, "\(files ?? [])")
        }
    }

    @Suite("DNS spoofing")
    struct SpoofingStories {
        @Test("Hosts are connected to elsewhere; Host, SNI and certificate stay theirs", arguments: bothVersions)
        func addresses(version: String) async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting { nginx in
                """
                dns-spoofing:
                  - { name: second, host: "*.second.sluice.test", address: 127.0.0.2 }
                  - { name: by port, host: "api.sluice.test:\(nginx.other)", address: 127.0.0.2 }
                  - { name: name, host: "*.sluice.test", address: localhost }
                  - { name: stranger, host: "stranger.test", address: "127.0.0.1" }
                """
            }
            let cases = [
                ("api.sluice.test:\(nginx.secure)", "127.0.0.1:\(nginx.secure)"),
                ("api.sluice.test:\(nginx.other)", "127.0.0.2:\(nginx.other)"),
            ]
            for (host, place) in cases {
                let report = try await sluice.report(version, "https://\(host)/page")
                #expect(report["place"] == place)
                #expect(report["url"] == "https://\(host)/page")
                #expect(report["sni"] == "api.sluice.test")
                let exchange = try await sluice.exchange { "https://\($0.url.authority)" == "https://\(host)" }
                #expect(exchange.record.sentURL == nil)
                #expect(exchange.trace.hasPrefix("connects to "))
            }
            let plain = try await sluice.report("http://deep.second.sluice.test:\(nginx.plain)/")
            #expect(plain["place"] == "127.0.0.2:\(nginx.plain)")
            #expect(plain["url"] == "http://deep.second.sluice.test:\(nginx.plain)/")
            // The name is verified, not the address: no certificate of the server is for this one.
            let stranger = try await sluice.answer(version, "https://stranger.test:\(nginx.secure)/")
            #expect(stranger.status == 502)
            #expect(try await sluice.exchange { $0.url.host == "stranger.test" }.record.failure?.code == .tls)
        }
    }
}
