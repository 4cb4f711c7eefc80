import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("Real clients over HTTP/2")
    struct HTTP2Clients {
        private func proxy() async throws -> SluiceProcess {
            try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
        }

        @Test("nghttp: many downloads at once, and an upload")
        func nghttp() async throws {
            let nginx = try await HTTP2Nginx()
            let sluice = try await proxy()
            let tunnel = try TunnelPort(through: sluice, to: nginx.secure)
            let file = try nginx.makeFile("file", size: 200_000)
            let base = ["--no-verify-peer", "--header=:authority: localhost:\(nginx.secure)"]
            let one = try await Program.run("nghttp", base + ["https://localhost:\(tunnel.port)/file"])
            #expect(one.output == file, "\(one.errors)")
            let many = try await Program.run(
                "nghttp",
                base + ["-ns", "--multiply=100", "https://localhost:\(tunnel.port)/file"]
            )
            #expect(many.text.components(separatedBy: " 200 ").count == 101, "\(many.text)")
            let upload = try await Program.run(
                "nghttp",
                base + [
                    "-v", "--header=:method: PUT", "--data=\(nginx.scratch.path("www/file"))",
                    "https://localhost:\(tunnel.port)/dav/up",
                ]
            )
            #expect(upload.text.contains(":status: 201"), "\(upload.text)")
            #expect(nginx.uploaded("up") == file)
            try await eventually("all are recorded") {
                try sluice.records().filter { $0.url.path == "/file" && $0.state == .complete }.count == 101
            }
            let record = try await sluice.exchange(path: "/dav/up").record
            #expect(record.clientVersion == .http2)
            #expect(record.upstreamVersion == .http2)
            #expect(record.sizes.requestBody == 200_000)
        }

        @Test("h2load: thousands of requests over four connections of sixteen streams", arguments: [true, false])
        func h2load(toHTTP2: Bool) async throws {
            let nginx = try await HTTP2Nginx()
            let sluice = try await proxy()
            let port = toHTTP2 ? nginx.secure : nginx.secureHTTP1
            let tunnel = try TunnelPort(through: sluice, to: port)
            let outcome = try await Program.run(
                "h2load",
                [
                    "-n", "2000", "-c", "4", "-m", "16", "--connect-to=127.0.0.1:\(tunnel.port)",
                    "https://localhost:\(port)/hello.txt",
                ],
                within: 120
            )
            #expect(outcome.text.contains("2000 succeeded, 0 failed, 0 errored, 0 timeout"), "\(outcome.text)")
            #expect(outcome.text.contains("status codes: 2000 2xx"), "\(outcome.text)")
            try await eventually("all are recorded") {
                try sluice.records().filter { $0.state == .complete && $0.clientVersion == .http2 }.count == 2_000
            }
            #expect(try sluice.records().allSatisfy { $0.upstreamVersion == (toHTTP2 ? .http2 : .http11) })
        }

        /// What `httpx_client.py` found.
        private struct Fetched: Decodable {
            let hello: [String]
            let parallel: Int
            let upload: Bool
            let download: Bool
            let events: Int
            let after: String
        }

        @Test("Python's httpx: requests at once, uploads and downloads in pieces, one given up")
        func httpx() async throws {
            let server = try await PeerServer("h2_server.py")
            let sluice = try await proxy()
            let result: Fetched = try await Peers.run("httpx_client.py", HTTP2Client.arguments(sluice, server.port))
            #expect(result.hello == ["HTTP/2", "hello"])
            #expect(result.parallel == 64)
            #expect(result.upload)
            #expect(result.download)
            #expect(result.events == 10)
            #expect(result.after == "hello")
            let upload = try await sluice.exchange("the upload") { $0.sizes.requestBody == 1 << 20 }.record
            #expect(upload.state == .complete)
            #expect(upload.sizes.responseBody == 1 << 20)
            let givenUp = try await sluice.exchange(path: "/bytes/30000000").record
            #expect(givenUp.failure?.code == .clientGone)
        }

        /// What `http2_client.js` found.
        private struct Node: Decodable {
            struct Answer: Decodable {
                let text: String
                let status: Int?
                let code: Int
                let interim: Int?
                let trailers: String?
            }
            struct HTTP2: Decodable {
                let hello, echo, trailers, early, reset: Answer
                let parallel: Int
                let ping: Bool
            }
            struct Fetch: Decodable {
                let `protocol`, text, echoed: String
            }
            let http2: HTTP2
            let fetch: Fetch
        }

        @Test("Node's http2 and fetch")
        func node() async throws {
            let server = try await PeerServer("h2_server.py")
            let sluice = try await proxy()
            let outcome = try await Program.run(
                "node",
                [script("http2_client.js"), "localhost:\(server.port)", "\(sluice.port)"],
                environment: ["NODE_EXTRA_CA_CERTS": sluice.authority]
            )
            guard outcome.status == 0 else { throw Program.ProgramError(description: outcome.errors) }
            let result = try JSONDecoder().decode(Node.self, from: Data(outcome.output))
            #expect(result.http2.hello.text == "hello")
            #expect(result.http2.echo.text == "from node")
            #expect(result.http2.trailers.trailers == "42")
            #expect(result.http2.early.interim == 103)
            #expect(result.http2.early.text == "later")
            #expect(result.http2.reset.code == 8)
            #expect(result.http2.parallel == 50)
            #expect(result.http2.ping)
            #expect(result.fetch.text == "hello")
            #expect(result.fetch.echoed == "fetched")
            // Older versions of Node fetch over HTTP/1.1 only; the script says which it was.
            let fetched = try await sluice.exchange("what was fetched") {
                $0.url.path == "/echo" && $0.sizes.requestBody == 7
            }
            #expect(fetched.record.clientVersion == (result.fetch.protocol == "h2" ? .http2 : .http11))
        }
    }
}
