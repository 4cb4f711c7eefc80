import Foundation

/// A bounded number of requests over HTTP/2: four connections of sixteen streams at once, by `h2load`.
struct StreamLoad {
    /// Where `h2load` lies.
    var program: String
    var route: Route
    var path: String
    var requests: Int
    /// The file for what it prints.
    var log: String

    /// Sends all of the requests, each of which must be answered with 200.
    func go() throws {
        let relay = try Relay(route: route)
        try run(
            program,
            [
                "-n", "\(requests)", "-c", "4", "-m", "16", "--connect-to=127.0.0.1:\(relay.port)",
                "https://\(route.host)\(path)",
            ],
            log: log
        )
        try relay.close()
        let text = try String(contentsOfFile: log, encoding: .utf8)
        guard text.contains("status codes: \(requests) 2xx"), text.contains("Application protocol: h2") else {
            throw BenchmarkError("h2load did not get what it asked for: \(text)")
        }
    }
}
