import Foundation
import Synchronization

/// Requests of several clients at once, each as soon as the response before it is there.
struct Load: Sendable {
    let clients: [Client]
    /// Whether each request has a connection, and a TLS handshake, of its own.
    var reconnects = false

    /// Sends requests for some seconds, and finishes those that are begun.
    ///
    /// Connections that are open are used, and stay open.
    @discardableResult
    func run(seconds: Double) throws -> Timings {
        let timings = Mutex(Timings())
        let failure = Mutex<(any Error)?>(nil)
        let group = DispatchGroup()
        let end = ContinuousClock.now + .seconds(seconds)
        for client in clients {
            group.enter()
            Thread.detachNewThread { [self] in
                do {
                    let measured = try drive(client, until: end)
                    timings.withLock { $0.add(measured) }
                } catch {
                    failure.withLock { $0 = error }
                }
                group.leave()
            }
        }
        group.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
        return timings.withLock { $0 }
    }

    private func drive(_ client: Client, until end: ContinuousClock.Instant) throws -> Timings {
        var timings = Timings()
        var start = ContinuousClock.now
        while start < end {
            if reconnects { client.disconnect() }
            try client.send()
            let now = ContinuousClock.now
            timings.add((now - start).inSeconds)
            start = now
        }
        return timings
    }
}

/// How long requests took.
struct Timings: Sendable {
    private var seconds: [Double] = []

    var count: Int { seconds.count }
    var sum: Double { seconds.reduce(0, +) }

    mutating func add(_ request: Double) { seconds.append(request) }

    mutating func add(_ other: Timings) { seconds += other.seconds }

    /// The seconds that this share of the requests did not exceed; shares are from 0 to 1.
    func percentile(_ share: Double) -> Double {
        guard !seconds.isEmpty else { return .nan }
        let index = Int((Double(count) * share).rounded(.up)) - 1
        return seconds.sorted()[min(max(index, 0), count - 1)]
    }
}

extension [Double] {
    /// The middle one, or the mean of the two in the middle.
    var median: Double {
        guard !isEmpty else { return .nan }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
