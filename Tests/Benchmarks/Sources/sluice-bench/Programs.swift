import Foundation

/// The time from the start of a program until it accepts connections, and its memory then.
struct StartOfProxy: Measurement {
    func rounds(standard: Int) -> Int { 11 }

    func applies(to subject: Subject) -> Bool { subject.traffic.contains(.plain) }

    func measure(_ subject: Subject, in bench: Bench) throws -> [Figure: Double] {
        try bench.withHop(subject, for: .plain) { hop in
            [.time: hop.startTime * 1e3, .memory: Double(hop.process.residentBytes) / 1e6]
        }
    }
}

/// The run time of a command of Sluice, next to that of `curl --version`.
struct CommandTime: Measurement {
    let arguments: [String]
    /// Whether the command reads a session, of `exchanges` exchanges.
    var readsSession = false

    private static let exchanges = 100
    /// Runs in each of three rounds; the median of all is nearly that of the rounds' medians.
    private static let runs = 7

    func rounds(standard: Int) -> Int { 3 }

    func applies(to subject: Subject) -> Bool { subject.kind == .sluice || subject.kind == .curl }

    func measure(_ subject: Subject, in bench: Bench) throws -> [Figure: Double] {
        guard subject.kind == .sluice, readsSession else {
            let folder = try bench.site.makeFolder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            return try time(subject, in: folder, bench.site)
        }
        return try bench.withHop(subject, for: .plain) { hop in
            let client = try bench.makeClients(1, hop, .plain)[0]
            for _ in 0..<CommandTime.exchanges { try client.send() }
            client.disconnect()
            hop.process.stop()
            return try time(subject, in: hop.folder, bench.site)
        }
    }

    private func time(_ subject: Subject, in folder: String, _ site: Site) throws -> [Figure: Double] {
        let times = try (0..<CommandTime.runs).map { _ in
            try ChildProcess(
                subject.program,
                subject.kind == .curl ? ["--version"] : arguments,
                log: "\(folder)/command.log",
                environment: subject.sluiceVariables(site)
            ).waitUntilExit()
        }
        return [.time: times.median * 1e3]
    }
}

/// The size of the program without its symbols.
struct StrippedSize: Measurement {
    func rounds(standard: Int) -> Int { 1 }

    func applies(to subject: Subject) -> Bool { subject.kind == .sluice }

    func measure(_ subject: Subject, in bench: Bench) throws -> [Figure: Double] {
        let folder = try bench.site.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let stripped = "\(folder)/stripped"
        try runProgram("strip", ["-o", stripped, subject.program], log: "\(folder)/strip.log")
        return [.disk: Double(try fileSize(stripped)) / 1e6]
    }
}
