import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("Composition of tools")
    struct CompositionStories {
        @Test(
            "Every pair of tools does to an exchange what the documented order says",
            arguments: [("off", "--http1.1", "1.1"), ("on", "--http2", "2")]
        )
        func pairs(legs: String, option: String, version: String) async throws {
            let spoofed = Composition.all.filter { $0.tools.contains(.dnsSpoofing) }
            let others = Composition.all.filter { !$0.tools.contains(.dnsSpoofing) }
            #expect(Composition.all.count { $0.tools.count == 2 } == 55)
            // DNS spoofing goes by the host alone, so it has a proxy of its own.
            for compositions in [others, spoofed] {
                try await play(compositions, legs: legs, option: option, version: version)
            }
        }

        private func play(_ compositions: [Composition], legs: String, option: String, version: String) async throws {
            let nginx = try await ReportingNginx()
            let scratch = try Scratch()
            try FileManager.default.createDirectory(atPath: scratch.path("files"), withIntermediateDirectories: true)
            try scratch.write("files/page", Composition.localBody)
            let sluice = try await SluiceProcess(
                ["--http2", legs, "--upstream-ca", try await TestAuthority.shared.root],
                profile: Composition.profile(compositions, secure: nginx.secure, other: nginx.other),
                scratch: scratch
            )
            let fields = Composition.requestFields.flatMap { ["-H", $0] }
            let answers = try await sluice.answers(
                compositions.map { [option, "--compressed", $0.url(nginx.secure)] + fields }
            )
            _ = try await sluice.stop()
            let exported = try await sluice.told("export", sluice.session, "--format", "json")
            let exchanges = try JSONDecoder().decode([ExportedExchange].self, from: Data(exported.utf8))
            #expect(exchanges.count == compositions.count)
            // The server writes about a request after it has answered it.
            let passed = zip(compositions, answers).filter { !ReportingNginx.Report($1.text)["url"].isEmpty }
            try await eventually("the server has seen what it answered") {
                let seen = nginx.requests
                return passed.allSatisfy { composition, _ in seen.contains { composition.isSeen(in: $0) } }
            }

            for (composition, answer) in zip(compositions, answers) {
                let model = ComposedExchange(composition, secure: nginx.secure, other: nginx.other)
                let exchange = try #require(exchanges.first { $0.url == composition.url(nginx.secure) })
                let expected = model.facts(version: version)
                let observed = facts(composition, answer, exchange, nginx, scratch)
                for key in Set(expected.keys).union(observed.keys).sorted() {
                    #expect(
                        observed[key] == expected[key],
                        "\(composition), \(key): \(observed[key] ?? "-"), not \(expected[key] ?? "-")"
                    )
                }
                // curl's clock starts when it gets to run again after it has sent the request; `throttle.py` measures closely.
                #expect(answer.seconds * 1_000 >= model.milliseconds / 2, "\(composition)")
                #expect(exchange.state == (model.refusal == nil ? "complete" : "blocked"), "\(composition)")
                #expect(exchange.status == model.refusal ?? model.status, "\(composition)")
            }
        }

        /// Everything that is to be seen of an exchange.
        private func facts(
            _ composition: Composition,
            _ answer: SluiceProcess.Answer,
            _ exchange: ExportedExchange,
            _ nginx: ReportingNginx,
            _ scratch: Scratch
        ) -> [String: String] {
            var stages: [String] = []
            for entry in exchange.trace ?? [] where entry.outcome == "fired" && entry.stage != stages.last {
                stages.append(entry.stage)
            }
            let mirror = "mirrored/localhost_\(nginx.secure)/c\(composition.number)/page?x=1"
            let flags = exchange.flags ?? []
            var facts = [
                "client's version": answer.version, "status": "\(answer.status)",
                "trace": stages.joined(separator: " "),
                "held": "\(flags.contains("held"))", "blocked": "\(exchange.state == "blocked")",
                "mirrored": firstLine(latin1(scratch.bytes(mirror))), "body": firstLine(answer.text),
            ]
            if answer.text.hasPrefix("Sluice:") { return facts }
            facts.merge([
                "response Cache-Control": answer.value("Cache-Control"), "Expires": answer.value("Expires"),
                "Set-Cookie": answer.value("Set-Cookie"),
                "validators": "\(answer.values("ETag") + answer.values("Last-Modified") != [])",
            ]) { $1 }
            let seen = nginx.requests.filter { composition.isSeen(in: $0) }
            guard !seen.isEmpty else { return facts }
            let report = ReportingNginx.Report(answer.text)
            facts.merge([
                "server saw": seen.joined(separator: ", "), "url": report["url"],
                "server's version": report["protocol"].replacingOccurrences(of: "HTTP/2.0", with: "HTTP/2"),
                "cookie": report["cookie"], "cache": report["cache"], "pragma": report["pragma"],
                "match": report["match"], "sent": exchange.sentUrl ?? "",
            ]) { $1 }
            return facts
        }

        private func firstLine(_ text: String) -> String { String(text.prefix { $0 != "\n" }) }
    }
}

/// An exchange as `sluice export --format json` has it.
struct ExportedExchange: Decodable {
    struct Entry: Decodable {
        let stage: String
        let rule: String?
        let outcome: String
        let text: String
    }

    let id: Int
    let url: String
    let sentUrl: String?
    let state: String
    let status: Int?
    let flags: [String]?
    let trace: [Entry]?
}
