import ExchangeCore
package import Foundation
import HTTPModel
import Jobs
package import NIOCore
import Synchronization
package import Wire

/// Sends requests through a running proxy, so that its tools apply to them and they are recorded.
///
/// It needs only the proxy's address and the certificate of its authority, so the proxy may run in another process.
package final class RequestSender: Sendable {
    private let proxy: SocketAddress
    private let trust: TLSTrust
    private let limit: Duration
    private let authorization: String?
    /// What answers of the proxy itself are known by.
    private let mark: String?
    private let used = Mutex(SentConnections())

    /// The connections that were opened so far.
    package var connections: SentConnections { used.withLock(\.self) }

    /// Uses a proxy of this process; one request may take `limit` in all.
    ///
    /// The system's authorities are trusted too, for hosts that are not decrypted. `authorization` is the value of
    /// `Proxy-Authorization`, where the proxy asks for one.
    package init(
        proxy: SocketAddress,
        authority: CertificateAuthority,
        authorization: String? = nil,
        limit: Duration = .seconds(300)
    ) {
        (self.authorization, mark) = (authorization, LocalAnswer.mark)
        self.proxy = RequestSender.reachable(proxy)
        trust = TLSTrust(authorities: [authority])
        self.limit = limit
    }

    /// Uses a proxy of another process, for example at `127.0.0.1:8080` or `[::1]:8080`.
    ///
    /// `certificate` is that of its authority, DER, in place of the PEM file `authority`; `mark` is what its own answers have in
    /// `X-Sluice-Mark`.
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
        else {
            throw StartError("'\(proxy)' is no address of a proxy.", hint: "For example: 127.0.0.1:8080")
        }
        self.proxy = RequestSender.reachable(address)
        trust = certificate.map { TLSTrust(certificates: [Array($0)]) } ?? TLSTrust(extraFiles: [authority])
        try trust.loadExtraFiles()
        self.limit = limit
    }

    /// The loopback address of a proxy that listens on all addresses.
    private static func reachable(_ address: SocketAddress) -> SocketAddress {
        guard let host = address.ipAddress, ["0.0.0.0", "::"].contains(host) else { return address }
        return (try? SocketAddress(ipAddress: host == "::" ? "::1" : "127.0.0.1", port: address.port ?? 0)) ?? address
    }

    // MARK: - Sending

    /// Sends a request once.
    package func send(_ request: ComposedRequest) async -> SendOutcome {
        let outcome = Mutex<SendOutcome?>(nil)
        let request = request.outgoing
        let isTaken = Atomic(false)
        await work(
            RepeatPlan(),
            next: { isTaken.exchange(true, ordering: .relaxed) ? nil : 0 },
            request: { _ in request },
            report: { _, end in outcome.withLock { $0 = end } }
        )
        return outcome.withLock { $0 }
            ?? SendOutcome(status: nil, duration: 0, bytes: 0, failure: "It was cancelled.")
    }

    /// Carries out a plan; cancelling the task ends it early, and the requests under way then do not count.
    ///
    /// `progress` is called ten times a second at most, and at the end.
    @discardableResult
    package func run(
        _ request: ComposedRequest,
        _ plan: RepeatPlan,
        progress: @escaping @Sendable (RepeatProgress) -> Void = { _ in }
    ) async -> RepeatProgress {
        let tally = SharedRepeatCounter(total: plan.times)
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

    /// Sends requests from 0 on, as many at a time and as fast as a plan says; cancelling the task ends it early, and the
    /// requests under way then have no outcome.
    ///
    /// - Parameters:
    ///   - count: how many there are.
    ///   - plan: how many at a time and how fast; how often is not asked for.
    ///   - request: makes the request of a number; one that cannot be made has failed.
    ///   - onOutcome: called with each outcome, by many tasks.
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
            for lane in 0..<min(plan.parallel, count) {
                // Further lanes begin when so much is done.
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

    /// Sends one request after the other, on as few connections as the proxy and the origins allow.
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
                    report(
                        index,
                        SendOutcome(status: nil, duration: 0, bytes: 0, failure: "\(error)", startedAt: now)
                    )
                }
            }
        }
        advance()
        while let first = pending, !Task.isCancelled {
            var attempt = Attempt()
            var sent = first.request
            do {
                try await ProxyConnection.open(through: proxy, authorization: authorization) { connection in
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

    /// Whether the proxy closed a connection at the moment it was used again (RFC 9112 §9.3.1).
    private func mayRepeat(_ attempt: Attempt, of request: OutgoingRequest, after error: any Error) -> Bool {
        guard attempt.isOnUsedConnection, attempt.status == nil, request.head.isIdempotent else { return false }
        return switch error {
        case ProxyConnection.ConnectionError.closed, is ChannelError, is IOError: true
        default: false
        }
    }

    private func exchange(
        _ request: OutgoingRequest,
        on connection: ProxyConnection,
        _ attempt: inout Attempt
    ) async throws {
        try await connection.within(limit) {
            if request.isSecure, !attempt.isOnUsedConnection {
                // Reads the system's authorities here, and not on an event loop.
                try trust.load()
                try await connection.startTLS(to: request.origin, trust: trust)
            }
            attempt.begin()
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

    /// One request on its way.
    private struct Attempt {
        private var start = ContinuousClock.now
        private var startedAt = WallClock.now()
        /// Whether the connection had another request before.
        var isOnUsedConnection = false
        var address: String?
        var status: Int?
        var failureCode: ExchangeFailure.Code?
        var bytes: Int64 = 0
        var end: ContinuousClock.Instant?

        init(isOnUsedConnection: Bool = false, address: String? = nil) {
            (self.isOnUsedConnection, self.address) = (isOnUsedConnection, address)
        }

        /// The request is sent now.
        mutating func begin() { (start, startedAt) = (.now, WallClock.now()) }

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

/// How many requests of a plan were begun and have ended.
private final class SendingCounts: Sendable {
    let begun = Atomic(0)
    let ended = Atomic(0)
}
