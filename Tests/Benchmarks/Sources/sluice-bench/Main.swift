import ArgumentParser
import Foundation
import Glibc

/// Compares Sluice with nginx and other proxies, on this machine, in one run.
///
///     swift build -c release --product sluice --static-swift-stdlib
///     swift run -c release --package-path Tests/Benchmarks sluice-bench
///
/// nginx is the origin. The same client sends the same load through each subject, in turn. The first figure is CPU
/// time, because the wall clock depends more on what else the machine does. Only figures of one run can be compared.
@main
struct SluiceBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sluice-bench",
        abstract: "Compare Sluice, recording to disk, with nginx, squid and mitmdump."
    )

    @Option(
        help: ArgumentHelp(
            "The Sluice to measure; the second one is 'before', the build to compare it with.",
            discussion: "Default: the release build of the package around this one.",
            valueName: "program"
        )
    )
    var sluice: [String] = []

    @Option(help: ArgumentHelp("The nginx to compare with.", valueName: "program"))
    var nginx = "/usr/sbin/nginx"

    @Option(help: ArgumentHelp("The load generator for HTTP/2, in Debian's nghttp2-client.", valueName: "program"))
    var h2load = "/usr/bin/h2load"

    @Option(help: ArgumentHelp("The squid to measure. (default: the installed one)", valueName: "program"))
    var squid: String?

    @Option(help: ArgumentHelp("The mitmdump to measure. (default: the installed one)", valueName: "program"))
    var mitmdump: String?

    @Flag(help: "Do not measure squid and mitmdump.")
    var noPeers = false

    @Option(help: "The folder for sessions, certificates and configurations: on the disk to record to.")
    var directory = FileManager.default.temporaryDirectory.path

    @Option(help: "Rounds for each row and subject; the medians are printed.")
    var rounds = 3

    @Option(help: "The length of a round. With 4 s and more, checkpoints of the session are in each.")
    var seconds = 4.0

    @Flag(help: "Rounds of 1 s.")
    var quick = false

    @Option(help: "Connections at once in the keep-alive rows.")
    var connections = 32

    @Option(help: ArgumentHelp("Print only rows whose name contains this text.", valueName: "text"))
    var only = ""

    func validate() throws {
        guard rounds > 0, seconds > 0, connections > 0 else {
            throw ValidationError("--rounds, --seconds and --connections must be above 0")
        }
    }

    func run() throws {
        // If a hop closes a connection, writing to it must fail and not end the benchmark.
        signal(SIGPIPE, SIG_IGN)
        try allowOpenFiles()
        let sections = Table.sections.compactMap { $0.only(only) }
        guard !sections.isEmpty else { throw ValidationError("--only '\(only)': no row has this text in its name") }
        let folder = "\(directory)/sluice-bench-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let site = try Site(folder: folder)
        let subjects = try subjects().map { $0.kind == .sluice ? try $0.copied(to: site.makeFolder()) : $0 }
        let bench = Bench(
            site: site,
            origin: try Origin(nginx: nginx, site: site),
            seconds: quick ? 1 : seconds,
            connections: connections,
            h2load: h2load
        )
        let runner = Runner(bench: bench, subjects: subjects, rounds: rounds)
        var report = Report(subjects: subjects)
        report.printHeader(bench: bench, rounds: rounds)
        let load = try MachineLoad(origin: bench.origin)
        for section in sections {
            report.printSection(section, runner.run(section))
        }
        report.printLoad(ofOthers: try load.coresOfOthers(origin: bench.origin))
        report.printFailures()
        if report.hasFailures { throw ExitCode.failure }
    }

    private func subjects() throws -> [Subject] {
        var subjects = [Subject.nginx(nginx)]
        if !noPeers {
            if let squid = squid ?? findProgram("squid") { subjects.append(try .squid(squid)) }
            if let mitmdump = mitmdump ?? findProgram("mitmdump") { subjects.append(.mitmdump(mitmdump)) }
        }
        if let curl = findProgram("curl") { subjects.append(Subject("curl", .curl, program: curl)) }
        return subjects + Subject.sluices(sluice.isEmpty ? [try builtSluice()] : sluice)
    }

    private func builtSluice() throws -> String {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../../..")
        let path = package.appending(path: ".build/release/sluice").standardizedFileURL.path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw ValidationError(
                "\(path) not found. Build it with 'swift build -c release --product sluice --static-swift-stdlib', "
                    + "or use --sluice."
            )
        }
        return path
    }

    /// Raises the limit of open files, for this process and the subjects, as far as the system allows.
    private func allowOpenFiles() throws {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { throw BenchmarkError("no limit of open files: errno \(errno)") }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
    }
}
