/// ``Timings`` and the delivery to the client, in microseconds. For finished recorded exchanges they add up to the
/// total.
package struct Phases: Sendable, Hashable {
    package private(set) var timings: Timings
    /// From the server's last byte to the last byte for the client: throttles, breakpoints and slow clients.
    package private(set) var deliver: Int64?

    private static let measured: [any WritableKeyPath<Timings, Int64?> & Sendable] = [
        \.blocked, \.dns, \.connect, \.tls, \.send, \.wait, \.receive,
    ]

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

    /// The unfinished phase, which gets the rest of the total; `nil` if the whole response had arrived.
    private static func phaseOfRest(_ record: ExchangeRecord) -> WritableKeyPath<Timings, Int64?>? {
        let timings = record.timings
        let isSilent = Phases.measured.allSatisfy { timings[keyPath: $0] ?? 0 == 0 }
        if timings.receive == nil || isSilent {
            guard record.extras.origin == nil || record.failure != nil || isSilent else { return nil }
            return record.upstreamConnection == nil ? \.blocked : \.wait
        }
        return record.kind == .http || record.extras.origin != nil ? nil : \.receive
    }

    /// Shortens the phases if a connection made for another exchange took longer than this exchange waited for it.
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

    /// The response's body, as in `size:`; for unread bytes, those from the server.
    package var listedSize: Int64 { kind == .http || kind == .webSocket ? sizes.responseBody : sizes.responseWire }
}
