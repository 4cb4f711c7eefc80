import CAllocationCount
import ExchangeCore
import Glibc
import HTTPModel
import NIOCore
import Rules
import Tools

/// Measures what many rules cost: reading a profile of 11,000, and deciding about an exchange under it.
///
///     swift run -c release --package-path Tests/Benchmarks rules-bench
///
/// An exchange is begun with the rules and without any; what is told is the difference, in CPU time of this thread and in
/// blocks of memory asked for.
@main
enum RulesBench {
    static func main() throws {
        let many = Rules.text(withoutSuffix: 100)
        let begin = cpuTime()
        let profile = try RuleProfile(many, file: "many.yaml")
        row(
            "reading a profile",
            "\(profile.tools.reduce(0) { $0 + $1.rules.count }) rules, \(many.utf8.count >> 10) KiB",
            cpuTime() - begin,
            "s",
            1
        )

        let indexed = try RuleProfile(Rules.text(withoutSuffix: 0), file: "indexed.yaml").chain
        for (name, url) in Rules.requests {
            let bare = measure(StageChain(), url)
            let all = measure(profile.chain, url)
            let byHost = measure(indexed, url)
            row("deciding", "\(name), 100 patterns without a suffix", (all.time - bare.time) * 1e6, "µs", 2)
            allocations(all.allocations - bare.allocations)
            row("deciding", "\(name), all found by host", (byHost.time - bare.time) * 1e6, "µs", 2)
            allocations(byHost.allocations - bare.allocations)
        }
    }

    private static let iterations = 20_000
    private static let rounds = 9

    /// The cheapest of several rounds, for each exchange.
    private static func measure(_ chain: StageChain, _ text: String) -> (time: Double, allocations: Double) {
        guard let url = RequestURL(text) else { return (0, 0) }
        let head = RequestHead(method: "GET", target: url.pathAndQuery, fields: [("Host", url.authority)])
        let sink = NoRecord()
        var best = Double.infinity
        var allocations = 0.0
        for _ in 0..<rounds {
            let (time, count) = (cpuTime(), allocation_count())
            for number in 0..<iterations { begin(number, url, head, chain, sink) }
            best = min(best, (cpuTime() - time) / Double(iterations))
            allocations = Double(allocation_count() - count) / Double(iterations)
        }
        return (best, allocations)
    }

    @inline(never)
    private static func begin(
        _ number: Int,
        _ url: RequestURL,
        _ head: RequestHead,
        _ chain: StageChain,
        _ sink: NoRecord
    ) {
        let record = ExchangeRecord(
            id: ExchangeID(Int64(number)),
            kind: .http,
            startedAt: 0,
            method: "GET",
            url: url,
            clientConnection: ConnectionID(1)
        )
        var machine = ExchangeMachine(
            record: record,
            destination: Destination(scheme: url.scheme, host: url.host, port: url.port),
            clientAddress: "127.0.0.1:1",
            chain: chain,
            sink: sink,
            now: .uptimeNanoseconds(1)
        )
        machine.requestHeadReceived(head, framing: .none, now: .uptimeNanoseconds(1))
    }

    private static func row(_ what: String, _ which: String, _ number: Double, _ unit: String, _ digits: Int) {
        let scale = digits == 1 ? 10.0 : 100.0
        print("\(what): \(which): \((number * scale).rounded() / scale) \(unit)")
    }

    private static func allocations(_ count: Double) {
        print("  \((count * 100).rounded() / 100) blocks of memory")
    }

    private static func cpuTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// The profile that is measured, and what is asked under it.
private enum Rules {
    /// Ten thousand block rules and a thousand rewrite rules.
    static func text(withoutSuffix: Int) -> String {
        var text = "version: 1\nblock:\n"
        for number in 0..<(10_000 - withoutSuffix) {
            let host = number % 3 == 0 ? "\"*.d\(number).example\"" : "ad\(number).tracker.example"
            text += "  - { at: \(host)\(number % 5 == 0 ? "/pixel/*" : "") }\n".replacingQuotes
        }
        for number in 0..<withoutSuffix { text += "  - { at: \"*.ads\(number).*/banner/*\" }\n" }
        text += "rewrite:\n"
        for number in 0..<1_000 {
            text += "  - { name: r\(number), at: \"https://api\(number % 200).shop.example/v\(number)/*\", rules: "
            text += "[{ add: header, on: request, name: X-Rule, to: \"\(number)\" }] }\n"
        }
        return text
    }

    static let requests = [
        ("no candidate", "https://www.example.org/some/path/of/usual/length?with=a&query=string"),
        ("a candidate that does not match", "https://api7.shop.example/other/path"),
        ("a rewrite rule that matches", "https://api7.shop.example/v207/users?page=3"),
        ("a block rule that matches", "https://ad1234.tracker.example/x"),
    ]
}

extension String {
    /// A path after a quoted host goes within the quotes.
    fileprivate var replacingQuotes: String {
        let parts = split(separator: "\"", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].hasPrefix("/") else { return self }
        let path = parts[2].prefix { $0 != " " }
        return "\(parts[0])\"\(parts[1])\(path)\"\(parts[2].dropFirst(path.count))"
    }
}

private final class NoRecord: RecordSink {
    func record(_ event: RecordEvent) {}
}
