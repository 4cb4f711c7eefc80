/// Sizes and durations as people read them.
package enum Measures {
    /// Bytes in at most four digits and a unit, for example `1.5 KB` (powers of 1000).
    package static func size(_ bytes: Int64) -> String {
        scaled(bytes, units: ["B", "KB", "MB", "GB", "TB"], step: 1000)
    }

    /// Microseconds as milliseconds or seconds, for example `12.3 ms`.
    package static func duration(_ microseconds: Int64?) -> String {
        guard let microseconds else { return "-" }
        if microseconds < 1_000_000 { return tenths(microseconds, 1000) + " ms" }
        return tenths(microseconds, 1_000_000) + " s"
    }

    /// The time from one moment to another, both in microseconds, in seconds to the millisecond: `1.204 s`.
    package static func elapsed(from start: Int64, to moment: Int64) -> String {
        let milliseconds = max(moment - start, 0) / 1000
        let fraction = String(milliseconds % 1000)
        return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction + " s"
    }

    private static func scaled(_ value: Int64, units: [String], step: Int64) -> String {
        var unit = 0
        var divisor: Int64 = 1
        while unit + 1 < units.count, value / divisor >= step {
            divisor *= step
            unit += 1
        }
        return unit == 0 ? "\(value) \(units[0])" : "\(tenths(value, divisor)) \(units[unit])"
    }

    private static func tenths(_ value: Int64, _ divisor: Int64) -> String {
        let whole = value / divisor
        return whole >= 100 ? "\(whole)" : "\(whole).\(value % divisor * 10 / divisor)"
    }
}

extension Character {
    /// Whether a line of text ends here; of Unicode's other line ends a terminal is not told.
    var isLineEnd: Bool { self == "\n" || self == "\r\n" }
}
