import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("Throttle")
    struct ThrottleStories {
        @Test(
            "Latency counts once for each request, on reused connections too, and for nobody else",
            arguments: bothVersions
        )
        func latency(version: String) async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting {
                "throttle: { name: far, only: \"https://localhost:\($0.secure)/far*\", latency: 900 }"
            }
            let urls = ["/far/1", "/far/2", "/near"].map { "https://localhost:\(nginx.secure)\($0)" }
            let answers = try await sluice.answers(urls.map { [version, $0] })
            for answer in answers { #expect(answer.status == 200) }
            for answer in answers[..<2] { #expect(answer.seconds >= 0.899) }
            // Twice would be more; the first one had to connect, too.
            #expect(answers[1].seconds < 1.8)
            #expect(answers[2].seconds < 0.899)
            let far = try await sluice.exchange(path: "/far/2")
            #expect(far.trace == "latency 900 ms")
            #expect(far.record.flags.contains(.upstreamReused))
            #expect(try await sluice.exchange(path: "/near").trace.isEmpty)
        }

        @Test("Bandwidth limits a download, and two downloads share it", arguments: bothVersions)
        func bandwidth(version: String) async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting {
                "throttle: { only: \"https://localhost:\($0.secure)/files/*\", down: 256 }"
            }
            let file = noise(64 << 10)
            let half = Array(file[..<(32 << 10)])
            try nginx.scratch.write("www/files/file", file)
            try nginx.scratch.write("www/files/half", half)
            let url = "https://localhost:\(nginx.secure)/files/"
            // 64 KiB at 256 kbit/s take 2.05 s.
            let clock = ContinuousClock()
            let got = try await sluice.answer(version, url + "file")
            #expect(got.body == file)
            #expect(got.seconds > 1.8)
            #expect(got.seconds < 15)
            let parallel = [
                version, "--parallel", "--parallel-immediate", "-o", sluice.scratch.path("one"), url + "half",
                "-o", sluice.scratch.path("two"), url + "half",
            ]
            var outcome: Program.Outcome?
            let time = try await clock.measure { outcome = try await sluice.curl(parallel) }
            #expect(outcome?.status == 0)
            #expect(sluice.scratch.bytes("one") == half)
            #expect(sluice.scratch.bytes("two") == half)
            #expect(time > .seconds(1.8))
            #expect(time < .seconds(15))
        }

        @Test(
            "There is no network: the client is cut off, and the session says that it was the throttle",
            arguments: bothVersions
        )
        func offline(version: String) async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting {
                "throttle: { name: plane, only: \"https://localhost:\($0.secure)/*\", preset: offline }"
            }
            let answer = try await sluice.answer(version, "https://localhost:\(nginx.secure)/away")
            #expect(answer.exit != 0)
            #expect(answer.status == 0)
            #expect(nginx.requests.isEmpty)
            let exchange = try await sluice.exchange(path: "/away")
            #expect(exchange.record.failure?.code == .connect)
            #expect(exchange.failure.contains("throttle"), "\(exchange.failure)")
            #expect(exchange.failure.contains("'plane'"), "\(exchange.failure)")
        }

        @Test("With a seed the same messages are lost, whatever their order")
        func seed() async throws {
            let nginx = try await ReportingNginx()
            let paths = (1...24).map { "/files/lossy\($0)" }
            for path in paths { try nginx.scratch.write("www\(path)", noise(10 << 10)) }
            func lost(seed: Int, _ order: [String]) async throws -> Set<String> {
                let sluice = try await SluiceProcess(
                    profile: "version: 1\nthrottle: { reliability: 50, seed: \(seed) }\n"
                )
                let answers = try await sluice.answers(
                    order.map { ["-H", "Connection: close", "http://localhost:\(nginx.plain)\($0)"] }
                )
                let lost = zip(order, answers).filter { $0.1.exit != 0 }.map(\.0)
                for path in lost {
                    let exchange = try await sluice.exchange(path: path)
                    #expect(exchange.record.state == .failed)
                    #expect(exchange.failure.contains("throttle"), "\(exchange.failure)")
                }
                return Set(lost)
            }
            let first = try await lost(seed: 3, paths)
            // 24 draws of one half; so few or so many come once in ten thousand seeds, and the seed is fixed.
            #expect((4...20).contains(first.count), "\(first.sorted())")
            #expect(try await lost(seed: 3, paths.reversed()) == first)
            #expect(try await lost(seed: 4, paths) != first)
        }

        @Test("What is switched off counts no more, for a download that is under way too")
        func switchedOff() async throws {
            // Half a megabyte at 64 kbit/s takes a minute.
            let (nginx, sluice) = try await SluiceProcess.reporting { _ in "throttle: { down: 64 }" }
            let file = noise(500_000)
            try nginx.scratch.write("www/files/long", file)
            async let answer = sluice.answer("https://localhost:\(nginx.secure)/files/long")
            try await eventually("the download is under way") {
                try sluice.records().contains { $0.sizes.responseBody > 0 && $0.state == .inFlight }
            }
            try await sluice.told("tool", "off", "throttle")
            let got = try await answer
            #expect(got.body == file)
            #expect(got.seconds < 40)
        }
    }
}
