import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("Upstream proxies")
    struct UpstreamProxyStories {
        /// A proxy that asks servers of this machine through another one, as an option says.
        private func sluice(
            _ proxy: String,
            _ options: [String] = [],
            profile: String? = nil
        ) async throws -> SluiceProcess {
            let root = try await TestAuthority.shared.root
            return try await SluiceProcess(
                ["--upstream-proxy", proxy, "--upstream-localhost", "--upstream-ca", root] + options,
                profile: profile
            )
        }

        /// That a password, in text or in Base64, is in no file of the session.
        private func expectAbsent(_ secrets: [String], in sluice: SluiceProcess) throws {
            for suffix in ["", "-wal"] {
                let bytes = sluice.scratch.bytes("session.sluice" + suffix)
                for secret in secrets {
                    #expect(bytes.firstRange(of: Array(secret.utf8)) == nil, "\(secret) is recorded")
                }
            }
        }

        @Test("HTTP through tinyproxy goes out in absolute form, HTTPS and HTTP/2 by CONNECT", arguments: bothVersions)
        func tinyproxy(version: String) async throws {
            let proxy = try await Tinyproxy(user: "me", password: "s3cr3tword")
            let nginx = try await HTTP2Nginx()
            let sluice = try await sluice("http://me:s3cr3tword@127.0.0.1:\(proxy.port)")
            for path in ["/hello.txt", "/hello.txt?2"] {
                #expect(
                    try await sluice.get(version, "http://localhost:\(nginx.plainHTTP1)\(path)") == "Hello, Sluice.\n"
                )
                #expect(try await sluice.get(version, "https://localhost:\(nginx.secure)\(path)") == "Hello, Sluice.\n")
            }
            let plain = try await sluice.exchange { $0.url.scheme == "http" }
            #expect(plain.upstream?.proxy == "http://127.0.0.1:\(proxy.port)")
            #expect(plain.upstream?.peerAddress == "127.0.0.1:\(proxy.port)")
            #expect(plain.upstream?.localAddress.hasPrefix("127.0.0.1:") == true)
            #expect(plain.trace.contains("asked through the proxy http://127.0.0.1:\(proxy.port) (--upstream-proxy)"))
            let secure = try await sluice.exchange { $0.url.scheme == "https" }
            #expect(secure.record.upstreamVersion == .http2)
            #expect(secure.upstream?.tls?.serverName == "localhost")
            #expect(secure.upstream?.proxy == "http://127.0.0.1:\(proxy.port)")
            let requests = proxy.requests
            #expect(requests.contains("GET http://localhost:\(nginx.plainHTTP1)/hello.txt HTTP/1.1"), "\(requests)")
            #expect(requests.count { $0.hasPrefix("CONNECT localhost:\(nginx.secure) ") } == 1, "\(requests)")
            let shown = try await sluice.told("show", sluice.session, "\(plain.record.id)")
            #expect(shown.contains("http://127.0.0.1:\(proxy.port)"), "\(shown)")
            let json = try await sluice.told("export", sluice.session, "--format", "json")
            #expect(json.contains("\"proxy\":\"http://127.0.0.1:\(proxy.port)\""))
            let end = try await sluice.stop()
            #expect(!(end.output + end.errors + shown + json).contains("s3cr3tword"))
            try expectAbsent(["s3cr3tword", "bWU6czNjcjN0d29yZA"], in: sluice)
        }

        @Test("Bodies, WebSockets' upgrades and unread tunnels go through too")
        func everything() async throws {
            let proxy = try await Tinyproxy()
            let origin = try Origin { origin, socket in
                let head = try origin.head(socket)
                if head.lowercased().contains("upgrade: echo") {
                    try socket.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
                    while true {
                        let bytes = try socket.receive()
                        if bytes.isEmpty { return }
                        try socket.send(bytes)
                    }
                }
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
            let sluice = try await sluice(
                "http://127.0.0.1:\(proxy.port)",
                profile: "version: 1\nintercept: { except: [ \"127.0.0.1:\(origin.port)\" ] }\n"
            )
            let echoed = try await blocking {
                let socket = try sluice.connect()
                try socket.send(
                    "GET http://localhost:\(origin.port)/up HTTP/1.1\r\nHost: localhost:\(origin.port)\r\n"
                        + "Connection: Upgrade\r\nUpgrade: echo\r\n\r\n"
                )
                let head = try socket.readHead()
                try socket.send("ping")
                return (head, try socket.read(until: "ping"))
            }
            #expect(echoed.0.hasPrefix("HTTP/1.1 101 ") && echoed.1 == "ping")
            let tunnelled = try await blocking {
                let socket = try sluice.tunnel(to: origin.port)
                try socket.send("GET /tunnel HTTP/1.1\r\nHost: x\r\n\r\n")
                return try socket.readHead()
            }
            #expect(tunnelled.hasPrefix("HTTP/1.1 200 "))
            let requests = proxy.requests
            #expect(requests.contains { $0.hasPrefix("CONNECT localhost:\(origin.port) ") }, "\(requests)")
            #expect(requests.contains { $0.hasPrefix("CONNECT 127.0.0.1:\(origin.port) ") }, "\(requests)")
        }

        @Test("SOCKS 5 with a user and without, for names, HTTP, HTTPS and HTTP/2", arguments: [nil, "me"])
        func socks(user: String?) async throws {
            let proxy = try await Microsocks(user: user, password: "s3cr3tword")
            let nginx = try await HTTP2Nginx()
            let known = user.map { "\($0):s3cr3tword@" } ?? ""
            let sluice = try await sluice("socks5://\(known)127.0.0.1:\(proxy.port)")
            #expect(try await sluice.get("http://localhost:\(nginx.plainHTTP1)/hello.txt") == "Hello, Sluice.\n")
            #expect(try await sluice.get("https://localhost:\(nginx.secure)/hello.txt") == "Hello, Sluice.\n")
            #expect(try await sluice.get("http://127.0.0.1:\(nginx.plainHTTP1)/hello.txt") == "Hello, Sluice.\n")
            #expect(try await sluice.exchange { $0.url.scheme == "https" }.record.upstreamVersion == .http2)
            #expect(try await sluice.exchange().upstream?.proxy == "socks5://127.0.0.1:\(proxy.port)")
            _ = try await sluice.stop()
            try expectAbsent(["s3cr3tword"], in: sluice)
        }

        @Test("A second Sluice is a proxy as well, and reads what the first one lets it")
        func chained() async throws {
            let nginx = try await HTTP2Nginx()
            let root = try await TestAuthority.shared.root
            let outer = try await SluiceProcess(["--upstream-ca", root])
            let inner = try await SluiceProcess(
                ["--upstream-proxy", outer.url, "--upstream-localhost", "--upstream-ca", outer.authority]
            )
            #expect(try await inner.get("https://localhost:\(nginx.secure)/hello.txt") == "Hello, Sluice.\n")
            #expect(try await inner.get("http://localhost:\(nginx.plainHTTP1)/hello.txt") == "Hello, Sluice.\n")
            #expect(try await outer.exchange { $0.url.scheme == "https" }.record.status == 200)
            #expect(try await outer.exchange { $0.url.scheme == "http" }.record.status == 200)
            #expect(try await inner.exchange { $0.url.scheme == "https" }.record.clientVersion == .http2)
        }

        /// Asks for a URL that does not come through, and checks what the page and the record say.
        private func checkRefused(
            _ proxy: String,
            _ url: String,
            _ code: ExchangeFailure.Code = .upstreamProxy,
            says words: [String],
            isReached: Bool = true,
            profile: String? = nil
        ) async throws {
            let sluice = try await sluice(proxy, profile: profile)
            let page = try await sluice.curl(["-k", "-w", "%{http_code}", url])
            #expect(page.text.hasPrefix("Sluice: "), "\(page.text) \(page.errors)")
            let exchange = try await sluice.exchange { $0.failure != nil }
            let failure = try #require(exchange.record.failure)
            #expect(failure.code == code)
            #expect((exchange.upstream?.proxy != nil) == isReached)
            let shown = try await sluice.told("show", sluice.session, "\(exchange.record.id)")
            #expect(shown.contains("No connection came about.") != isReached, "\(shown)")
            #expect(shown.contains("through proxy") == isReached, "\(shown)")
            let told = "\(failure.message) \(failure.hint)"
            for word in words {
                #expect(told.contains(word), "\(told)")
                #expect(page.text.contains(word), "\(page.text)")
            }
            #expect(!told.contains("wr0ngword"))
        }

        @Test("Missing and wrong credentials are told with the place to set them", arguments: ["http", "https"])
        func unauthorized(scheme: String) async throws {
            let proxy = try await Tinyproxy(user: "me", password: "right")
            let url = "\(scheme)://localhost:\(try unusedPort())/"
            try await checkRefused(
                "http://127.0.0.1:\(proxy.port)",
                url,
                says: [
                    "wants a user and a password", "--upstream-proxy http://USER:PASSWORD@127.0.0.1:\(proxy.port)",
                    "password-file",
                ]
            )
            // To a request that it reads itself tinyproxy answers a wrong password with 401, which may be the server's own.
            guard scheme == "https" else { return }
            try await checkRefused(
                "http://me:wr0ngword@127.0.0.1:\(proxy.port)",
                url,
                says: ["does not take the user that is set with this password"]
            )
        }

        @Test("So are those of a SOCKS proxy")
        func unauthorizedSOCKS() async throws {
            let proxy = try await Microsocks(user: "me", password: "right")
            let url = "http://localhost:\(try unusedPort())/"
            try await checkRefused("socks5://127.0.0.1:\(proxy.port)", url, says: ["wants a user and a password"])
            try await checkRefused(
                "socks5://me:wr0ngword@127.0.0.1:\(proxy.port)",
                url,
                says: ["does not take the user that is set with this password"]
            )
        }

        @Test("A proxy's refusal is told in its words")
        func refused() async throws {
            let tiny = try await Tinyproxy(refused: "^blocked")
            try await checkRefused(
                "http://127.0.0.1:\(tiny.port)",
                "https://blocked.example/",
                says: ["refused to connect to blocked.example:443: 403"]
            )
            let socks = try await Microsocks()
            try await checkRefused(
                "socks5://127.0.0.1:\(socks.port)",
                "https://localhost:\(try unusedPort())/",
                says: ["did not connect to localhost:", "refused the connection (5)"]
            )
        }

        @Test("What is no proxy, or silent, or itself, is told as that")
        func noProxy() async throws {
            let closing = try Origin { origin, socket in _ = try origin.head(socket) }
            try await checkRefused(
                "http://127.0.0.1:\(closing.port)",
                "https://a.example/",
                says: ["closed the connection before it opened a way to a.example:443"]
            )
            let ssh = try Origin { _, socket in
                try socket.send("SSH-2.0-x\r\n")
                _ = try socket.receive()
            }
            try await checkRefused(
                "http://127.0.0.1:\(ssh.port)",
                "https://a.example/",
                says: ["did not answer as a proxy does", "socks5://127.0.0.1:\(ssh.port)"]
            )
            let web = try Origin { _, socket in
                _ = try socket.receive()
                try socket.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            }
            try await checkRefused(
                "socks5://127.0.0.1:\(web.port)",
                "https://a.example/",
                says: ["did not answer as a proxy does", "It answers in HTTP"]
            )
            try await checkRefused(
                "http://127.0.0.1:\(try unusedPort())",
                "http://a.example/",
                says: ["The upstream proxy http://127.0.0.1:", "refused the connection", "Is the proxy running"],
                isReached: false
            )
        }

        @Test(
            "A proxy that accepts and says nothing ends at --connect-timeout",
            arguments: ["http", "socks5", "https"]
        )
        func silent(kind: String) async throws {
            let silent = try Origin { _, socket in while try !socket.receive(patience: 120_000).isEmpty {} }
            let sluice = try await sluice("\(kind)://127.0.0.1:\(silent.port)", ["--connect-timeout", "0.3"])
            let page = try await sluice.curl(["-k", "-w", "%{http_code}", "https://a.example/"]).text
            #expect(page.contains("opened no way to a.example:443 within 0.3 seconds"), "\(page)")
            #expect(page.hasSuffix("504"))
        }

        @Test("A proxy whose name is not known is what fails, not the server's name")
        func unknown() async throws {
            let sluice = try await sluice("http://nowhere.invalid:3128")
            let page = try await sluice.curl(["-w", "%{http_code}", "http://a.example/"]).text
            #expect(
                page.contains("The upstream proxy http://nowhere.invalid:3128 was not found. The name nowhere.invalid"),
                "\(page)"
            )
            #expect(page.hasSuffix("502"))
            let record = try await sluice.exchange("it is recorded") { $0.failure != nil }.record
            #expect(record.failure?.code == .upstreamProxy)
        }

        @Test("A proxy that is Sluice itself is refused, by whatever name")
        func loop() async throws {
            let port = try unusedPort()
            let outcome = try await SluiceProcess.run(
                ["run", "--listen", "127.0.0.1:\(port)", "--upstream-proxy", "http://localhost:\(port)"],
                scratch: try Scratch()
            )
            #expect(outcome.status != 0)
            #expect(outcome.errors.contains("which is this Sluice itself"), "\(outcome.errors)")
            for name in ["127.0.0.1", "0.0.0.0", "0x7f000001"] {
                let scratch = try Scratch()
                let profile = try scratch.write("p.yaml", "version: 1\n")
                let sluice = try await SluiceProcess(["--profile", profile, "--insecure-upstream"], scratch: scratch)
                try scratch.write(
                    "p.yaml",
                    "version: 1\nupstream: { proxy: \"http://\(name):\(sluice.port)\", bypass-localhost: false }\n"
                )
                try await eventually("the profile is read again") { sluice.errors.contains("upstream changed") }
                for url in ["http://a.example/", "https://a.example/"] {
                    let page = try await sluice.curl(["-k", "-w", "%{http_code}", url]).text
                    #expect(page.contains("leads back to this proxy"), "\(name): \(page)")
                    #expect(page.hasSuffix("508"))
                }
            }
        }

        @Test("A profile's rules come first, by where a request goes; the proxy's password is in a file")
        func profile() async throws {
            let (near, far) = (try await Tinyproxy(user: "me", password: "s3cr3tword"), try await Tinyproxy())
            let nginx = try await Nginx()
            let scratch = try Scratch()
            try scratch.write("pass", "s3cr3tword\r\nmore\n")
            let sluice = try await SluiceProcess(
                ["--upstream-proxy", "http://127.0.0.1:\(far.port)", "--upstream-localhost"],
                profile: """
                    version: 1
                    map-remote: { from: "http://a.example/*", to: "http://localhost:\(nginx.plainPort)/" }
                    upstream:
                      - { name: straight, proxy: direct, only: "127.0.0.1" }
                      - name: near
                        only: "localhost/hello.txt"
                        proxy: "http://me@127.0.0.1:\(near.port)"
                        password-file: pass
                        bypass-localhost: false
                    """,
                scratch: scratch
            )
            for url in ["http://a.example/hello.txt", "http://127.0.0.1:\(nginx.plainPort)/hello.txt"] {
                #expect(try await sluice.get(url) == "Hello, Sluice.\n")
            }
            #expect(try await sluice.get("http://localhost:\(nginx.plainPort)/text.txt").hasPrefix("All work"))
            let mapped = try await sluice.exchange { $0.url.host == "a.example" }
            #expect(mapped.trace.contains("(upstream 'near')"), "\(mapped.trace)")
            #expect(mapped.upstream?.proxy == "http://127.0.0.1:\(near.port)")
            let straight = try await sluice.exchange { $0.url.host == "127.0.0.1" }
            #expect(straight.upstream?.proxy == nil)
            #expect(straight.trace.contains("asked directly (upstream 'straight')"), "\(straight.trace)")
            #expect(
                try await sluice.told("why", sluice.session, "\(straight.record.id)").contains("(upstream 'straight')")
            )
            let other = try await sluice.exchange { $0.url.path == "/text.txt" }
            #expect(other.upstream?.proxy == "http://127.0.0.1:\(far.port)")
            #expect(try await sluice.told("why", sluice.session, "\(mapped.record.id)").contains("(upstream 'near')"))
            // Without its file a profile is not put in force, and the rules stay.
            try FileManager.default.removeItem(atPath: scratch.path("pass"))
            let before = scratch.text("profile.yaml")
            try scratch.write("profile.yaml", before + "\nblock: { at: b.example }\n")
            try await eventually("the profile is refused") { sluice.errors.contains("the rules are unchanged") }
            #expect(sluice.errors.contains("profile.yaml:5:5: "), "\(sluice.errors)")
            #expect(try await sluice.get("http://a.example/hello.txt?2") == "Hello, Sluice.\n")
            _ = try await sluice.stop()
            try expectAbsent(["s3cr3tword", "bWU6czNjcjN0d29yZA"], in: sluice)
        }

        @Test("The environment is read as curl reads it")
        func environment() async throws {
            let proxy = try await Tinyproxy()
            let nginx = try await Nginx()
            let sluice = try await SluiceProcess(
                ["--upstream-proxy", "env", "--upstream-localhost", "--insecure-upstream"],
                environment: [
                    "HTTP_PROXY": "http://127.0.0.1:1", "https_proxy": "http://127.0.0.1:\(proxy.port)",
                    "no_proxy": "127.0.0.1",
                ]
            )
            #expect(try await sluice.get(nginx.url("http", "/hello.txt")) == "Hello, Sluice.\n")
            #expect(try await sluice.get(nginx.url("https", "/hello.txt")) == "Hello, Sluice.\n")
            #expect(try await sluice.get("https://127.0.0.1:\(nginx.securePort)/hello.txt") == "Hello, Sluice.\n")
            #expect(proxy.requests.count == 1, "\(proxy.requests)")
        }

        @Test("An HTTPS proxy is spoken to in TLS, and the server's TLS goes inside it")
        func secureProxy() async throws {
            let certificate = try await TestAuthority.shared.good
            let tiny = try await Tinyproxy()
            let relay = try await TLSRelay(to: tiny.port, certificate: certificate)
            let nginx = try await HTTP2Nginx()
            let sluice = try await sluice("https://localhost:\(relay.port)")
            #expect(try await sluice.get("https://localhost:\(nginx.secure)/hello.txt") == "Hello, Sluice.\n")
            #expect(try await sluice.get("http://localhost:\(nginx.plainHTTP1)/hello.txt") == "Hello, Sluice.\n")
            let secure = try await sluice.exchange { $0.url.scheme == "https" }
            #expect(secure.upstream?.tls?.applicationProtocol == "h2")
            #expect(secure.upstream?.proxy == "https://localhost:\(relay.port)")
            #expect(try await sluice.exchange { $0.url.scheme == "http" }.upstream?.tls == nil)
            let bad = try await TLSRelay(to: tiny.port, certificate: try await TestAuthority.shared.expired)
            try await checkRefused(
                "https://localhost:\(bad.port)",
                "https://localhost:\(nginx.secure)/",
                says: ["TLS with the upstream proxy https://localhost:\(bad.port) failed", "expired"]
            )
        }
    }
}
