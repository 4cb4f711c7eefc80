import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

extension EndToEnd {
    @Suite("Clients that send nonsense")
    struct BadInput {
        /// Sends bytes to the proxy and reads its whole answer; then an ordinary request must still be served.
        private func answer(
            to bytes: [UInt8],
            finishing: Bool = false,
            _ check: (SluiceProcess, String) async throws -> Void
        ) async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess()
            let answer = try await blocking {
                let socket = try sluice.connect()
                // The proxy may close while bytes are still on their way.
                try? socket.send(bytes)
                if finishing { socket.finish() }
                return latin1(try socket.readToEnd(toleratingReset: true))
            }
            try await check(sluice, answer)
            #expect(try await sluice.get("http://127.0.0.1:\(origin.port)/after") == "ok", "the proxy lives on")
        }

        @Test(
            "Garbage in place of a request is answered 400 and recorded",
            arguments: [
                "\u{0}\u{1}\u{2}\u{3}\r\n\r\n", "hello there, proxy\r\n\r\n", "GET\r\n\r\n",
                "\r\n\r\n\r\nGET / SSH/2\r\n\r\n",
            ]
        )
        func garbage(text: String) async throws {
            try await answer(to: latin1Bytes(text)) { sluice, answer in
                #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
                #expect(answer.contains("\r\nConnection: close\r\n"))
                #expect(answer.contains("Sluice: "))
                let record = try await sluice.exchange("it is recorded") { $0.kind == .malformed }.record
                #expect(record.failure?.code == .badRequest)
                #expect(record.status == 400)
            }
        }

        @Test("Noise and an end without a request do no harm")
        func noiseOnly() async throws {
            try await answer(to: noise(100_000), finishing: true) { _, _ in }
            try await answer(to: [], finishing: true) { sluice, answer in
                #expect(answer.isEmpty)
                let records = try sluice.records()
                #expect(records.isEmpty)
            }
            try await answer(to: Array("GET http://x/ HT".utf8), finishing: true) { sluice, _ in
                let record = try await sluice.exchange("it is recorded") { $0.kind == .malformed }.record
                #expect(record.failure?.message.contains("in the middle of a request head") == true)
            }
        }

        @Test(
            "Half a request and then silence is answered 408 at --head-timeout",
            arguments: ["GET http://x/ HT", "GET / HTTP/1.1\r\nHo"]
        )
        func silence(text: String) async throws {
            let sluice = try await SluiceProcess(["--head-timeout", "0.2"])
            let answer = try await blocking {
                let socket = try sluice.connect()
                try socket.send(text)
                return latin1(try socket.readToEnd())
            }
            #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
            #expect(try await sluice.exchange().record.status == 408)
        }

