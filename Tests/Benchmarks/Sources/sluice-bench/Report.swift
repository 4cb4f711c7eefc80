import Foundation

/// Writes the figures, each beside what it is to reach.
struct Report {
    func printHeader(rounds: Int, requests: Int, connections: Int) {
        line("CPU for each exchange of 1 KiB, in µs, user and system, all processes of the subject")
        line("median of \(rounds) rounds, \(requests) requests each, \(connections) connections\n")
        line(columns("", "origin itself", "nginx hop", "Sluice", "Sluice / nginx", "issue", "design"))
    }

    func printRow(_ workload: Workload, _ costs: [Subject: Double]) {
        let (nginx, sluice) = (costs[.nginx] ?? .nan, costs[.sluice] ?? .nan)
        line(
            columns(
                workload.rawValue,
                number(costs[.direct] ?? .nan),
                number(nginx),
                number(sluice),
                number(sluice / nginx, digits: 2) + "×",
                "≤ " + number(workload.limits.issue, digits: 2),
                "≤ " + number(workload.limits.design, digits: 2)
            )
        )
    }

    func printCaveats() {
        line(
            "\nnginx knows no CONNECT: in the last row it ends the client's TLS itself, on a new connection each time."
        )
        line("In the h2 row, both hops ask the origin over HTTP/1.1 and TLS; 'origin itself' is asked that way, too.")
        line("'origin itself' is what the origin needs when it is asked without a hop.\n")
    }

    func printStart(_ seconds: Double) {
        line("start to accepting: \(number(seconds * 1e3)) ms (issue < 50, design ≤ 25)")
    }

    func printGrowth(_ growth: Footprint.Growth) {
        let grown = growth.residentAfter - growth.residentBefore
        line(
            "memory after \(growth.exchanges) exchanges of 1 KiB: \(mebibytes(growth.residentAfter)) MiB, "
                + "grown by \(mebibytes(grown)) MiB (issue < 8)"
        )
        line("session file for each exchange of 1 KiB: \(growth.sessionBytes) bytes (issue ≤ 2400, design ≤ 2200)")
    }

    func printPeak(_ bytes: Int) {
        line("peak memory, 1 GiB over HTTPS, recorded: \(mebibytes(bytes)) MiB (issue < 64)")
    }

    func printThroughput(_ scheme: String, _ rates: [Subject: Double]) {
        let text = Subject.allCases.map { number((rates[$0] ?? .nan) / 1e6, digits: 0) }
        line(
            "100 MiB download over \(scheme): \(text[2]) MB/s recorded, nginx hop \(text[1]), "
                + "origin itself \(text[0])\(scheme == "HTTP" ? " (design ≥ 300)" : "")"
        )
    }

    /// Writes without buffering: each line is to be seen when it is there, wherever the output goes.
    private func line(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    private func columns(_ first: String, _ rest: String...) -> String {
        first.padding(toLength: 26, withPad: " ", startingAt: 0)
            + rest.map { String(repeating: " ", count: max(1, 16 - $0.count)) + $0 }.joined()
    }

    private func number(_ value: Double, digits: Int = 1) -> String { String(format: "%.\(digits)f", value) }

    private func mebibytes(_ bytes: Int) -> String { number(Double(bytes) / Double(1 << 20)) }
}
