import HTTPModel
import Text

/// Moments as text, in UTC, without Foundation.
package enum Timestamp {
    struct Parts: Equatable {
        var year: Int
        var month: Int
        var day: Int
        var hour: Int
        var minute: Int
        var second: Int
        var microsecond: Int
    }

    /// ISO 8601 with microseconds, for example `2026-11-21T10:57:03.000125Z`.
    package static func iso8601(_ microseconds: Int64) -> String {
        let parts = parts(microseconds)
        return "\(date(parts))T\(time(parts)).\(parts.microsecond.padded(to: 6))Z"
    }

    /// Date and time to the millisecond, for people, for example `2026-11-21 10:57:03.000 UTC`.
    package static func readable(_ microseconds: Int64) -> String {
        "\(date(parts(microseconds))) \(clock(microseconds)) UTC"
    }

    /// The time of day to the millisecond, for example `10:57:03.000`.
    package static func clock(_ microseconds: Int64) -> String {
        let parts = parts(microseconds)
        return "\(time(parts)).\((parts.microsecond / 1000).padded(to: 3))"
    }

    /// The time of day to the second, for example `10:57:03`.
    static func timeOfDay(_ microseconds: Int64) -> String {
        let second = floorDivision(floorDivision(Int(microseconds), 1_000_000).quotient, 86_400).remainder
        return "\((second / 3600).padded(to: 2)):\((second / 60 % 60).padded(to: 2)):\((second % 60).padded(to: 2))"
    }

    /// Splits microseconds since 1970 in the Gregorian calendar.
    static func parts(_ microseconds: Int64) -> Parts {
        let (seconds, microsecond) = floorDivision(Int(microseconds), 1_000_000)
        let (days, inDay) = floorDivision(seconds, 86_400)
        let (year, month, day) = CivilDate.of(day: Int64(days))
        return Parts(
            year: Int(year),
            month: Int(month),
            day: Int(day),
            hour: inDay / 3600,
            minute: inDay / 60 % 60,
            second: inDay % 60,
            microsecond: microsecond
        )
    }

    /// Division that rounds towards the past, so that moments before 1970 come out right too.
    private static func floorDivision(_ value: Int, _ divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func date(_ parts: Parts) -> String {
        "\(parts.year.padded(to: 4))-\(parts.month.padded(to: 2))-\(parts.day.padded(to: 2))"
    }

    private static func time(_ parts: Parts) -> String {
        "\(parts.hour.padded(to: 2)):\(parts.minute.padded(to: 2)):\(parts.second.padded(to: 2))"
    }
}
