import Foundation
import HTTPModel
import Support
import Testing

/// A real `openssl s_server` that wants a certificate of its clients and answers each request with a page.
final class VerifyingServer: Sendable {
    let port: Int
    private let program: Program

    /// Starts it with further options.
    init(_ options: [String]) async throws {
        let certificate = try await TestAuthority.shared.good
        let port = try unusedPort()
        self.port = port
        let program = try Program(
            "openssl",
            [
                "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificate.file, "-key", certificate.key, "-www",
                "-Verify", "2", "-verify_return_error", "-CAfile", try await TestAuthority.shared.root,
            ] + options
        )
        self.program = program
        try await eventually("s_server listens") {
            if let status = program.status {
                throw Program.ProgramError(description: "s_server ended with \(status): \(program.errors)")
            }
            return program.output.contains("ACCEPT")
        }
    }

    deinit { program.signal(SIGKILL) }
}

extension EndToEnd {
    @Suite("Client certificates")
    struct ClientCertificateStories {
        /// A proxy whose profile has these lines under `client-certificate`.
        private func sluice(_ entry: String, scratch: Scratch? = nil) async throws -> SluiceProcess {
            let profile = entry.isEmpty ? "version: 1\n" : "version: 1\nclient-certificate: \(entry)\n"
            return try await SluiceProcess(
                ["--upstream-ca", try await TestAuthority.shared.root],
                profile: profile,
                scratch: scratch
            )
        }

        /// A server with both protocols that wants a certificate, or takes one.
        private func nginx(_ verify: String) async throws -> (server: NginxServer, port: Int) {
            let (certificate, root) = (try await TestAuthority.shared.good, try await TestAuthority.shared.root)
            let port = try unusedPort()
            let server = try await NginxServer(folders: []) { _ in
                """
                    access_log off;
                    server {
                        listen 127.0.0.1:\(port) ssl http2;
                        ssl_certificate \(certificate.file);
                        ssl_certificate_key \(certificate.key);
                        ssl_client_certificate \(root);
                        ssl_verify_client \(verify);
                        location / { default_type text/plain; return 200 "$ssl_client_verify $ssl_client_s_dn\\n"; }
                    }
                """
            } isListening: {
                (try? Socket(port: port)) != nil
            }
            return (server, port)
        }

        @Test("nginx is shown the certificate of its host and port, and the exchange says so", arguments: bothVersions)
        func shown(version: String) async throws {
            let (server, port) = try await nginx("on")
            let client = try await TestAuthority.shared.client
            let sluice = try await sluice(
                """

                  - { host: localhost, port: 1, certificate: \(client.file), key: \(client.key) }
                  - { name: staff, host: "loc*", port: \(port), certificate: \(client.file), key: \(client.key) }
                """
            )
            _ = server
            for _ in 0..<2 {
                #expect(try await sluice.get(version, "https://localhost:\(port)/") == "SUCCESS CN=client\n")
            }
            let exchange = try await sluice.exchange()
            let asked = try #require(exchange.upstream?.tls?.clientCertificate)
            #expect(asked.name == "staff" && asked.sent?.subject == "CN=client")
            #expect(asked.authorities == ["CN=Sluice test root"])
            #expect(exchange.trace.contains("asked for a client certificate, and was sent 'staff': CN=client"))
            let shown = try await sluice.told("show", sluice.session, "\(exchange.record.id)")
            #expect(shown.contains("asked for, sent 'staff': CN=client"), "\(shown)")
            let json = try await sluice.told("export", sluice.session, "--format", "json")
            #expect(
                json.contains("\"clientCertificate\":{\"authorities\":[\"CN=Sluice test root\"],\"name\":\"staff\"")
            )
        }

        @Test("Without one nginx answers 400, and the trace says what is missing")
        func none() async throws {
            let (server, port) = try await nginx("on")
            _ = server
            let sluice = try await sluice("")
            let answer = try await sluice.answer("https://localhost:\(port)/")
            #expect(answer.status == 400)
            let exchange = try await sluice.exchange()
            #expect(exchange.upstream?.tls?.clientCertificate?.sent == nil)
            #expect(exchange.upstream?.tls?.clientCertificate?.authorities == ["CN=Sluice test root"])
            #expect(exchange.trace.contains("asked for a client certificate, and was sent none"), "\(exchange.trace)")
        }

