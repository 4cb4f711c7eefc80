import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("A server's TLS, and what it staples")
    struct TLSServers {
        @Test("sluice tls: exit codes, the report, and its JSON")
        func command() async throws {
            let server = try await OpenSSLServer()
            try await server.certificate()
            let running = try await server.start(["-alpn", "h2,http/1.1", "-min_protocol", "TLSv1.2"])
            defer { running.program.signal(SIGKILL) }
            let scratch = try Scratch()
            let place = "localhost:\(running.port)"
            let good = try await SluiceProcess.run(["tls", place, "--upstream-ca", server.root], scratch: scratch)
            #expect(good.status == 0, "\(good.errors)")
            #expect(good.text.contains("An ordinary client connects: TLS 1.3"), "\(good.text)")
            #expect(good.text.contains("  PASS  default demands"))
            let unknown = try await SluiceProcess.run(["tls", place, "--json"], scratch: scratch)
            #expect(unknown.status == 1)
            let object = try JSONSerialization.jsonObject(with: Data(unknown.output)) as? [String: Any]
            #expect(object?["acceptable"] as? Bool == false)
            #expect((object?["problems"] as? [[String: Any]])?.first?["code"] as? String == "missing-issuer")
            let name = ["--server-name", "other.example", "--upstream-ca", server.root]
            let other = try await SluiceProcess.run(["tls", "127.0.0.1:\(running.port)"] + name, scratch: scratch)
            #expect(other.status == 1)
            #expect(other.text.contains("not for this host"), "\(other.text)")
            let nobody = try await SluiceProcess.run(["tls", "127.0.0.1:\(try unusedPort())"], scratch: scratch)
            #expect(nobody.status == 1)
            #expect(nobody.text.contains("refused the connection"), "\(nobody.text)")
            let noFile = try await SluiceProcess.run(["tls", place, "--upstream-ca", "/nowhere.pem"], scratch: scratch)
            #expect(noFile.status == 1)
            #expect(noFile.errors.contains("/nowhere.pem"), "\(noFile.errors)")
            for wrong in [["tls", "a:0"], ["tls"], ["tls", place, "--connect-timeout", "0"]] {
                #expect(try await SluiceProcess.run(wrong, scratch: scratch).status == 2, "\(wrong)")
            }
        }

        @Test("sluice tls goes through other proxies, and says what they refuse")
        func throughProxies() async throws {
            let server = try await OpenSSLServer()
            try await server.certificate()
            let running = try await server.start(["-alpn", "h2,http/1.1"])
            defer { running.program.signal(SIGKILL) }
            let scratch = try Scratch()
            let http = try await Tinyproxy(user: "me", password: "right")
            let socks = try await Microsocks()
            let ask = ["tls", "localhost:\(running.port)", "--upstream-ca", server.root, "--upstream-localhost"]
            for proxy in ["http://me:right@127.0.0.1:\(http.port)", "socks5://127.0.0.1:\(socks.port)"] {
                let found = try await SluiceProcess.run(ask + ["--upstream-proxy", proxy], scratch: scratch)
                #expect(found.status == 0, "\(found.text)\(found.errors)")
                #expect(found.text.contains("through \(proxy.replacing("me:right@", with: ""))"), "\(found.text)")
                #expect(found.text.contains("An ordinary client connects: TLS 1.3"), "\(found.text)")
            }
            #expect(http.requests.allSatisfy { $0.hasPrefix("CONNECT localhost:\(running.port) ") })
            #expect(http.requests.count > 10)
            let wrong = "http://me:wrong@127.0.0.1:\(http.port)"
            let refused = try await SluiceProcess.run(ask + ["--upstream-proxy", wrong, "--json"], scratch: scratch)
            #expect(refused.status == 1)
            #expect(refused.text.contains("does not take the user that is set with this password"), "\(refused.text)")
            #expect(!refused.text.contains("me:wrong"))
            let nobody = "socks5://127.0.0.1:\(try unusedPort())"
            let unreached = try await SluiceProcess.run(ask + ["--upstream-proxy", nobody], scratch: scratch)
            #expect(unreached.status == 1)
            #expect(unreached.text.contains("The upstream proxy \(nobody)"), "\(unreached.text)")
            let direct = ["tls", "localhost:\(running.port)", "--upstream-ca", server.root, "--upstream-proxy", nobody]
            #expect(
                try await SluiceProcess.run(direct, scratch: scratch).status == 0,
                "servers of this machine are asked directly"
            )
            #expect(
                try await SluiceProcess.run(["tls", "a", "--upstream-proxy", "ftp://x"], scratch: scratch).status == 2
            )
        }

        @Test("Clients that take no ECDSA are read, also two at once, and several ways to agree on keys")
        func withoutECDSA() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            func get(_ suite: String) async throws -> String {
                let url = "https://localhost:\(relay.port)/\(suite)"
                return try await sluice.get("--http1.1", "--tls-max", "1.2", "--ciphers", suite, url)
            }
            async let first = get("ECDHE-RSA-AES128-GCM-SHA256")
            async let second = get("ECDHE-RSA-AES256-GCM-SHA384")
            #expect(try await [first, second] == ["ok", "ok"])
            for suite in ["DHE-RSA-AES128-GCM-SHA256", "AES128-SHA", "ECDHE-ECDSA-AES128-GCM-SHA256"] {
                #expect(try await get(suite) == "ok", "\(suite)")
            }
            #expect(try await sluice.exchange(path: "/AES128-SHA").record.kind == .http)
        }

        @Test("A server by an IPv6 address in brackets")
        func address() async throws {
            let server = try await OpenSSLServer()
            try await server.certificate(extensions: "subjectAltName=IP:::1\nextendedKeyUsage=serverAuth\n")
            let running = try await server.start(host: "[::1]")
            defer { running.program.signal(SIGKILL) }
            let scratch = try Scratch()
            let outcome = try await SluiceProcess.run(
                ["tls", "[::1]:\(running.port)", "--upstream-ca", server.root],
                scratch: scratch
            )
            #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
        }

        @Test(
            "A certificate that the server's own staple calls revoked is refused in words",
            arguments: ["-tls1_2", "-tls1_3"]
        )
        func revoked(version: String) async throws {
            let server = try await OpenSSLServer()
            try await server.certificate()
            let staple = try await server.staple(isRevoked: true)
            let running = try await server.start([version, "-status_file", staple])
            defer { running.program.signal(SIGKILL) }
            let sluice = try await SluiceProcess(["--upstream-ca", server.root])
            let url = "https://localhost:\(running.port)/"
            let page = try await sluice.curl(["-w", "%{http_code}", url])
            #expect(page.text.hasSuffix("502"), "\(page.text)")
            let record = try await sluice.exchange("the refusal is recorded") { $0.failure != nil }.record
            #expect(record.failure?.code == .tls)
            for word in ["revoked", "2026-10-01", "keyCompromise", "staple", "--insecure-host localhost"] {
                #expect(page.text.contains(word), "\(page.text)")
                #expect(record.failure?.message.contains(word) == true)
            }
        }

        @Test("A host that is not verified gets through with a revoked certificate, and the record says so")
        func revokedButAllowed() async throws {
            let server = try await OpenSSLServer()
            try await server.certificate()
            let running = try await server.start(["-status_file", try await server.staple(isRevoked: true)])
            defer { running.program.signal(SIGKILL) }
            let sluice = try await SluiceProcess(["--upstream-ca", server.root, "--insecure-host", "localhost"])
            _ = try await sluice.get("https://localhost:\(running.port)/")
            let exchange = try await sluice.exchange("an answer") { $0.status == 200 }
            #expect(exchange.upstream?.tls?.verificationFailure?.contains("revoked (keyCompromise)") == true)
            #expect(exchange.upstream?.tls?.peerCertificates.first?.staple?.state == .revoked)
            #expect(exchange.messages.trace.contains { $0.text.contains("revoked") })
        }

        @Test("A good staple is recorded with the certificate and shown with it")
        func good() async throws {
            let server = try await OpenSSLServer()
            try await server.certificate()
            let running = try await server.start(["-status_file", try await server.staple(isRevoked: false)])
            defer { running.program.signal(SIGKILL) }
            let sluice = try await SluiceProcess(["--upstream-ca", server.root])
            _ = try await sluice.get("https://localhost:\(running.port)/")
            let exchange = try await sluice.exchange("an answer") { $0.status == 200 }
            let staple = try #require(exchange.upstream?.tls?.peerCertificates.first?.staple)
            #expect(staple.state == .good)
            #expect(exchange.upstream?.tls?.verificationFailure == nil)
            let id = "\(exchange.record.id.number)"
            let shown = try await SluiceProcess.run(["show", sluice.session, id], scratch: sluice.scratch)
            #expect(shown.text.contains("OCSP staple") && shown.text.contains("good, from 20"), "\(shown.text)")
            let json = try await SluiceProcess.run(
                ["export", sluice.session, "--format", "json", "--secrets"],
                scratch: sluice.scratch
            )
            #expect(json.text.contains("\"staple\":{\"state\":\"good\""), "\(json.text) \(json.errors)")
        }

        @Test("A missing intermediate certificate is named in the refusal, with its place")
        func missingIntermediate() async throws {
            let server = try await OpenSSLServer()
            let authority = "basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign,cRLSign\n"
            try await server.certificate("middle", extensions: authority)
            let access = "authorityInfoAccess=caIssuers;URI:http://127.0.0.1:9/middle.crt\n"
            try await server.certificate(
                issuer: "middle",
                extensions: "subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n" + access
            )
            let running = try await server.start()
            defer { running.program.signal(SIGKILL) }
            let sluice = try await SluiceProcess(["--upstream-ca", server.root])
            let page = try await sluice.curl(["https://localhost:\(running.port)/"])
            for word in ["'middle'", "http://127.0.0.1:9/middle.crt", "--upstream-ca", "--insecure-host"] {
                #expect(page.text.contains(word), "\(page.text)")
            }
        }

        @Test("A host in other letters is shown in both forms, and one that mixes scripts is suspicious")
        func homograph() async throws {
            let sluice = try await SluiceProcess()
            _ = try await sluice.curl(["http://xn--pple-43d.invalid/"])
            let record = try await sluice.exchange("the exchange") { $0.failure != nil }.record
            let id = "\(record.id.number)"
            let shown = try await SluiceProcess.run(["show", sluice.session, id], scratch: sluice.scratch)
            #expect(shown.text.contains("\u{430}pple.invalid (xn--pple-43d.invalid)"), "\(shown.text)")
            #expect(shown.text.contains("mixes Cyrillic and Latin letters"), "\(shown.text)")
            let list = try await SluiceProcess.run(["list", sluice.session], scratch: sluice.scratch)
            #expect(list.text.contains("host \u{430}pple.invalid (xn--pple-43d.invalid), suspicious"), "\(list.text)")
        }
    }
}
