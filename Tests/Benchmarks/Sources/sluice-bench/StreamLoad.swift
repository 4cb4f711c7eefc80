import Foundation

/// A number of requests over HTTP/2: four connections of sixteen streams at once, by `h2load`.
struct StreamLoad {
    /// The path of `h2load`.
    var program: String
    var route: Route
    /// The path of the URL, and the size that each body must have.
    var path = "/1k"
    var bodySize = Site.smallSize
    /// The folder for its files.
    var folder: String

    /// Sends the requests; returns how long they took.
    ///
    /// - Throws: if not every response is a 200 over HTTP/2, or the bodies do not have the expected size.
    func run(requests: Int) throws -> Timings {
        let (log, times) = ("\(folder)/h2load.log", "\(folder)/h2load.times")
        try? FileManager.default.removeItem(atPath: times)
        let relay = try Relay(route: route)
        do {
            defer { relay.close() }
            try runProgram(
                program,
                ["-n", "\(requests)", "-c", "4", "-m", "16", "--connect-to=127.0.0.1:\(relay.port)"]
                    + ["--log-file=\(times)", "https://\(route.authority)\(path)"],
                log: log
            )
        }
        if let failure = relay.failure { throw failure }
        let text = try String(contentsOfFile: log, encoding: .utf8)
        let expected = ["status codes: \(requests) 2xx", "(\(requests * bodySize)) data", "Application protocol: h2\n"]
        if let missing = expected.first(where: { !text.contains($0) }) {
            let status = text.split(separator: "\n").first { $0.hasPrefix("status codes") } ?? ""
            throw BenchmarkError("h2load did not print '\(missing.filter { !$0.isNewline })'; \(status)")
        }
        return try timings(times)
    }

    /// Reads h2load's log: a line for each request, with its start, its status, and its microseconds.
    private func timings(_ path: String) throws -> Timings {
        var timings = Timings()
        for line in try Data(contentsOf: URL(fileURLWithPath: path)).split(separator: UInt8(ascii: "\n")) {
            let columns = line.split(separator: UInt8(ascii: "\t"))
            guard columns.count >= 3, let time = Double(String(decoding: columns[2], as: UTF8.self)) else {
                throw BenchmarkError("not a line of h2load's log: \(String(decoding: line, as: UTF8.self))")
            }
            timings.add(time / 1e6)
        }
        return timings
    }
}