        @Test("A server that does not ask gets none, and the exchange says nothing of it")
        func notAsked() async throws {
            let nginx = try await Nginx()
            let client = try await TestAuthority.shared.client
            let sluice = try await sluice("{ host: localhost, certificate: \(client.file), key: \(client.key) }")
            #expect(try await sluice.get(nginx.url("https", "/hello.txt")) == "Hello, Sluice.\n")
            let exchange = try await sluice.exchange()
            #expect(exchange.upstream?.tls != nil && exchange.upstream?.tls?.clientCertificate == nil)
            #expect(!exchange.trace.contains("client certificate"))
        }

        @Test("An archive with an old cipher is refused, and the command that is named converts it")
        func oldCipher() async throws {
            let client = try await TestAuthority.shared.client
            let scratch = try Scratch()
            try scratch.write("pass", "right\n")
            let options = ["-export", "-legacy", "-in", client.file, "-inkey", client.key, "-passout", "pass:right"]
            try await Program.require("openssl", ["pkcs12"] + options + ["-out", scratch.path("OLD.p12")])
            func entry(_ file: String) -> String { "version: 1\nclient-certificate: { host: a, \(file) }\n" }
            let old = try scratch.write("old.yaml", entry("file: OLD.p12, password-file: pass"))
            let refused = try await SluiceProcess.run(["profile", "check", old], scratch: scratch)
            #expect(refused.status == 1 && refused.errors.contains("uses an old cipher"), "\(refused)")
            let text = refused.errors
            let command = try #require(text.firstMatch(of: #/Convert it: (openssl .*), and name NEW.pem/#)).output.1
            let folder = scratch.path("")
            try await Program.require("sh", ["-c", "cd '\(folder)' && \(command) -passin file:pass"])
            let new = try scratch.write("new.yaml", entry("file: NEW.pem"))
            let taken = try await SluiceProcess.run(["profile", "check", new], scratch: scratch)
            #expect(taken.status == 0, "\(taken)")
        }

        @Test(
            "PKCS #12 and PEM with RSA and EC, in TLS 1.2 and 1.3",
            arguments: ["-tls1_2", "-tls1_3"],
            ["p12", "encrypted", "pem", "one"]
        )
        func forms(version: String, form: String) async throws {
            let server = try await VerifyingServer([version])
            let certificate =
                form == "p12" || form == "one"
                ? try await TestAuthority.shared.clientRSA : try await TestAuthority.shared.client
            let scratch = try Scratch()
            try scratch.write("pass", "pa ss\n")
            let entry: String
            switch form {
            case "p12":
                try await Program.require(
                    "openssl",
                    [
                        "pkcs12", "-export", "-in", certificate.file, "-inkey", certificate.key, "-out",
                        scratch.path("c.p12"), "-passout", "pass:pa ss",
                    ]
                )
                entry = "file: c.p12, password-file: pass"
            case "encrypted":
                try await Program.require(
                    "openssl",
                    [
                        "pkey", "-in", certificate.key, "-aes256", "-passout", "pass:pa ss", "-out",
                        scratch.path("c.key"),
                    ]
                )
                entry = "certificate: \(certificate.file), key: c.key, password-file: pass"
            case "one":
                let both =
                    try String(contentsOfFile: certificate.key, encoding: .utf8)
                    + String(contentsOfFile: certificate.file, encoding: .utf8)
                try scratch.write("both.pem", both)
                entry = "file: both.pem"
            default: entry = "certificate: \(certificate.file), key: \(certificate.key)"
            }
            let sluice = try await sluice("{ name: me, host: localhost, \(entry) }", scratch: scratch)
            let page = try await sluice.get("https://localhost:\(server.port)/")
            #expect(page.replacing(" ", with: "").contains("Subject:CN=client"), "\(page)")
            let tls = try #require(try await sluice.exchange().upstream?.tls)
            #expect(tls.protocolVersion == (version == "-tls1_2" ? "TLSv1.2" : "TLSv1.3"))
            #expect(tls.clientCertificate?.sent?.subject.hasPrefix("CN=client") == true)
            _ = try await sluice.stop()
            #expect(sluice.scratch.bytes("session.sluice").firstRange(of: Array("pa ss".utf8)) == nil)
        }

