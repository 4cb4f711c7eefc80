import Foundation
import HTTPModel
package import Runner

/// How often and how fast a request is sent again.
package struct RepeatPlan: Sendable, Hashable, CustomStringConvertible {
    package let times: Int
    /// The number of requests at a time: at the beginning, and at the end.
    package let parallel: ClosedRange<Int>
    /// The pause between an answer and the next request of the same sender, chosen at random.
    package let delayMilliseconds: ClosedRange<Int>

    package static let mostTimes = 100_000
    package static let mostParallel = 256
    package static let longestDelay = 3_600_000
    /// More requests to another machine need confirmation.
    package static let confirmedTimes = 100

    /// Values out of bounds become the nearest bound.
    package init(times: Int = 1, parallel: Int = 1, delayMilliseconds: Int = 0) {
        self.init(times: times, parallel: parallel...parallel, delayMilliseconds: delayMilliseconds...delayMilliseconds)
    }

    package init(times: Int, parallel: ClosedRange<Int>, delayMilliseconds: ClosedRange<Int>) {
        self.times = min(max(times, 1), RepeatPlan.mostTimes)
        self.parallel = parallel.clamped(to: 1...RepeatPlan.mostParallel)
        self.delayMilliseconds = delayMilliseconds.clamped(to: 0...RepeatPlan.longestDelay)
    }

    /// Reads the parts of a plan: `10` or `2..10` at a time; `50`, `50ms`, `50..200ms` or `2s` between requests.
    package init(times: Int, parallel: String, delay: String) throws(ControlError) {
        guard (1...RepeatPlan.mostTimes).contains(times) else {
            throw ControlError("'\(times)' does not say how often: a number from 1 to \(RepeatPlan.mostTimes).")
        }
        let isBare = Int(delay.split(separator: ".").last ?? "") != nil
        self.init(
            times: times,
            parallel: try RepeatPlan.range(parallel, in: 1...RepeatPlan.mostParallel, "how many at a time"),
            delayMilliseconds: try RepeatPlan.delay(isBare ? delay + "ms" : delay)
        )
    }

    /// Reads `100`, `100 x 10`, `20, 2s`, with ranges `100 x 2..10, 50..200ms`, or bare numbers `100 10 50`.
    package init(_ text: String) throws(ControlError) {
        let words = text.split(separator: " ").map(String.init)
        if (2...3).contains(words.count), words.allSatisfy({ Int($0) != nil }) {
            try self.init("\(words[0]) x \(words[1])" + (words.count == 3 ? ", \(words[2])ms" : ""))
            return
        }
        let parts = RepeatPlan.trimmed(text.split(separator: ",", omittingEmptySubsequences: false))
        let counts = RepeatPlan.trimmed(parts[0].split(omittingEmptySubsequences: false) { "xX×*".contains($0) })
        guard parts.count <= 2, (1...2).contains(counts.count) else {
            throw ControlError("'\(text.prefix(60))' is not a plan.", hint: RepeatPlan.help)
        }
        let times = try RepeatPlan.number(counts[0], in: 1...RepeatPlan.mostTimes, "how often")
        let limits = 1...RepeatPlan.mostParallel
        let parallel = counts.count < 2 ? 1...1 : try RepeatPlan.range(counts[1], in: limits, "how many at a time")
        let delay = parts.count < 2 ? 0...0 : try RepeatPlan.delay(parts[1])
        self.init(times: times, parallel: parallel, delayMilliseconds: delay)
    }

    package var description: String {
        let lanes = RepeatPlan.words(parallel)
        let delay = RepeatPlan.words(delayMilliseconds)
        let counts = lanes == "1" ? "\(times)" : "\(times) x \(lanes)"
        return delay == "0" ? counts : "\(counts), \(delay)ms"
    }

    private static func words(_ range: ClosedRange<Int>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)..\(range.upperBound)"
    }

    package var hasDelay: Bool { delayMilliseconds.upperBound > 0 }

    var drawnDelay: Duration { .milliseconds(Int.random(in: delayMilliseconds)) }

    /// How many of `count` requests must have ended before a sender begins; the first sender has number 0.
    func requests(beforeLane lane: Int, of count: Int) -> Int {
        guard lane >= parallel.lowerBound, parallel.count > 1 else { return 0 }
        return count * (lane - parallel.lowerBound + 1) / parallel.count
    }

    package func needsConfirmation(forHost host: String) -> Bool {
        times > RepeatPlan.confirmedTimes && !HostAddress.isThisMachine(host)
    }

    private static let help = "For example: 100 x 10, 50ms: 100 in all, 10 at a time, 50 ms between them."

    private static func trimmed(_ parts: [some StringProtocol]) -> [String] {
        parts.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private static func number(_ text: String, in range: ClosedRange<Int>, _ what: String) throws(ControlError) -> Int {
        if let number = Int(text), range.contains(number) { return number }
        let limits = "a number from \(range.lowerBound) to \(range.upperBound)"
        throw ControlError("'\(text.prefix(40))' does not say \(what): \(limits).", hint: help)
    }

    /// Reads `5` or `2..10`.
    private static func range(
        _ text: String,
        in limits: ClosedRange<Int>,
        _ what: String
    ) throws(ControlError) -> ClosedRange<Int> {
        let ends = trimmed(text.split(separator: "..", maxSplits: 1, omittingEmptySubsequences: false))
        let first = try number(ends[0], in: limits, what)
        let last = ends.count > 1 ? try number(ends[1], in: limits, what) : first
        guard first <= last else {
            throw ControlError("'\(text.prefix(40))' is not a range: its first number is greater.", hint: help)
        }
        return first...last
    }

    private static func delay(_ text: String) throws(ControlError) -> ClosedRange<Int> {
        let units = [("ms", 1), ("s", 1000)]
        guard let (unit, scale) = units.first(where: { text.hasSuffix($0.0) }) else {
            throw ControlError("'\(text.prefix(40))' is not a delay such as 50ms or 2s.", hint: help)
        }
        let bare = String(text.dropLast(unit.count))
        let range = try range(bare, in: 0...(longestDelay / scale), "how long to wait")
        return range.lowerBound * scale...range.upperBound * scale
    }
}
