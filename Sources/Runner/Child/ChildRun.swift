import Foundation
package import NIOCore
package import Wire

/// A command that runs behind the proxy: `sluice run -- COMMAND ARGS…`.
package enum ChildRun {
    /// Runs a command to its end.
    ///
    /// It gets our standard streams and terminal, and variables by which it finds the proxy and trusts the authority
    /// (``ClientVariable/all``, `JAVA_TOOL_OPTIONS`, Git's). SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end us
    /// meanwhile: they are passed on, unless the terminal sent them to the whole group anyway.
    ///
    /// `note` takes what the user should know before the command starts, each in one line.
    package static func run(
        _ command: ChildCommand,
        proxy: SocketAddress,
        authority: CertificateAuthority,
        inherited: [String: String],
        note: (String) -> Void = { _ in }
    ) async throws -> ChildOutcome {
        let trust = try TrustFiles(authority: authority, environment: inherited)
        defer { trust.remove() }
        let environment = ChildEnvironment(inherited: inherited, proxy: proxy, trust: trust)
        for text in environment.notes + trust.notes { note(text) }
        let variables = environment.variables
        var scan = BypassScan(variable: "SLUICE_CA=\(trust.authority)", proxy: proxy)
        let child = try SignalRelay.add { () throws(ChildFailure) in
            try ChildProcess.start(command, environment: variables)
        }
        scan.start(child.pid)
        let watcher = BypassWatcher(scan)
        let exitCode = await child.exitCode()
        SignalRelay.remove(child)
        return ChildOutcome(exitCode: exitCode, bypassed: await watcher.stop())
    }
}

/// What became of a command.
package struct ChildOutcome: Sendable {
    /// The command's own exit code; 128 and the signal's number where a signal ended it.
    package let exitCode: Int32
    /// Connections past the proxy that were seen while it ran, in the order in which they were found.
    package let bypassed: [BypassedConnection]

    /// What there is to say of the bypassed connections, each in one line; nothing where there were none.
    ///
    /// Processes of one program that went to the same place share a line.
    package var notes: [String] {
        let limit = 20
        let groups = Dictionary(grouping: bypassed) { [$0.address, "\($0.port)", $0.process] }
        let firsts = bypassed.filter { connection in
            groups[[connection.address, "\(connection.port)", connection.process]]?.first == connection
        }
        guard !firsts.isEmpty else { return [] }
        var notes = ["\(firsts.count == 1 ? "a connection was" : "connections were") made past the proxy:"]
        for first in firsts.prefix(limit) {
            let count = groups[[first.address, "\(first.port)", first.process]]?.count ?? 1
            notes.append("  \(first)\(count > 1 ? " and \(count - 1) more like it" : "")")
        }
        if firsts.count > limit { notes.append("  and \(firsts.count - limit) more") }
        return notes
    }
}
