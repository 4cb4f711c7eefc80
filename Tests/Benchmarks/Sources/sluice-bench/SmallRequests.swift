/// Requests of 1 KiB over HTTP/1.1, as many as the clients can send.
struct SmallRequests: Measurement {
    let traffic: Traffic
    /// Whether each request has a connection, and a TLS handshake, of its own.
    var reconnects = false

    /// Connections at once if each request has its own.
    private static let reconnectingClients = 8

    func applies(to subject: Subject) -> Bool { subject.traffic.contains(traffic) }

    func measure(_ subject: Subject, in bench: Bench) throws -> [Figure: Double] {
        try bench.withHop(subject, for: traffic) { hop in
            let count = reconnects ? SmallRequests.reconnectingClients : bench.connections
            let load = Load(clients: try bench.makeClients(count, hop, traffic), reconnects: reconnects)
            let warmUp = try load.run(seconds: bench.seconds / 4)
            bench.settle()
            let (cpu, memory) = (hop.process.cpuSeconds, hop.process.residentBytes)
            let timings = try load.run(seconds: bench.seconds)
            bench.settle()
            let requests = Double(timings.count)
            var figures: [Figure: Double] = [
                .cpu: (hop.process.cpuSeconds - cpu) / requests * 1e6,
                .p50: timings.percentile(0.5) * 1e3,
                .p99: timings.percentile(0.99) * 1e3,
                .memory: Double(hop.process.residentBytes - memory) / Double(1 << 20),
            ]
            if subject.kind == .sluice {
                hop.process.stop()
                figures[.disk] = Double(try Subject.sessionSize(in: hop.folder)) / (requests + Double(warmUp.count))
            }
            return figures
        }
    }
}
