import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

extension EndToEnd {
    @Suite("A listener in place of a server")
    struct Reverse {
        @Test(
            "Clients speak HTTP or HTTPS to one port, and the server is asked by its own name",
            arguments: bothVersions
        )
        func bothSchemes(version: String) async throws {
            let nginx = try await ReportingNginx()
            let mode = "reverse:https://localhost:\(nginx.secure)"
            let sluice = try await SluiceProcess.listening("\(mode)@0")
            let port = try sluice.port(of: "reverse:")
            for scheme in ["http", "https"] {
                let version = scheme == "http" && version == "--http2" ? "--http2-prior-knowledge" : version
                let outcome = try await sluice.plainCurl(version, "\(scheme)://localhost:\(port)/\(scheme)?q=1")
                #expect(outcome.status == 0, "\(outcome.errors)")
                let report = ReportingNginx.Report(outcome.text)
                #expect(report["url"] == "https://localhost:\(nginx.secure)/\(scheme)?q=1")
                #expect(report["sni"] == "localhost")
                let exchange = try await sluice.exchange(path: "/\(scheme)")
                #expect(exchange.record.url.description == "https://localhost:\(nginx.secure)/\(scheme)?q=1")
                #expect(exchange.record.extras.listeningMode == mode)
                let received = exchange.messages.requestHead.map { String(buffer: $0) } ?? ""
                #expect(received.contains("localhost:\(port)"), "\(received)")
            }
        }

        @Test("TLS to a server that the profile leaves unread passes to it as it comes; plain HTTP is read")
        func unread() async throws {
            let nginx = try await ReportingNginx()
            let profile = "version: 1\nintercept: { except: [ \"localhost:\(nginx.secure)\" ] }\n"
            let sluice = try await SluiceProcess.listening(
                "reverse:https://localhost:\(nginx.secure)@0",
                profile: profile
            )
            let port = try sluice.port(of: "reverse:")
            let root = try await TestAuthority.shared.root
            let outcome = try await sluice.plainCurl("https://localhost:\(port)/secret", trusting: root)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let tunnel = try await sluice.exchange { $0.kind == .tunnel }
            #expect(tunnel.record.url.host == "localhost" && tunnel.record.url.port == nginx.secure)
            #expect(tunnel.record.flags.contains(.notIntercepted))
            #expect(try await sluice.plainCurl("http://localhost:\(port)/plain").status == 0)
            _ = try await sluice.exchange(path: "/plain")
            #expect(try sluice.records().allSatisfy { $0.url.path != "/secret" })
            #expect(try await sluice.told("list", sluice.session, "mode:reverse").contains("/plain"))
        }

        @Test("List, show, why and every export name the server, and the overview the mode")
        func everywhere() async throws {
            let nginx = try await ReportingNginx()
            let server = "https://localhost:\(nginx.secure)"
            let profile =
                "version: 1\nrewrite: { at: \"\(server)/*\", rules: [ { add: header, on: request, name: X-Debug, to: \"1\" } ] }\n"
            let sluice = try await SluiceProcess.listening("reverse:\(server)@0", profile: profile)
            let outcome = try await sluice.plainCurl("http://127.0.0.1:\(try sluice.port(of: "reverse:"))/a?b")
            // Rules find the exchange by the server's URL.
            #expect(ReportingNginx.Report(outcome.text)["debug"] == "1", "\(outcome.text)\(outcome.errors)")
            _ = try await sluice.exchange(path: "/a")
            let session = sluice.session
            #expect(try await sluice.told("list", session, "mode:reverse*").contains("\(server)/a?b"))
            #expect(!(try await sluice.told("list", session, "mode:regular").contains("/a?b")))
            let overview = try await sluice.told("show", session, "1")
            #expect(overview.contains("\(server)/a?b") && overview.contains("reverse:\(server)"), "\(overview)")
            let why = try await sluice.told("why", session, "1")
            #expect(why.contains("rewrite") && why.contains("--reverse-keep-host"), "\(why)")
            let har = try object(try await sluice.told("export", session, "--format", "har"))
            let entries = (har["log"] as? [String: Any])?["entries"] as? [[String: Any]]
            #expect((entries?.first?["request"] as? [String: Any])?["url"] as? String == "\(server)/a?b")
            // The command asks the server itself, under its own name.
            let command = try await sluice.told("export", session, "--format", "curl")
            #expect(
                command.contains("\(server)/a?b") && command.contains("Host: localhost:\(nginx.secure)"),
                "\(command)"
            )
            let again = try await Program.run(
                "sh",
                [
                    "-c",
                    command.replacing(
                        "curl ",
                        with: "curl -sS --noproxy '*' --cacert \(try await TestAuthority.shared.root) "
                    ),
                ]
            )
            #expect(ReportingNginx.Report(again.text)["url"] == "\(server)/a?b", "\(again.errors)\(command)")
        }

