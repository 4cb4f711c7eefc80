import Foundation
import HTTPModel
import Recording
import Support
import Testing

extension EndToEnd {
    @Suite("Other clients than curl")
    struct Clients {
        /// Runs a script that fetches a URL through the proxy, and posts to it.
        private func run(
            _ program: String,
            _ name: String,
            environment: (SluiceProcess) -> [String: String]
        ) async throws {
            let origin = try Origin { origin, socket in
                while true {
                    let head = try origin.head(socket)
                    var body = "got"
                    let lower = head.lowercased()
                    if lower.contains("content-length: 5\r\n") {
                        body = latin1(try socket.read(count: 5))
                    } else if lower.contains("transfer-encoding: chunked") {
                        body = latin1(try socket.readChunked().body)
                    }
                    try socket.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                }
            }
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            for url in ["http://localhost:\(origin.port)", "https://localhost:\(relay.port)"] {
                let outcome = try await Program.run(
                    program,
                    [script(name), "\(sluice.port)", url],
                    environment: environment(sluice)
                )
                #expect(outcome.text == "got hello", "\(url): \(outcome.errors)")
                let scheme = url.prefix { $0 != ":" }
                for method in ["GET", "POST"] {
                    let exchange = try await sluice.exchange("\(method) \(url)") {
                        $0.url.scheme == scheme && $0.method == method && $0.url.path == "/from"
                    }
                    #expect(exchange.record.status == 200)
                    #expect(exchange.record.state == .complete)
                }
            }
            #expect(origin.errors.filter { !$0.contains("the peer ended after \"\"") }.isEmpty, "\(origin.errors)")
        }

        @Test("Python's urllib and http.client")
        func python() async throws {
            try await run("python3", "client.py") { ["SSL_CERT_FILE": $0.authority] }
        }

        @Test("Node's http and https")
        func node() async throws {
            try await run("node", "client.js") { ["NODE_EXTRA_CA_CERTS": $0.authority] }
        }

        @Test("OpenSSL's s_client")
        func openssl() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let request = Array("GET /s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
            for version in ["-tls1_2", "-tls1_3"] {
                let outcome = try await Program.run(
                    "openssl",
                    [
                        "s_client", version, "-ign_eof", "-verify_return_error", "-proxy", "127.0.0.1:\(sluice.port)",
                        "-connect",
                        "localhost:\(relay.port)", "-servername", "localhost", "-CAfile", sluice.authority,
                    ],
                    input: request
                )
                #expect(outcome.text.contains("Verify return code: 0 (ok)"), "\(outcome.errors)")
                #expect(outcome.text.contains("\r\n\r\nok"))
                #expect(outcome.status == 0)
            }
            var versions: [String] = []
            try await eventually("both connections are recorded") {
                versions = try sluice.reader().connections(limit: 100).filter { $0.leg == .client }.compactMap(
                    \.tls?.protocolVersion
                )
                return versions.count >= 2
            }
            #expect(versions == ["TLSv1.2", "TLSv1.3"])
        }
    }
}
