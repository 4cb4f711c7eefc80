/// Requests of 1 KiB over HTTP/2, four connections of sixteen streams at once.
struct StreamRequests: Measurement {
    func applies(to subject: Subject) -> Bool { subject.traffic.contains(.http2) }

    func measure(_ subject: Subject, in bench: Bench) throws -> [Figure: Double] {
        try bench.withHop(subject, for: .http2) { hop in
            let load = StreamLoad(program: bench.h2load, route: try hop.route(.http2), folder: hop.folder)
            let count = try warmUp(load, bench)
            bench.settle()
            let cpu = hop.process.cpuSeconds
            let timings = try load.run(requests: count)
            bench.settle()
            return [
                .cpu: (hop.process.cpuSeconds - cpu) / Double(count) * 1e6,
                .p50: timings.percentile(0.5) * 1e3,
                .p99: timings.percentile(0.99) * 1e3,
            ]
        }
    }

    /// Sends requests for at least a quarter of a round; returns how many a whole round has.
    private func warmUp(_ load: StreamLoad, _ bench: Bench) throws -> Int {
        var count = 640
        while true {
            let start = ContinuousClock.now
            _ = try load.run(requests: count)
            let seconds = (ContinuousClock.now - start).inSeconds
            if seconds >= bench.seconds / 4 { return Int(Double(count) * bench.seconds / seconds) }
            count *= 4
        }
    }
}
