import Formats
import Foundation
import HTTPModel
import Jobs
import NIOCore
import ProxyServer
import Recording
package import Runner
import Synchronization

/// An origin, a client and a real proxy in one process, without a network.
package enum Demo {
    private static let limit = Duration.seconds(30)

    package static func run(session: String?) async throws {
        var settings = RunSettings()
        settings.session = session
        settings.becomesLast = true
        try await run(settings)
    }

    static func run(
        _ settings: RunSettings,
        print write: @escaping @Sendable (String) -> Void = StandardStreams.out,
        report: @escaping @Sendable (String) -> Void = StandardStreams.error
    ) async throws {
        let telling = Mutex<ExchangeID?>(nil)
        let summary = try await DemoOrigin.run { origin in
            let proxy = try await RunningProxy.start(
                prepared(settings, origin, isAttended: false),
                onFinished: { records in
                    guard let record = records.first(where: { $0.url.path == DemoClient.featuredPath }) else { return }
                    telling.withLock { $0 = record.id }
                },
                print: write,
                report: report
            )
            write(introduction(proxy, origin))
            do {
                let client = DemoClient(proxy: proxy.address, authority: proxy.authority, origin: origin)
                try await withLimit { try await client.run() }
            } catch {
                _ = await proxy.stop()
                throw error
            }
            return await proxy.stop()
        }
        write("\n" + RunSummary.text(summary))
        if let error = summary.error { throw error }
        if let path = summary.path, let id = telling.withLock({ $0 }) { write(advice(path, id)) }
    }

    /// For a demo that a user watches: a breakpoint waits for a decision. The files are removed with the origin.
    package static func settings(
        for origin: DemoOrigin,
        session: String?
    ) throws -> (settings: RunSettings, profile: String) {
        var settings = RunSettings()
        settings.session = session
        return (try prepared(settings, origin, isAttended: true), DemoProfile.text(isAttended: true))
    }

    private static func prepared(
        _ settings: RunSettings,
        _ origin: DemoOrigin,
        isAttended: Bool
    ) throws -> RunSettings {
        var settings = settings
        settings.listeners = [Listener(port: 0)]
        settings.upstreamAuthorities = ["\(origin.directory.path)/\(DemoProfile.authorityFile)"]
        let profile = Data(DemoProfile.text(isAttended: isAttended).utf8)
        settings.profiles = [try origin.directory.write(profile, to: "demo.yaml")]
        if !isAttended {
            settings.hasControl = false
            settings.watchesProfile = false
        }
        return settings
    }

    private static func withLimit(_ work: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(operation: work)
            group.addTask {
                try await Task.sleep(for: limit)
                throw StartError("The demo did not finish within \(limit.components.seconds) seconds.")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private static func introduction(_ proxy: RunningProxy, _ origin: DemoOrigin) -> String {
        """
        sluice: a proxy on 127.0.0.1:\(proxy.address.port ?? 0), between a client and an origin inside this process:
        sluice:   http://localhost:\(origin.httpPort)
        sluice:   https://localhost:\(origin.httpsPort)   decrypted
        sluice:   https://localhost:\(origin.http2Port)   decrypted, HTTP/2
        sluice:   https://\(DemoProfile.unreadHost):\(origin.unreadPort)   passed through unread, as a rule says


        """
    }

    private static func advice(_ path: String, _ id: ExchangeID) -> String {
        """

        Try next
          sluice list \(ShellWord.word(path))
          sluice show \(ShellWord.word(path)) \(id)
          sluice export \(ShellWord.word(path)) --format har -o demo.har

        """
    }
}
