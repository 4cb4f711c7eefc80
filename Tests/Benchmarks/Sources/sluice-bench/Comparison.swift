import Glibc

/// The programs that carry the load, in the order of the report's columns.
enum Subject: CaseIterable {
    /// No hop: the client asks the origin.
    case direct
    /// nginx between client and origin.
    case nginx
    /// Sluice between client and origin, recording.
    case sluice
}

/// A kind of traffic on which the subjects are compared by the CPU that they need.
enum Workload: String, CaseIterable {
    case http = "HTTP keep-alive"
    case https = "HTTPS h1 keep-alive"
    case http2 = "HTTPS h2, 4 × 16 streams"
    case handshake = "new CONNECT + TLS each"

    var isSecure: Bool { self != .http }

    /// Requests for each round; a handshake costs many times what a request does.
    func requests(of most: Int) -> Int { self == .handshake ? max(most / 10, 1) : most }

    /// The most that Sluice may need for each unit of what nginx needs: for the first working Sluice, and as designed.
    var limits: (issue: Double, design: Double) {
        switch self {
        case .http: (2.7, 1.8)
        case .https: (3.0, 2.0)
        case .http2: (3.2, 2.1)
        case .handshake: (1.8, 1.35)
        }
    }
}

/// Compares the CPU of the subjects, round by round in turn, so that all of them meet the same weather.
struct Comparison {
    let bench: Bench
    let rounds: Int
    let requests: Int
    let connections: Int
    /// The load generator for HTTP/2.
    let h2load: String

    /// Microseconds of CPU for each exchange: for each subject the median of the rounds.
    func run(_ workload: Workload) throws -> [Subject: Double] {
        for subject in Subject.allCases {
            try send(workload, subject, requests: max(workload.requests(of: requests) / 4, connections))
        }
        var costs: [Subject: [Double]] = [:]
        for round in 0..<rounds {
            // Whoever goes first changes from round to round.
            let order = Subject.allCases.indices.map { Subject.allCases[($0 + round) % Subject.allCases.count] }
            for subject in order {
                costs[subject, default: []].append(try cost(workload, subject))
            }
        }
        return costs.mapValues { $0.median }
    }

    private func cost(_ workload: Workload, _ subject: Subject) throws -> Double {
        let process = bench.process(subject)
        let count = workload.requests(of: requests)
        let before = process.cpuSeconds
        try send(workload, subject, requests: count)
        // The recorder's last transaction belongs to the exchanges, too.
        usleep(300_000)
        return (process.cpuSeconds - before) / Double(count) * 1e6
    }

    private func send(_ workload: Workload, _ subject: Subject, requests: Int) throws {
        // The origin speaks HTTP/1.1 only, as the server behind both hops; without a hop it is asked that way.
        if workload == .http2, subject != .direct {
            try StreamLoad(
                program: h2load,
                route: bench.http2Route(subject),
                path: "/1k",
                requests: requests,
                log: bench.site.folder + "/h2load.log"
            ).go()
        } else {
            try load(workload, subject, requests: requests).go()
        }
    }

    private func load(_ workload: Workload, _ subject: Subject, requests: Int) -> Load {
        Load(
            route: bench.route(subject, isSecure: workload.isSecure),
            path: "/1k",
            bodySize: Site.smallSize,
            requests: requests,
            connections: connections,
            reconnects: workload == .handshake,
            authority: bench.site.authority
        )
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
