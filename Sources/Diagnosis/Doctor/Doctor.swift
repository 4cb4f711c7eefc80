import Foundation
import Jobs

/// Checks this machine: what Sluice needs, and who trusts its authority.
///
/// Nothing is changed: no authority is made, and files made to test a folder are removed.
package struct Doctor: Sendable {
    private let environment = ProcessInfo.processInfo.environment
    private let host: String
    private let port: Int
    /// The time that another program gets to answer.
    private static let patience = Duration.seconds(3)

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    package func findings() async -> [Finding] {
        let check = AuthorityCheck(directory: StandardPaths.configuration, environment: environment)
        let (authority, findings) = check.look()
        return await Self.all([
            { findings },
            { await self.trust(authority) },
            { await PortCheck(host: self.host, port: self.port).findings() },
            { TerminalCheck(environment: self.environment).findings() },
            { ProxyVariableCheck(environment: self.environment, host: self.host, port: self.port).findings() },
            { SystemCheck(authority: authority, environment: self.environment).findings() },
        ])
    }

    private func trust(_ authority: KnownAuthority?) async -> [Finding] {
        let store = StoreCheck(known: authority, environment: environment).findings()
        let probe: ProbeCommand
        do {
            probe = try ProbeCommand(environment: environment, patience: Self.patience)
        } catch {
            return store + [Self.temporary(error)]
        }
        defer { probe.remove() }
        guard let authority else { return store }
        return await store
            + Self.all([
                { await DatabaseCheck(known: authority, probe: probe).findings() },
                { await RuntimeCheck(known: authority, probe: probe).findings() },
            ])
    }

    /// The finding if there is no temporary folder: commands, browsers and the demo cannot start without one.
    static func temporary(_ error: StartError) -> Finding {
        let other = ["/tmp", "/var/tmp"].first { FolderProbe.refusal($0) == nil }
        return .problem("temporary", error.message, fix: other.map { "export TMPDIR=\($0)" })
    }

    /// The findings of checks in their order; the checks run at the same time.
    static func all(_ checks: [@Sendable () async -> [Finding]]) async -> [Finding] {
        await withTaskGroup(of: (Int, [Finding]).self) { group in
            for (index, check) in checks.enumerated() { group.addTask { (index, await check()) } }
            var found = [[Finding]](repeating: [], count: checks.count)
            for await (index, findings) in group { found[index] = findings }
            return found.flatMap { $0 }
        }
    }
}
