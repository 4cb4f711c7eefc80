import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("What goes through tunnels")
    struct Tunnels {
        /// Sends back what it is sent.
        private static func echo(banner: String = "") throws -> Origin {
            try Origin { _, socket in
                if !banner.isEmpty { try socket.send(banner) }
                while true {
                    let bytes = try socket.receive()
                    if bytes.isEmpty { return }
                    try socket.send(bytes)
                }
            }
        }

        @Test("After 101 the bytes go both ways unread, and their number is recorded")
        func upgrade() async throws {
            let origin = try Origin { origin, socket in
                let head = try origin.head(socket)
                guard head.contains("Upgrade: echo\r\n"), head.lowercased().contains("connection: upgrade\r\n") else {
                    throw Socket.Failure(description: head)
                }
                try socket.send("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhi ")
                while true {
                    let bytes = try socket.receive()
                    if bytes.isEmpty { return }
                    try socket.send(bytes)
                }
            }
            let sluice = try await SluiceProcess()
            let (head, text) = try await blocking {
                let socket = try sluice.connect()
                try socket.send(
                    "GET http://127.0.0.1:\(origin.port)/up HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                        + "Upgrade: echo\r\n\r\n"
                )
                let head = try socket.readHead()
                try socket.send("one ")
                var text = latin1(try socket.read(count: 7))
                try socket.send("two")
                text += latin1(try socket.read(count: 3))
                socket.finish()
                return (head, text + latin1(try socket.readToEnd()))
            }
            #expect(head.hasPrefix("HTTP/1.1 101 Switching\r\n"))
            #expect(text == "hi one two")
            #expect(origin.errors.isEmpty)
            let record = try await sluice.exchange(path: "/up").record
            #expect(record.kind == .upgraded)
            #expect(record.state == .complete)
            #expect(record.status == 101)
        }

        @Test("An upgrade works inside TLS too")
        func secureUpgrade() async throws {
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
                try socket.send(try socket.read(count: 4))
                socket.finish()
            }
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let request = "GET /up HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nping"
            let outcome = try await sluice.secureClient(to: relay.port, sending: Array(request.utf8))
            #expect(latin1(outcome.output).hasPrefix("HTTP/1.1 101 Switching\r\n"), "\(outcome.errors)")
            #expect(latin1(outcome.output).hasSuffix("\r\n\r\nping"))
            #expect(try await sluice.exchange(path: "/up").record.kind == .upgraded)
        }

        @Test("What a client sends together with its CONNECT is not lost")
        func eager() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess()
            let answer = try await blocking {
                let socket = try sluice.connect()
                try socket.send(
                    "CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n"
                        + "GET /eager HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\nConnection: close\r\n\r\n"
                )
                return latin1(try socket.readToEnd())
            }
            #expect(answer.hasSuffix("\r\n\r\nok"))
            #expect(try await sluice.exchange(path: "/eager").record.status == 200)
        }

        @Test("An upgrade that the server refuses goes on as HTTP on the same connections")
        func refusedUpgrade() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")
            let sluice = try await SluiceProcess()
            let text = try await blocking {
                let socket = try sluice.connect()
                var text = ""
                for upgrade in ["Connection: Upgrade\r\nUpgrade: echo\r\n", ""] {
                    try socket.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\(upgrade)\r\n")
                    _ = try socket.readHead()
                    text += latin1(try socket.read(count: 2))
                }
                return text
            }
            #expect(text == "nono")
            #expect(origin.connectionCount == 1)
        }

        @Test("Plain HTTP inside a tunnel is read and recorded")
        func plainInTunnel() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess()
            #expect(try await sluice.get("--proxytunnel", "http://127.0.0.1:\(origin.port)/inside") == "ok")
            let exchange = try await sluice.exchange(path: "/inside")
            #expect(exchange.record.kind == .http)
            #expect(exchange.record.url.description == "http://127.0.0.1:\(origin.port)/inside")
        }

        @Test("A server that speaks first is heard, and what follows passes through both ways")
        func serverFirst() async throws {
            let origin = try Self.echo(banner: "SSH-2.0-Test\r\n")
            let sluice = try await SluiceProcess()
            let text = try await blocking {
                let socket = try sluice.tunnel(to: origin.port)
                var text = try socket.read(until: "\r\n")
                try socket.send("SSH-2.0-Client\r\n")
                text += try socket.read(until: "\r\n")
                socket.finish()
                return text + latin1(try socket.readToEnd())
            }
            #expect(text == "SSH-2.0-Test\r\nSSH-2.0-Client\r\n")
            let exchange = try await sluice.exchange("the tunnel is recorded") { $0.kind == .tunnel }
            #expect(exchange.record.state == .complete)
            #expect(exchange.record.url.authority == "127.0.0.1:\(origin.port)")
            #expect(exchange.record.sizes.requestBody == 16)
            #expect(exchange.record.sizes.responseBody == 30)
        }

        @Test("A client that speaks late, but first, is read anyway, and is one exchange")
        func lateClient() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess()
            let client = try await blocking { try sluice.tunnel(to: origin.port) }
            try await eventually("the server was taken to speak first") { origin.connectionCount == 1 }
            let head = try await blocking {
                try client.send("GET /late HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
                return try client.readHead()
            }
            #expect(head.hasPrefix("HTTP/1.1 200 OK"))
            #expect(try await sluice.exchange(path: "/late").record.kind == .http)
            #expect(try sluice.records().map(\.url.path) == ["/late"])
        }

        @Test("So is one inside TLS that agreed on nothing by ALPN")
        func lateInsideTLS() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(
                ["--upstream-ca", try await TestAuthority.shared.root],
                profile: "version: 1\nblock: [ { at: \"*/secret\", action: 403 } ]\n"
            )
            let client = try Peers.start(
                "late_hello.py",
                HTTP2Client.arguments(sluice, relay.port) + ["--asks", "/secret"]
            )
            try await eventually("the server was taken to speak first") { relay.handshakes.count == 1 }
            client.signal(SIGUSR1)
            let outcome = try await client.outcome(within: 120)
            #expect(outcome.text.contains("HTTP/1.1 403"), "\(outcome.text)\(outcome.errors)")
            #expect(try await sluice.exchange(path: "/secret").record.state == .blocked)
            #expect(try sluice.records().count == 1)
            #expect(origin.heads.isEmpty)
        }

        @Test("Bytes of a protocol that is not HTTP pass through unchanged", arguments: [1, 100_000])
        func clientFirst(size: Int) async throws {
            let origin = try Self.echo()
            let sluice = try await SluiceProcess()
            // The first byte begins neither TLS nor HTTP.
            let bytes = [0x01] + noise(size)
            let echoed = try await blocking {
                let socket = try sluice.tunnel(to: origin.port)
                try socket.send(bytes)
                let echoed = try socket.read(count: bytes.count)
                socket.finish()
                return echoed + (try socket.readToEnd())
            }
            #expect(echoed == bytes)
            let exchange = try await sluice.exchange("the tunnel is recorded") { $0.kind == .tunnel }
            #expect(exchange.record.sizes.requestBody == Int64(bytes.count))
            #expect(exchange.record.sizes.responseBody == Int64(bytes.count))
        }

        @Test("TLS for another protocol than HTTP is ended on both legs, with the protocol that the server chose")
        func otherProtocol() async throws {
            let origin = try Self.echo()
            let relay = try await TLSRelay(origin, protocols: ["ping/1"])
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let session = try await Program.run(
                "python3",
                [
                    script("tls_client.py"), "\(sluice.port)", "localhost:\(relay.port)", sluice.authority,
                    "other/2,ping/1", "ping",
                ]
            )
            #expect(session.text == "ping/1 ping", "\(session.errors)")
            #expect(relay.handshakes == ["localhost full ping/1"])
            let exchange = try await sluice.exchange("the tunnel") { $0.kind == .decryptedTunnel }
            #expect(exchange.client?.tls?.applicationProtocol == "ping/1")
            #expect(exchange.upstream?.tls?.applicationProtocol == "ping/1")
            #expect(try sluice.body(exchange, .requestReceived) == "ping")
        }

        @Test("TLS without ALPN whose inside is no HTTP is tunnelled with TLS on both legs")
        func noHTTPInside() async throws {
            let origin = try Self.echo()
            let relay = try await TLSRelay(origin, protocols: [])
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let session = try await Program.run(
                "python3",
                [
                    script("tls_client.py"), "\(sluice.port)", "localhost:\(relay.port)", sluice.authority, "",
                    "\u{1}ping",
                ]
            )
            #expect(session.text == "None \u{1}ping", "\(session.errors)")
            let exchange = try await sluice.exchange("the tunnel") { $0.kind == .decryptedTunnel }
            #expect(try sluice.body(exchange, .responseReceived) == "\u{1}ping")
        }

        @Test("A host that the profile excludes is passed through unread, and the trace has its server name")
        func excluded() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(profile: "version: 1\nintercept: { except: [\"localhost\"] }\n")
            // Only the server's own root is trusted, so that a certificate of ours would be refused.
            let root = try await TestAuthority.shared.root
            let answer = try await sluice.get("--cacert", root, "https://localhost:\(relay.port)/")
            #expect(answer == "ok")
            let exchange = try await sluice.exchange("the tunnel") { $0.kind == .tunnel }
            #expect(exchange.record.flags.contains(.tunnelledTLS))
            #expect(exchange.trace.contains("server name localhost"))
            #expect(exchange.record.sizes.responseBody > 500)
            #expect(try sluice.records().count == 1)
        }

        @Test("A tunnel that cannot come about is answered 502, with the cause")
        func tunnelFails() async throws {
            let port = try unusedPort()
            let sluice = try await SluiceProcess(profile: "version: 1\nintercept: { except: [\"localhost\"] }\n")
            let outcome = try await sluice.curl(["-v", "https://localhost:\(port)/"])
            #expect(outcome.status == 56)
            #expect(outcome.errors.contains("502"))
            let exchange = try await sluice.exchange("the tunnel") { $0.kind == .tunnel }
            #expect(exchange.record.failure?.code == .connect)
        }

        @Test(
            "A client that refuses our certificate twice gets a tunnel, which says why, until it is decrypted on demand"
        )
        func refusedTwice() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let root = try await TestAuthority.shared.root
            let sluice = try await SluiceProcess(["--upstream-ca", root])
            let place = "localhost:\(relay.port)"
            let url = "https://\(place)/"
            for attempt in 1...2 {
                #expect(try await sluice.curl(["--cacert", root, url]).status == 60)
                try await eventually("refusal \(attempt) is recorded") {
                    try sluice.records().filter { $0.kind == .failedHandshake }.count == attempt
                }
            }
            #expect(try await sluice.get("--cacert", root, url) == "ok")
            #expect(try await sluice.get("--cacert", root, url) == "ok")
            #expect(
                sluice.errors.components(separatedBy: "\(place) is not decrypted for 10 minutes").count == 2,
                "\(sluice.errors)"
            )
            let refusal = try await sluice.exchange("a refusal") { $0.kind == .failedHandshake }
            #expect(refusal.record.failure?.code == .clientTLS)
            #expect(refusal.failure.contains("unknown_ca"), "\(refusal.failure)")
            let tunnel = try await sluice.exchange("a tunnel") { $0.kind == .tunnel }
            #expect(tunnel.record.flags.isSuperset(of: [.tunnelledTLS, .certificateRefused]))
            #expect(tunnel.trace.contains("or at once after 'sluice decrypt \(place)'"), "\(tunnel.trace)")
            #expect(try await sluice.told("list", sluice.session).contains("certificate-refused"))
            // Now the client trusts the authority, and the user says so.
            let told = try await sluice.told("decrypt", place)
            #expect(told == "\(place) is decrypted again from the next connection on.\n")
            #expect(try await sluice.get(url + "read") == "ok")
            #expect(try await sluice.exchange(path: "/read").record.kind == .http)
            let again = try await sluice.command(["decrypt", "localhost"])
            #expect(again.status == 1)
            #expect(again.errors.contains("no client has refused Sluice's certificate for localhost twice."))
        }

        @Test("With --no-auto-tunnel a refused certificate stays refused")
        func refusedForGood() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--no-auto-tunnel"])
            let root = try await TestAuthority.shared.root
            for _ in 1...4 {
                #expect(try await sluice.curl(["--cacert", root, "https://localhost:\(relay.port)/"]).status == 60)
            }
        }

        @Test("Garbage in place of a ClientHello passes through to the server, which is to judge it")
        func garbage() async throws {
            let origin = try Origin { _, socket in
                _ = try socket.read(count: 6)
                try socket.send("what?")
            }
            let sluice = try await SluiceProcess()
            let answer = try await blocking {
                let socket = try sluice.tunnel(to: origin.port)
                try socket.send([0x16, 0x09, 0x09, 0xFF, 0xFF, 0x00])
                return latin1(try socket.readToEnd())
            }
            #expect(answer == "what?")
        }
    }
}