        @Test("A client that says nothing, or nothing more, has --keep-alive-timeout, in every mode")
        func nothing() async throws {
            let modes = ["socks5", "reverse:http://127.0.0.1:9"]
            let sluice = try await SluiceProcess.listening(
                "socks5@0",
                "reverse:http://127.0.0.1:9@0",
                options: ["--keep-alive-timeout", "0.2"]
            )
            let ports = try [sluice.port] + modes.map { try sluice.port(of: $0) }
            try await blocking {
                for port in ports { #expect(try Socket(port: port).readToEnd().isEmpty) }
                let socket = try Socket(port: sluice.port)
                try socket.send("GET / HTTP/1.1\r\nHost: sluice.proxy\r\n\r\n")
                #expect(latin1(try socket.readToEnd()).hasPrefix("HTTP/1.1 200 "))
            }
        }

        @Test("A TLS hello that is none, on the proxy's own port, ends the connection and nothing else")
        func badHello() async throws {
            let bytes: [UInt8] = [0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0xFF] + noise(500)
            try await answer(to: bytes, finishing: true) { _, _ in }
        }

        @Test("A request line of 1 MB is answered 414")
        func longLine() async throws {
            let line = "GET http://x/" + String(repeating: "a", count: 1 << 20) + " HTTP/1.1\r\nHost: x\r\n\r\n"
            try await answer(to: Array(line.utf8)) { sluice, answer in
                #expect(answer.hasPrefix("HTTP/1.1 414 "), "\(answer.prefix(200))")
                let status = try await sluice.exchange().record.status
                #expect(status == 414)
            }
        }

        @Test("10,000 header fields are answered 431, as is one of 1 MB")
        func manyFields() async throws {
            let many = (1...10_000).map { "X-\($0): y\r\n" }.joined()
            let long = "X: " + String(repeating: "a", count: 1 << 20) + "\r\n"
            for fields in [many, long] {
                try await answer(to: Array("GET http://x/ HTTP/1.1\r\nHost: x\r\n\(fields)\r\n".utf8)) {
                    sluice,
                    answer in
                    #expect(answer.hasPrefix("HTTP/1.1 431 "), "\(answer.prefix(200))")
                    let status = try await sluice.exchange().record.status
                    #expect(status == 431)
                }
            }
        }

        @Test(
            "What could smuggle a request past us is answered 400, and the connection ends there",
            arguments: [
                "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
                "Content-Length: 4, 5\r\n\r\nabcde",
                "Content-Length: +4\r\n\r\nabcd",
                "Content-Length: 0x4\r\n\r\nabcd",
                "Content-Length: 99999999999999999999\r\n\r\nabcd",
                "Content-Length : 4\r\n\r\nabcd",
                "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
                "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "X: a\r\n b\r\n\r\n",
                " X: a\r\n\r\n",
                "X: a\u{0}b\r\n\r\n",
                "X: a\rb\r\n\r\n",
                "X y: a\r\n\r\n",
                ": a\r\n\r\n",
                "Host: other\r\n\r\n",
            ]
        )
        func smuggling(rest: String) async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess()
            let base = "http://127.0.0.1:\(origin.port)"
            let answer = try await blocking {
                let socket = try sluice.connect()
                try socket.send(
                    latin1Bytes("POST \(base)/first HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\(rest)")
                        + Array("GET \(base)/smuggled HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
                )
                return latin1(try socket.readToEnd(toleratingReset: true))
            }
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2, "one answer and no more: \(answer)")
            #expect(!origin.heads.contains { $0.contains("smuggled") })
            #expect(origin.heads.isEmpty, "\(origin.heads)")
            #expect(try await sluice.get(base + "/after") == "ok")
        }

