import Glibc

/// Requests of 1 KiB at a fixed rate on one connection: the latency of a hop that has little to do.
///
/// A request is sent when it is due. If the response before it is late, its own latency is counted from the time at
/// which it was due.
struct PacedRequests: Measurement {
    private static let perSecond = 50.0

    func applies(to subject: Subject) -> Bool { subject.traffic.contains(.plain) }

    func measure(_ subject: Subject, in bench: Bench) throws -> [Figure: Double] {
        try bench.withHop(subject, for: .plain) { hop in
            let client = try bench.makeClients(1, hop, .plain)[0]
            _ = try send(25, client)
            // The 99th percentile needs more samples than one round of the other rows has at this rate.
            let timings = try send(Int(2 * bench.seconds * PacedRequests.perSecond), client)
            return [.p50: timings.percentile(0.5) * 1e6, .p99: timings.percentile(0.99) * 1e6]
        }
    }

    private func send(_ count: Int, _ client: Client) throws -> Timings {
        var timings = Timings()
        let start = ContinuousClock.now
        for index in 0..<count {
            let due = start + .seconds(Double(index) / PacedRequests.perSecond)
            var sent = ContinuousClock.now
            if sent < due {
                usleep(UInt32((due - sent).inSeconds * 1e6))
                sent = .now
            } else {
                sent = due
            }
            try client.send()
            timings.add((ContinuousClock.now - sent).inSeconds)
        }
        return timings
    }
}
