import Foundation
import HTTPModel
import Recording
import Support
import Testing

extension EndToEnd {
    @Suite("A proxy that asks for a user and a password")
    struct ProxyAuthentication {
        private static let secret = "0penSesame"
        /// `ana:0penSesame` in base64.
        private static let value = Data("ana:\(secret)".utf8).base64EncodedString()

        /// A proxy whose one user is ana.
        private static func proxy(_ arguments: [String] = []) async throws -> SluiceProcess {
            let scratch = try Scratch()
            let password = try scratch.write("password", Array("\(secret)\n".utf8))
            let users = scratch.path("users")
            let added = try await SluiceProcess.run(
                ["proxy-auth", "add", "ana", "--file", users, "--password-file", password],
                scratch: scratch
            )
            #expect(added.status == 0, "\(added.errors)")
            let mode = try FileManager.default.attributesOfItem(atPath: users)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
            let text = latin1(scratch.bytes("users"))
            #expect(text.hasPrefix("ana:$scrypt$ln="))
            #expect(!text.contains(secret))
            return try await SluiceProcess(["--proxy-auth", users] + arguments, scratch: scratch)
        }

        @Test("Without the right password nothing passes, over HTTP, HTTPS and the proxy's own TLS; with it everything")
        func ways() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let sluice = try await Self.proxy(["--upstream-ca", try await TestAuthority.shared.root])
            let secureProxy = [
                "--proxy", "https://localhost:\(sluice.port)", "--proxy-cacert", sluice.authority,
            ]
            let status = ["-o", "/dev/null", "-w", "%{http_code} %{http_connect}"]
            let plain = "http://127.0.0.1:\(origin.port)/plain"
            let secure = "https://localhost:\(relay.port)/secure"
            for wrong in [[], ["--proxy-user", "ana:wrong"], ["--proxy-user", "bo:\(Self.secret)"]] {
                #expect(try await sluice.curl(status + wrong + [plain]).text == "407 000")
                #expect(try await sluice.curl(status + wrong + [secure]).text == "000 407")
            }
            #expect(origin.heads.isEmpty)
            let right = ["--proxy-user", "ana:\(Self.secret)"]
            for way in [[], secureProxy] {
                for url in [plain, secure, plain] {
                    let outcome = try await sluice.curl(right + way + [url])
                    #expect(outcome.text == "ok", "\(way) \(url): \(outcome.errors)")
                }
            }
            #expect(origin.heads.allSatisfy { !$0.lowercased().contains("proxy-authorization") })
            let end = try await sluice.stop()
            #expect(end.status == 0)
            let refused = try sluice.records().filter { $0.status == 407 }
            #expect(refused.count == 6)
            let why = try await SluiceProcess.run(
                ["why", sluice.session, "\(refused[0].id)"],
                scratch: sluice.scratch
            )
            #expect(why.text.contains("--proxy-auth"), "\(why.text)")
        }

