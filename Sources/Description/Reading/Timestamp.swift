import HTTPModel
import Text

/// Times as text: for programs in UTC, for people in local time.
package enum Timestamp {
    private struct Parts {
        let day: (year: Int64, month: Int64, day: Int64)
        /// The second of the day.
        let second: Int
        let microsecond: Int

        init(_ microseconds: Int64) {
            let (seconds, microsecond) = floorDivision(Int(microseconds), 1_000_000)
            let (days, second) = floorDivision(seconds, 86_400)
            day = CivilDate.of(day: Int64(days))
            self.second = second
            self.microsecond = microsecond
        }

        var date: String { "\(day.year.padded(to: 4))-\(day.month.padded(to: 2))-\(day.day.padded(to: 2))" }

        var time: String {
            "\((second / 3600).padded(to: 2)):\((second / 60 % 60).padded(to: 2)):\((second % 60).padded(to: 2))"
        }
    }

    /// ISO 8601 with microseconds, for example `2026-11-21T10:57:03.000125Z`.
    package static func iso8601(_ microseconds: Int64) -> String {
        let parts = Parts(microseconds)
        guard (0...9_999).contains(parts.day.year) else {
            return "\(parts.date)T\(parts.time).\(parts.microsecond.padded(to: 6))Z"
        }
        return String(unsafeUninitializedCapacity: 27) { text in
            var count = 0
            func put(_ number: Int, _ digits: Int, _ sign: Unicode.Scalar) {
                var rest = number
                for place in stride(from: count + digits - 1, through: count, by: -1) {
                    text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                count += digits
                text[count] = UInt8(ascii: sign)
                count += 1
            }
            put(Int(parts.day.year), 4, "-")
            put(Int(parts.day.month), 2, "-")
            put(Int(parts.day.day), 2, "T")
            put(parts.second / 3600, 2, ":")
            put(parts.second / 60 % 60, 2, ":")
            put(parts.second % 60, 2, ".")
            put(parts.microsecond, 6, "Z")
            return count
        }
    }

    /// ISO 8601 in seconds since 1970, for example `2026-11-21T10:57:03Z`.
    package static func iso8601(seconds: Int64) -> String {
        let parts = Parts(seconds.multipliedReportingOverflow(by: 1_000_000).partialValue)
        return "\(parts.date)T\(parts.time)Z"
    }

    /// Local date and time to the millisecond with the zone, for example `2026-11-21 10:57:03.000 +01:00`.
    package static func readable(_ microseconds: Int64) -> String {
        "\(Parts(local(microseconds)).date) \(clock(microseconds)) \(zone(at: microseconds))"
    }

    /// The local time of day to the millisecond, for example `10:57:03.000`.
    package static func clock(_ microseconds: Int64) -> String {
        let parts = Parts(local(microseconds))
        return "\(parts.time).\((parts.microsecond / 1000).padded(to: 3))"
    }

    /// The local zone at a moment: `UTC`, `+01:00`.
    package static func zone(at microseconds: Int64) -> String {
        let minutes = (local(microseconds) - microseconds) / 60_000_000
        guard minutes != 0 else { return "UTC" }
        let (hours, rest) = abs(minutes).quotientAndRemainder(dividingBy: 60)
        return "\(minutes < 0 ? "-" : "+")\(hours.padded(to: 2)):\(rest.padded(to: 2))"
    }

    /// The local time in microseconds since 1970, as if it were UTC.
    private static func local(_ microseconds: Int64) -> Int64 {
        let seconds = Int64(floorDivision(Int(microseconds), 1_000_000).quotient)
        return microseconds &+ FilterClock.local(now: 0).secondsAheadOfUTC(seconds) * 1_000_000
    }

    /// How far one moment is from another in its largest unit: `in 3 days`, `2 hours ago`.
    package static func relative(_ moment: Int64, to now: Int64) -> String {
        let (distance, overflow) = moment.subtractingReportingOverflow(now)
        guard !overflow else { return moment > now ? "in the far future" : "long ago" }
        let seconds = Int64(distance.magnitude / 1_000_000)
        return distance > 0 ? "in \(span(seconds))" : "\(span(seconds)) ago"
    }

    /// Seconds in their largest unit: `3 days`.
    package static func span(_ seconds: Int64) -> String {
        let units: [(Int64, String)] = [(31_557_600, "year"), (86_400, "day"), (3600, "hour"), (60, "minute")]
        for (length, name) in units where seconds >= (name == "year" ? 2 * length : length) {
            return Int(clamping: seconds / length).of(name)
        }
        return Int(clamping: seconds).of("second")
    }

    /// The local time of day to the second, for example `10:57:03`.
    package static func timeOfDay(_ microseconds: Int64) -> String { Parts(local(microseconds)).time }

    /// Division that rounds towards the past, so that moments before 1970 come out right too.
    private static func floorDivision(_ value: Int, _ divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
