import Foundation
package import NIOCore
package import Wire

/// A command that runs behind the proxy: `sluice run -- COMMAND ARGS…`.
package enum ChildRun {
    /// Runs a command to its end.
    ///
    /// It gets our standard streams and terminal, and variables for the proxy and the authority
    /// (``ClientVariable/all``, `JAVA_TOOL_OPTIONS`, Git's). SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end us
    /// meanwhile: they are passed on, unless the terminal sent them to the whole group. `note` gets each line that the
    /// user should read before the command starts. `credentials` are what the proxy asks for.
    package static func run(
        _ command: ChildCommand,
        proxy: SocketAddress,
        authority: CertificateAuthority,
        credentials: BasicCredentials? = nil,
        inherited: [String: String],
        note: (String) -> Void = { _ in }
    ) async throws -> ChildOutcome {
        let trust = try TrustFiles(authority: authority, environment: inherited)
        defer { trust.remove() }
        var environment = ChildEnvironment(inherited: inherited, proxy: proxy, trust: trust)
        environment.credentials = credentials
        for text in environment.notes + trust.notes { note(text) }
        let variables = environment.variables
        var scan = BypassScan(variable: "SLUICE_CA=\(trust.authority)", proxy: proxy)
        let child = try SignalRelay.add { () throws(ChildError) in
            try ChildProcess.start(command, environment: variables)
        }
        scan.start(child.pid)
        let watcher = BypassWatcher(scan)
        let exitCode = await child.exitCode()
        SignalRelay.remove(child)
        return ChildOutcome(exitCode: exitCode, bypassed: await watcher.stop())
    }
}

package struct ChildOutcome: Sendable {
    /// The command's exit code; 128 and the signal's number where a signal ended it.
    package let exitCode: Int32
    /// Connections past the proxy that were seen while it ran, in the order in which they were found.
    package let bypassed: [BypassedConnection]

    /// The lines that report the bypassed connections; processes of one program with the same destination share a line.
    package var notes: [String] {
        let limit = 20
        func key(_ connection: BypassedConnection) -> [String] {
            [connection.address, "\(connection.port)", connection.process]
        }
        let groups = Dictionary(grouping: bypassed, by: key)
        let firsts = bypassed.filter { groups[key($0)]?.first == $0 }
        guard !firsts.isEmpty else { return [] }
        var notes = ["\(firsts.count == 1 ? "a connection was" : "connections were") made past the proxy:"]
        for first in firsts.prefix(limit) {
            let count = groups[key(first)]?.count ?? 1
            notes.append("  \(first)\(count > 1 ? " and \(count - 1) more like it" : "")")
        }
        if firsts.count > limit { notes.append("  and \(firsts.count - limit) more") }
        return notes
    }
}
