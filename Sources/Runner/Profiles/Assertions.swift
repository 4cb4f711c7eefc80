import HTTPModel
import NIOCore
import Recording
import Rules

package struct AssertionResult: Sendable {
    let assertion: Assertion
    let count: Int
    /// One sentence per problem, with the first exchanges that failed.
    let problems: [String]

    package var passes: Bool { problems.isEmpty }

    package var text: String {
        let name = assertion.name
        guard !passes else { return "assert: \(name): \(count) exchange\(count == 1 ? "" : "s"), as expected\n" }
        return "\(assertion.place): assertion failed: \(name)\n" + problems.map { "  \($0)\n" }.joined()
    }
}

enum Assertions {
    private static let mostNamed = 5

    /// Checks an assertion on the exchanges of the sessions, from exchange `start` on. Throws `SessionError`.
    static func check(
        _ assertion: Assertion,
        sessions: [String],
        from start: ExchangeID? = nil
    ) throws -> AssertionResult {
        var count = 0
        var (chosen, wrongStatus, tooSlow) = (Offenders(), Offenders(), Offenders())
        for session in sessions {
            try SessionReader(path: session).forEachRecord(matching: assertion.filter, from: start) { record in
                count += 1
                chosen.add(record) { "\(record.method) \(record.url) → \($0)" }
                if let status = assertion.status, !status.passes(record.status) {
                    wrongStatus.add(record) { "\(record.method) \(record.url) → \($0)" }
                }
                if let limit = assertion.limit {
                    // An exchange in progress has no total time; it did not end within the limit.
                    let total = record.timings.total
                    if total.map({ $0 > limit.nanoseconds / 1_000 }) ?? true {
                        let time = total.map { "\($0 / 1_000) ms" } ?? "not over yet"
                        tooSlow.add(record) { _ in "\(record.method) \(record.url): \(time)" }
                    }
                }
            }
        }
        var problems: [String] = []
        if !assertion.count.passes(count) {
            problems.append("count: expected \(assertion.count), found \(count)\(chosen.text)")
        }
        if let status = assertion.status, wrongStatus.count > 0 {
            problems.append("status: expected \(status), but of \(wrongStatus.count) it differs\(wrongStatus.text)")
        }
        if let limit = assertion.limit, tooSlow.count > 0 {
            let milliseconds = limit.nanoseconds / 1_000_000
            problems.append("within: expected \(milliseconds) ms, but \(tooSlow.count) took longer\(tooSlow.text)")
        }
        return AssertionResult(assertion: assertion, count: count, problems: problems)
    }

    private struct Offenders {
        private(set) var count = 0
        private var lines: [String] = []

        mutating func add(_ record: ExchangeRecord, _ line: (String) -> String) {
            count += 1
            guard lines.count < Assertions.mostNamed else { return }
            let status = record.status == 0 ? record.failure?.message ?? "no answer" : String(record.status)
            lines.append("\n    #\(record.id) \(line(status))")
        }

        var text: String {
            let more = count > lines.count ? "\n    and \(count - lines.count) more" : ""
            return lines.joined() + more
        }
    }
}