        @Test("A redirect to the server is followed through the listener, by HTTPS too")
        func redirects() async throws {
            let origin = try Origin { origin, socket in
                while true {
                    let head = try origin.head(socket)
                    if head.isEmpty { return }
                    let lines = head.split(separator: "\r\n")
                    let host = lines.first { $0.lowercased().hasPrefix("host: ") }?.dropFirst(6) ?? ""
                    let answer =
                        head.hasPrefix("GET /start ")
                        ? "HTTP/1.1 302 Found\r\nLocation: http://\(host)/end?x=1\r\nContent-Length: 0\r\n\r\n"
                        : "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend"
                    try socket.send(answer)
                }
            }
            let mode = "reverse:http://127.0.0.1:\(origin.port)@0"
            let sluice = try await SluiceProcess.listening(mode)
            let port = try sluice.port(of: "reverse:")
            for scheme in ["http", "https"] {
                let answer = try await sluice.plainCurl(
                    "-L",
                    "-w",
                    " %{url_effective}",
                    "\(scheme)://localhost:\(port)/start"
                )
                #expect(answer.text == "end \(scheme)://localhost:\(port)/end?x=1", "\(answer.errors)")
            }
            try await eventually("all are recorded") { try sluice.records().count == 4 }
            let records = try sluice.records()
            #expect(records.map(\.url.path) == ["/start", "/end", "/start", "/end"])
            #expect(records.allSatisfy { $0.url.port == origin.port })
        }

        @Test("Host and redirects stay as they are where that is asked for")
        func kept() async throws {
            let origin = try Origin.answering(
                "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
            )
            let sluice = try await SluiceProcess.listening(
                "reverse:http://127.0.0.1:\(origin.port)@0",
                options: ["--reverse-keep-host", "--reverse-keep-redirects"]
            )
            let port = try sluice.port(of: "reverse:")
            let answer = try await sluice.plainCurl("-i", "http://localhost:\(port)/")
            #expect(answer.text.contains("Location: http://127.0.0.1:1/\r\n"), "\(answer.text)\(answer.errors)")
            let exchange = try await sluice.exchange(path: "/")
            #expect(exchange.messages.requestHeadSent == nil && exchange.trace.isEmpty)
        }

        @Test("An upgrade works, and its bytes go both ways")
        func upgrade() async throws {
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
                try socket.send(try socket.read(count: 3))
            }
            let sluice = try await SluiceProcess.listening("reverse:http://127.0.0.1:\(origin.port)@0")
            let port = try sluice.port(of: "reverse:")
            let text = try await blocking {
                let socket = try Socket(port: port)
                try socket.send("GET /up HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
                _ = try socket.readHead()
                try socket.send("abc")
                return latin1(try socket.read(count: 3))
            }
            #expect(text == "abc")
            let record = try await sluice.exchange(path: "/up").record
            #expect(record.kind == .upgraded && record.url.port == origin.port)
        }

