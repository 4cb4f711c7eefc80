import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("HTTP versions of both legs")
    struct Versions {
        /// A version of HTTP on each leg.
        struct Pair: Sendable, CustomTestStringConvertible {
            var client: HTTPVersion
            var upstream: HTTPVersion
            var testDescription: String { "\(client) to \(upstream)" }

            static let all = [HTTPVersion.http11, .http2].flatMap { client in
                [HTTPVersion.http11, .http2].map { Pair(client: client, upstream: $0) }
            }
            /// The option with which curl speaks the client's version.
            var option: String { client == .http2 ? "--http2" : "--http1.1" }
        }

        @Test("All four combinations of versions carry the same exchange", arguments: Pair.all)
        func combinations(pair: Pair) async throws {
            let nginx = try await HTTP2Nginx()
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let port = pair.upstream == .http2 ? nginx.secure : nginx.secureHTTP1
            let base = "https://localhost:\(port)"
            let file = try nginx.makeFile("file", size: 300_000)

            let got = try await sluice.curl([pair.option, "-w", "%{stderr}%{http_version}", "\(base)/file"])
            #expect(got.output == file)
            #expect(got.errors == (pair.client == .http2 ? "2" : "1.1"))
            let put = try await sluice.get(
                pair.option,
                "-T",
                nginx.scratch.path("www/file"),
                "-w",
                "%{http_code}",
                "\(base)/dav/copy"
            )
            #expect(put == "201")
            #expect(nginx.uploaded("copy") == file)
            let head = try await sluice.get(pair.option, "-I", "\(base)/hello.txt")
            #expect(head.contains("ength: 15\r\n"), "\(head)")
            #expect(try await sluice.get(pair.option, "-w", "%{http_code}", "-o", "/dev/null", "\(base)/none") == "404")

            for (path, status) in [("/file", 200), ("/dav/copy", 201), ("/hello.txt", 200), ("/none", 404)] {
                let exchange = try await sluice.exchange(path: path)
                #expect(exchange.record.clientVersion == pair.client)
                #expect(exchange.record.upstreamVersion == pair.upstream)
                #expect(exchange.record.status == status)
                #expect(exchange.record.state == .complete)
                #expect(exchange.client?.tls?.applicationProtocol == (pair.client == .http2 ? "h2" : "http/1.1"))
                #expect(exchange.upstream?.tls?.applicationProtocol == (pair.upstream == .http2 ? "h2" : "http/1.1"))
                let request = exchange.text(\.requestHead)
                #expect(request.contains(" \(path) \(pair.client)\r\n"))
                #expect(request.lowercased().contains("\r\nhost: localhost:\(port)\r\n"), "\(request)")
                let response = exchange.text(\.responseHead)
                #expect(response.hasPrefix("\(pair.upstream) \(status)"), "\(response)")
            }
            let down = try await sluice.exchange(path: "/file")
            #expect(try sluice.bytes(down, .responseReceived) == file)
            let up = try await sluice.exchange(path: "/dav/copy")
            #expect(try sluice.bytes(up, .requestReceived) == file)
        }

        @Test(
            "--http2 says on which legs HTTP/2 is spoken",
            arguments: [
                ("off", Pair(client: .http11, upstream: .http11)), ("client", Pair(client: .http2, upstream: .http11)),
                ("upstream", Pair(client: .http11, upstream: .http2)), ("on", Pair(client: .http2, upstream: .http2)),
            ]
        )
        func option(value: String, expected: Pair) async throws {
            let nginx = try await HTTP2Nginx()
            let sluice = try await SluiceProcess([
                "--http2", value, "--upstream-ca", try await TestAuthority.shared.root,
            ])
            let url = "https://localhost:\(nginx.secure)/hello.txt"
            #expect(try await sluice.get("--http2", url) == "Hello, Sluice.\n")
            let record = try await sluice.exchange(path: "/hello.txt").record
            #expect(record.clientVersion == expected.client)
            #expect(record.upstreamVersion == expected.upstream)
        }

        @Test("HTTP/2 without TLS: by prior knowledge in a tunnel, and to the proxy itself")
        func priorKnowledge() async throws {
            let nginx = try await HTTP2Nginx()
            let sluice = try await SluiceProcess()
            let tunnelled = try await sluice.get(
                "--http2-prior-knowledge",
                "--proxytunnel",
                "http://localhost:\(nginx.plain)/hello.txt"
            )
            #expect(tunnelled == "Hello, Sluice.\n")
            let record = try await sluice.exchange(path: "/hello.txt").record
            #expect(record.clientVersion == .http2)
            #expect(record.url.description == "http://localhost:\(nginx.plain)/hello.txt")
            // What is said to the proxy itself is a proxy's request: for any server, in any version that it speaks.
            let straight = try await HTTP2Client.send(
                [.get("/hello.txt?straight"), .get("/none")],
                through: sluice,
                to: nginx.plainHTTP1,
                .straight
            )
            #expect(straight.answers.map(\.status) == ["200", "404"])
            #expect(straight.answers[0].body == "Hello, Sluice.\n")
            let second = try await sluice.exchange("the second") { $0.url.description.hasSuffix("?straight") }.record
            #expect(second.clientVersion == .http2)
            #expect(second.upstreamVersion == .http11)
        }

        @Test("An Upgrade to h2c is for one connection only, and is answered in HTTP/1.1")
        func upgradeOffer() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess()
            let version = try await sluice.get(
                "--http2",
                "-w",
                "%{http_version}",
                "http://localhost:\(origin.port)/up"
            )
            #expect(version == "ok1.1")
            let head = origin.heads.first?.lowercased() ?? ""
            #expect(!head.contains("upgrade") && !head.contains("http2-settings"), "\(head)")
        }

        @Test("CONNECT over HTTP/2 opens a tunnel for one stream, beside other streams")
        func connect() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", closes: true)
            let sluice = try await SluiceProcess()
            let inside = "GET /inside HTTP/1.1\r\nHost: localhost:\(origin.port)\r\nConnection: close\r\n\r\n"
            let session = try await HTTP2Client.send(
                [
                    .init(
                        fields: [[":method", "CONNECT"], [":authority", "localhost:\(origin.port)"]],
                        body: inside
                    ),
                    .get("/beside"),
                ],
                through: sluice,
                to: origin.port,
                .straight
            )
            #expect(session.answers[0].status == "200")
            #expect(session.answers[0].body.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(session.answers[0])")
            #expect(session.answers[0].body.hasSuffix("\r\n\r\nok"))
            #expect(session.answers[1].status == "200")
            #expect(try await sluice.exchange(path: "/inside").record.status == 200)
        }

        @Test("A request over HTTP/2 through the profile's tools: a header added, a host blocked")
        func tools() async throws {
            let nginx = try await HTTP2Nginx()
            let profile = """
                version: 1
                block: [ { at: "https://localhost:*/none", action: "403" } ]
                rewrite:
                  - name: mark
                    at: "https://localhost:*/*"
                    rules:
                      - { add: header, on: response, name: X-Sluice, to: "seen" }
                """
            let sluice = try await SluiceProcess(
                ["--upstream-ca", try await TestAuthority.shared.root],
                profile: profile
            )
            let session = try await HTTP2Client.send(
                [.get("/hello.txt"), .get("/none")],
                through: sluice,
                to: nginx.secure
            )
            #expect(session.answers.map(\.status) == ["200", "403"])
            #expect(session.answers[0].values("x-sluice") == ["seen"])
            let marked = try await sluice.exchange(path: "/hello.txt").record
            #expect(marked.flags.contains(.responseChanged))
            #expect(try await sluice.exchange(path: "/none").record.state == .blocked)
        }
    }
}
