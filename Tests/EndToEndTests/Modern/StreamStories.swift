import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("Streams reach both ends as they come")
    struct Streams {
        private func proxy() async throws -> SluiceProcess {
            try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
        }

        /// The delays of events in one version, in milliseconds.
        private struct Delays: Decodable {
            struct Figures: Decodable {
                let median, p99: Double
            }
            let version: String
            let direct, proxied: Figures
        }

        @Test("Two hundred server-sent events come hardly later than without a proxy, in both versions")
        func delay() async throws {
            let sluice = try await proxy()
            let certificate = try await TestAuthority.shared.good
            let outcome = try await Peers.start(
                "events.py",
                [
                    "--proxy", "\(sluice.port)", "--authority", sluice.authority, "--root",
                    try await TestAuthority.shared.root, "--certificate", certificate.file, "--key", certificate.key,
                ]
            ).outcome(within: 120)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let lines = outcome.text.split(separator: "\n")
            #expect(lines.count == 2)
            for line in lines {
                let delays = try JSONDecoder().decode(Delays.self, from: Data(line.utf8))
                // 1 ms is what a release build must keep on a quiet machine (Tests/Benchmarks/streams.py); where events are
                // gathered, they come later by hundreds.
                #expect(delays.proxied.median - delays.direct.median < 100, "\(line)")
            }
            try await eventually("both are recorded") {
                try sluice.records().count { $0.url.path == "/events/200/5" && $0.state == .complete } >= 2
            }
            for exchange in try sluice.records().filter({ $0.url.path == "/events/200/5" }) {
                #expect(exchange.tally.fromServer == 200)
                #expect(exchange.mediaType == "text/event-stream")
            }
        }

        @Test("show on a running session has the events so far, and the list their number", arguments: [true, false])
        func running(overHTTP2: Bool) async throws {
            let server = try await PeerServer("h2_server.py")
            let sluice = try await proxy()
            // The events stop coming after some, until the test ends.
            let client = try Program(
                "curl",
                [
                    "-sSN", overHTTP2 ? "--http2" : "--http1.1", "--noproxy", "", "--proxy", sluice.url, "--cacert",
                    sluice.authority, "https://localhost:\(server.port)/pause/7",
                ]
            )
            try await eventually("the client has the events") {
                client.output.components(separatedBy: "data:").count == 8
            }
            var shown = ""
            try await eventually("the session has them") {
                shown = try await SluiceProcess.run(["show", sluice.session, "1"], scratch: sluice.scratch).text
                return shown.contains("event 6")
            }
            #expect((0..<7).allSatisfy { shown.contains("event \($0)") }, "\(shown)")
            #expect(!shown.contains("event 7"))
            try await eventually("their number is recorded") {
                try sluice.records().first { $0.url.path == "/pause/7" }?.tally.fromServer == 7
            }
            #expect(try sluice.records().first { $0.url.path == "/pause/7" }?.state == .inFlight)
            let list = try await SluiceProcess.run(["list", sluice.session], scratch: sluice.scratch)
            #expect(list.text.contains("/pause/7"), "\(list.text)")
            client.signal(SIGKILL)
            #expect(try await sluice.exchange(path: "/pause/7").record.failure?.code == .clientGone)
        }
    }
}
