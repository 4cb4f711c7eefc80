import Foundation
package import NIOCore
package import Wire

package enum ChildRun {
    /// Runs a command to its end.
    ///
    /// The command gets our standard streams and terminal, and variables for the proxy and the authority
    /// (``ClientVariable/all``, `JAVA_TOOL_OPTIONS`, Git's). Sluice forwards SIGINT, SIGTERM, SIGHUP and SIGQUIT to it,
    /// unless the terminal sent them to the whole group. `note` gets each line that the user should read before the
    /// command starts. Connections to `listeners` do not bypass the proxy; `nil` turns the search for bypasses off.
    package static func run(
        _ command: ChildCommand,
        proxy: SocketAddress,
        listeners: [SocketAddress]? = [],
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
        var scan = listeners.map { BypassScan(variable: "SLUICE_CA=\(trust.authority)", listeners: [proxy] + $0) }
        let child = try SignalRelay.add { () throws(ChildError) in
            try ChildProcess.start(command, environment: variables)
        }
        scan?.start(child.pid)
        let watcher = scan.map { BypassWatcher($0) }
        let exitCode = await child.exitCode()
        SignalRelay.remove(child)
        let findings = await watcher?.stop() ?? .init()
        let program = String(command.executable.split(separator: "/").last ?? "")
        let programs = findings.programs.union([program])
        return ChildOutcome(exitCode: exitCode, bypassed: findings.connections, programs: programs)
    }
}

package struct ChildOutcome: Sendable {
    package let exitCode: Int32
    package let bypassed: [BypassedConnection]
    package var programs: Set<String> = []

    /// Lines about bypassed connections, or about an unused proxy. Equal programs and destinations share a line.
    package func notes(isUnused: Bool) -> [String] {
        guard isUnused || !bypassed.isEmpty else { return [] }
        var notes = isUnused ? ["nothing used the proxy"] : []
        notes += connectionLines
        let suspects = isUnused ? programs : Set(bypassed.map(\.process))
        let reasons = ProxyIgnorance.reasons(for: suspects)
        if !reasons.isEmpty {
            notes.append("clients that ignore the proxy:")
            notes += reasons.map { "  \($0)" }
        } else if isUnused {
            notes.append("  \(ProxyIgnorance.general)")
        }
        return notes + ["'sluice guide headless' explains it"]
    }

    private var connectionLines: [String] {
        let limit = 20
        func key(_ connection: BypassedConnection) -> [String] {
            [connection.address, "\(connection.port)", connection.process]
        }
        let groups = Dictionary(grouping: bypassed, by: key)
        let firsts = bypassed.filter { groups[key($0)]?.first == $0 }
        guard !firsts.isEmpty else { return [] }
        let what = firsts.count == 1 ? "a connection" : "connections"
        var lines = ["\(what) bypassed the proxy (very short ones may be missing):"]
        for first in firsts.prefix(limit) {
            let count = groups[key(first)]?.count ?? 1
            lines.append("  \(first)\(count > 1 ? " and \(count - 1) more like it" : "")")
        }
        if firsts.count > limit { lines.append("  and \(firsts.count - limit) more") }
        return lines
    }
}
