import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("What goes wrong on the server's side")
    struct UpstreamErrors {
        /// Starts a proxy, asks for a URL, and checks the page, the record, and that the next exchange goes on.
        private func check(
            _ url: String,
            status: Int,
            _ code: ExchangeFailure.Code,
            says words: [String],
            options: [String] = [],
            curl: [String] = []
        ) async throws {
            let other = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess(options)
            let page = try await sluice.curl(curl + ["-w", "%{http_code} %{content_type}", url])
            #expect(page.text.hasPrefix("Sluice: "), "\(page.text) \(page.errors)")
            #expect(page.text.hasSuffix("\(status) text/plain; charset=utf-8"), "\(page.text)")
            let record = try await sluice.exchange("the failure is recorded") { $0.failure != nil }.record
            #expect(record.status == status)
            #expect(record.state == .failed)
            #expect(record.failure?.code == code)
            let told = "\(record.failure?.message ?? "") \(record.failure?.hint ?? "")"
            for word in words {
                #expect(page.text.contains(word), "\(page.text)")
                #expect(told.contains(word), "\(told)")
            }
            #expect(try await sluice.get("http://127.0.0.1:\(other.port)/") == "ok")
            #expect(try await sluice.exchange("the other one") { $0.status == 200 }.record.failure == nil)
        }

        @Test("A name that does not exist", arguments: ["http", "https"])
        func dns(scheme: String) async throws {
            try await check("\(scheme)://nowhere.invalid/", status: 502, .dns, says: ["nowhere.invalid", "spelling"])
        }

        @Test("A port where nobody listens", arguments: ["http", "https"])
        func refused(scheme: String) async throws {
            let port = try unusedPort()
            try await check(
                "\(scheme)://localhost:\(port)/",
                status: 502,
                .connect,
                says: ["localhost:\(port)", "refused", "running"]
            )
        }

        @Test("A server that closes or resets the connection without an answer", arguments: [false, true])
        func noAnswer(resets: Bool) async throws {
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                if resets { socket.reset() }
            }
            try await check(
                "http://127.0.0.1:\(origin.port)/",
                status: 502,
                .reset,
                says: ["127.0.0.1", "without an answer"]
            )
        }

        @Test("A server that breaks off in the middle of a head")
        func halfHead() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Le", closes: true)
            try await check("http://127.0.0.1:\(origin.port)/", status: 502, .reset, says: ["127.0.0.1"])
        }

        @Test(
            "A server that breaks off in the middle of a body: the client sees that as it was, and the record has what came",
            arguments: ["Content-Length: 10\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n5\r\nabc"],
            [false, true]
        )
        func halfBody(answer: String, resets: Bool) async throws {
            let arrived = NSCondition()
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send("HTTP/1.1 200 OK\r\n\(answer)")
                // A reset discards what was not yet read, so it waits until the client has its part.
                arrived.lock()
                _ = arrived.wait(until: Date(timeIntervalSinceNow: 10))
                arrived.unlock()
                if resets { socket.reset() }
            }
            let sluice = try await SluiceProcess()
            let (text, isReset) = try await blocking {
                let socket = try sluice.connect()
                try socket.send("GET http://127.0.0.1:\(origin.port)/half HTTP/1.1\r\nHost: x\r\n\r\n")
                var text = try socket.readHead()
                text += try socket.read(until: "abc")
                arrived.lock()
                arrived.signal()
                arrived.unlock()
                do {
                    return (text + latin1(try socket.readToEnd()), false)
                } catch let error as Socket.Failure where error.description == "cannot receive: errno \(ECONNRESET)" {
                    return (text, true)
                }
            }
            #expect(isReset == resets)
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(text.contains("abc"))
            #expect(!text.hasSuffix("0\r\n\r\n"), "the end of the body must not be made up")
            let exchange = try await sluice.exchange(path: "/half")
            #expect(exchange.record.state == .failed)
            #expect(exchange.record.failure?.code == .reset)
            #expect(try sluice.body(exchange, .responseReceived) == "abc")
        }

        @Test(
            "An answer that is no HTTP",
            arguments: [
                "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            ]
        )
        func malformed(answer: String) async throws {
            let origin = try Origin.answering(answer, closes: true)
            try await check(
                "http://127.0.0.1:\(origin.port)/",
                status: 502,
                .badResponse,
                says: ["127.0.0.1", "no valid HTTP response"]
            )
        }

        @Test("TLS asked of a server that speaks plain HTTP")
        func noTLS() async throws {
            let origin = try Origin { _, socket in
                _ = try socket.receive()
                try socket.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            }
            try await check("https://localhost:\(origin.port)/", status: 502, .tls, says: ["localhost:\(origin.port)"])
        }

        @Test("A server whose certificate nobody vouches for")
        func untrusted() async throws {
            let relay = try await relay(try await TestAuthority.shared.unknownRoot)
            try await check(
                "https://localhost:\(relay.port)/",
                status: 502,
                .tls,
                says: ["localhost", "--upstream-ca", "--insecure-host"]
            )
        }

        @Test("A server whose certificate has expired")
        func expired() async throws {
            let relay = try await relay(try await TestAuthority.shared.expired)
            try await check(
                "https://localhost:\(relay.port)/",
                status: 502,
                .tls,
                says: ["localhost", "expired", "--insecure-host"],
                options: ["--upstream-ca", try await TestAuthority.shared.root]
            )
        }

        @Test("A server whose certificate is for another name")
        func otherName() async throws {
            let relay = try await relay(try await TestAuthority.shared.otherName)
            try await check(
                "https://localhost:\(relay.port)/",
                status: 502,
                .tls,
                says: ["localhost", "other.example", "--insecure-host"],
                options: ["--upstream-ca", try await TestAuthority.shared.root]
            )
        }

        private let origin: Origin

        init() throws {
            origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }

        private func relay(_ certificate: TestAuthority.Certificate) async throws -> TLSRelay {
            try await TLSRelay(origin, certificate: certificate)
        }

        @Test(
            "A bad certificate is let pass for a host, or for all, and the record says what was wrong with it",
            arguments: [["--insecure-host", "LOCALHOST"], ["--insecure-upstream"]]
        )
        func allowed(options: [String]) async throws {
            let relay = try await relay(try await TestAuthority.shared.expired)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root] + options)
            #expect(try await sluice.get("https://localhost:\(relay.port)/") == "ok")
            let exchange = try await sluice.exchange()
            #expect(exchange.upstream?.tls?.verificationFailure?.contains("expired") == true)
            #expect(exchange.upstream?.tls?.peerCertificates.first?.alternativeNames.contains("DNS:localhost") == true)
            #expect(exchange.trace.contains("expired"))
            if options == ["--insecure-host", "LOCALHOST"] {
                #expect(try await sluice.get("https://127.0.0.1:\(relay.port)/").hasPrefix("Sluice: "))
            }
        }

        @Test("A server that accepts and never finishes its handshake ends at --connect-timeout")
        func handshakeTimeout() async throws {
            let origin = try Origin { _, socket in while try !socket.receive(patience: 120_000).isEmpty {} }
            try await check(
                "https://localhost:\(origin.port)/",
                status: 504,
                .timeout,
                says: ["localhost:\(origin.port)", "--connect-timeout"],
                options: ["--connect-timeout", "0.3"]
            )
        }

        @Test("A server that never answers ends at --idle-timeout")
        func idleTimeout() async throws {
            let origin = try Origin { _, socket in while try !socket.receive(patience: 120_000).isEmpty {} }
            try await check(
                "http://127.0.0.1:\(origin.port)/",
                status: 504,
                .timeout,
                says: ["127.0.0.1:\(origin.port)", "--idle-timeout"],
                options: ["--idle-timeout", "1"]
            )
        }

        @Test("A server that does not begin to answer ends at --response-timeout; one that has begun has its time")
        func responseTimeout() async throws {
            let silent = try Origin { _, socket in while try !socket.receive(patience: 120_000).isEmpty {} }
            try await check(
                "http://127.0.0.1:\(silent.port)/",
                status: 504,
                .timeout,
                says: ["127.0.0.1:\(silent.port)", "--response-timeout"],
                options: ["--response-timeout", "1"]
            )
            let (asked, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let origin = try Origin { _, socket in
                guard try socket.readHead().contains("/slow") else {
                    while try !socket.receive(patience: 120_000).isEmpty {}
                    return
                }
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")
                asked.signal()
                mayEnd.wait()
                try socket.send("k")
            }
            let sluice = try await SluiceProcess(["--response-timeout", "0.5"])
            async let slow = sluice.get("http://127.0.0.1:\(origin.port)/slow")
            try await blocking { asked.wait() }
            // What was asked for later and never began has ended, and the other one has not.
            #expect(try await sluice.get("http://127.0.0.1:\(origin.port)/silent").contains("for 0.5 seconds"))
            mayEnd.signal()
            #expect(try await slow == "ok")
        }

        @Test("A browser gets the explanation as a page")
        func html() async throws {
            let sluice = try await SluiceProcess()
            let page = try await sluice.get("-i", "-H", "Accept: text/html,*/*", "http://nowhere.invalid/")
            #expect(page.hasPrefix("HTTP/1.1 502 "))
            #expect(page.contains("Content-Type: text/html; charset=utf-8\r\n"))
            #expect(page.contains("<p>The name nowhere.invalid could not be resolved"))
            // What a page repeats of a request must not become markup.
            let markup = try await blocking {
                let socket = try sluice.connect()
                try socket.send(
                    "GET http://<script>.invalid/ HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nConnection: close\r\n\r\n"
                )
                return latin1(try socket.readToEnd())
            }
            #expect(markup.hasPrefix("HTTP/1.1 502 ") || markup.hasPrefix("HTTP/1.1 400 "))
            #expect(markup.contains("text/plain") || !markup.contains("<script>"))
        }

        @Test("A request that leads back to the proxy is stopped")
        func loop() async throws {
            let sluice = try await SluiceProcess()
            // An address of this machine that the proxy does not take for its own pages.
            let answer = try await blocking {
                let socket = try sluice.connect()
                try socket.send(
                    "GET http://0.0.0.0:\(sluice.port)/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                )
                return latin1(try socket.readToEnd())
            }
            #expect(answer.hasPrefix("HTTP/1.1 508 "), "\(answer)")
            #expect(try await sluice.exchange().record.failure?.code == .loop)
        }

        @Test("So is one over TLS or HTTP/2, by an address that the proxy does not list as its own")
        func secureLoop() async throws {
            let sluice = try await SluiceProcess()
            let own = "0.0.0.0:\(sluice.port)"
            let ways = [
                ["--insecure", "https://\(own)/"],
                ["--insecure", "--http1.1", "https://\(own)/"],
                ["--proxy", "", "--http2-prior-knowledge", "-H", "Host: \(own)", "\(sluice.url)/"],
            ]
            for way in ways {
                let page = try await sluice.curl(way + ["-w", "%{http_code}"]).text
                #expect(page.contains("\(own) leads back to this proxy."), "\(way): \(page)")
                #expect(page.hasSuffix("508"))
            }
            try await eventually("each is recorded") { try sluice.records().count { $0.failure != nil } == ways.count }
            #expect(try sluice.records().map(\.failure?.code) == ways.map { _ in .loop })
            #expect(try sluice.descriptors() < 100)
        }
    }
}
