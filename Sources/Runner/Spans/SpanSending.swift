import Content
import Foundation
import HTTPModel
import Jobs
import Masking
import NIOCore
import NIOPosix
import Telemetry
import Text
import Wire

/// The work of a ``SpanExporter``'s task: one batch after the other, over a connection that lasts while spans come.
final class SpanSending {
    private let settings: SpanSettings
    private let trust: TLSTrust
    private let queue: SpanQueue
    private let nap: Nap
    private let mask: RecordMask
    private let report: (String) -> Void
    /// The kinds of problems that were reported.
    private var reported: Set<String> = []
    private var batch: Batch?
    private var random = SystemRandomNumberGenerator()

    /// Its spans keep their identifiers in all attempts.
    private struct Batch {
        let count: Int
        let body: ByteBuffer
        var retries = RetryPlan(begin: .now)
    }

    /// The receiver is to get the batch again.
    private struct RetryLater: Error {
        let after: Duration?
        let message: String
    }

    init(
        _ settings: SpanSettings,
        _ trust: TLSTrust,
        _ queue: SpanQueue,
        _ nap: Nap,
        _ mask: MaskRules,
        report: @escaping (String) -> Void
    ) {
        (self.settings, self.trust, self.queue, self.nap, self.report) = (settings, trust, queue, nap, report)
        self.mask = RecordMask(mask)
    }

    private var limit: Duration { .milliseconds(settings.timeout) }

    /// Until the queue is closed and empty, or the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            if batch == nil { await fill() }
            if batch == nil {
                if queue.isClosed { return }
                continue
            }
            do {
                let endpoint = settings.endpoint
                try await HTTPConnection.open(.host(endpoint.host, port: endpoint.port), within: limit) { connection in
                    if endpoint.scheme == "https" { try await connection.startTLS(with: endpoint.host, trust: trust) }
                    repeat {
                        try await connection.within(limit) { try await send(on: connection) }
                        if connection.isReusable { await fill() }
                    } while batch != nil && connection.isReusable
                }
            } catch {
                await pause(after: error)
            }
        }
    }

    /// Waits for the next batch, for the usual delay at most.
    private func fill() async {
        if !queue.hasBatch { await nap.take(.milliseconds(settings.delay), endedBy: .fullBatch) }
        let entries = queue.take()
        guard !entries.isEmpty else { return }
        var writer = ProtobufWriter()
        let spans = entries.map { entry in
            let record = mask.masked(entry.exchange)
            return ExchangeSpan(record, parent: entry.parent, session: entry.exchange.session, random: &random)
        }
        writer.writeExport(of: spans, resource: settings.resource, version: SluiceVersion.current)
        var body = ByteBuffer(bytes: writer.bytes)
        do {
            if settings.compresses { body = try ContentEncoder.encode(body, coding: .gzip) }
            batch = Batch(count: entries.count, body: body)
        } catch {
            fail(entries.count, kind: "gzip", "\(error)")
        }
    }

    /// Throws ``RetryLater``, or why there was no answer.
    private func send(on connection: HTTPConnection) async throws {
        guard let batch else { return }
        let fields = [("Host", settings.endpoint.authority)] + settings.headers.map { ($0.name, $0.value) }
        var head = RequestHead(method: "POST", target: settings.endpoint.pathAndQuery, fields: fields)
        head.fields.set("User-Agent", "OTel-OTLP-Exporter-Sluice/\(SluiceVersion.current)")
        head.fields.set("Content-Type", "application/x-protobuf")
        if settings.compresses { head.fields.set("Content-Encoding", "gzip") }
        head.fields.set("Content-Length", String(batch.body.readableBytes))
        var body: [UInt8] = []
        let response = try await connection.exchange(head, body: batch.body) { arrival in
            guard case .part(let part) = arrival else { return }
            body += part.readableBytesView.prefix(ExportAnswer.longestBody - body.count)
        }
        let after = response.fields.value(of: "retry-after")
        switch ExportAnswer(status: response.status, reason: response.reason, retryAfter: after, body: body) {
        case .accepted(let rejected, let message):
            let rejected = min(rejected, batch.count)
            queue.count { counts in
                counts.sent += batch.count - rejected
                counts.refused += rejected
            }
            if rejected > 0 {
                report("rejected", "\(rejected) of \(batch.count.of("span")) rejected: \(message)")
            } else if !message.isEmpty {
                report("warning", message)
            }
            self.batch = nil
        case .refused(let message): fail(batch.count, kind: "refused", message)
        case .retry(let after, let message): throw RetryLater(after: after, message: message)
        }
    }

    private func pause(after error: any Error) async {
        guard let count = batch?.count, !Task.isCancelled else { return }
        let later = error as? RetryLater
        let reason = later?.message ?? SpanSending.describe(error)
        let pause = batch?.retries.pause(atLeast: later?.after, now: .now, random: &random)
        guard let pause else { return fail(count, kind: "given up", "given up: \(reason)") }
        report("retry", "\(reason) (trying again)")
        await nap.take(pause, endedBy: later?.after == nil ? .runEnd : .timeLimit)
    }

    private func fail(_ count: Int, kind: String, _ reason: String) {
        batch = nil
        queue.count { $0.refused += count }
        report(kind, "\(count.of("span")) not accepted: \(reason)")
    }

    private func report(_ kind: String, _ problem: String) {
        if reported.insert(kind).inserted { report(problem) }
    }

    private static func describe(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            guard let first = error.connectionErrors.first?.error else { return "the name was not found" }
            return describe(first)
        case let error as IOError: return String(cString: strerror(error.errnoCode))
        case ChannelError.connectTimeout: return "no connection in time"
        case let error as TLSError:
            // The advice after the first sentence is for the servers of the traffic.
            let sentence = error.description.split(separator: ". ", maxSplits: 1).first ?? ""
            return "\(sentence). OTEL_EXPORTER_OTLP_CERTIFICATE names authorities to trust"
        default: return "\(error)"
        }
    }
}
