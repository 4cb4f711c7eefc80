import Foundation
import Support
import Synchronization
import Terminal
import Testing

extension UserStories.Consoles {
    @Suite("Streams and gRPC messages, looked at")
    struct StreamReadingStories {
        private static let size = Size(width: 80, height: 24)

        /// How many events a server has sent, or may send.
        private final class Allowance: Sendable {
            private let count = Mutex(0)
            var value: Int { count.withLock { $0 } }
            func raise(to new: Int) { count.withLock { $0 = new } }
        }

        /// A row of a message, folded, that has the cursor or not.
        private func row(_ console: LiveConsole, _ text: String, hasCursor: Bool = false) async throws {
            let row = try await console.screen.row(containing: "▸", text)
            #expect(row.hasPrefix(hasCursor ? ">" : " "), "\(row)")
        }

        @Test("Events come one line each, with the cursor on the newest, until one moves", .timeLimit(.minutes(2)))
        func events() async throws {
            let allowed = Allowance()
            let server = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                for number in 1...40 {
                    while allowed.value < number { Thread.sleep(forTimeInterval: 0.01) }
                    let event = "data: {\"number\": \(number), \"list\": [1, 2, 3]}\n\n"
                    try socket.send("\(String(event.utf8.count, radix: 16))\r\n\(event)\r\n")
                }
                try socket.send("0\r\n\r\n")
            }
            let console = try await LiveConsole(size: Self.size)
            let screen = console.screen
            async let answer = console.answer("http://localhost:\(server.port)/events")
            allowed.raise(to: 3)
            try await screen.row(containing: "/events", "200")
            try await screen.send(Keys.enter, waitFor: "following")
            try await screen.row(containing: ">", "\"number\": 3,")
            try await row(console, "\"number\": 1,")
            // More than the page has room for: the newest is there anyway.
            allowed.raise(to: 30)
            try await screen.row(containing: ">", "\"number\": 30,")
            try await row(console, "\"number\": 29,")
            // What is read stays, and what comes then does not move it.
            try await screen.send("k")
            try await screen.waitUntilGone("following #1")
            try await screen.row(containing: ">", "\"number\": 29,")
            let size = try #require(screen.text.firstMatch(of: /[\d.]+ KB/)).output
            allowed.raise(to: 39)
            try await screen.waitUntilGone(String(size))
            try await screen.row(containing: ">", "\"number\": 29,")
            #expect(!screen.text.contains("\"number\": 39,"), "\(screen.text)")
            try await screen.send("G", waitFor: "following")
            try await row(console, "\"number\": 39,", hasCursor: true)
            allowed.raise(to: 40)
            _ = try await answer
            try await row(console, "\"number\": 40,", hasCursor: true)
        }

        @Test("The messages of a WebSocket come the same way, from both sides", .timeLimit(.minutes(2)))
        func webSocket() async throws {
            let server = try await PeerServer("websocket.py", ["serve"], isSecure: false)
            let console = try await LiveConsole(size: Self.size)
            let screen = console.screen
            let socket = try Peers.start(
                "websocket.py",
                ["typed", "ws://localhost:\(server.port)/chat", "--proxy", "\(console.port)"]
            )
            try await screen.row(containing: "/chat", "101")
            try await screen.send(Keys.enter, waitFor: "following")
            try await screen.row(containing: ">▸", "to client", "{\"number\": 1,")
            socket.signal(SIGUSR1)
            try await screen.row(containing: ">▸", "to client", "{\"number\": 2,")
            try await screen.send("k")
            try await screen.waitUntilGone("following #1")
            socket.signal(SIGUSR1)
            try await screen.wait(for: "3 from the server")
            try await screen.row(containing: ">▸", "to server", "{\"number\": 2,")
            socket.signal(SIGTERM)
        }

        @Test("gRPC messages have the names of the profile's descriptor file", .timeLimit(.minutes(2)))
        func profileDescriptor() async throws {
            let server = try await PeerServer("grpc_server.py")
            let scratch = try Scratch()
            try await call(server, nil, scratch)
            let console = try await LiveConsole(
                profile: "version: 1\nprotobuf: [ api.pb ]\n",
                size: Size(width: 100, height: 40),
                scratch: scratch
            )
            try await call(server, console, scratch)
            try await console.screen.row(containing: "/test.Echo/Compressed", "rpc0")
            try await console.screen.send(Keys.enter, waitFor: "message 1")
            try await readNames(console.screen)
        }

        @Test("gRPC messages get names from a descriptor file that is loaded later", .timeLimit(.minutes(2)))
        func loadedDescriptor() async throws {
            let server = try await PeerServer("grpc_server.py")
            let console = try await LiveConsole(size: Size(width: 100, height: 40))
            try await call(server, console, console.scratch)
            try await console.screen.row(containing: "/test.Echo/Compressed", "rpc0")
            try await console.screen.send(Keys.enter, waitFor: "message 1")
            try await console.screen.send("}", waitFor: "Caf\u{E9} M\u{FC}ller")
            #expect(!console.screen.text.contains("bookTitle"))
            try await console.screen.send(":", waitFor: "Commands")
            try await console.screen.send(
                "descriptor \(console.scratch.path("api.pb"))" + Keys.enter,
                waitFor: "field names loaded from"
            )
            try await readNames(console.screen)
        }

        /// Calls the server, through the console where there is one; `api.pb` then describes the messages.
        private func call(_ server: PeerServer, _ console: LiveConsole?, _ scratch: Scratch) async throws {
            let authority = try await TestAuthority.shared.root
            let outcome = try await Peers.start(
                "grpc_named.py",
                ["localhost:\(server.port)", "--descriptor", scratch.path("api.pb")]
                    + (console.map { ["--proxy", "\($0.port)", "--ca", $0.authority] } ?? ["--ca", authority])
            ).outcome(within: 60)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.text.contains("bookTitle"), "\(outcome.text)")
        }

        private func readNames(_ screen: ConsoleScreen) async throws {
            try await screen.wait(for: "test.Named")
            try await screen.send("}")
            try await screen.row(containing: "bookTitle", "Caf\u{E9} M\u{FC}ller")
            try await screen.wait(for: "pageCounts")
            try await screen.row(containing: "kind", "LOUD")
            try await screen.row(containing: "printedAt", "2026-01-02T03:04:05Z")
        }
    }
}
