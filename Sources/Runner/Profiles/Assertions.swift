import HTTPModel
import Masking
import NIOCore
import Recording
package import Rules

package struct AssertionResult: Sendable {
    let assertion: Assertion
    let count: Int
    let problems: [Problem]
    let time: Duration

    struct Problem: Sendable {
        let summary: String
        /// The first exchanges that failed.
        var exchanges = ""
        var maskedExchanges = ""
    }

    package var passes: Bool { problems.isEmpty }

    package var text: String {
        let name = assertion.name
        guard !passes else { return "assert: \(name): \(count) exchange\(count == 1 ? "" : "s"), as expected\n" }
        return failure(\.exchanges)
    }

    fileprivate func failure(_ exchanges: KeyPath<Problem, String>) -> String {
        let lines = problems.map { "  \($0.summary)\($0[keyPath: exchanges])\n" }
        return "\(assertion.place): assertion failed: \(assertion.name)\n" + lines.joined()
    }
}

extension JUnitReport {
    package mutating func add(_ result: AssertionResult) {
        let summary = result.problems.map(\.summary).joined(separator: "; ")
        let failure = result.passes ? nil : (summary: summary, text: result.failure(\.maskedExchanges))
        add(result.assertion.name, at: result.assertion.place, time: result.time, failure: failure)
    }
}

enum Assertions {
    private static let mostNamed = 5

    /// Checks an assertion on the exchanges of the sessions, from exchange `start` on. Throws `SessionError`.
    static func check(
        _ assertion: Assertion,
        sessions: [String],
        from start: ExchangeID? = nil,
        mask: RecordMask? = nil
    ) throws -> AssertionResult {
        let (began, unfinished) = (ContinuousClock.now, UnfinishedSearches())
        var result = try UnfinishedSearches.$current.withValue(unfinished) {
            try search(assertion, sessions, start, mask)
        }
        // A search that was not finished may have missed an exchange.
        if let remark = unfinished.remark {
            result.problems.append(AssertionResult.Problem(summary: "filter: \(remark)"))
        }
        let time = ContinuousClock.now - began
        return AssertionResult(assertion: assertion, count: result.count, problems: result.problems, time: time)
    }

    private static func search(
        _ assertion: Assertion,
        _ sessions: [String],
        _ start: ExchangeID?,
        _ mask: RecordMask?
    ) throws -> (count: Int, problems: [AssertionResult.Problem]) {
        var count = 0
        var (chosen, wrongStatus, tooSlow) = (Offenders(mask), Offenders(mask), Offenders(mask))
        for session in sessions {
            try SessionReader(path: session).forEachRecord(matching: assertion.filter, from: start) { record in
                count += 1
                chosen.add(record)
                if let status = assertion.status, !status.passes(record.status) { wrongStatus.add(record) }
                if let limit = assertion.limit {
                    // An exchange in progress has no total time; it did not end within the limit.
                    let total = record.timings.total
                    if total.map({ $0 > limit.nanoseconds / 1_000 }) ?? true {
                        tooSlow.add(record, detail: total.map { ": \($0 / 1_000) ms" } ?? ": not over yet")
                    }
                }
            }
        }
        var problems: [AssertionResult.Problem] = []
        if !assertion.count.passes(count) {
            problems.append(chosen.problem("count: expected \(assertion.count), found \(count)"))
        }
        if let status = assertion.status, wrongStatus.count > 0 {
            problems.append(
                wrongStatus.problem("status: expected \(status), different in \(wrongStatus.count) of \(count)")
            )
        }
        if let limit = assertion.limit, tooSlow.count > 0 {
            let milliseconds = limit.nanoseconds / 1_000_000
            problems.append(
                tooSlow.problem("within: expected \(milliseconds) ms, longer in \(tooSlow.count) of \(count)")
            )
        }
        return (count, problems)
    }

    private struct Offenders {
        private let mask: RecordMask?
        private(set) var count = 0
        private var lines: [(plain: String, masked: String)] = []

        init(_ mask: RecordMask?) { self.mask = mask }

        /// Without a detail, the line ends with the status.
        mutating func add(_ record: ExchangeRecord, detail: String? = nil) {
            count += 1
            guard lines.count < Assertions.mostNamed else { return }
            func line(_ record: ExchangeRecord) -> String {
                let status = record.status == 0 ? record.failure?.message ?? "no answer" : String(record.status)
                return "\n    #\(record.id) \(record.method) \(record.url)\(detail ?? " → \(status)")"
            }
            lines.append((line(record), line(mask?.masked(record) ?? record)))
        }

        func problem(_ summary: String) -> AssertionResult.Problem {
            let more = count > lines.count ? "\n    and \(count - lines.count) more" : ""
            return AssertionResult.Problem(
                summary: summary,
                exchanges: lines.map(\.plain).joined() + more,
                maskedExchanges: lines.map(\.masked).joined() + more
            )
        }
    }
}
