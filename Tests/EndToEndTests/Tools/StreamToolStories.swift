import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("Tools on streams")
    struct StreamToolStories {
        @Test(
            "Of a stream only the head is held, and bodies are left alone; the trace says so",
            arguments: bothVersions
        )
        func events(version: String) async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting {
                """
                rewrite:
                  at: "https://localhost:\($0.secure)/events"
                  rules:
                    - { modify: body, on: response, match: data, to: DATA }
                    - { add: header, on: response, name: X-Seen, to: "yes" }
                breakpoints: { at: "https://localhost:\($0.secure)/events", on: response }
                """
            }
            let url = "https://localhost:\(nginx.secure)/events"
            async let pending = sluice.answer(version, url)
            let name = try await sluice.held(url)
            try await sluice.told("hold", "edit", name, "--header", "X-Held: yes")
            let answer = try await pending
            #expect(answer.text == "data: 1\n\ndata: 2\n\ndata: 3\n\n")
            #expect(answer.value("X-Seen") == "yes")
            #expect(answer.value("X-Held") == "yes")
            let trace = try await sluice.exchange().trace
            #expect(trace.contains("held the head of the response, since its body is a stream"), "\(trace)")
            #expect(trace.contains("passes unmodified; body rules do not apply to it"), "\(trace)")
        }

        private struct Kinds: Decodable {
            let text: String
            let large, code: Int
        }

        @Test("A WebSocket is mapped to another host, held at both heads, and paced", arguments: [true, false])
        func webSocket(isSecure: Bool) async throws {
            let server = try await PeerServer("websocket.py", ["serve"], isSecure: isSecure)
            let sluice = try await SluiceProcess(
                ["--upstream-ca", try await TestAuthority.shared.root],
                profile: """
                    version: 1
                    map-remote: { name: moved, from: "sockets.test", to: "localhost:\(server.port)" }
                    breakpoints: { at: "sockets.test", on: [request, response], after: 30ms, then: execute }
                    throttle: { name: narrow, only: "sockets.test", latency: 100, down: 2000, up: 2000 }

                    """
            )
            let clock = ContinuousClock()
            let start = clock.now
            let kinds: Kinds = try await Peers.run(
                "websocket.py",
                [
                    "kinds", "\(isSecure ? "wss" : "ws")://sockets.test/", "--proxy", "\(sluice.port)", "--count", "1",
                ] + (isSecure ? ["--ca", sluice.authority] : [])
            )
            #expect(kinds.text == "text: \u{E4}\u{20AC}")
            #expect(kinds.large == 200_000)
            #expect(kinds.code == 4001)
            // 200,000 bytes each way at 2 Mbit/s.
            #expect(start.duration(to: clock.now) > .seconds(1.5))
            let exchange = try await sluice.exchange("the socket") { $0.kind == .webSocket }
            #expect(exchange.record.url.host == "sockets.test")
            #expect(exchange.record.sentURL?.authority == "localhost:\(server.port)")
            #expect(exchange.record.flags.contains(.held))
            let fired = exchange.messages.trace.filter { $0.outcome == .fired }
            #expect(
                fired.map(\.stage) == ["map-remote", "breakpoints", "throttle", "breakpoints"],
                "\(exchange.trace)"
            )
        }

        @Test("Tunnels that are not decrypted are mapped by host and port, spoofed and paced")
        func tunnel() async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting {
                """
                intercept: { except: "*.sluice.test" }
                map-remote: { from: "mapped.sluice.test", to: "api.sluice.test:\($0.other)" }
                dns-spoofing: { host: api.sluice.test, address: 127.0.0.2 }
                throttle: { only: "*.sluice.test", down: 256, latency: 50 }
                block: { at: "blocked.sluice.test" }
                """
            }
            try nginx.scratch.write("www/files/half", noise(32 << 10))
            let answers = try await sluice.answers(
                ["mapped", "blocked"].map {
                    ["--insecure", "https://\($0).sluice.test:\(nginx.secure)/files/half"]
                }
            )
            #expect(answers[0].body == noise(32 << 10))
            // 32 KiB at 256 kbit/s.
            #expect(answers[0].seconds > 0.8)
            #expect(answers[1].status == 0)
            #expect(try await nginx.requests(1) == ["127.0.0.2:\(nginx.other) GET /files/half"])
            let tunnel = try await sluice.exchange { $0.url.host == "mapped.sluice.test" }
            #expect(tunnel.record.kind == .tunnel)
            #expect(tunnel.upstream?.peerAddress.hasPrefix("127.0.0.2:") == true)
            #expect(try await sluice.exchange { $0.url.host == "blocked.sluice.test" }.record.state == .blocked)
        }
    }
}