        @Test(
            "Where TLS resumes a session, the exchange says by which certificate the server knows the client",
            arguments: ["-tls1_2", "-tls1_3"]
        )
        func resumed(version: String) async throws {
            // Each page ends the connection, so that each request needs a handshake.
            let server = try await VerifyingServer([version])
            let client = try await TestAuthority.shared.client
            let sluice = try await sluice(
                "{ name: me, host: localhost, certificate: \(client.file), key: \(client.key) }"
            )
            let base = "https://localhost:\(server.port)"
            // Over HTTP/2 both requests come by one connection, so that one event loop has them.
            let pages = try await sluice.get("--http2", base + "/1", base + "/2")
            #expect(pages.components(separatedBy: "Reused").count > 1, "\(pages)")
            let first = try await sluice.exchange(path: "/1").upstream?.tls
            #expect(first?.resumed == false && first?.clientCertificate?.isResumed == false)
            let exchange = try await sluice.exchange(path: "/2")
            let tls = try #require(exchange.upstream?.tls)
            #expect(tls.resumed && tls.clientCertificate?.isResumed == true)
            #expect(tls.clientCertificate?.name == "me")
            #expect(tls.clientCertificate?.sent == first?.clientCertificate?.sent)
            let shown = try await sluice.told("show", sluice.session, "\(exchange.record.id)")
            #expect(shown.contains("known from the resumed session: 'me': CN=client"), "\(shown)")
            let why = try await sluice.command(["why", sluice.session, "\(exchange.record.id)"])
            #expect(why.text.contains("resumed; the server knows the client by 'me': CN=client"), "\(why.text)")
        }

