/// The ranges of the numbers in a recording: readers of a file refuse what is outside, so that plain arithmetic on what
/// was read cannot overflow.
///
/// Up to 2^53 a number survives JSON and every language that scripts are written in. A thousand of them, or one a thousand
/// times, still fit 64 bits.
package enum RecordedRange {
    private static let largest: Int64 = 1 << 53

    /// Numbers of exchanges, connections and rows.
    package static let numbers: ClosedRange<Int64> = 1...largest
    /// Bytes, messages, and lengths of time in microseconds.
    package static let amounts: ClosedRange<Int64> = 0...largest
    /// Moments in microseconds since 1970, from 1684 to 2255, as an archive may be older than 1970.
    package static let moments: ClosedRange<Int64> = -largest...largest

    /// A number of an archive, rounded to the nearest one in a range.
    package static func nearest(_ number: Double, in range: ClosedRange<Int64>) -> Int64 {
        min(max(Int64(exactly: number.rounded()) ?? (number > 0 ? .max : .min), range.lowerBound), range.upperBound)
    }
}
