import Foundation
import Jobs

/// A look at the machine: what Sluice needs, and who trusts its authority.
///
/// Nothing is changed: no authority is made, and files that are made to see whether that can be done are removed.
package struct Doctor: Sendable {
    let environment: [String: String]
    let host: String
    let port: Int
    /// How long another program may take to answer.
    let patience: Duration

    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        host: String = "127.0.0.1",
        port: Int = 8080,
        patience: Duration = .seconds(3)
    ) {
        (self.environment, self.host, self.port, self.patience) = (environment, host, port, patience)
    }

    /// Looks at everything, at once where that takes time.
    package func findings() async -> [Finding] {
        let check = AuthorityCheck(directory: StandardPaths.configuration, environment: environment)
        let (authority, findings) = check.look()
        let checks: [@Sendable () async -> [Finding]] = [
            { findings },
            { await self.trust(authority) },
            { await PortCheck(host: self.host, port: self.port).findings() },
            { TerminalCheck(environment: self.environment).findings() },
            { ProxyVariableCheck(environment: self.environment, host: self.host, port: self.port).findings() },
            { SystemCheck(authority: authority, environment: self.environment).findings() },
        ]
        return await Self.all(checks)
    }

    private func trust(_ authority: KnownAuthority?) async -> [Finding] {
        let store = StoreCheck(authority, environment).findings()
        let probe: ProbeCommand
        do {
            probe = try ProbeCommand(environment: environment, patience: patience)
        } catch {
            return store + [Self.temporary(error)]
        }
        defer { probe.remove() }
        guard let authority else { return store }
        return await store
            + Self.all([
                { await DatabaseCheck(authority, probe).findings() },
                { await RuntimeCheck(authority, probe).findings() },
            ])
    }

    /// Without a folder for what is thrown away, commands, browsers and demonstrations cannot begin.
    static func temporary(_ error: StartError) -> Finding {
        let other = ["/tmp", "/var/tmp"].first { FolderProbe.refusal($0) == nil }
        return .problem("temporary", error.message, mend: other.map { "export TMPDIR=\($0)" })
    }

    /// What checks find, in their order; they run at once.
    static func all(_ checks: [@Sendable () async -> [Finding]]) async -> [Finding] {
        await withTaskGroup(of: (Int, [Finding]).self) { group in
            for (index, check) in checks.enumerated() { group.addTask { (index, await check()) } }
            var found = [[Finding]](repeating: [], count: checks.count)
            for await (index, findings) in group { found[index] = findings }
            return found.flatMap { $0 }
        }
    }
}
