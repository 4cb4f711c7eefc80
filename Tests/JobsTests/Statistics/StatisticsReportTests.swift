import Foundation
import HTTPModel
import Masking
import Recording
import Support
import Testing
import Text

@testable import Jobs

@Suite("The report of statistics")
struct StatisticsReportTests {
    private static func statistics(_ hosts: Int = 2) -> SessionStatistics {
        var statistics = SessionStatistics(countsEndpoints: true)
        for number in Int64(1)...40 {
            var record = ExchangeRecord(
                id: ExchangeID(number),
                kind: .http,
                startedAt: 1_795_000_000_000_000 + number * 1_000_000,
                method: "GET",
                url: RequestURL(
                    scheme: "https",
                    host: number % 4 == 0 ? "b.example" : "h\(Int(number) % max(1, hosts - 1)).example",
                    port: 443,
                    path: "/orders/\(number)"
                ),
                clientConnection: ConnectionID(1)
            )
            record.state = .complete
            record.status = number % 8 == 0 ? 500 : 200
            record.sizes.requestBody = 10
            record.sizes.responseBody = 1_000
            record.timings.total = 2_000
            statistics.add(.init(record))
        }
        return statistics
    }

    @Test("has both tables in a pipe, plain, whole and without bars")
    func pipe() {
        let text = StatisticsReport(Self.statistics()).text()
        #expect(text.hasPrefix("40 exchanges, 5 errors (12.5 %), from "))
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.contains("   COUNT ERRORS      P50      P95     SENT  RECEIVED  HOST"))
        #expect(lines.contains { $0.hasPrefix("      40 12.5 %") && $0.hasSuffix("  all") })
        let host = lines.firstIndex { $0.hasSuffix("  h0.example") } ?? -1
        let other = lines.firstIndex { $0.hasSuffix("  b.example") } ?? -1
        #expect(host >= 0 && other == host + 1, "the one with more comes first: \(text)")
        #expect(lines[other] == "      10 50.0 %   2.0 ms   2.0 ms    100 B   10.0 KB  b.example", "\(lines[other])")
        #expect(lines.contains { $0.hasSuffix("  GET b.example/orders/{id}") })
        #expect(!text.contains("█") && !text.contains("="))
    }

    @Test("one error among thousands is never none, and all are never more than all")
    func percent() {
        func text(_ count: Int64, errors: Int64) -> String {
            var statistics = SessionStatistics(countsEndpoints: false)
            for number in 1...count {
                var record = ExchangeRecord(
                    id: ExchangeID(number),
                    kind: .http,
                    startedAt: 1_795_000_000_000_000,
                    method: "GET",
                    url: RequestURL(scheme: "https", host: "a.example", port: 443, path: "/"),
                    clientConnection: ConnectionID(1)
                )
                (record.state, record.status) = (.complete, number <= errors ? 500 : 200)
                statistics.add(.init(record))
            }
            return StatisticsReport(statistics).text()
        }
        #expect(text(5_000, errors: 1).hasPrefix("5,000 exchanges, 1 error (0.1 %)"))
        #expect(text(3, errors: 3).hasPrefix("3 exchanges, 3 errors (100 %)"))
    }

    @Test(
        "fits a screen of any width, with bars whose lighter end are errors",
        arguments: [20, 40, 60, 80, 82, 120, 200]
    )
    func screen(width: Int) {
        for isUnicode in [true, false] {
            let screen = StatisticsReport.Screen(width: width, isUnicode: isUnicode)
            let text = StatisticsReport(Self.statistics(), by: .endpoint).text(on: screen)
            let rows = text.split(separator: "\n").prefix { !$0.hasPrefix("An error") }
            #expect(text.split(separator: "\n").allSatisfy { TextWidth.columns($0) <= width }, "\(text)")
            #expect(text.contains("  COUNT") && text.contains("ENDPOINT"), "\(text)")
            if width >= 40 { #expect(text.contains("GET b"), "\(text)") }
            #expect(isUnicode || text.allSatisfy(\.isASCII))
            let row = rows.first { $0.contains("GET b") } ?? ""
            // The usual width of a terminal has room for short ones.
            if width == 80 { #expect(text.contains(isUnicode ? "██" : "=="), "\(text)") }
            if width >= 120 {
                let (full, bad): (Character, Character) = isUnicode ? ("█", "▒") : ("=", "x")
                let bar = row.drop { $0 != full }.prefix { $0 != " " }
                let longest = (rows.first { $0.contains("GET h0") } ?? "").filter { $0 == full }.count
                #expect(longest >= 8 && (bar.count * 3 - longest).magnitude <= 3, "\(text)")
                #expect(bar.filter { $0 == bad }.count == max(1, (bar.count + 1) / 2), "half are errors: \(row)")
            }
        }
    }

    @Test("a host with letters outside ASCII has both of its forms, as in a list; programs get it as it was recorded")
    func homograph() throws {
        var statistics = SessionStatistics(countsEndpoints: true)
        let host = "\u{430}pple.test"
        var record = ExchangeRecord(
            id: ExchangeID(1),
            kind: .http,
            startedAt: 1_795_000_000_000_000,
            method: "GET",
            url: RequestURL(scheme: "http", host: host, port: 80, path: "/a"),
            clientConnection: ConnectionID(1)
        )
        (record.state, record.status) = (.complete, 200)
        statistics.add(.init(record))
        let forms = try #require(HostForms(host)).text
        #expect(forms.contains("xn--"))
        let report = StatisticsReport(statistics)
        let screens = [nil, StatisticsReport.Screen(width: 70, isUnicode: true)]
        for text in screens.map({ report.text(on: $0) }) {
            #expect(text.contains("  \(forms)\n"), "\(text)")
            #expect(text.contains("  GET \(forms)/a\n"), "\(text)")
        }
        #expect(try report.json().contains("\"host\":\"\(host)\""))
    }

    @Test("names without room beside the numbers are whole, on lines of their own; of longer ones the host gives way")
    func longNames() throws {
        var statistics = SessionStatistics(countsEndpoints: true)
        let long = "/a" + String(repeating: "/segment", count: 7) + "/end"
        for (number, path) in ["/v1/users/1", "/v1/users/1/orders/2", long].enumerated() {
            for host in ["h10.bench.example", "h11.bench.example"] {
                var record = ExchangeRecord(
                    id: ExchangeID(Int64(number + 1)),
                    kind: .http,
                    startedAt: 1_795_000_000_000_000,
                    method: "GET",
                    url: RequestURL(scheme: "https", host: host, port: 443, path: path),
                    clientConnection: ConnectionID(1)
                )
                (record.state, record.status) = (.complete, 200)
                statistics.add(.init(record))
            }
        }
        let screen = StatisticsReport.Screen(width: 80, isUnicode: true)
        let lines = StatisticsReport(statistics, by: .endpoint).text(on: screen).split(separator: "\n").map(String.init)
        for host in ["h10", "h11"] {
            let name = try #require(lines.firstIndex(of: "    GET \(host).bench.example/v1/users/{id}"), "\(lines)")
            #expect(lines[name + 1].hasPrefix("       1      -"), "\(lines)")
            #expect(lines.contains("    GET \(host).bench.example/v1/users/{id}/orders/{id}"), "\(lines)")
        }
        let cut = lines.filter { $0.hasPrefix("    GET ") && $0.contains("…") && $0.hasSuffix(long) }
        #expect(cut.count == 2, "\(lines)")
        #expect(lines.dropFirst().allSatisfy { TextWidth.columns($0) <= 80 && !$0.hasSuffix(" ") }, "\(lines)")
    }

    @Test(
        "its last sentences fit the screen, and no number is parted from its unit",
        arguments: [30, 62, 80, 81, 82, 83, 120]
    )
    func closing(width: Int) {
        let screen = StatisticsReport.Screen(width: width, isUnicode: true)
        let lines = StatisticsReport(Self.statistics(), by: .host).text(on: screen).split(separator: "\n")
        let closing = lines.drop { !$0.hasPrefix("An error") }
        #expect(closing.allSatisfy { $0.count <= min(width, 110) } && closing.contains { $0.contains("3.2 %") })
        #expect(closing.joined(separator: " ").hasSuffix("as received by Sluice."), "\(closing)")
    }

    @Test("shows the first of many where both tables are, and all of one")
    func many() {
        let statistics = Self.statistics(30)
        let both = StatisticsReport(statistics).text()
        #expect(both.contains("more; --by host shows all"))
        let hosts = StatisticsReport(statistics, by: .host).text()
        #expect(!hosts.contains("--by") && !hosts.contains("ENDPOINT"))
        #expect(hosts.split(separator: "\n").filter { $0.hasSuffix(".example") }.count == statistics.hosts.count)
        #expect(StatisticsReport(SessionStatistics()).text() == "There are no exchanges.\n")
    }

    @Test("is one JSON object, whose paths are masked on demand")
    func json() throws {
        var statistics = SessionStatistics(countsEndpoints: true)
        var record = ExchangeRecord(
            id: ExchangeID(7),
            kind: .http,
            startedAt: 1_795_000_000_000_000,
            method: "GET",
            url: RequestURL(
                scheme: "https",
                host: "a.example",
                port: 443,
                path: "/bot/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLWl0"
            ),
            clientConnection: ConnectionID(1)
        )
        record.timings.total = 1_500
        record.status = 404
        statistics.add(.init(record))
        let plain = try StatisticsReport(statistics).json()
        let object = try #require(try JSONSerialization.jsonObject(with: Data(plain.utf8)) as? [String: Any])
        #expect(object["exchanges"] as? Int == 1 && object["errors"] as? Int == 1)
        #expect(object["slowest"] as? Double == 1.5 && object["slowestExchange"] as? Int == 7)
        let endpoint = try #require((object["endpoints"] as? [[String: Any]])?.first)
        #expect(endpoint["method"] as? String == "GET" && endpoint["host"] as? String == "a.example")
        #expect((object["hosts"] as? [[String: Any]])?.first?["host"] as? String == "a.example")
        #expect(try !StatisticsReport(statistics).json(RecordMask(MaskRules())).contains("eyJzdWIi"))
        #expect(plain.contains("eyJzdWIi"))
    }
}
