/// One way of using a subject; each round of it returns the figures of some rows.
protocol Measurement: Sendable {
    /// How often each subject is measured, if the usual number of rounds is `standard`; the medians are printed.
    func rounds(standard: Int) -> Int

    func applies(to subject: Subject) -> Bool

    /// Makes one round.
    func measure(_ subject: Subject, in bench: Bench) throws -> [Figure: Double]
}

extension Measurement {
    func rounds(standard: Int) -> Int { standard }
}

/// The figures that a measurement can return, each in the unit of its row.
enum Figure {
    case cpu
    /// The latency that half of the requests did not exceed.
    case p50
    /// The latency that 99 % of the requests did not exceed.
    case p99
    case throughput
    /// Memory of the processes.
    case memory
    /// Bytes on the disk.
    case disk
    /// From start to end of a program, or until it accepts connections.
    case time
}