        private static let malformed = [
            "GET\u{B}/secret\u{B}HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET /secret http/1.1\r\nHost: localhost\r\n\r\n",
            "GE:T /secret HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /secret\r\n\r\n", "\u{1}\u{2}\u{3}\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ]

        @Test(
            "What is malformed is refused over TLS too, and never reaches the server past a rule",
            arguments: malformed
        )
        func malformedOverTLS(text: String) async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(
                ["--upstream-ca", try await TestAuthority.shared.root],
                profile: "version: 1\nblock: [ { at: \"*/secret\", action: 403 } ]\n"
            )
            let outcome = try await sluice.secureClient(to: relay.port, sending: Array(text.utf8))
            let status = text.hasPrefix("PRI") ? 505 : 400
            #expect(
                latin1(outcome.output).hasPrefix("HTTP/1.1 \(status) "),
                "\(latin1(outcome.output))\(outcome.errors)"
            )
            let record = try await sluice.exchange("it is recorded") { $0.kind == .malformed }.record
            #expect(record.status == status)
            #expect(record.url.authority == "localhost:\(relay.port)")
            #expect(origin.connectionCount == 0)
        }

        @Test("Where the server takes none of the client's protocols, what is inside is read and under the rules")
        func noneAgreed() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(
                ["--upstream-ca", try await TestAuthority.shared.root],
                profile: "version: 1\nblock: [ { at: \"*/secret\", action: 403 } ]\n"
            )
            let request = Array("GET /secret HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
            let outcome = try await sluice.secureClient(to: relay.port, protocols: "other/1", sending: request)
            #expect(latin1(outcome.output).hasPrefix("HTTP/1.1 403 "), "\(latin1(outcome.output))\(outcome.errors)")
            #expect(try await sluice.exchange(path: "/secret").record.state == .blocked)
            #expect(try sluice.records().count == 1)
            #expect(origin.heads.isEmpty)
        }

        @Test("Where h2 was agreed on, what is no HTTP/2 is answered by GOAWAY, and never reaches the server")
        func noHTTP2() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let request = Array("GET /secret HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            let outcome = try await sluice.secureClient(to: relay.port, protocols: "h2", sending: request)
            #expect(latin1(outcome.output).contains("did not send the preface"), "\(outcome.output)")
            let record = try await sluice.exchange("it is recorded") { $0.kind == .malformed }.record
            #expect(record.failure?.message.contains("preface") == true)
            #expect(origin.connectionCount == 0)
        }

        @Test("The root's dot at the end of a host gets it past no rule; what is sent on stays as it came")
        func rootDot() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let root = try await TestAuthority.shared.root
            let sluice = try await SluiceProcess(
                ["--upstream-ca", root],
                profile: """
                    version: 1
                    intercept: { except: [ "localhost:\(relay.port)" ] }
                    block: [ { at: "localhost./secret", action: 403 } ]
                    dns-spoofing: [ { host: localhost, address: 127.0.0.1 } ]
                    """
            )
            let base = "http://localhost.:\(origin.port)"
            #expect(try await sluice.get("-w", "%{http_code}", base + "/secret").hasSuffix("403"))
            #expect(try await sluice.get(base + "/open") == "ok")
            #expect(origin.heads.count == 1)
            #expect(origin.heads.first?.contains("Host: localhost.:\(origin.port)\r\n") == true, "\(origin.heads)")
            let record = try await sluice.exchange(path: "/open").record
            #expect(record.url.host == "localhost")
            // The server's own certificate is seen, so nothing was decrypted.
            let outcome = try await sluice.curl(["--cacert", root, "https://localhost.:\(relay.port)/tunnel"])
            #expect(outcome.status == 0, "\(outcome.errors)")
            let tunnel = try await sluice.exchange("the tunnel") { $0.kind == .tunnel }.record
            #expect(tunnel.flags.contains(.notIntercepted))
            #expect(tunnel.url.host == "localhost")
        }

        @Test("A host with the root's dot is decrypted with a certificate and a server name without it")
        func rootDotDecrypted() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(
                ["--upstream-ca", try await TestAuthority.shared.root],
                profile: "version: 1\ndns-spoofing: [ { host: localhost, address: 127.0.0.1 } ]\n"
            )
            #expect(try await sluice.get("https://localhost.:\(relay.port)/a") == "ok")
            #expect(relay.handshakes.last?.hasPrefix("localhost ") == true, "\(relay.handshakes)")
            #expect(
                origin.heads.first?.lowercased().contains("host: localhost.:\(relay.port)\r\n") == true,
                "\(origin.heads)"
            )
            #expect(try await sluice.exchange(path: "/a").record.url.host == "localhost")
        }

        @Test("A body whose chunks are malformed fails the exchange; the server gets no end of it")
        func badChunks() async throws {
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                _ = try socket.readChunked()
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
            let sluice = try await SluiceProcess()
            let answer = try await blocking {
                let socket = try sluice.connect()
                try socket.send(
                    "POST http://127.0.0.1:\(origin.port)/c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "3\r\nabc\r\nzz\r\n"
                )
                return latin1(try socket.readToEnd(toleratingReset: true))
            }
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            try await eventually("the server is let go without an end") { origin.errors.count == 1 }
            #expect(try await sluice.exchange(path: "/c").record.failure?.code == .badRequest)
        }

        @Test(
            "Targets that lead nowhere are answered 400",
            arguments: [
                "CONNECT nohost HTTP/1.1\r\nHost: x", "CONNECT :443 HTTP/1.1\r\nHost: x",
                "CONNECT x:99999 HTTP/1.1\r\nHost: x", "CONNECT ..:80 HTTP/1.1\r\nHost: x",
                "GET http://a..b/ HTTP/1.1\r\nHost: x", "GET / HTTP/1.1\r\nHost: ..",
                "GET ftp://x/ HTTP/1.1\r\nHost: x", "GET http:// HTTP/1.1\r\nHost: x", "GET / HTTP/1.1",
                "GET http://x:port/ HTTP/1.1\r\nHost: x", "GET http://[::1/ HTTP/1.1\r\nHost: x",
            ]
        )
        func badTargets(head: String) async throws {
            try await answer(to: Array("\(head)\r\nConnection: close\r\n\r\n".utf8)) { _, answer in
                #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            }
        }
    }
}
