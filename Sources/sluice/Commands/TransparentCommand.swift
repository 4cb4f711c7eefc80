import ArgumentParser
import Foundation
import Jobs
import Runner

extension RedirectionRules.Part: ExpressibleByArgument {}

struct TransparentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transparent",
        abstract: "Print the firewall rules for --mode transparent.",
        discussion: """
              sluice transparent --print | sudo nft -f -

            This command changes nothing. The printed file says how to remove the rules and how to start Sluice for them.
            """
    )

    @Flag(name: .customLong("print"), help: "Print the rules.") var prints = false
    @Option(help: "The port that Sluice listens on.") var port = 8080
    @Option(help: .value("port,…", "The servers' ports to redirect, separated by commas.")) var serverPorts = "80,443"
    @Option(help: "The user that Sluice runs as, by name or number. (default: you)") var user: String?
    @Option(help: "'gateway': only for other machines; 'local': only for this one. (default: both)")
    var only: RedirectionRules.Part?

    func validate() throws {
        if !prints { throw ValidationError("'sluice transparent' only prints rules: add --print.") }
        _ = try rules()
    }

    func run() throws { StandardStreams.out(try rules().text) }

    private func rules() throws -> RedirectionRules {
        let ports = serverPorts.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard (1...65_535).contains(port), ports.allSatisfy((1...65_535).contains), ports.count <= 100 else {
            throw ValidationError("Ports are numbers from 1 to 65535: --port 8080, --server-ports 80,443,8443.")
        }
        guard !ports.contains(port) else {
            throw ValidationError("Port \(port) cannot be redirected to itself: choose another --port for Sluice.")
        }
        let parts = only.map { Set([$0]) } ?? Set(RedirectionRules.Part.allCases)
        return RedirectionRules(port: port, serverPorts: ports, user: try userNumber(), parts: parts)
    }

    private func userNumber() throws -> UInt32 {
        guard let user else { return getuid() }
        if let number = UInt32(user) { return number }
        guard let entry = getpwnam(user) else { throw ValidationError("There is no user '\(user.prefix(80))' here.") }
        return entry.pointee.pw_uid
    }
}
