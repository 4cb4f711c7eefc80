package import HTTPModel
import Jobs
import NIOCore
import NIOPosix
import Synchronization
package import Telemetry
import Text
import Wire

/// Sends ended exchanges as spans (`--otlp`). A task of its own masks, encodes and sends them over its own connection,
/// which uses no proxy and is not recorded; traffic never waits for it.
package final class SpanExporter: Sendable {
    /// How long spans may take at the end of a run.
    package static let flushLimit = Duration.seconds(5)

    private let queue: SpanQueue
    private let nap = Nap()
    private let task: Task<Void, Never>
    /// Ends with the task, or when the time for the rest is over.
    private let ended: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)
    private let place: String

    /// `report` receives each kind of problem once. Throws ``StartError`` if the certificate cannot be read.
    package init(_ settings: SpanSettings, mask: MaskRules, report: @escaping @Sendable (String) -> Void) throws {
        let trust = TLSTrust(extraFiles: settings.certificate.map { [$0] } ?? [])
        do {
            if settings.certificate != nil { try trust.loadExtraFiles() }
        } catch {
            throw StartError("OTEL_EXPORTER_OTLP_CERTIFICATE: \(error)", isUsage: true)
        }
        let queue = SpanQueue(size: settings.queueSize, batchSize: settings.batchSize)
        // The path may have a key.
        let place = "\(settings.endpoint.scheme)://\(settings.endpoint.authority)"
        let ended = AsyncStream<Void>.makeStream()
        (self.queue, self.place, self.ended) = (queue, place, ended)
        task = Task(priority: .utility) { [nap] in
            let sending = SpanSending(settings, trust, queue, nap, mask) { problem in
                report("sluice: OTLP receiver \(place): \(VisibleText.of(problem))\n")
            }
            await sending.run()
            ended.continuation.finish()
        }
    }

    deinit {
        task.cancel()
        nap.end(by: .timeLimit)
    }

    /// Never waits; called on the recorder's thread.
    package func add(_ exchanges: [RecordedExchange]) {
        if queue.add(exchanges) { nap.end(by: .fullBatch) }
    }

    package var counts: SpanCounts { queue.counts }

    /// Sends the rest, for at most ``flushLimit``. May be called again.
    package func finish() async {
        queue.close()
        nap.end(by: .runEnd)
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let limit = loop.scheduleTask(in: TimeAmount(Self.flushLimit)) { [task, nap, ended] in
            task.cancel()
            nap.end(by: .timeLimit)
            ended.continuation.finish()
        }
        for await _ in ended.stream {}
        limit.cancel()
    }

    /// For the end of a run.
    package var summary: String {
        let counts = counts
        let missing = counts.all - counts.sent
        let reasons = [
            (counts.dropped, "the queue was full"), (counts.refused, "not accepted"),
            (counts.waiting, "the time was up"),
        ].filter { $0.0 > 0 }.map { "\($0.0.grouped): \($0.1)" }
        let lost = missing > 0 ? "sluice: NOT sent: \(missing.of("span")) (\(reasons.joined(separator: "; ")))\n" : ""
        return "sluice: \(counts.sent.of("span")) sent to \(place)\n" + lost
    }
}

/// A pause that other threads can end.
final class Nap: Sendable {
    enum Cause: Int, Sendable {
        case fullBatch, runEnd, timeLimit
    }

    private let current = Mutex<(task: Task<Void, Never>, cause: Cause)?>(nil)

    /// Ends early by this cause or a later one.
    func take(_ length: Duration, endedBy cause: Cause) async {
        let task = Task(priority: .utility) { _ = try? await Task.sleep(for: length) }
        current.withLock { $0 = (task, cause) }
        if Task.isCancelled { task.cancel() }
        await task.value
    }

    func end(by cause: Cause) {
        current.withLock { current in
            if let current, current.cause.rawValue <= cause.rawValue { current.task.cancel() }
        }
    }
}
