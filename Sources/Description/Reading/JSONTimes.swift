package import Content

extension JSONWriter {
    /// Writes microseconds as a number of milliseconds; -1 if the phase did not happen (HAR 1.2).
    package mutating func milliseconds(_ microseconds: Int64?) {
        guard let microseconds else { return value(Int64(-1)) }
        value(microseconds, decimals: 3, trimsZeros: true)
    }

    package mutating func seconds(_ microseconds: Int64) {
        value(microseconds, decimals: 6, trimsZeros: false)
    }

    /// Writes a member in milliseconds unless the phase did not happen.
    package mutating func optionalMilliseconds(_ name: String, _ microseconds: Int64?) {
        guard let microseconds else { return }
        key(name)
        milliseconds(microseconds)
    }
}
