/// Where the time of an exchange went, phase after phase: ``Timings``, and the delivery to the client. Once the exchange is
/// over, the phases of recorded exchanges add up to its total. All in microseconds.
package struct Phases: Sendable, Hashable {
    package private(set) var timings: Timings
    /// From the last byte of the server's response to the last byte for the client: what a throttle, a breakpoint or a
    /// slow client took; `nil` if that was no time.
    package private(set) var deliver: Int64?

    /// The phases in the order in which they happen.
    private static let measured: [any WritableKeyPath<Timings, Int64?> & Sendable] = [
        \.blocked, \.dns, \.connect, \.tls, \.send, \.wait, \.receive,
    ]

    /// The sum of the phases that happened.
    package var sum: Int64 {
        Phases.measured.reduce(max(0, deliver ?? 0)) { sum, phase in
            sum.addingReportingOverflow(max(0, timings[keyPath: phase] ?? 0)).partialValue
        }
    }

    fileprivate init(_ record: ExchangeRecord) {
        timings = record.timings
        guard let total = timings.total else { return }
        let rest = total.subtractingReportingOverflow(sum).partialValue
        if rest < 0 {
            if record.extras.origin == nil { shorten(by: -rest) }
        } else if rest > 0, let phase = Phases.phaseOfRest(record) {
            timings[keyPath: phase] = (timings[keyPath: phase] ?? 0) + rest
        } else if rest > 0, record.extras.origin == nil {
            deliver = rest
        }
    }

    /// The phase that lasted until the end; `nil` if the whole response had arrived before.
    private static func phaseOfRest(_ record: ExchangeRecord) -> WritableKeyPath<Timings, Int64?>? {
        let timings = record.timings
        let isSilent = Phases.measured.allSatisfy { timings[keyPath: $0] ?? 0 == 0 }
        if timings.receive == nil || isSilent {
            guard record.extras.origin == nil || record.failure != nil || isSilent else { return nil }
            return record.upstreamConnection == nil ? \.blocked : \.wait
        }
        return record.kind == .http || record.extras.origin != nil ? nil : \.receive
    }

    /// A connection that another exchange had begun to make took longer than this one waited for it.
    private mutating func shorten(by excess: Int64) {
        var excess = excess
        for phase in Phases.measured {
            let part = min(excess, max(0, timings[keyPath: phase] ?? 0))
            if part > 0 { timings[keyPath: phase] = (timings[keyPath: phase] ?? 0) - part }
            excess -= part
        }
    }
}

extension ExchangeRecord {
    package var phases: Phases { Phases(self) }

    /// The size that lists show and `size:` compares: the body of the response; of what is not read, the bytes from the server.
    package var listedSize: Int64 { kind == .http || kind == .webSocket ? sizes.responseBody : sizes.responseWire }
}
