package import HTTPModel
import NIOCore
import Recording
package import Rules

/// The result of one of a profile's assertions.
package struct AssertionResult: Sendable {
    let assertion: Assertion
    /// How many exchanges its filter chose.
    let count: Int
    /// What did not hold, one sentence each with the first few exchanges that are wrong.
    let problems: [String]

    package var passes: Bool { problems.isEmpty }

    /// One line, and one more for each problem.
    package var text: String {
        let name = assertion.name
        guard !passes else { return "assert: \(name): \(count) exchange\(count == 1 ? "" : "s"), as expected\n" }
        return "\(assertion.place): assertion failed: \(name)\n" + problems.map { "  \($0)\n" }.joined()
    }
}

/// Checks a profile's assertions on the traffic of a run.
package enum Assertions {
    /// How many wrong exchanges are named.
    private static let mostNamed = 5

    /// Checks assertions against a session, or those of a rotation, from an exchange on or all; throws `SessionError` where
    /// one cannot be read.
    package static func check(
        _ assertions: [Assertion],
        sessions: [String],
        from start: ExchangeID? = nil
    ) throws -> [AssertionResult] {
        try assertions.map { assertion in
            try check(assertion, from: start) { body in
                // One after the other: there may be more than may be open.
                for session in sessions { try body(SessionReader(path: session)) }
            }
        }
    }

    static func check(
        _ assertion: Assertion,
        _ reader: SessionReader,
        from start: ExchangeID? = nil
    ) throws -> AssertionResult { try check(assertion, from: start) { try $0(reader) } }

    private static func check(
        _ assertion: Assertion,
        from start: ExchangeID?,
        _ forEachSession: ((SessionReader) throws -> Void) throws -> Void
    ) throws -> AssertionResult {
        var count = 0
        var wrongStatus = Offenders()
        var tooSlow = Offenders()
        var chosen = Offenders()
        try forEachSession {
            try $0.forEachRecord(matching: assertion.filter, from: start) { record in
                count += 1
                chosen.add(record) { "\(record.method) \(record.url) → \($0)" }
                if let status = assertion.status, !status.passes(record.status) {
                    wrongStatus.add(record) { "\(record.method) \(record.url) → \($0)" }
                }
                if let limit = assertion.limit {
                    // An exchange under way has no total, and did not end within the limit either.
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
            problems.append("count: expected \(assertion.count), came \(count)\(chosen.text)")
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

    /// Exchanges of which the first few are named.
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
