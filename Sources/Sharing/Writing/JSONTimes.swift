package import Content
import Text

extension JSONWriter {
    /// Writes microseconds as a number of milliseconds; -1 stands for what did not happen (HAR 1.2).
    mutating func milliseconds(_ microseconds: Int64?) {
        number(microseconds.map { JSONWriter.text(milliseconds: $0) } ?? "-1")
    }

    /// Writes microseconds as a number of seconds.
    mutating func seconds(_ microseconds: Int64) {
        let (seconds, fraction) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        number("\(microseconds < 0 ? "-" : "")\(seconds).\(fraction.padded(to: 6))")
    }

    /// Writes a member in milliseconds unless the phase did not happen.
    package mutating func optionalMilliseconds(_ name: String, _ microseconds: Int64?) {
        guard let microseconds else { return }
        key(name)
        milliseconds(microseconds)
    }

    /// Milliseconds with as many decimals as the microseconds need.
    private static func text(milliseconds microseconds: Int64) -> String {
        let magnitude = microseconds.magnitude
        let sign = microseconds < 0 ? "-" : ""
        let fraction = magnitude % 1000
        guard fraction != 0 else { return "\(sign)\(magnitude / 1000)" }
        var digits = fraction.padded(to: 3)
        while digits.last == "0" { digits.removeLast() }
        return "\(sign)\(magnitude / 1000).\(digits)"
    }
}