        @Test(
            "A refusal is told with what to do, also where it comes after the handshake",
            arguments: ["-tls1_2", "-tls1_3"]
        )
        func refused(version: String) async throws {
            let server = try await VerifyingServer([version])
            let without = try await sluice("")
            let page = try await without.answer("https://localhost:\(server.port)/")
            #expect(page.status == 502)
            let words = ["asked for a client certificate, got none", "client-certificate: { host: \"localhost\""]
            for word in words { #expect(page.text.contains(word), "\(page.text)") }
            #expect(try await without.exchange().record.failure?.code == .tls)
            let stranger = try await TestAuthority.shared.stranger
            let wrong = try await sluice(
                "{ name: wrong, host: localhost, certificate: \(stranger.file), key: \(stranger.key) }"
            )
            let answer = try await wrong.answer("https://localhost:\(server.port)/")
            #expect(answer.status == 502)
            #expect(answer.text.contains("was shown the client certificate 'wrong'"), "\(answer.text)")
            #expect(answer.text.contains("does not trust its issuer"), "\(answer.text)")
        }

        @Test("A file that cannot be used is told at the start, with its place in the profile")
        func unusable() async throws {
            let (client, rsa) = (try await TestAuthority.shared.client, try await TestAuthority.shared.clientRSA)
            let scratch = try Scratch()
            try scratch.write("pass", "wrong\n")
            try scratch.write("noise", "noise\n")
            try await Program.require(
                "openssl",
                [
                    "pkcs12", "-export", "-in", client.file, "-inkey", client.key, "-out", scratch.path("c.p12"),
                    "-passout",
                    "pass:right",
                ]
            )
            try await Program.require(
                "openssl",
                [
                    "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                    scratch.path("old.key"), "-out", scratch.path("old.csr"), "-subj", "/CN=old",
                ]
            )
            try await Program.require(
                "openssl",
                [
                    "x509", "-req", "-in", scratch.path("old.csr"), "-signkey", scratch.path("old.key"), "-days", "-1",
                    "-out", scratch.path("old.pem"),
                ]
            )
            try scratch.write("index", "")
            try scratch.write("serial", "01\n")
            let configuration = try scratch.write(
                "ca.cnf",
                """
                [ca]
                default_ca = own
                [own]
                database = \(scratch.path("index"))
                serial = \(scratch.path("serial"))
                new_certs_dir = \(scratch.path)
                default_md = sha256
                policy = any
                [any]
                commonName = supplied

                """
            )
            try await Program.require(
                "openssl",
                [
                    "ca", "-batch", "-selfsign", "-notext", "-config", configuration, "-in", scratch.path("old.csr"),
                    "-keyfile", scratch.path("old.key"), "-startdate", "20990101000000Z", "-enddate", "21000101000000Z",
                    "-out", scratch.path("new.pem"),
                ]
            )
            let cases = [
                ("certificate: new.pem, key: old.key", "is valid only from 2099-01-01"),
                ("file: c.p12, password-file: pass", "the password is wrong"),
                ("file: c.p12", "needs a password. Put it into the first line of a file"),
                ("certificate: \(client.file), key: \(rsa.key)", "does not belong to the certificate"),
                ("file: \(client.file)", "holds no private key"),
                ("file: noise", "is neither PEM nor PKCS #12"),
                ("file: missing.p12", "no such file"),
                ("file: c.p12, password-file: missing", "cannot be read"),
                ("certificate: old.pem, key: old.key", "expired on"),
            ]
            for (entry, words) in cases {
                let file = try scratch.write("p.yaml", "version: 1\nclient-certificate:\n  - { host: a, \(entry) }\n")
                let outcome = try await SluiceProcess.run(
                    ["run", "--listen", "127.0.0.1:0", "--no-session", "--profile", file],
                    scratch: scratch
                )
                #expect(outcome.status == 1, "\(entry)")
                #expect(outcome.errors.hasPrefix("\(file):3:5: "), "\(entry): \(outcome.errors)")
                #expect(outcome.errors.contains(words), "\(entry): \(outcome.errors)")
            }
        }

        @Test("On a terminal a password is asked for at the start, and not shown", arguments: ["right one", "wrong"])
        func typed(password: String) async throws {
            let client = try await TestAuthority.shared.client
            let scratch = try Scratch()
            try await Program.require(
                "openssl",
                [
                    "pkcs12", "-export", "-in", client.file, "-inkey", client.key, "-out", scratch.path("c.p12"),
                    "-passout", "pass:right one",
                ]
            )
            let file = try scratch.write("p.yaml", "version: 1\nclient-certificate: { host: a, file: c.p12 }\n")
            let outcome = try await Program.run(
                "python3",
                [
                    script("typed_password.py"), password, try SluiceProcess.executable(), "run", "--listen",
                    "127.0.0.1:0", "--no-session", "--profile", file,
                ],
                environment: SluiceProcess.environment(scratch),
                within: 90
            )
            #expect(outcome.text.contains("Password of \(scratch.path("c.p12")): "), "\(outcome.text)")
            if password == "wrong" {
                #expect(outcome.status == 1)
                #expect(outcome.text.contains("p.yaml:2:21: ") && outcome.text.contains("none of the 3 passwords"))
                #expect(outcome.text.ranges(of: "Password of ").count == 3)
            } else {
                #expect(outcome.status == 0, "\(outcome.text)")
                #expect(!outcome.text.contains("right one"))
            }
        }

        @Test("Another certificate for a server takes a new connection, not one that was made with the old one")
        func reloaded() async throws {
            let (server, port) = try await nginx("optional")
            _ = server
            let (client, rsa) = (try await TestAuthority.shared.client, try await TestAuthority.shared.clientRSA)
            let sluice = try await sluice("{ host: localhost, certificate: \(client.file), key: \(client.key) }")
            #expect(try await sluice.get("https://localhost:\(port)/") == "SUCCESS CN=client\n")
            for (entry, answer) in [
                (
                    "\nclient-certificate: { host: localhost, certificate: \(rsa.file), key: \(rsa.key) }",
                    "SUCCESS CN=client-rsa\n"
                ),
                ("", "NONE \n"),
            ] {
                let count = sluice.errors.ranges(of: "profile read again").count
                try sluice.scratch.write("profile.yaml", "version: 1\(entry)\n")
                try await eventually("the profile is read again") {
                    sluice.errors.ranges(of: "profile read again").count > count
                }
                #expect(try await sluice.get("https://localhost:\(port)/") == answer)
            }
        }

        @Test("It is shown through an upstream proxy, too")
        func proxied() async throws {
            let (server, port) = try await nginx("on")
            _ = server
            let proxy = try await Microsocks()
            let client = try await TestAuthority.shared.client
            let sluice = try await SluiceProcess(
                ["--upstream-ca", try await TestAuthority.shared.root],
                profile: """
                    version: 1
                    client-certificate: { host: localhost, certificate: \(client.file), key: \(client.key) }
                    upstream: { proxy: "socks5://127.0.0.1:\(proxy.port)", bypass-localhost: false }
                    """
            )
            #expect(try await sluice.get("https://localhost:\(port)/") == "SUCCESS CN=client\n")
        }
    }
}
