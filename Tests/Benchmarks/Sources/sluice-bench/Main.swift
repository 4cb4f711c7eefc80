import ArgumentParser
import Foundation
import Glibc

/// Compares Sluice with nginx, on this machine, in one run.
///
///     swift build -c release --product sluice --static-swift-stdlib
///     swift run -c release --package-path Tests/Benchmarks sluice-bench
///
/// One client, one nginx as the origin. The same load goes to the origin directly, through nginx as a hop, and through
/// Sluice, in turns. What is compared is CPU, user and system, of all processes of the hop; the wall clock would say
/// more about what else the machine does. Only figures of one run can be compared with one another.
@main
struct SluiceBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sluice-bench",
        abstract: "Compare Sluice, recording to disk, with nginx as the hop between the same client and server."
    )

    @Option(help: "The Sluice to measure. (default: the release build of the package around this one)")
    var sluice: String?

    @Option(help: "The nginx to compare with.")
    var nginx = "/usr/sbin/nginx"

    @Option(help: "The load generator for HTTP/2, which Debian has in nghttp2-client.")
    var h2load = "/usr/bin/h2load"

    @Option(help: "Where sessions, certificates and configurations are kept meanwhile: on the disk to record to.")
    var directory = FileManager.default.temporaryDirectory.path

    @Option(help: "Rounds of the comparison; the median counts.")
    var rounds = 7

    @Option(help: "Requests for each round and subject; a tenth of them where each has its own connection.")
    var requests = 10_000

    @Option(help: "Connections at once.")
    var connections = 8

    @Option(help: "Compare only the workloads whose name has this text.")
    var only = ""

    @Flag(help: "Compare the CPU only, and leave out start, memory, disk and throughput.")
    var cpuOnly = false

    func validate() throws {
        guard rounds > 0, requests > 0, connections > 0 else {
            throw ValidationError("--rounds, --requests and --connections take numbers above 0.")
        }
    }

    func run() throws {
        // A hop that closes a connection is to be an error of that write, not the end of the benchmark.
        signal(SIGPIPE, SIG_IGN)
        let binary = try sluiceBinary()
        let folder = "\(directory)/sluice-bench-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let bench = try Bench(site: Site(folder: folder), nginx: nginx, sluice: binary)
        let report = Report()
        report.printHeader(rounds: rounds, requests: requests, connections: connections)
        let comparison = Comparison(
            bench: bench,
            rounds: rounds,
            requests: requests,
            connections: connections,
            h2load: h2load
        )
        for workload in Workload.allCases where only.isEmpty || workload.rawValue.contains(only) {
            report.printRow(workload, try comparison.run(workload))
        }
        report.printCaveats()
        guard !cpuOnly else { return }
        let footprint = Footprint(bench: bench, connections: connections)
        report.printStart(try footprint.startTime())
        report.printGrowth(try footprint.growth())
        report.printPeak(try footprint.peakOfHugeDownload())
        report.printThroughput("HTTP", try footprint.throughput(isSecure: false))
        report.printThroughput("HTTPS", try footprint.throughput(isSecure: true))
    }

    private func sluiceBinary() throws -> String {
        if let sluice { return sluice }
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../../..")
        let path = package.appending(path: ".build/release/sluice").standardizedFileURL.path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw ValidationError(
                "There is no \(path). Build it with 'swift build -c release --product sluice --static-swift-stdlib', "
                    + "or say where it is with --sluice."
            )
        }
        return path
    }
}
