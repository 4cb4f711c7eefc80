/// Readers of a file refuse numbers outside of these ranges, so that plain arithmetic cannot overflow. Numbers up to
/// 2^53 are exact in JSON and all scripting languages, and a thousand times as much fits in 64 bits.
package enum RecordedRange {
    private static let largest: Int64 = 1 << 53

    /// Of exchanges, connections and rows.
    package static let numbers: ClosedRange<Int64> = 1...largest
    /// Bytes, messages, and durations in microseconds.
    package static let amounts: ClosedRange<Int64> = 0...largest
    /// Microseconds since 1970, from 1684 to 2255.
    package static let moments: ClosedRange<Int64> = -largest...largest

    package static func nearest(_ number: Double, in range: ClosedRange<Int64>) -> Int64 {
        min(max(Int64(exactly: number.rounded()) ?? (number > 0 ? .max : .min), range.lowerBound), range.upperBound)
    }
}
