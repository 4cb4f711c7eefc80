import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("What HTTP/2 means stays as it is")
    struct HTTP2Semantics {
        private typealias Client = HTTP2Client

        private func proxy(_ options: [String] = []) async throws -> SluiceProcess {
            try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root] + options)
        }

        @Test("Fields keep their order; cookies may come in crumbs, and te says trailers")
        func fields() async throws {
            let server = try await PeerServer("h2_server.py")
            let sluice = try await proxy()
            let fields = [
                ["x-b", "1"], ["x-a", "2"], ["cookie", "a=1"], ["x-b", "3"], ["cookie", "b=2"], ["te", "trailers"],
            ]
            let session = try await Client.send([.get("/echo", fields)], through: sluice, to: server.port)
            #expect(session.answers[0].status == "200")
            let note = try #require(server.requests("/echo").first)
            let head = note.head ?? []
            #expect(head.prefix { $0[0].hasPrefix(":") }.count == 4)
            #expect(note.values(":authority") == ["localhost:\(server.port)"])
            #expect(note.values(":scheme") == ["https"])
            #expect(!head.contains { $0[0] == "host" })
            #expect(head.map { $0[0] }.filter { $0.hasPrefix("x-") } == ["x-b", "x-a", "x-b"])
            #expect(note.values("x-b") == ["1", "3"])
            #expect(note.values("te") == ["trailers"])
            #expect(note.values("cookie").joined(separator: "; ") == "a=1; b=2")
        }

        @Test("Rules see the crumbs of a cookie as one; to HTTP/2 it goes in crumbs again where no rule has changed it")
        func crumbsAndRules() async throws {
            let server = try await PeerServer("h2_server.py")
            let profile = """
                version: 1
                rewrite:
                  - name: seen
                    at: "*/echo*"
                    rules:
                      - { add: header, on: request, name: x-seen, to: $1, if: { name: cookie, match: '/^(.*)$/' } }
                  - { name: removed, at: "*/echo?cut", rules: [ { remove: cookie, name: b } ] }
                """
            let sluice = try await SluiceProcess(
                ["--upstream-ca", try await TestAuthority.shared.root],
                profile: profile
            )
            let crumbs = [["cookie", "a=1"], ["x-mid", "m"], ["cookie", "b=2"], ["cookie", "c=3"]]
            _ = try await Client.send(
                [.get("/echo?whole", crumbs), .get("/echo?cut", crumbs)],
                through: sluice,
                to: server.port
            )
            let whole = try #require(server.requests("/echo?whole").first)
            #expect(whole.values("x-seen") == ["a=1; b=2; c=3"])
            // The server's library joins crumbs before it shows them; the session has what was sent.
            #expect(whole.values("cookie").joined(separator: "; ") == "a=1; b=2; c=3")
            let exchange = try await sluice.exchange("the first one is recorded") { $0.url.query == "whole" }
            let sent = exchange.text(\.requestHeadSent)
            #expect(sent.contains("cookie: a=1\r\ncookie: b=2\r\ncookie: c=3\r\n"), "\(sent)")
            let cut = try #require(server.requests("/echo?cut").first)
            #expect(cut.values("cookie") == ["a=1; c=3"])
            let received = exchange.text(\.requestHead)
            #expect(received.contains("cookie: a=1\r\nx-mid: m\r\ncookie: b=2\r\ncookie: c=3\r\n"), "\(received)")
        }

        @Test("Crumbs of a cookie become one field for HTTP/1.1, and nothing of one connection reaches the other")
        func crumbs() async throws {
            let origin = try Origin.answering(
                "HTTP/1.1 200 Fine\r\nConnection: keep-alive, x-hop\r\nKeep-Alive: timeout=5\r\nX-Hop: 1\r\n"
                    + "X-End: 2\r\nContent-Length: 2\r\n\r\nok"
            )
            let relay = try await TLSRelay(origin)
            let sluice = try await proxy()
            let session = try await Client.send(
                [.get("/crumbs", [["cookie", "a=1"], ["x-mid", "m"], ["cookie", "b=2"], ["te", "trailers"]])],
                through: sluice,
                to: relay.port
            )
            let answer = session.answers[0]
            #expect(answer.status == "200")
            #expect(answer.body == "ok")
            #expect(answer.values("x-end") == ["2"])
            for name in ["connection", "keep-alive", "x-hop", "transfer-encoding"] {
                #expect(answer.values(name).isEmpty, "\(name)")
            }
            let head = origin.heads.first ?? ""
            #expect(head.hasPrefix("GET /crumbs HTTP/1.1\r\n"))
            #expect(head.lowercased().contains("\r\nhost: localhost:\(relay.port)\r\n"))
            #expect(head.contains("cookie: a=1; b=2\r\n"), "\(head)")
            #expect(!head.contains(":authority"))
        }

        @Test("Trailers go both ways, from and to either version")
        func trailers() async throws {
            let server = try await PeerServer("h2_server.py")
            let sluice = try await proxy()
            let session = try await Client.send(
                [.get("/trailers"), .post("/echo", "summed", trailers: [["x-sum", "42"]])],
                through: sluice,
                to: server.port
            )
            #expect(session.answers[0].body == "summed")
            #expect(session.answers[0].trailers == [["x-checksum", "42"]])
            #expect(session.answers[1].body == "summed")
            #expect(session.answers[1].trailers == [["x-sum", "42"]])
            let down = try await sluice.exchange(path: "/trailers")
            #expect(down.text(\.responseTrailers).contains("x-checksum: 42"))
            let up = try await sluice.exchange(path: "/echo")
            #expect(up.text(\.requestTrailers).contains("x-sum: 42"))
            // curl shows trailers of HTTP/1.1 as fields of the head.
            let url = "https://localhost:\(server.port)/trailers"
            let chunked = try await sluice.get("--http1.1", "-H", "TE: trailers", "-D", "-", url)
            #expect(chunked.lowercased().contains("x-checksum: 42"), "\(chunked)")

            let origin = try Origin { origin, socket in
                while true {
                    _ = try origin.head(socket)
                    let (_, trailers) = try socket.readChunked()
                    try socket.send(
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\(trailers)\r\n"
                    )
                }
            }
            let relay = try await TLSRelay(origin)
            let older = try await Client.send(
                [.post("/older", "body", trailers: [["x-sum", "43"]])],
                through: sluice,
                to: relay.port
            )
            #expect(older.answers[0].trailers == [["x-sum", "43"]])
        }

        @Test("Interim responses come through, and are recorded")
        func interim() async throws {
            let server = try await PeerServer("h2_server.py")
            let sluice = try await proxy()
            let session = try await Client.send([.get("/early")], through: sluice, to: server.port)
            #expect(session.answers[0].interim == ["103"])
            #expect(session.answers[0].status == "200")
            let messages = try await sluice.exchange(path: "/early")
            #expect(messages.text(\.interimHeads).contains(" 103"))
        }

        @Test("100-continue is the server's to give", arguments: ["--http1.1", "--http2"])
        func expectContinue(option: String) async throws {
            let server = try await PeerServer("h2_server.py")
            let sluice = try await proxy()
            let body = String(repeating: "x", count: 2_000)
            let url = "https://localhost:\(server.port)/echo"
            #expect(try await sluice.get(option, "-H", "Expect: 100-continue", "-d", body, url) == body)
        }

        @Test("A stream that the server resets is reset for the client, with the same code", arguments: [2, 8, 11, 13])
        func reset(code: Int) async throws {
            let server = try await PeerServer("h2_server.py")
            let sluice = try await proxy()
            let session = try await Client.send(
                [.get("/cut/\(code)"), .get("/hello")],
                through: sluice,
                to: server.port
            )
            let name = HTTP2ErrorCode(rawValue: UInt32(code)).description
            #expect(session.answers[0].reset == name)
            #expect(session.answers[1].body == "hello")
            let exchange = try await sluice.exchange(path: "/cut/\(code)")
            #expect(exchange.record.state == .failed)
            #expect(exchange.record.failure?.code == .reset)
            #expect(exchange.failure.contains(name), "\(exchange.failure)")
            #expect(try sluice.body(exchange, .responseReceived) == "half.")
        }

        @Test("A reset instead of a response tells an HTTP/1.1 client what happened")
        func resetForOlderClient() async throws {
            let server = try await PeerServer("h2_server.py")
            let sluice = try await proxy()
            let page = try await sluice.get(
                "--http1.1",
                "-w",
                "%{http_code}",
                "https://localhost:\(server.port)/reset/2"
            )
            #expect(page.hasSuffix("502"))
            #expect(page.contains("INTERNAL_ERROR"), "\(page)")
        }

        @Test("A client that cancels cancels upstream, and the connections of both legs live on")
        func cancel() async throws {
            let server = try await PeerServer("h2_server.py")
            let sluice = try await proxy()
            let session = try await Client.send(
                [.init(fields: [[":path", "/bytes/50000000"]], cancel: true), .get("/wait")],
                through: sluice,
                to: server.port
            )
            #expect(session.answers[1].status == "200")
            #expect(session.ended == nil)
            try await eventually("the server hears of it") { server.notes.contains { $0.reset != nil } }
            #expect(server.notes.compactMap(\.reset) == [8])
            #expect(Set(server.notes.compactMap(\.connection)).count == 1)
            let exchange = try await sluice.exchange("the cancelled one") { $0.url.path.hasPrefix("/bytes") }
            #expect(exchange.record.state == .failed)
            #expect(exchange.record.failure?.code == .clientGone)
            #expect(exchange.failure.contains("CANCEL"), "\(exchange.failure)")
        }

        @Test("What the server says it has not processed is asked once more", arguments: ["/refused", "/goaway"])
        func notProcessed(path: String) async throws {
            let server = try await PeerServer("h2_server.py")
            let sluice = try await proxy()
            let session = try await Client.send([.get(path)], through: sluice, to: server.port)
            #expect(session.answers[0].status == "200", "\(session)")
            #expect(server.requests(path).count == 2)
            let exchange = try await sluice.exchange(path: path)
            #expect(exchange.record.flags.contains(.retried))
            #expect(exchange.record.state == .complete)
            #expect(try sluice.records().filter { $0.url.path == path }.count == 1)
        }

        @Test("One connection carries the streams of an origin; more than its limit open further ones")
        func pool() async throws {
            let server = try await PeerServer("h2_server.py", ["--streams", "10"])
            let sluice = try await proxy()
            let requests = Array(repeating: Client.Request.get("/events/3/300"), count: 25)
            let session = try await Client.send(requests, through: sluice, to: server.port)
            #expect(
                session.answers.allSatisfy { $0.status == "200" && $0.body.components(separatedBy: "id:").count == 4 }
            )
            let connections = Set(server.requests("/events/3/300").compactMap(\.connection))
            #expect((1...8).contains(connections.count))
            #expect(connections.count >= 3, "streams waited although further connections were allowed")
            #expect(!server.notes.contains { $0.error != nil })
        }

        @Test("More streams than eight connections carry wait for their turn")
        func queue() async throws {
            let server = try await PeerServer("h2_server.py", ["--streams", "2"])
            let sluice = try await proxy()
            let requests = Array(repeating: Client.Request.get("/events/2/10"), count: 60)
            let session = try await Client.send(requests, through: sluice, to: server.port)
            #expect(session.answers.allSatisfy { $0.status == "200" })
            #expect(Set(server.notes.compactMap(\.connection)).count <= 8)
            #expect(!server.notes.contains { $0.error != nil })
        }

        @Test("The settings offer extended CONNECT, and say the limits")
        func settings() async throws {
            let server = try await PeerServer("h2_server.py")
            let sluice = try await proxy()
            let session = try await Client.send([.get("/hello")], through: sluice, to: server.port)
            #expect(session.settings["8"] == 1, "extended CONNECT is offered")
            #expect((session.settings["3"] ?? 0) >= 100, "\(session.settings)")
            #expect(session.settings["6"] != nil, "the size of header lists is bounded")
        }
    }
}
