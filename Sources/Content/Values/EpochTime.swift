/// A number that may be a time since 1970.
package struct EpochTime: Sendable, Equatable {
    package enum Unit: Int64, Sendable {
        case seconds = 1_000_000
        case milliseconds = 1000
        case microseconds = 1
    }

    /// From 2001 to 2100: other numbers are probably counts.
    private static let plausible: ClosedRange<Int64> = 978_307_200_000_000...4_102_444_800_000_000

    package let microseconds: Int64

    /// Reads a JSON number; without `unit`, uses the first unit that gives a plausible time.
    package init?(_ number: some StringProtocol, unit: Unit? = nil) {
        let whole = number.prefix { $0 != "." }
        guard whole.utf8.count <= 18, let value = Int64(whole) else { return nil }
        let fraction = number.dropFirst(whole.count + 1).prefix(6)
        guard fraction.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        for candidate in unit.map({ [$0] }) ?? [.seconds, .milliseconds, .microseconds] {
            let (moment, overflow) = value.multipliedReportingOverflow(by: candidate.rawValue)
            guard !overflow, EpochTime.plausible.contains(moment) else { continue }
            let digits = Int64("\(fraction)" + String(repeating: "0", count: 6 - fraction.count)) ?? 0
            microseconds = moment + (candidate == .seconds ? digits : 0)
            return
        }
        return nil
    }
}
