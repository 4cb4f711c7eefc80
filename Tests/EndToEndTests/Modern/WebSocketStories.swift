import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("WebSocket")
    struct WebSockets {
        private func proxy(_ options: [String] = []) async throws -> SluiceProcess {
            try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root] + options)
        }

        /// Runs a story of `websocket.py` through the proxy.
        private func run<Result: Decodable>(
            _ story: String,
            _ sluice: SluiceProcess,
            _ server: PeerServer,
            isSecure: Bool = true,
            path: String = "/",
            count: Int = 1
        ) async throws -> Result {
            try await Peers.run(
                "websocket.py",
                [
                    story, "\(isSecure ? "wss" : "ws")://localhost:\(server.port)\(path)", "--proxy", "\(sluice.port)",
                    "--count", "\(count)",
                ] + (isSecure ? ["--ca", sluice.authority] : [])
            )
        }

        private struct Kinds: Decodable {
            let text, fragmented, empty, subprotocol: String
            let binary: Bool
            let large, code: Int
        }

        @Test("Text, binary, fragments, ping and pong, and the close code", arguments: [true, false])
        func kinds(isSecure: Bool) async throws {
            let server = try await PeerServer("websocket.py", ["serve"], isSecure: isSecure)
            let sluice = try await proxy()
            let result: Kinds = try await run("kinds", sluice, server, isSecure: isSecure)
            #expect(result.text == "text: \u{E4}\u{20AC}")
            #expect(result.binary)
            #expect(result.fragmented == "fragmented")
            #expect(result.empty == "")
            #expect(result.large == 200_000)
            #expect(result.code == 4001)
            #expect(result.subprotocol == "echo")

            let exchange = try await sluice.exchange("the socket") { $0.kind == .webSocket }
            #expect(exchange.record.state == .complete)
            #expect(exchange.record.status == 101)
            #expect(exchange.record.clientVersion == .http11)
            #expect(exchange.record.upstreamVersion == .http11)
            // Five messages each way: text, binary, fragmented, empty, large.
            #expect(exchange.record.tally.fromClient == 5)
            #expect(exchange.record.tally.fromServer == 5)
            let shown = try await SluiceProcess.run(
                ["show", sluice.session, "\(exchange.record.id)"],
                scratch: sluice.scratch
            )
            for part in ["text: \u{E4}\u{20AC}", "are you there", "4001", "enough", "ragment"] {
                #expect(shown.text.contains(part), "\(part) is not in \(shown.text)\(shown.errors)")
            }
        }

        @Test("A close that comes from the server reaches the client with its code and reason")
        func closed() async throws {
            struct Closed: Decodable {
                let code: Int
                let reason: String
            }
            let server = try await PeerServer("websocket.py", ["serve"])
            let sluice = try await proxy()
            let result: Closed = try await run("closed", sluice, server, path: "/close/4005")
            #expect(result.code == 4005)
            #expect(result.reason == "as asked")
            let record = try await sluice.exchange(path: "/close/4005").record
            #expect(record.kind == .webSocket)
            #expect(record.state == .complete)
        }

        /// One message as browsers write it into HAR files.
        private struct HARMessage: Decodable {
            let type: String
            let time: Double
            let opcode: Int
            let data: String
        }

        private func messagesInHAR(_ sluice: SluiceProcess) async throws -> [HARMessage] {
            struct HAR: Decodable {
                struct Log: Decodable { let entries: [Entry] }
                struct Entry: Decodable { let _webSocketMessages: [HARMessage]? }
                let log: Log
            }
            let export = try await SluiceProcess.run(
                ["export", sluice.session, "--format", "har"],
                scratch: sluice.scratch
            )
            let har = try JSONDecoder().decode(HAR.self, from: Data(export.output))
            return har.log.entries.compactMap(\._webSocketMessages).flatMap(\.self)
        }

        @Test("Compressed messages are forwarded untouched and shown decoded", arguments: ["takeover", "fresh"])
        func deflate(story: String) async throws {
            struct Deflated: Decodable {
                let same: Bool
                let extensions: [String]
            }
            let server = try await PeerServer("websocket.py", ["serve"])
            let sluice = try await proxy()
            let result: Deflated = try await run(story, sluice, server)
            #expect(result.same)
            #expect(result.extensions.count == 1)
            // What is local for one side is remote for the other; both are alike here.
            #expect(result.extensions == server.notes.last?.extensions)
            let exchange = try await sluice.exchange("the socket") { $0.kind == .webSocket }
            #expect(exchange.record.tally.fromClient == 20)
            #expect(exchange.record.tally.fromServer == 20)
            #expect(exchange.record.sizes.requestBody < 20 * 400, "the bytes are those of the wire")
            let messages = try await messagesInHAR(sluice).filter { $0.opcode == 1 }
            let expected = (0..<20).map { index in
                "message \(index) " + String(repeating: "all work and no play makes Jack a dull boy ", count: 20)
            }
            #expect(messages.filter { $0.type == "send" }.map(\.data) == expected)
            #expect(messages.filter { $0.type == "receive" }.map(\.data) == expected)
        }

        @Test("Ten thousand messages: all come back, all are counted, and in the export each is there in its order")
        func many() async throws {
            struct Many: Decodable { let right: Int }
            let server = try await PeerServer("websocket.py", ["serve"])
            let sluice = try await proxy()
            let result: Many = try await run("many", sluice, server, count: 10_000)
            #expect(result.right == 10_000)
            let exchange = try await sluice.exchange("the socket") { $0.kind == .webSocket }
            #expect(exchange.record.tally.fromClient == 10_000)
            #expect(exchange.record.tally.fromServer == 10_000)
            let list = try await SluiceProcess.run(["list", sluice.session], scratch: sluice.scratch)
            #expect(list.text.contains("10000") || list.text.contains("10,000"), "\(list.text)")
            let messages = try await messagesInHAR(sluice).filter { $0.opcode == 1 }
            for type in ["send", "receive"] {
                #expect(messages.filter { $0.type == type }.map(\.data) == (0..<10_000).map { "message \($0)" })
            }
            let times = messages.map(\.time)
            #expect(times == times.sorted())
            #expect(Set(times).count > 10, "the times are those of arrival")
        }

        @Test("Fifty sockets at once")
        func parallel() async throws {
            struct Parallel: Decodable { let right: Int }
            let server = try await PeerServer("websocket.py", ["serve"])
            let sluice = try await proxy()
            let result: Parallel = try await run("parallel", sluice, server, count: 50)
            #expect(result.right == 50)
        }

        /// What `h2_websocket.py` found.
        private struct Extended: Decodable {
            let offered: Bool
            var status: String?
            var `protocol`: String?
            var accept: String?
            var right: Int?
            var pong: Bool?
            var code: Int?
            var ended: Bool?
            var other: String?
        }

        private func check(_ result: Extended) {
            #expect(result.offered)
            #expect(result.status == "200")
            #expect(result.accept == nil)
            #expect(result.right == 100)
            #expect(result.pong == true)
            #expect(result.code == 4002)
            #expect(result.ended == true)
        }

        @Test("A WebSocket over an HTTP/2 stream goes on as one where the server offers it")
        func extendedToExtended() async throws {
            let server = try await PeerServer("h2_server.py")
            let sluice = try await proxy()
            let result: Extended = try await Peers.run(
                "h2_websocket.py",
                HTTP2Client.arguments(sluice, server.port) + ["--path", "/socket?x=1"]
            )
            check(result)
            #expect(result.other == "200")
            let head = try #require(server.requests("/socket?x=1").first)
            #expect(head.values(":method") == ["CONNECT"])
            #expect(head.values(":protocol") == ["websocket"])
            #expect(head.values("origin") == ["http://localhost"])
            let record = try await sluice.exchange(path: "/socket").record
            #expect(record.kind == .webSocket)
            #expect(record.state == .complete)
            #expect(record.clientVersion == .http2)
            #expect(record.upstreamVersion == .http2)
            #expect(record.tally.fromClient == 100)
            #expect(record.tally.fromServer == 100)
        }

        @Test("A WebSocket over an HTTP/2 stream becomes an Upgrade where the server has no other way")
        func extendedToUpgrade() async throws {
            let server = try await PeerServer("websocket.py", ["serve"])
            let sluice = try await proxy()
            let result: Extended = try await Peers.run(
                "h2_websocket.py",
                HTTP2Client.arguments(sluice, server.port) + ["--path", "/socket"]
            )
            check(result)
            #expect(result.protocol == "echo")
            let exchange = try await sluice.exchange(path: "/socket")
            #expect(exchange.record.kind == .webSocket)
            #expect(exchange.record.clientVersion == .http2)
            #expect(exchange.record.upstreamVersion == .http11)
            #expect(exchange.record.tally.fromServer == 100)
            #expect(exchange.trace.contains("HTTP/1.1"), "\(exchange.trace)")
        }

        @Test("A server of HTTP/2 that offers no WebSockets over it is asked to upgrade on HTTP/1.1")
        func notOffered() async throws {
            // It agrees on nothing but h2, so that the way over HTTP/1.1 fails, and this must be an answer.
            let server = try await PeerServer("h2_server.py", ["--no-websocket"])
            let sluice = try await proxy()
            let result: Extended = try await Peers.run("h2_websocket.py", HTTP2Client.arguments(sluice, server.port))
            #expect(result.offered)
            #expect(result.status == "502")
        }

        @Test("An HTTP/1.1 client's Upgrade goes out over HTTP/1.1 to a server that prefers HTTP/2")
        func upgradeBesideHTTP2() async throws {
            let origin = try Origin { origin, socket in
                let head = try origin.head(socket)
                guard head.contains("Upgrade: echo\r\n") else { throw Socket.Failure(description: head) }
                try socket.send("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
                try socket.send(try socket.read(count: 4))
                socket.finish()
            }
            let relay = try await TLSRelay(origin, protocols: ["h2", "http/1.1"])
            let sluice = try await proxy()
            let request = "GET /up HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nping"
            let outcome = try await sluice.secureClient(to: relay.port, sending: Array(request.utf8))
            #expect(latin1(outcome.output).hasPrefix("HTTP/1.1 101 Switching\r\n"), "\(outcome.errors)")
            #expect(latin1(outcome.output).hasSuffix("\r\n\r\nping"))
            #expect(relay.handshakes.allSatisfy { $0.hasSuffix("http/1.1") }, "\(relay.handshakes)")
        }
    }
}