        @Test("tcp:// forwards a port whose server speaks first, on an address of IPv6, too")
        func port() async throws {
            let origin = try Origin { _, socket in
                try socket.send("220 hello\r\n")
                try socket.send("got " + latin1(try socket.read(count: 6)))
            }
            let sluice = try await SluiceProcess.listening("reverse:tcp://127.0.0.1:\(origin.port)@[::1]:0")
            #expect(try sluice.place(of: "reverse:tcp").hasPrefix("[::1]:"))
            let port = try sluice.port(of: "reverse:tcp")
            let client = try await Program.run(
                "python3",
                [
                    "-c",
                    """
                    import socket
                    peer = socket.create_connection(("::1", \(port)), 30)
                    said = peer.recv(100)
                    peer.sendall(b"QUIT\\r\\n")
                    peer.shutdown(socket.SHUT_WR)
                    while more := peer.recv(100): said += more
                    print(said.decode(), end="")
                    """,
                ]
            )
            #expect(client.text == "220 hello\r\ngot QUIT\r\n", "\(client.errors)")
            let record = try await sluice.exchange().record
            #expect(record.kind == .tunnel && record.state == .complete)
            #expect(record.url.description == "127.0.0.1:\(origin.port)")
            #expect(try await sluice.told("list", sluice.session).contains("127.0.0.1:\(origin.port)"))
        }

        @Test("tls:// speaks TLS to the server, and reads what is HTTP, from plain clients and from those with TLS")
        func tls() async throws {
            let nginx = try await ReportingNginx()
            let echo = try Origin { _, socket in
                let bytes = try socket.receive()
                try socket.send("you said \(latin1(bytes))")
            }
            let relay = try await TLSRelay(echo)
            let sluice = try await SluiceProcess.listening(
                "reverse:tls://localhost:\(nginx.secure)@0",
                "reverse:tls://localhost:\(relay.port)@0"
            )
            let port = try sluice.port(of: "reverse:tls://localhost:\(nginx.secure)")
            for scheme in ["http", "https"] {
                let outcome = try await sluice.plainCurl("\(scheme)://localhost:\(port)/\(scheme)")
                #expect(ReportingNginx.Report(outcome.text)["url"] == "https://localhost:\(nginx.secure)/\(scheme)")
                #expect(try await sluice.exchange(path: "/\(scheme)").record.kind == .http)
            }
            let other = try sluice.port(of: "reverse:tls://localhost:\(relay.port)")
            let plain = try await blocking {
                let socket = try Socket(port: other)
                try socket.send("\u{1}plain")
                socket.finish()
                return latin1(try socket.readToEnd())
            }
            #expect(plain == "you said \u{1}plain")
            let secure = try await Program.run(
                "openssl",
                [
                    "s_client", "-quiet", "-verify_return_error", "-connect", "127.0.0.1:\(other)", "-servername",
                    "localhost", "-CAfile", sluice.authority,
                ],
                input: Array("\u{1}secure".utf8)
            )
            #expect(secure.text == "you said \u{1}secure", "\(secure.errors)")
            try await eventually("both are recorded") {
                try sluice.records().filter { $0.kind == .decryptedTunnel && $0.state == .complete }.count == 2
            }
        }

        @Test("A WebSocket and calls of gRPC go through, with TLS in front, and are read")
        func streams() async throws {
            struct Kinds: Decodable { let large, code: Int }
            let calls = try await PeerServer("grpc_server.py")
            let messages = try await PeerServer("websocket.py", ["serve"])
            let sluice = try await SluiceProcess.listening(
                "reverse:https://localhost:\(calls.ports[0])@0",
                "reverse:https://localhost:\(messages.port)@0"
            )
            let port = try sluice.port(of: "reverse:https://localhost:\(calls.ports[0])")
            let outcome = try await Peers.start("grpc_client.py", ["localhost:\(port)", "--ca", sluice.authority])
                .outcome(within: 120)
            let result = try object(outcome.text)
            #expect(result["clientStream"] as? String == "a+b+c", "\(outcome.errors)")
            #expect(result["parallel"] as? Int == 50)
            let call = try await sluice.exchange(path: "/test.Echo/Unary").record
            #expect(call.grpc?.status == 0 && call.url.port == calls.ports[0] && call.upstreamVersion == .http2)
            let other = try sluice.port(of: "reverse:https://localhost:\(messages.port)")
            let kinds: Kinds = try await Peers.run(
                "websocket.py",
                ["kinds", "wss://localhost:\(other)/socket", "--ca", sluice.authority]
            )
            #expect((kinds.large, kinds.code) == (200_000, 4_001))
            let socket = try await sluice.exchange("the socket") { $0.kind == .webSocket }.record
            #expect(socket.url.description == "https://localhost:\(messages.port)/socket")
        }
    }
}
