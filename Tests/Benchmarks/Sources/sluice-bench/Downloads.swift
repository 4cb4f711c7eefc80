/// Downloads of 100 MiB over HTTPS, one after the other on one connection.
struct Downloads: Measurement {
    func applies(to subject: Subject) -> Bool { subject.traffic.contains(.secure) }

    func measure(_ subject: Subject, in bench: Bench) throws -> [Figure: Double] {
        try bench.withHop(subject, for: .secure) { hop in
            let load = Load(
                clients: try bench.makeClients(1, hop, .secure, path: "/100m", bodySize: Site.largeSize)
            )
            // The first download alone finds the program's memory cold.
            try load.run(seconds: 0.01)
            bench.settle()
            let cpu = hop.process.cpuSeconds
            let timings = try load.run(seconds: bench.seconds)
            bench.settle()
            return [
                .cpu: (hop.process.cpuSeconds - cpu) / Double(timings.count) * 1e3,
                .throughput: Double(Site.largeSize * timings.count) / timings.sum / 1e6,
            ]
        }
    }
}

/// The highest memory while 1 GiB is downloaded over HTTPS.
struct HugeDownload: Measurement {
    func rounds(standard: Int) -> Int { 1 }

    /// mitmdump, which reads bodies to their end before it sends them, would need the memory of the whole body.
    func applies(to subject: Subject) -> Bool { subject.kind == .nginx || subject.kind == .sluice }

    func measure(_ subject: Subject, in bench: Bench) throws -> [Figure: Double] {
        try bench.withHop(subject, for: .secure) { hop in
            try bench.makeClients(1, hop, .secure, path: "/1g", bodySize: Site.hugeSize)[0].send()
            return [.memory: Double(hop.process.peakResidentBytes) / Double(1 << 20)]
        }
    }
}
