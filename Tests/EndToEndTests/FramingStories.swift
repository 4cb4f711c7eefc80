import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

extension EndToEnd {
    @Suite("How messages are framed, and connections used")
    struct Framing {
        @Test("100 (Continue) is asked of the server, not made up, and the body follows it")
        func continued() async throws {
            let origin = try Origin { origin, socket in
                let head = try origin.head(socket)
                guard head.contains("Expect: 100-continue") else { throw Socket.Failure(description: head) }
                try socket.send("HTTP/1.1 100 Go On\r\nX-Interim: 1\r\n\r\n")
                let body = latin1(try socket.read(count: 5))
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\(body)")
            }
            let sluice = try await SluiceProcess()
            let answer = try await sluice.get(
                "-i",
                "-H",
                "Expect: 100-continue",
                "--expect100-timeout",
                "20",
                "-d",
                "hello",
                "http://127.0.0.1:\(origin.port)/continue"
            )
            #expect(answer.hasPrefix("HTTP/1.1 100 Go On\r\nX-Interim: 1\r\n\r\nHTTP/1.1 200 OK\r\n"))
            #expect(answer.hasSuffix("hello"))
            #expect(origin.errors.isEmpty)
            let exchange = try await sluice.exchange(path: "/continue")
            #expect(exchange.messages.interimHeads.map { String(buffer: $0) }?.hasPrefix("HTTP/1.1 100 Go On") == true)
            #expect(try sluice.body(exchange, .requestReceived) == "hello")
        }

        @Test("A server that refuses an expectation is heard, and no body is sent")
        func refusedExpectation() async throws {
            let origin = try Origin.answering(
                "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno\n",
                closes: true
            )
            let sluice = try await SluiceProcess()
            let outcome = try await sluice.curl([
                "-i", "-H", "Expect: 100-continue", "--expect100-timeout", "20", "-H", "Content-Type: x/y", "-T",
                try sluice.scratch.write("body", noise(2_000_000)), "http://127.0.0.1:\(origin.port)/refused",
            ])
            // curl tries again without the expectation, and is told the same.
            #expect(outcome.text.hasPrefix("HTTP/1.1 417 Expectation Failed\r\n"))
            #expect(origin.heads.first?.contains("Expect: 100-continue\r\n") == true)
            let exchange = try await sluice.exchange(path: "/refused")
            #expect(exchange.record.status == 417)
            #expect(exchange.record.sizes.requestBody == 0)
        }

        @Test("A server that knows nothing of expectations gets the body once the client sends it anyway")
        func ignoredExpectation() async throws {
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                let body = latin1(try socket.read(count: 5))
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\(body)")
            }
            let sluice = try await SluiceProcess()
            let answer = try await sluice.get(
                "-H",
                "Expect: 100-continue",
                "--expect100-timeout",
                "0.1",
                "-d",
                "hello",
                "http://127.0.0.1:\(origin.port)/"
            )
            #expect(answer == "hello")
        }

