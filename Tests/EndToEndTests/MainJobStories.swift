import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("The main job: curl through Sluice to nginx")
    struct MainJob {
        private func start() async throws -> (nginx: Nginx, sluice: SluiceProcess) {
            let nginx = try await Nginx()
            return (nginx, try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root]))
        }

        @Test("A GET arrives, and is recorded with what the client and the server said", arguments: ["http", "https"])
        func get(scheme: String) async throws {
            let (nginx, sluice) = try await start()
            #expect(try await sluice.get(nginx.url(scheme, "/hello.txt?a=1")) == "Hello, Sluice.\n")
            let exchange = try await sluice.exchange(path: "/hello.txt")
            #expect(exchange.record.url.description == nginx.url(scheme, "/hello.txt?a=1"))
            #expect(exchange.record.status == 200)
            #expect(exchange.record.state == .complete)
            #expect(exchange.record.mediaType == "text/plain")
            #expect(exchange.record.timings.connect != nil)
            #expect((exchange.record.timings.tls != nil) == (scheme == "https"))
            #expect(exchange.record.timings.total != nil)
            #expect(try sluice.body(exchange, .responseReceived) == "Hello, Sluice.\n")
            #expect(exchange.client?.peerAddress.hasPrefix("127.0.0.1:") == true)
            #expect(
                exchange.upstream?.peerAddress
                    == "127.0.0.1:\(scheme == "https" ? nginx.securePort : nginx.plainPort)"
            )
            #expect((exchange.client?.tls?.serverName == "localhost") == (scheme == "https"))
            #expect(exchange.upstream?.tls?.verificationFailure == nil)
        }

        @Test(
            "An upload of 10 MB arrives whole, with and without a length",
            arguments: ["http", "https"],
            [true, false]
        )
        func upload(scheme: String, isChunked: Bool) async throws {
            let (nginx, sluice) = try await start()
            let bytes = noise(10_000_000)
            let file = try sluice.scratch.write("upload", bytes)
            let framing = isChunked ? ["-H", "Transfer-Encoding: chunked"] : []
            let outcome = try await sluice.curl(
                ["-T", file, "-w", "%{http_code}"] + framing + [nginx.url(scheme, "/dav/upload")]
            )
            #expect(outcome.text == "201")
            #expect(nginx.uploaded("upload") == bytes)
            let exchange = try await sluice.exchange(path: "/dav/upload")
            #expect(exchange.record.sizes.requestBody == 10_000_000)
            #expect(try sluice.bytes(exchange, .requestReceived) == bytes)
        }

        @Test("A compressed answer stays compressed for the client and in the session", arguments: ["http", "https"])
        func gzip(scheme: String) async throws {
            let (nginx, sluice) = try await start()
            let plain = latin1(nginx.scratch.bytes("www/text.txt"))
            #expect(try await sluice.get("--compressed", nginx.url(scheme, "/text.txt")) == plain)
            let exchange = try await sluice.exchange(path: "/text.txt")
            #expect(exchange.record.sizes.responseBody < 10_000)
            let shown = try await SluiceProcess.run(
                ["show", sluice.session, "\(exchange.record.id)", "--body", "response"],
                scratch: sluice.scratch
            )
            #expect(latin1(shown.output) == plain)
            let raw = try await SluiceProcess.run(
                ["show", sluice.session, "\(exchange.record.id)", "--body", "response", "--raw"],
                scratch: sluice.scratch
            )
            #expect(raw.output.prefix(2) == [0x1F, 0x8B])
        }

        @Test("Ranges, redirects, HEAD and errors pass as they are", arguments: ["http", "https"])
        func variety(scheme: String) async throws {
            let (nginx, sluice) = try await start()
            #expect(try await sluice.get("-r", "7-12", nginx.url(scheme, "/hello.txt")) == "Sluice")
            #expect(try await sluice.exchange("a part") { $0.status == 206 }.record.sizes.responseBody == 6)
            #expect(try await sluice.get("-L", nginx.url(scheme, "/moved")) == "Hello, Sluice.\n")
            #expect(try await sluice.exchange(path: "/moved").record.status == 302)
            let head = try await sluice.get("-I", nginx.url(scheme, "/hello.txt"))
            #expect(head.lowercased().contains("content-length: 15\r\n"))
            let recorded = try await sluice.exchange("a HEAD") { $0.method == "HEAD" }
            #expect(recorded.record.sizes.responseBody == 0)
            #expect(recorded.record.state == .complete)
            #expect(try await sluice.get(nginx.url(scheme, "/broken")) == "broken\n")
            #expect(try await sluice.exchange(path: "/broken").record.status == 500)
            #expect(try await sluice.exchange(path: "/broken").record.failure == nil)
        }

        @Test("50 transfers at once all arrive and are all recorded", arguments: ["http", "https"])
        func parallel(scheme: String) async throws {
            let (nginx, sluice) = try await start()
            let bytes = try nginx.makeFile("parallel", size: 100_000)
            var arguments = ["--parallel", "--parallel-immediate", "--parallel-max", "50"]
            for number in 1...50 {
                arguments += ["-o", sluice.scratch.path("got\(number)"), nginx.url(scheme, "/parallel?\(number)")]
            }
            let outcome = try await sluice.curl(arguments)
            #expect(outcome.status == 0, "\(outcome.errors)")
            for number in 1...50 { #expect(sluice.scratch.bytes("got\(number)") == bytes, "\(number)") }
            try await eventually("50 exchanges are recorded") {
                try sluice.records().filter { $0.state == .complete }.count == 50
            }
            #expect(Set(try sluice.records().map(\.url.query)).count == 50)
        }

        @Test("What was recorded can be listed, and exported as HAR, JSON and curl commands that run")
        func exports() async throws {
            let (nginx, sluice) = try await start()
            for scheme in ["http", "https"] { _ = try await sluice.get(nginx.url(scheme, "/hello.txt")) }
            #expect(try await sluice.stop().status == 0)
            func read(_ arguments: String...) async throws -> Program.Outcome {
                let outcome = try await SluiceProcess.run(arguments, scratch: sluice.scratch)
                #expect(outcome.status == 0, "\(outcome.errors)")
                return outcome
            }
            let lines = try await read("list", sluice.session, "--json").text.split(separator: "\n")
            #expect(lines.count == 2)
            for line in lines { #expect(try object(String(line))["status"] as? Int == 200) }
            #expect(try await read("list", sluice.session, "status:5xx", "--json").text.isEmpty)
            let har = try object(try await read("export", sluice.session, "--format", "har").text)
            let entries = ((har["log"] as? [String: Any])?["entries"] as? [[String: Any]]) ?? []
            #expect(entries.count == 2)
            #expect((entries.first?["response"] as? [String: Any])?["status"] as? Int == 200)
            let json = try await read("export", sluice.session, "--format", "json").output
            #expect((try JSONSerialization.jsonObject(with: Data(json)) as? [Any])?.count == 2)
            let curl = try await read("export", sluice.session, "path:/hello.txt", "--format", "curl").text
            let again = try await Program.run(
                "bash",
                [try sluice.scratch.write("again.sh", curl)],
                environment: ["CURL_CA_BUNDLE": try await TestAuthority.shared.root]
            )
            let answers = again.text.split(separator: "\n")
            #expect(again.status == 0 && answers.count == 2, "\(curl)\n\(again.errors)")
            #expect(answers.allSatisfy { $0.contains(" GET 200 http") && $0.hasSuffix("/hello.txt") }, "\(again.text)")
        }
    }
}

/// Reads a JSON object.
func object(_ text: String) throws -> [String: Any] {
    let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
    guard let object = value as? [String: Any] else {
        throw Program.ProgramError(description: "no JSON object: \(text)")
    }
    return object
}
