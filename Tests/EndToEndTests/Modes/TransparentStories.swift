import Foundation
import HTTPModel
import Recording
import Support
import Testing

#if os(Linux)
extension EndToEnd {
    @Suite("Connections that the kernel redirects")
    struct Transparent {
        private struct Answer: Decodable {
            var status: String?
            var body: String
            var errors: String
        }

        @Test(
            "A gateway's clients and this machine's programs are taken in, IPv4 and IPv6; loops and strangers are refused",
            .enabled(if: Namespaces.problem == nil, "\(Namespaces.problem ?? "")")
        )
        func redirected() async throws {
            let certificate = try await TestAuthority.shared.good
            let scratch = try Scratch()
            let outcome = try await Program.run(
                "python3",
                [
                    script("transparent.py"), try SluiceProcess.executable(), certificate.file, certificate.key,
                    try await TestAuthority.shared.root, scratch.path,
                ],
                within: 300
            )
            guard outcome.status == 0 else { throw Program.ProgramError(description: outcome.errors) }
            let results = try object(outcome.text)
            func answer(_ name: String) throws -> Answer {
                let part = try JSONSerialization.data(withJSONObject: results[name] ?? [:])
                return try JSONDecoder().decode(Answer.self, from: part)
            }
            func check(_ name: String, _ path: String, host: String = "api.sluice.test", isTLS: Bool = false) throws {
                let answer = try answer(name)
                #expect(answer.status == "200", "\(name): \(answer)")
                let body = try object(answer.body.isEmpty ? "{}" : answer.body)
                #expect(body["host"] as? String == host && body["path"] as? String == path, "\(name)")
                #expect(body["tls"] as? Bool == isTLS, "\(name)")
            }
            try check("gateway http", "/a")
            try check("gateway https", "/b", isTLS: true)
            try check("gateway http 6", "/c")
            try check("gateway https 6", "/d", isTLS: true)
            try check("by address", "/e", host: "10.77.0.2")
            try check("own http", "/f")
            try check("own https", "/g", isTLS: true)
            try check("own http 6", "/h")
            try check("own user", "/not-redirected")
            let direct = try answer("direct")
            #expect(direct.status == "400" && direct.body.contains("sluice transparent --print"), "\(direct)")
            #expect(try answer("own page").body.hasPrefix("-----BEGIN CERTIFICATE-----"))
            let greeting = try answer("greeting")
            #expect(greeting.body.contains("220 hello"), "\(greeting)")
            #expect((results["left"] as? String)?.contains("sluice") == false)

            let session = try SessionReader(path: scratch.path("main.sluice"))
            let records = try session.records(limit: 100)
            #expect(records.allSatisfy { $0.extras.listeningMode == "transparent" })
            let urls = records.filter { $0.kind == .http }.map(\.url.description)
            #expect(
                urls == [
                    "http://api.sluice.test/a", "https://api.sluice.test/b", "http://api.sluice.test/c",
                    "https://api.sluice.test/d", "http://10.77.0.2/e", "http://api.sluice.test/f",
                    "https://api.sluice.test/g", "http://api.sluice.test/h",
                ]
            )
            let servers = records.filter { $0.kind == .http }.map { $0.serverAddress ?? "" }
            #expect(
                servers == [
                    "10.77.0.2:80", "10.77.0.2:443", "[fd77::2]:80", "[fd77::2]:443", "10.77.0.2:80", "10.77.0.2:80",
                    "10.77.0.2:443", "[fd77::2]:80",
                ]
            )
            #expect(records.filter { $0.kind == .malformed }.count == 1)
            #expect(records.filter { $0.kind == .tunnel }.map(\.url.description) == ["10.77.0.2:2525"])

            // Sluice's own connections that come back to it are found at once, and said to be.
            for name in ["loop", "loop https"] {
                let loop = try answer(name)
                #expect(
                    loop.status == "508" && loop.body.contains("also redirect Sluice's own connections"),
                    "\(loop)"
                )
            }
            let cut = try answer("loop greeting")
            #expect(!cut.body.contains("220"))
            let loops = try SessionReader(path: scratch.path("loop.sluice")).records(limit: 100)
            #expect(loops.count == 3 && loops.allSatisfy { $0.failure?.code == .loop }, "\(loops.map(\.failure))")
        }

        @Test("The rules name the port, the user and the servers' ports, and refuse what cannot be")
        func rules() async throws {
            let scratch = try Scratch()
            let text = try await SluiceProcess.run(
                ["transparent", "--print", "--port", "9090", "--user", "1234", "--server-ports", "80,8443"],
                scratch: scratch
            ).text
            for line in [
                "tcp dport { 80, 8443 } redirect to :9090", "meta skuid 1234 accept",
                "sudo nft delete table inet sluice",
                "--mode transparent@0.0.0.0:9090 --allow NETWORK",
            ] {
                #expect(text.contains(line), "\(text)")
            }
            let local = try await SluiceProcess.run(["transparent", "--print", "--only", "local"], scratch: scratch)
                .text
            #expect(local.contains("hook output") && !local.contains("hook prerouting"))
            for wrong in [
                [], ["--print", "--port", "0"], ["--print", "--port", "443"], ["--print", "--server-ports", "80,"],
                ["--print", "--user", "no such user"],
            ] {
                let outcome = try await SluiceProcess.run(["transparent"] + wrong, scratch: scratch)
                #expect(outcome.status == 2 && outcome.text.isEmpty, "\(wrong)")
            }
        }
    }
}
#endif