        @Test("The value is in no session, not where the request is malformed either; own pages ask for none")
        func secrecy() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await Self.proxy()
            #expect(try await sluice.get("http://sluice.proxy/").contains("Sluice HTTP debugging proxy"))
            #expect(try await sluice.get("https://sluice.proxy/").contains("Sluice HTTP debugging proxy"))
            // What a client may write that gets the field wrong.
            let forms = [
                "Proxy-Authorization : Basic \(Self.value)", "Proxy-Authorization\t:\tBasic \(Self.value)",
                "pROXY-aUTHORIZATION:Basic \(Self.value)", "Proxy-Authorization Basic \(Self.value)",
                "Proxy-Authorization: Basic\r\n \(Self.value)", "Proxy-Authorization:\r\n\t\r\n\tBasic \(Self.value)",
                "Proxy-Authorization:\n Basic\n\t\(Self.value)\nX-Y: z",
                "A: b\nProxy-Authorization: Basic \(Self.value)",
                "A: b\rProxy-Authorization: Basic \(Self.value)", "Proxy-Authorization: Basic\r\(Self.value)",
                " Proxy-Authorization: Basic \(Self.value)", "\u{1}Proxy-Authorization: Basic \(Self.value)",
                "\u{ef}Proxy-Authorization: Basic \(Self.value)", "\"Proxy-Authorization\": \"Basic \(Self.value)\"",
                "Proxy-\r\n Authorization: Basic \(Self.value)", "Authorization: Basic \(Self.value)",
            ]
            let heads =
                [
                    "GET http://127.0.0.1:\(origin.port)/a HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic \(Self.value)\r\n\r\n",
                    "GET / HTTP/1.1\r\nproxy-AUTHORIZATION:Basic \(Self.value)\r\nHost: x\r\nBad Name: x\r\n\r\n",
                    "GET Proxy-Authorization: Basic \(Self.value) HTTP/1.1\r\n\r\n",
                    "CONNECT 127.0.0.1 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic \(Self.value)\r\n\r\n",
                ] + forms.map { "GET /form HTTP/1.1\r\nBad Name: x\r\n\($0)\r\nHost: after.example\r\n\r\n" }
            for head in heads {
                let socket = try sluice.connect()
                try socket.send(head)
                _ = try socket.read(until: "\r\n\r\n")
            }
            _ = try await sluice.stop()
            #expect(try sluice.records().count == heads.count)
            let bytes = latin1(sluice.scratch.bytes(sluice.session.split(separator: "/").last.map(String.init) ?? ""))
            for secret in [Self.secret, Self.value] { #expect(!bytes.contains(secret)) }
            #expect(bytes.components(separatedBy: "after.example").count > forms.count)
            let first = try sluice.records().map(\.id.number).min() ?? 0
            let shown = try await SluiceProcess.run(["show", sluice.session, "\(first)"], scratch: sluice.scratch)
            #expect(shown.text.contains(/Proxy-Authorization:? +\*{5}/), "\(shown.text)")
        }

