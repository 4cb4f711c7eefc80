import Foundation

/// How often a request is sent again, and how fast.
package struct RepeatPlan: Sendable, Hashable, CustomStringConvertible {
    /// How often it is sent in all.
    package var times: Int
    /// How many are under way at a time.
    package var parallel: Int
    /// The time between an answer and the next request of the same sender, in milliseconds.
    package var delayMilliseconds: Int

    package static let mostTimes = 100_000
    package static let mostParallel = 256
    /// One hour.
    package static let longestDelay = 3_600_000
    /// More requests to another machine must be confirmed.
    package static let confirmedTimes = 100

    /// Makes a plan; a value out of bounds becomes the nearest bound.
    package init(times: Int = 1, parallel: Int = 1, delayMilliseconds: Int = 0) {
        self.times = min(max(times, 1), RepeatPlan.mostTimes)
        self.parallel = min(max(parallel, 1), RepeatPlan.mostParallel)
        self.delayMilliseconds = min(max(delayMilliseconds, 0), RepeatPlan.longestDelay)
    }

    /// Reads `100`, `100 x 10`, `100 x 10, 50ms`, `20, 2s`, or bare numbers, the third in milliseconds: `100 10 50`.
    package init(_ text: String) throws(ControlError) {
        let words = text.split(separator: " ").map(String.init)
        if (2...3).contains(words.count), words.allSatisfy({ Int($0) != nil }) {
            try self.init("\(words[0]) x \(words[1])" + (words.count == 3 ? ", \(words[2])ms" : ""))
            return
        }
        let parts = RepeatPlan.trimmed(text.split(separator: ",", omittingEmptySubsequences: false))
        let counts = RepeatPlan.trimmed(parts[0].split(omittingEmptySubsequences: false) { "xX×*".contains($0) })
        guard parts.count <= 2, (1...2).contains(counts.count) else {
            throw ControlError("'\(text.prefix(60))' is no plan.", hint: RepeatPlan.help)
        }
        let times = try RepeatPlan.number(counts[0], in: 1...RepeatPlan.mostTimes, "how often")
        let limits = 1...RepeatPlan.mostParallel
        let parallel = counts.count < 2 ? 1 : try RepeatPlan.number(counts[1], in: limits, "how many at a time")
        let delay = parts.count < 2 ? 0 : try RepeatPlan.delay(parts[1])
        self.init(times: times, parallel: parallel, delayMilliseconds: delay)
    }

    /// The plan as ``init(_:)`` reads it.
    package var description: String {
        let counts = parallel == 1 ? "\(times)" : "\(times) x \(parallel)"
        return delayMilliseconds == 0 ? counts : "\(counts), \(delayMilliseconds)ms"
    }

    /// Whether the user must confirm it: many requests to another machine.
    package func needsConfirmation(forHost host: String) -> Bool {
        times > RepeatPlan.confirmedTimes && !ComposedRequest.isLocal(host)
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

    private static func delay(_ text: String) throws(ControlError) -> Int {
        let units = [("ms", 1), ("s", 1000)]
        guard let (unit, scale) = units.first(where: { text.hasSuffix($0.0) }) else {
            throw ControlError("'\(text.prefix(40))' is no delay with its unit, as 50ms or 2s.", hint: help)
        }
        return try number(String(text.dropLast(unit.count)), in: 0...(longestDelay / scale), "how long to wait") * scale
    }
}
