import Files
import Foundation
import Jobs
import ProxyServer
package import Recording
package import Runner
import Synchronization

/// The proxy through which requests are repeated, of this process or a running Sluice, and its session.
package final class RepeatWay: Sendable {
    /// In bytes. If a temporary session grows larger, its recording stops.
    private static let largestTemporary: Int64 = 1 << 30
    /// The time that a running Sluice gets to write the exchanges.
    private static let patience = Duration.seconds(3)

    package let sender: RequestSender
    /// `nil` if the running Sluice records nothing.
    private let session: String?
    private let running: RunningProxy?
    private let directory: TemporaryDirectory?
    /// The highest exchange number in the session before the requests.
    private let last: Int64
    private let isFull = Atomic(false)
    private let hasFound = Atomic(false)
    private let problem = Mutex<String?>(nil)

    private init(
        _ sender: RequestSender,
        session: String?,
        last: Int64,
        _ running: RunningProxy? = nil,
        _ directory: TemporaryDirectory? = nil
    ) {
        (self.sender, self.session, self.running, self.directory, self.last) =
            (sender, session, running, directory, last)
    }

    /// Starts a proxy that records to the session of the settings or to a temporary one, or uses the running one that
    /// `control` names; one request may take `limit`. Throws like ``RunningProxy`` and ``ControlClient``.
    package static func open(_ settings: RunSettings, control: String?, limit: Duration) async throws -> RepeatWay {
        guard let control else { return try await start(settings, limit) }
        let status = try await ControlClient(control).status()
        let sender = try RequestSender(status, limit: limit)
        // While recording is off, the session does not get the new exchanges.
        let session = status.recording.isOn ? status.session : nil
        let reader = try session.map { try SessionReader(path: $0) }
        return RepeatWay(sender, session: session, last: try reader?.bounds()?.upperBound ?? 0)
    }

    private static func start(_ settings: RunSettings, _ limit: Duration) async throws -> RepeatWay {
        var settings = settings
        settings.listeners = [Listener(port: 0)]
        settings.output = .quiet
        settings.watchesProfile = false
        // The rules may hold messages, and the user decides over the control socket.
        settings.hasControl = !settings.profiles.isEmpty
        settings.grace = .zero
        let directory = try settings.session == nil ? TemporaryDirectory(.repeat) : nil
        let session = settings.session ?? "\(directory?.path ?? "")/repeat.sluice"
        settings.session = session
        do {
            let isThere = FileManager.default.fileExists(atPath: session)
            let last = isThere ? try SessionReader(path: session).bounds()?.upperBound ?? 0 : 0
            let running = try await RunningProxy.start(settings)
            let sender = RequestSender(proxy: running.address, authority: running.authority, limit: limit)
            return RepeatWay(sender, session: session, last: last, running, directory)
        } catch {
            directory?.remove()
            throw error
        }
    }

    package var keptSession: String? { directory == nil && hasFound.load(ordering: .relaxed) ? session : nil }

    /// Runs `body`. If a temporary session grows too large, its recording stops.
    package func recording<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value
    {
        guard let running, let session, directory != nil else { return try await body() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask { [self] in
                while (try? await Task.sleep(for: .milliseconds(200))) != nil {
                    guard RepeatWay.size(of: session) > RepeatWay.largestTemporary else { continue }
                    _ = try? await running.controlTarget.setRecording(false)
                    isFull.store(true, ordering: .relaxed)
                    return nil
                }
                return nil
            }
            defer { group.cancelAll() }
            while let value = try await group.next() {
                if let value { return value }
            }
            throw CancellationError()
        }
    }

    private static func size(of session: String) -> Int64 {
        ["", "-wal"].reduce(0) { $0 + Int64(FileFacts(path: session + $1)?.size ?? 0) }
    }

    /// Stops the proxy if it is in this process. After that, everything is recorded.
    package func close() async {
        guard let summary = await running?.stop() else { return }
        problem.withLock { $0 = $0 ?? summary.error.map { "\($0)" } }
    }

    package func find(_ results: inout RepeatResults) async throws -> SessionReader? {
        guard let session else { return nil }
        let reader = try SessionReader(path: session)
        let end = ContinuousClock.now + Self.patience
        while true {
            try results.find(in: reader, after: last)
            if results.sent.contains(where: { $0.exchange != nil }) { hasFound.store(true, ordering: .relaxed) }
            // A running Sluice writes shortly after the answer.
            let isMissing = results.sent.contains { $0.outcome.status != nil && $0.exchange == nil }
            guard running == nil, isMissing, ContinuousClock.now < end else { return reader }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    package var hasProblem: Bool { problem.withLock { $0 != nil } }

    /// Remarks to show at the end.
    package var remarks: [String] {
        var remarks: [String] = []
        if let problem = problem.withLock({ $0 }) { remarks.append("recording stopped: \(problem)") }
        if isFull.load(ordering: .relaxed) {
            remarks.append("later answers were not compared; --session OUT keeps and compares all")
        }
        if let keptSession { remarks.append("the new exchanges are in \(keptSession), from number \(last + 1)") }
        return remarks
    }

    package func remove() { directory?.remove() }
}