        @Test("The value is in no session, whatever way the request takes, asked for or not", arguments: [false, true])
        func everyWay(asks: Bool) async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let options = [
                "--upstream-ca", try await TestAuthority.shared.root, "--mode", "regular", "--mode", "socks5@0",
                "--mode", "reverse:http://127.0.0.1:\(origin.port)@0",
            ]
            let sluice = asks ? try await Self.proxy(options) : try await SluiceProcess(options)
            let server = "127.0.0.1:\(origin.port)"
            let field = "Proxy-Authorization: Basic \(Self.value)"
            try await blocking {
                let socket = try sluice.connect()
                try socket.send("CONNECT \(server) HTTP/1.1\r\nHost: \(server)\r\n\(field)\r\n\r\n")
                #expect(try socket.readHead().hasPrefix("HTTP/1.1 200 "))
                try socket.send("GET /tunnel HTTP/1.1\r\nHost: \(server)\r\n\(field)\r\n\r\n")
                #expect(try socket.readHead().hasPrefix("HTTP/1.1 200 "))
            }
            let user = asks ? ["--proxy-user", "ana:\(Self.secret)"] : []
            for (version, path) in [("--http1.1", "http1"), ("--http2", "http2")] {
                let url = "https://localhost:\(relay.port)/\(path)"
                #expect(try await sluice.curl(user + [version, "--header", field, url]).text == "ok")
            }
            #expect(try await sluice.get("--header", field, "http://\(server)/absolute") == "ok")
            let name = asks ? "ana:\(Self.secret)@" : ""
            let socks = "socks5h://\(name)127.0.0.1:\(try sluice.port(of: "socks5"))"
            let through = ["--proxy", socks, "--header", field, "http://\(server)/socks"]
            #expect(try await sluice.curl(through).text == "ok")
            let front = "http://127.0.0.1:\(try sluice.port(of: "reverse:"))/reverse"
            #expect(try await sluice.plainCurl("--header", field, front).text == "ok")
            try await blocking {
                let socket = try sluice.connect()
                try socket.send("GET http://\(server)/malformed HTTP/1.1\r\nBad Name: x\r\n\(field)\r\n\r\n")
                #expect(try socket.readHead().hasPrefix("HTTP/1.1 400 "))
            }
            #expect(origin.heads.count == 6)
            #expect(origin.heads.allSatisfy { !$0.lowercased().contains("proxy-authorization") })
            _ = try await sluice.stop()
            let reader = try sluice.reader()
            let exchanges = try sluice.records().compactMap { try reader.exchange($0.id) }
            #expect(exchanges.count == 7)
            let asterisks = String(repeating: "*", count: "Basic \(Self.value)".utf8.count)
            for exchange in exchanges {
                let head = exchange.text(\.requestHead)
                let fields = head.lowercased().components(separatedBy: "proxy-authorization: ")
                #expect(fields.count == 2 && fields[1].hasPrefix(asterisks + "\r\n"), "\(exchange.record.url): \(head)")
            }
            #expect(sluice.scratch.bytes("session.sluice").firstRange(of: Array(Self.value.utf8)) == nil)
        }

        @Test("A trailer with the value is neither sent on nor recorded; others are", arguments: [false, true])
        func trailer(asks: Bool) async throws {
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                let body = try socket.read(until: "\r\n\r\n")
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
            }
            let sluice = asks ? try await Self.proxy() : try await SluiceProcess()
            let echoed = try await blocking {
                let socket = try sluice.connect()
                try socket.send(
                    "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n"
                        + "Proxy-Authorization: Basic \(Self.value)\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n"
                        + "X-Sum: 7\r\nProxy-Authorization: Basic \(Self.value)\r\n\r\n"
                )
                let head = try socket.readHead()
                return try head + socket.read(until: "\r\n\r\n")
            }
            #expect(echoed.contains("X-Sum: 7"), "\(echoed)")
            #expect(!echoed.contains(Self.value), "\(echoed)")
            _ = try await sluice.stop()
            let trailers = try await SluiceProcess.run(["show", sluice.session, "1"], scratch: sluice.scratch)
            #expect(trailers.text.contains("X-Sum"), "\(trailers.text)")
            #expect(sluice.scratch.bytes("session.sluice").firstRange(of: Array(Self.value.utf8)) == nil)
        }

        @Test("Clients of SOCKS and of a listener in place of a server are asked, too; one that cannot ask is refused")
        func modes() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let reverse = "reverse:http://127.0.0.1:\(origin.port)"
            let sluice = try await Self.proxy(["--mode", "regular", "--mode", "socks5@0", "--mode", "\(reverse)@0"])
            let socks = "127.0.0.1:\(try sluice.port(of: "socks5"))"
            let front = "http://127.0.0.1:\(try sluice.port(of: "reverse:"))/front"
            let url = "http://127.0.0.1:\(origin.port)/socks"
            for user in ["", "ana:wrong@", "bo:\(Self.secret)@"] {
                let refused = try await sluice.plainCurl("--proxy", "socks5://\(user)\(socks)", url)
                #expect(refused.status == 97, "\(refused.errors)")
            }
            for user in [[], ["--user", "ana:wrong"]] {
                let refused = try await Program.run(
                    "curl",
                    ["-sS", "--noproxy", "*", "-i", "--max-time", "60", front] + user
                )
                #expect(refused.text.hasPrefix("HTTP/1.1 401"), "\(refused.text)")
                #expect(refused.text.lowercased().contains("www-authenticate: basic"))
            }
            #expect(origin.heads.isEmpty)
            let right = "ana:\(Self.secret)"
            #expect(try await sluice.plainCurl("--proxy", "socks5h://\(right)@\(socks)", url).text == "ok")
            let plain = try await Program.run("curl", ["-sS", "--noproxy", "*", "--user", right, front])
            #expect(plain.text == "ok", "\(plain.errors)")
            #expect(origin.heads.allSatisfy { !$0.lowercased().contains("authorization") })
            _ = try await sluice.stop()
            for secret in [Self.secret, Self.value] {
                #expect(sluice.scratch.bytes("session.sluice").firstRange(of: Array(secret.utf8)) == nil)
            }
            for mode in ["transparent@0", "reverse:tcp://127.0.0.1:1@0"] {
                let outcome = try await SluiceProcess.run(
                    ["run", "--no-session", "--proxy-auth", sluice.scratch.path("users"), "--mode", mode],
                    scratch: sluice.scratch
                )
                #expect([1, 2].contains(outcome.status), "\(mode)")
                #expect(outcome.errors.contains("--proxy-auth"), "\(mode): \(outcome.errors)")
            }
        }

        @Test("After ten wrong passwords an address waits, and a client that is known does not")
        func attempts() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await Self.proxy()
            let url = "http://127.0.0.1:\(origin.port)/"
            let right = ["--proxy-user", "ana:\(Self.secret)"]
            #expect(try await sluice.curl(right + [url]).text == "ok")
            var statuses: [String] = []
            for number in 0..<12 {
                let wrong = ["--proxy-user", "ana:wrong\(number)", "-o", "/dev/null", "-w", "%{http_code}", url]
                statuses.append(try await sluice.curl(wrong).text)
            }
            #expect(statuses.prefix(10).allSatisfy { $0 == "407" }, "\(statuses)")
            #expect(statuses.last == "429", "\(statuses)")
            #expect(try await sluice.curl(right + [url]).text == "ok")
        }

        @Test("Sluice's own requests and the command that it runs pass")
        func own() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let scratch = try Scratch()
            let password = try scratch.write("password", Array("x\n".utf8))
            let users = scratch.path("users")
            let add = ["proxy-auth", "add", "ana", "--file", users, "--password-file", password]
            #expect(try await SluiceProcess.run(add, scratch: scratch).status == 0)
            let run = try await SluiceProcess.run(
                [
                    "run", "--proxy-auth", users, "--session", scratch.path("s.sluice"), "--", "curl", "-sS",
                    "http://127.0.0.1:\(origin.port)/child",
                ],
                scratch: scratch
            )
            #expect(run.text.contains("ok"), "\(run.errors)")
            let sluice = try await Self.proxy()
            let right = ["--proxy-user", "ana:\(Self.secret)"]
            #expect(try await sluice.curl(right + ["http://127.0.0.1:\(origin.port)/again"]).text == "ok")
            let repeated = try await sluice.command([
                "repeat", sluice.session, "path:/again", "--control", "\(sluice.program.identifier)",
            ])
            #expect(repeated.status == 0, "\(repeated.text) \(repeated.errors)")
            #expect(repeated.text.contains("200"))
        }

        @Test(
            "A file that cannot be used is named with its line",
            arguments: [
                ("ana:secret\n", "users:1: the text after ':' is not a hash"), ("# nobody\n", "there is no user"),
                ("a b:x\n", "users:1: a user's name cannot have"),
            ]
        )
        func badFile(text: String, message: String) async throws {
            let scratch = try Scratch()
            let users = try scratch.write("users", Array(text.utf8))
            let run = try await SluiceProcess.run(["run", "--proxy-auth", users, "--", "true"], scratch: scratch)
            #expect(run.status == 1)
            #expect(run.errors.contains(message), "\(run.errors)")
            let missing = try await SluiceProcess.run(
                ["run", "--proxy-auth", scratch.path("none"), "--", "true"],
                scratch: scratch
            )
            #expect(missing.status == 1)
            #expect(missing.errors.contains("none cannot be read"), "\(missing.errors)")
            let added = try await SluiceProcess.run(
                ["proxy-auth", "add", "a:b", "--file", scratch.path("new")],
                scratch: scratch
            )
            #expect(added.status == 2)
            let removed = try await SluiceProcess.run(
                ["proxy-auth", "remove", "bo", "--file", scratch.path("new")],
                scratch: scratch
            )
            #expect(removed.status == 1)
        }
    }
}
