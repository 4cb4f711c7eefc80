import ArgumentParser
import Diagnosis
import Files
import Foundation
import Jobs
import NIOCore
import Wire

struct TLS: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tls",
        abstract: "Check a server's TLS: versions, certificates, ATS.",
        discussion: """
              sluice tls example.com
              sluice tls '[::1]:8443' --server-name example.com --upstream-ca root.pem
              sluice tls example.com --upstream-proxy http://proxy.example:3128

            Makes some dozens of handshakes, each on its own connection, and sends no request unless the port does not speak TLS. \
            App Transport Security is judged by Apple's documents and this machine's authorities. 'sluice guide tls' explains it.

            Exit codes: 0 an ordinary client connects, 1 it does not (or the server is not reached), 2 wrong usage.
            """
    )

    @Argument(help: .value("host[:port]", "The server; with a port, an IPv6 address is in brackets."))
    var server: String
    @Option(help: .value("name", "The name to send and verify, if it is not the host.")) var serverName: String?
    @Option(help: .value("file", "More certificates (PEM) to trust; repeatable."), completion: .certificates)
    var upstreamCa: [String] = []
    @Option(help: .value("seconds", "Limit for one handshake, including its connection.")) var connectTimeout = 10.0
    @Option(help: .value("seconds", "Limit for the whole check.")) var timeLimit = 60.0
    @OptionGroup var proxy: UpstreamProxyOptions
    @Flag(help: "Print one JSON object.") var json = false

    func validate() throws {
        try UpstreamOptions.checkTimeout("connect-timeout", connectTimeout)
        try UpstreamOptions.checkTimeout("time-limit", timeLimit)
        if serverName?.isEmpty == true { throw ValidationError("--server-name takes a name or an address.") }
    }

    func run() async throws {
        let target = try ProbeTarget(server, serverName: serverName)
        let report = try await LongWork.run(
            "asking \(target.authority)",
            .things("handshake"),
            consequence: "There is no report."
        ) { work in
            let trust = TLSTrust(extraFiles: upstreamCa)
            let probe = try TLSProbe(
                target,
                route: proxy.option?.route(to: target, trust: trust),
                trust: trust,
                connectTimeout: .milliseconds(Int64((connectTimeout * 1_000).rounded())),
                timeLimit: .milliseconds(Int64((timeLimit * 1_000).rounded()))
            ) { try work.add(1) }
            return try await probe.report()
        }
        let output = try OutputFile(nil)
        if json { try output.write(try report.json()) } else { try output.write(report.text) }
        if !report.isAcceptable { throw ExitCode(1) }
    }
}
