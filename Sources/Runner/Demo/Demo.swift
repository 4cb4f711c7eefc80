import Foundation
import HTTPModel
import NIOCore
import Recording
import Synchronization
import Wire

/// Sluice at work on traffic of its own: an origin, a client and a real proxy in one process, without any network.
public enum Demo {
    /// What never takes so long; so that a fault shows itself as an error, not as silence.
    private static let limit = Duration.seconds(30)

    /// Runs the demo and prints what passes, what it came to, and what to try next.
    ///
    /// - Parameter session: the session file; `nil` for a new one among the user's sessions.
    /// - Throws: what ``RunningProxy/start(_:onFinished:print:complain:)`` throws, and `StartFailure` where an exchange
    ///   does not go as it must or was not recorded.
    public static func run(session: String?) async throws {
        var settings = RunSettings()
        settings.session = session
        try await run(settings)
    }

    /// The same with other settings, and other places for its words than the standard streams.
    static func run(
        _ settings: RunSettings,
        print write: @escaping @Sendable (String) -> Void = StandardStreams.out,
        complain: @escaping @Sendable (String) -> Void = StandardStreams.error
    ) async throws {
        let telling = Mutex<ExchangeID?>(nil)
        let summary = try await DemoOrigin.run { origin in
            let (proxy, client) = try await start(settings, origin, write, complain) { records in
                guard let record = records.first(where: { $0.url.path == DemoClient.tellingPath }) else { return }
                telling.withLock { $0 = record.id }
            }
            write(introduction(proxy, origin))
            do {
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

    /// Starts the proxy; the files that it and the client need for that are gone afterwards.
    private static func start(
        _ settings: RunSettings,
        _ origin: DemoOrigin,
        _ write: @escaping @Sendable (String) -> Void,
        _ complain: @escaping @Sendable (String) -> Void,
        onFinished: @escaping @Sendable ([ExchangeRecord]) -> Void
    ) async throws -> (RunningProxy, DemoClient) {
        let directory = FileManager.default.temporaryDirectory.path + "/sluice-demo-\(UUID().uuidString)"
        try StandardPaths.makeDirectory(directory)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        func store(_ name: String, _ text: String) throws -> String {
            let path = "\(directory)/\(name)"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            return path
        }

        var settings = settings
        settings.host = "127.0.0.1"
        settings.port = 0
        // Nobody steers it, and its profile is gone before it is.
        settings.hasControl = false
        settings.watchesProfile = false
        settings.upstreamAuthorities = [try store("origin.pem", origin.authority.certificatePEM)]
        settings.profiles = [
            try store("profile.yaml", "version: 1\nintercept: { except: [\"\(DemoClient.unreadHost)\"] }\n")
        ]
        let trustsOrigin = TLSTrust(includesSystem: false, extraFiles: settings.upstreamAuthorities)
        try trustsOrigin.load()
        let proxy = try await RunningProxy.start(settings, onFinished: onFinished, print: write, complain: complain)
        do {
            let file = try store("sluice.pem", proxy.authority.certificatePEM)
            let trustsProxy = TLSTrust(includesSystem: false, extraFiles: [file])
            try trustsProxy.load()
            let client = DemoClient(
                proxy: proxy.address,
                origin: origin,
                trustsProxy: trustsProxy,
                trustsOrigin: trustsOrigin
            )
            return (proxy, client)
        } catch {
            _ = await proxy.stop()
            throw error
        }
    }

    private static func withLimit(_ work: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(operation: work)
            group.addTask {
                try await Task.sleep(for: limit)
                throw StartFailure("The demo did not finish within \(limit.components.seconds) seconds.")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    // MARK: - Words

    private static func introduction(_ proxy: RunningProxy, _ origin: DemoOrigin) -> String {
        """
        sluice: a proxy on 127.0.0.1:\(proxy.address.port ?? 0), between a client and an origin inside this process:
        sluice:   http://localhost:\(origin.httpPort)
        sluice:   https://localhost:\(origin.httpsPort)   decrypted
        sluice:   https://\(DemoClient.unreadHost):\(origin.secondPort)   passed through unread, as a rule says


        """
    }

    private static func advice(_ path: String, _ id: ExchangeID) -> String {
        let word = shellWord(path)
        return """

            Try next
              sluice list \(word)
              sluice show \(word) \(id)
              sluice export \(word) --format har -o demo.har

            """
    }

    /// A path as one word for a shell.
    static func shellWord(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { byte in
            byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "/._-+:,@".utf8.contains(byte)
        }
        let isSafe = isPlain && !path.isEmpty && path.first != "-"
        return isSafe ? path : "'\(path.replacingOccurrences(of: "'", with: "'\\''"))'"
    }
}
