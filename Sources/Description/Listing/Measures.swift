import Text

package enum Measures {
    /// Bytes in at most four digits and a unit, for example `1.5 KB` (powers of 1000).
    package static func size(_ bytes: Int64) -> String {
        let units = ["B", "KB", "MB", "GB", "TB"]
        var unit = 0
        var divisor: Int64 = 1
        while unit + 1 < units.count, bytes / divisor >= 1000 {
            divisor *= 1000
            unit += 1
        }
        return "\(unit == 0 ? "\(bytes)" : tenths(bytes, divisor)) \(units[unit])"
    }

    /// Microseconds as milliseconds or seconds, for example `12.3 ms`.
    package static func duration(_ microseconds: Int64?) -> String {
        guard let microseconds else { return "-" }
        if microseconds < 1_000_000 { return tenths(microseconds, 1000) + " ms" }
        return tenths(microseconds, 1_000_000) + " s"
    }

    /// Growing times in microseconds like ``duration(_:)``, with more digits if two would be equal: `500.5 ms`.
    package static func durations(_ growing: [Int64]) -> [String] {
        let short = growing.map { duration($0) }
        guard zip(short, short.dropFirst()).contains(where: { $0 == $1 }) else { return short }
        let (digits, unit) = growing.last ?? 0 < 1_000_000 ? (3, "ms") : (6, "s")
        var decimals = digits
        var power: Int64 = 10
        while decimals > 0, growing.allSatisfy({ $0 % power == 0 }) {
            decimals -= 1
            power *= 10
        }
        let divisor: Int64 = digits == 3 ? 1_000 : 1_000_000
        return growing.map { time in
            let fraction = (time % divisor).padded(to: digits).prefix(decimals)
            return "\(time / divisor)\(decimals > 0 ? "." : "")\(fraction) \(unit)"
        }
    }

    /// The time between two moments in microseconds, as seconds with three decimals: `1.204 s`.
    package static func elapsed(from start: Int64, to moment: Int64) -> String {
        let milliseconds = max(moment - start, 0) / 1000
        return "\(milliseconds / 1000).\((milliseconds % 1000).padded(to: 3)) s"
    }

    private static func tenths(_ value: Int64, _ divisor: Int64) -> String {
        let whole = value / divisor
        return whole >= 100 ? "\(whole)" : "\(whole).\(value % divisor * 10 / divisor)"
    }
}

extension Character {
    /// Whether the character ends a line; Unicode's other line separators do not end lines in a terminal.
    var isLineEnd: Bool { self == "\n" || self == "\r\n" }
}
