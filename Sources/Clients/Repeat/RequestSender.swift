import ExchangeCore
package import Foundation
package import HTTPModel
import Jobs
package import NIOCore
package import Recording
package import Runner
import Synchronization
package import Wire

/// Sends requests through a proxy of this or another process, so that the proxy's rules apply and it records them.
package final class RequestSender: Sendable {
    private let proxy: SocketAddress
    private let trust: TLSTrust
    private let limit: Duration
    private let authorization: String?
    /// The value of `X-Sluice-Mark` in the proxy's own answers.
    private let mark: String?
    private let used = Mutex(SentConnections())

    package var connections: SentConnections { used.withLock(\.self) }

    /// `limit` is for one request, `authorization` for `Proxy-Authorization`. Also trusts the system's authorities.
    package init(
        proxy: SocketAddress,
        authority: CertificateAuthority,
        authorization: String? = nil,
        limit: Duration = .seconds(300)
    ) {
        (self.authorization, mark) = (authorization, LocalAnswer.mark)
        self.proxy = proxy.reachable
        trust = TLSTrust(authorities: [authority])
        self.limit = limit
    }

    /// For a proxy of another process. `certificate` (DER) is its authority's; the PEM file `authority` is then unused.
    package init(
        proxy: String,
        authority: String = StandardPaths.authorityCertificate,
        certificate: Data? = nil,
        authorization: String? = nil,
        mark: String? = nil,
        limit: Duration = .seconds(300)
    ) throws {
        (self.authorization, self.mark) = (authorization, mark)
        guard let (host, port) = RequestURL.splitAuthority(proxy), let port,
            let address = try? SocketAddress(ipAddress: host, port: port)
        else { throw StartError("'\(proxy)' is not the address of a proxy.", hint: "For example: 127.0.0.1:8080") }
        self.proxy = address.reachable
        trust = certificate.map { TLSTrust(certificates: [Array($0)]) } ?? TLSTrust(extraFiles: [authority])
        try trust.loadExtraFiles()
        self.limit = limit
    }

    /// For a running Sluice. Throws `StartError` if it is not a forward proxy.
    package convenience init(_ running: ControlStatus, limit: Duration) throws {
        guard let proxy = running.forwardAddress else {
            let modes = running.listeners.map(\.mode).joined(separator: ", ")
            throw StartError(
                "The running Sluice is not a forward proxy: it listens as \(modes).",
                hint: "Start it with --mode regular as well."
            )
        }
        try self.init(
            proxy: proxy,
            certificate: running.authority.certificate,
            authorization: running.proxyAuthorization,
            mark: running.mark,
            limit: limit
        )
    }

    package func send(_ request: ComposedRequest) async -> SendOutcome {
        let outcome = Mutex<SendOutcome?>(nil)
        let request = request.outgoing
        await send(1, RepeatPlan(), request: { _ in request }, onOutcome: { _, end in outcome.withLock { $0 = end } })
        return outcome.withLock { $0 } ?? SendOutcome(status: nil, duration: 0, bytes: 0, failure: "It was cancelled.")
    }

    /// Cancelling the task ends the plan early. `progress` is called at most ten times a second, and at the end.
    @discardableResult
    package func run(
        _ request: ComposedRequest,
        _ plan: RepeatPlan,
        progress: @escaping @Sendable (RepeatProgress) -> Void = { _ in }
    ) async -> RepeatProgress {
        let tally = RepeatCounter(total: plan.times)
        let request = request.outgoing
        await withTaskGroup { group in
            group.addTask { await tally.report(progress) }
            await send(plan.times, plan, request: { _ in request }, onOutcome: { _, outcome in tally.add(outcome) })
            group.cancelAll()
        }
        let end = tally.progress
        progress(end)
        return end
    }

    /// Sends `count` requests as the plan says; if the task is cancelled, requests in flight have no outcome. `request`
    /// makes the request with a number from 0; its error makes that request fail. Several tasks call `onOutcome`.
    package func send(
        _ count: Int,
        _ plan: RepeatPlan,
        request: @escaping @Sendable (Int) throws -> OutgoingRequest,
        onOutcome: @escaping @Sendable (Int, SendOutcome) -> Void
    ) async {
        let counts = SendingCounts()
        let (ends, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup { lanes in
            var iterator = ends.makeAsyncIterator()
            for lane in 0..<min(plan.parallel.upperBound, count) {
                // Further senders begin after `threshold` requests have ended.
                let threshold = plan.requests(beforeLane: lane, of: count)
                while counts.ended.load(ordering: .relaxed) < threshold, await iterator.next() != nil {}
                guard !Task.isCancelled else { break }
                lanes.addTask {
                    await self.work(
                        plan,
                        next: {
                            let index = counts.begun.wrappingAdd(1, ordering: .relaxed).oldValue
                            return index < count ? index : nil
                        },
                        request: request,
                        report: { index, outcome in
                            onOutcome(index, outcome)
                            counts.ended.wrappingAdd(1, ordering: .relaxed)
                            continuation.yield()
                        }
                    )
                }
            }
        }
    }

    private func work(
        _ plan: RepeatPlan,
        next: () -> Int?,
        request: (Int) throws -> OutgoingRequest,
        report: (Int, SendOutcome) -> Void
    ) async {
        var pending: (index: Int, request: OutgoingRequest)?
        func advance() {
            pending = nil
            while pending == nil, !Task.isCancelled, let index = next() {
                do {
                    pending = (index, try request(index))
                } catch {
                    let now = WallClock.now()
                    report(index, SendOutcome(status: nil, duration: 0, bytes: 0, failure: "\(error)", startedAt: now))
                }
            }
        }
        advance()
        while let first = pending, !Task.isCancelled {
            var attempt = Attempt()
            var sent = first.request
            do {
                try await HTTPConnection.open(.address(proxy), authorization: authorization) { connection in
                    let address = connection.address
                    used.withLock { $0.begin(address, at: WallClock.now()) }
                    defer { used.withLock { $0.end(address, at: WallClock.now()) } }
                    attempt.address = address
                    var isUsed = false
                    while let current = pending, !isUsed || current.request.canFollow(sent) {
                        attempt = Attempt(isOnUsedConnection: isUsed, address: address)
                        sent = current.request
                        try await exchange(sent, on: connection, &attempt)
                        report(current.index, attempt.outcome())
                        advance()
                        guard pending != nil else { return }
                        if plan.hasDelay { try await Task.sleep(for: plan.drawnDelay) }
                        guard connection.isReusable else { return }
                        isUsed = true
                    }
                }
            } catch {
                if Task.isCancelled { return }
                if attempt.end != nil || mayRepeat(attempt, of: sent, after: error) { continue }
                report(pending?.index ?? first.index, attempt.outcome(failure: describe(error)))
                advance()
                if pending != nil, plan.hasDelay { try? await Task.sleep(for: plan.drawnDelay) }
            }
        }
    }

    /// Whether the proxy may have closed a reused connection before the request arrived (RFC 9112 §9.3.1).
    private func mayRepeat(_ attempt: Attempt, of request: OutgoingRequest, after error: any Error) -> Bool {
        guard attempt.isOnUsedConnection, attempt.status == nil, request.head.isIdempotent else { return false }
        return switch error {
        case HTTPConnection.ConnectionError.closed, is ChannelError, is IOError: true
        default: false
        }
    }

    private func exchange(
        _ request: OutgoingRequest,
        on connection: HTTPConnection,
        _ attempt: inout Attempt
    ) async throws {
        try await connection.within(limit) {
            if request.isSecure, !attempt.isOnUsedConnection {
                // The system's authorities are read here, not on an event loop.
                try trust.load()
                try await connection.startTLS(to: request.origin, trust: trust)
            }
            (attempt.start, attempt.startedAt) = (.now, WallClock.now())
            let head = try await connection.exchange(
                request.head,
                request.body,
                request.framing,
                trailers: request.trailers
            ) { event in
                switch event {
                case .head(let head):
                    attempt.status = head.status
                    attempt.failureCode = LocalAnswer.failureCode(in: head, mark: mark)
                case .part(let part): attempt.bytes += Int64(part.readableBytes)
                }
            }
            attempt.status = head.status
        }
        attempt.end = .now
    }

    private struct Attempt {
        var start = ContinuousClock.now
        var startedAt = WallClock.now()
        var isOnUsedConnection = false
        var address: String?
        var status: Int?
        var failureCode: ExchangeFailure.Code?
        var bytes: Int64 = 0
        var end: ContinuousClock.Instant?

        func outcome(failure: String? = nil) -> SendOutcome {
            let duration = start.duration(to: end ?? .now) / .microseconds(1)
            return SendOutcome(
                status: status,
                duration: Int64(duration),
                bytes: bytes,
                failure: failure,
                failureCode: failureCode,
                address: address,
                startedAt: startedAt
            )
        }
    }

    private func describe(_ error: any Error) -> String {
        switch error {
        case is ChannelError, is IOError: "The connection to the proxy failed: \(error)"
        case let error as TLSError: "TLS by way of the proxy failed: \(error)"
        default: "\(error)"
        }
    }
}

private final class SendingCounts: Sendable {
    let begun = Atomic(0)
    let ended = Atomic(0)
}

extension SessionReader {
    /// The exchange of a request that was sent; waits up to three seconds until it is recorded.
    package func exchange(of outcome: SendOutcome, by sender: RequestSender) async -> ExchangeRecord? {
        guard let address = outcome.address else { return nil }
        let connections = sender.connections
        for _ in 0..<30 {
            let newest = try? records(limit: 100, order: .newestFirst)
            if let made = newest?.first(where: { $0.clientAddress == address && connections.contains($0) }) {
                return made
            }
            guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { return nil }
        }
        return nil
    }
}