        @Test("A server that answers before it has read the upload is heard", arguments: ["http", "https"])
        func earlyAnswer(scheme: String) async throws {
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbig\n")
                socket.finish()
                // What is unread at the end would make the kernel reset the connection and lose the answer.
                _ = try socket.readToEnd(toleratingReset: true)
            }
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let base = scheme == "http" ? "http://127.0.0.1:\(origin.port)" : "https://localhost:\(relay.port)"
            let file = try sluice.scratch.write("body", noise(5_000_000))
            let outcome = try await sluice.curl(["-H", "Expect:", "-w", "%{http_code}", "-T", file, base + "/early"])
            #expect(outcome.text == "big\n413", "\(outcome.errors)")
            #expect(try await sluice.exchange(path: "/early").record.status == 413)
        }

        @Test("A server that answers and resets the connection in the middle of the upload is heard")
        func resetUpload() async throws {
            // What is unread when the origin closes makes the kernel reset the connection.
            let origin = try Origin.answering(
                "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbig\n",
                closes: true
            )
            let sluice = try await SluiceProcess()
            let file = try sluice.scratch.write("body", noise(5_000_000))
            for number in 0..<20 {
                let url = "http://127.0.0.1:\(origin.port)/\(number)"
                let outcome = try await sluice.curl(["-H", "Expect:", "-w", "%{http_code}", "-T", file, url])
                #expect(outcome.text == "big\n413", "\(outcome.errors)")
            }
        }

        @Test("103 (Early Hints) reaches the client before the answer, but not an HTTP/1.0 client")
        func earlyHints() async throws {
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send("HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n")
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
            let sluice = try await SluiceProcess()
            let url = "http://127.0.0.1:\(origin.port)/hints"
            let answer = try await sluice.get("-i", url)
            #expect(answer.hasPrefix("HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\nHTTP/1.1 200 OK"))
            #expect(try await sluice.get("-i", "--http1.0", url).hasPrefix("HTTP/1.1 200 OK\r\n"))
            let exchange = try await sluice.exchange(path: "/hints")
            #expect(exchange.messages.interimHeads.map { String(buffer: $0) }?.contains("103 Early Hints") == true)
        }

        @Test("An HTTP/1.0 client gets a chunked answer without chunks, and its connection is closed after it")
        func oldClient() async throws {
            let origin = try Origin.answering(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n"
            )
            let sluice = try await SluiceProcess()
            let answer = try await blocking {
                let socket = try sluice.connect()
                try socket.send("GET http://127.0.0.1:\(origin.port)/old HTTP/1.0\r\nX: y\r\n\r\n")
                return latin1(try socket.readToEnd())
            }
            #expect(answer.hasSuffix("\r\n\r\nabcdef"))
            #expect(!answer.lowercased().contains("transfer-encoding"))
            #expect(origin.heads.first?.hasPrefix("GET /old HTTP/1.1\r\n") == true)
            #expect(origin.heads.first?.contains("\r\nHost: 127.0.0.1:\(origin.port)\r\n") == true)
            #expect(try await sluice.get("--http1.0", "http://127.0.0.1:\(origin.port)/curl") == "abcdef")
        }

        @Test("An HTTP/1.0 server's answer is passed on, with and without a length, and its connection not reused")
        func oldServer() async throws {
            let origin = try Origin { origin, socket in
                let head = try origin.head(socket)
                let length = head.contains("/length") ? "Content-Length: 5\r\n" : ""
                try socket.send("HTTP/1.0 200 Fine\r\n\(length)Server: old\r\n\r\nhello")
            }
            let sluice = try await SluiceProcess()
            for path in ["/length", "/none"] {
                #expect(try await sluice.get("http://127.0.0.1:\(origin.port)\(path)") == "hello")
                #expect(try await sluice.exchange(path: path).record.upstreamVersion == .http10)
            }
            #expect(origin.connectionCount == 2)
        }

        @Test(
            "Requests of one client one after the other share a connection to the server",
            arguments: ["http", "https"]
        )
        func keepAlive(scheme: String) async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let base = scheme == "http" ? "http://127.0.0.1:\(origin.port)" : "https://localhost:\(relay.port)"
            let answer = try await sluice.get(base + "/1", base + "/2", base + "/3", base + "/4", base + "/5")
            #expect(answer == "okokokokok")
            #expect(origin.connectionCount == 1)
            #expect(origin.heads.count == 5)
            let last = try await sluice.exchange(path: "/5").record
            #expect(last.flags.contains(.upstreamReused))
            #expect(last.timings.connect == nil)
            #expect(try sluice.records().allSatisfy { $0.clientConnection == last.clientConnection })
        }

        @Test("A server that closes its idle connection just when it is used again costs the client nothing")
        func retry() async throws {
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                // The next request on this connection is read and not answered.
                if origin.connectionCount == 1 { _ = try origin.head(socket) } else { _ = try socket.receive() }
            }
            let sluice = try await SluiceProcess()
            let base = "http://127.0.0.1:\(origin.port)"
            #expect(try await sluice.get(base + "/1", base + "/2") == "okok")
            #expect(origin.connectionCount == 2)
            #expect(try await sluice.exchange(path: "/2").record.flags.contains(.retried))
        }

        @Test("A POST is not sent twice when a reused connection ends without an answer: so does the client's")
        func noRetry() async throws {
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                _ = try origin.head(socket)
            }
            let sluice = try await SluiceProcess()
            let answer = try await blocking {
                let socket = try sluice.connect()
                try socket.send("GET http://127.0.0.1:\(origin.port)/1 HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try socket.readHead()
                _ = try socket.read(count: 2)
                try socket.send(
                    "POST http://127.0.0.1:\(origin.port)/2 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nonce"
                )
                return latin1(try socket.readToEnd())
            }
            #expect(answer == "")
            #expect(try await sluice.exchange(path: "/2").record.status == 0)
            #expect(try await sluice.exchange(path: "/2").record.failure?.code == .reset)
            #expect(origin.heads.filter { $0.hasPrefix("POST") }.count == 1)
        }

        @Test("Pipelined requests are answered in order", arguments: ["http", "https"])
        func pipelined(scheme: String) async throws {
            let origin = try Origin { origin, socket in
                while true {
                    let head = try origin.head(socket)
                    let path = head.split(separator: " ")[1]
                    try socket.send("HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)")
                }
            }
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let paths = (1...20).map { "/\($0)" }
            let isPlain = scheme == "http"
            let prefix = isPlain ? "http://127.0.0.1:\(origin.port)" : ""
            let requests = paths.map { path in
                "GET \(prefix)\(path) HTTP/1.1\r\nHost: x\(path == "/20" ? "\r\nConnection: close" : "")\r\n\r\n"
            }
            let answer =
                if isPlain {
                    try await blocking {
                        let socket = try sluice.connect()
                        try socket.send(requests.joined())
                        return latin1(try socket.readToEnd())
                    }
                } else {
                    latin1(try await sluice.secureClient(to: relay.port, sending: Array(requests.joined().utf8)).output)
                }
            let bodies = answer.components(separatedBy: "\r\n\r\n").dropFirst().map {
                $0.components(separatedBy: "HTTP/1.1").first ?? ""
            }
            #expect(bodies == paths)
            #expect(origin.heads.map { String($0.split(separator: " ")[1]) } == paths)
        }

        @Test("An answer that ends with the connection is passed on whole")
        func closeDelimited() async throws {
            let body = latin1(noise(300_000).map { $0 & 0x7F })
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nX: y\r\n\r\n" + body, closes: true)
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            #expect(try await sluice.get("http://127.0.0.1:\(origin.port)/plain") == body)
            #expect(try await sluice.get("https://localhost:\(relay.port)/secure") == body)
            for path in ["/plain", "/secure"] {
                let exchange = try await sluice.exchange(path: path)
                #expect(exchange.record.state == .complete)
                #expect(exchange.record.sizes.responseBody == 300_000)
            }
        }

        @Test("Trailers go through both ways, and are recorded")
        func trailers() async throws {
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                let request = try socket.readChunked()
                guard request.trailers == "X-Sum: 1\r\nX-Sum: 2\r\n", latin1(request.body) == "hello" else {
                    throw Socket.Failure(description: "\(request)")
                }
                try socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n")
                try socket.send("4\r\nbody\r\n0\r\nX-End: yes\r\n\r\n")
            }
            let sluice = try await SluiceProcess()
            let (head, body, trailers) = try await blocking {
                let socket = try sluice.connect()
                try socket.send(
                    "POST http://127.0.0.1:\(origin.port)/t HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
                        + "Trailer: X-Sum\r\nTE: trailers\r\nConnection: TE\r\n\r\n"
                        + "5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n"
                )
                let head = try socket.readHead()
                let rest = try socket.readChunked()
                return (head, latin1(rest.body), rest.trailers)
            }
            #expect(origin.errors.isEmpty)
            #expect(head.contains("Trailer: X-End\r\n"))
            #expect(body == "body")
            #expect(trailers == "X-End: yes\r\n")
            let messages = try await sluice.exchange(path: "/t").messages
            #expect(messages.requestTrailers.map { String(buffer: $0) }?.contains("X-Sum: 2") == true)
            #expect(messages.responseTrailers.map { String(buffer: $0) }?.contains("X-End: yes") == true)
        }

        @Test("OPTIONS for a whole server is sent with the asterisk")
        func asterisk() async throws {
            let origin = try Origin.answering("HTTP/1.1 204 No Content\r\nAllow: GET\r\n\r\n")
            let sluice = try await SluiceProcess()
            let head = try await blocking {
                let socket = try sluice.connect()
                try socket.send("OPTIONS http://127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
                return try socket.readHead()
            }
            #expect(head.hasPrefix("HTTP/1.1 204 No Content\r\n"))
            #expect(origin.heads.first?.hasPrefix("OPTIONS * HTTP/1.1\r\n") == true)
        }
    }
}
