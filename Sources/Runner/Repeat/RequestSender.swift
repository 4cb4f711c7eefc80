package import Foundation
import HTTPModel
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
    private let used = Mutex(SentConnections())

    /// The connections that were opened so far.
    package var connections: SentConnections { used.withLock(\.self) }

    /// Uses a proxy of this process; one request may take `limit` in all.
    ///
    /// The system's authorities are trusted too, for hosts that are not decrypted.
    package init(proxy: SocketAddress, authority: CertificateAuthority, limit: Duration = .seconds(300)) {
        self.proxy = RequestSender.reachable(proxy)
        trust = TLSTrust(authorities: [authority])
        self.limit = limit
    }

    /// Uses a proxy of another process, for example at `127.0.0.1:8080` or `[::1]:8080`.
    ///
    /// `certificate` is that of its authority, DER, in place of the PEM file `authority`.
    package init(
        proxy: String,
        authority: String = StandardPaths.authorityCertificate,
        certificate: Data? = nil,
        limit: Duration = .seconds(300)
    ) throws {
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

    /// In microseconds since 1970, as records have it.
    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }

    // MARK: - Sending

    /// Sends a request once.
    package func send(_ request: ComposedRequest) async -> SendOutcome {
        var outcome: SendOutcome?
        await work(request, delay: .zero, hasNext: { outcome == nil }, report: { outcome = $0 })
        return outcome ?? SendOutcome(status: nil, duration: 0, bytes: 0, failure: "It was cancelled.")
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
        await withTaskGroup { group in
            group.addTask { await tally.report(progress) }
            await withTaskGroup { workers in
                for _ in 0..<min(plan.parallel, plan.times) {
                    workers.addTask {
                        let delay = Duration.milliseconds(plan.delayMilliseconds)
                        await self.work(request, delay: delay, hasNext: tally.begin, report: tally.add)
                    }
                }
            }
            group.cancelAll()
        }
        let end = tally.progress
        progress(end)
        return end
    }

    /// Sends a request while `hasNext`, on as few connections as the proxy allows.
    private func work(
        _ request: ComposedRequest,
        delay: Duration,
        hasNext: () -> Bool,
        report: (SendOutcome) -> Void
    ) async {
        var hasMore = hasNext()
        while hasMore, !Task.isCancelled {
            var attempt = Attempt()
            do {
                try await ProxyConnection.open(through: proxy) { connection in
                    let address = connection.address
                    used.withLock { $0.begin(address, at: RequestSender.now) }
                    defer { used.withLock { $0.end(address, at: RequestSender.now) } }
                    attempt.address = address
                    while true {
                        try await exchange(request, on: connection, &attempt)
                        report(attempt.outcome())
                        hasMore = hasNext()
                        guard hasMore else { return }
                        if delay > .zero { try await Task.sleep(for: delay) }
                        guard connection.isReusable else { return }
                        attempt = Attempt(isOnUsedConnection: true, address: address)
                    }
                }
            } catch {
                if Task.isCancelled { return }
                if attempt.end != nil || mayRepeat(attempt, of: request, after: error) { continue }
                report(attempt.outcome(failure: describe(error)))
                hasMore = hasNext()
                if hasMore, delay > .zero { try? await Task.sleep(for: delay) }
            }
        }
    }

    /// Whether the proxy closed a connection at the moment it was used again (RFC 9112 §9.3.1).
    private func mayRepeat(_ attempt: Attempt, of request: ComposedRequest, after error: any Error) -> Bool {
        guard attempt.isOnUsedConnection, attempt.status == nil, request.isIdempotent else { return false }
        return switch error {
        case ProxyConnection.ConnectionError.closed, is ChannelError, is IOError: true
        default: false
        }
    }

    private func exchange(
        _ request: ComposedRequest,
        on connection: ProxyConnection,
        _ attempt: inout Attempt
    ) async throws {
        try await connection.within(limit) {
            if request.isSecure, !attempt.isOnUsedConnection {
                // Reads the system's authorities here, and not on an event loop.
                try trust.load()
                try await connection.startTLS(to: request.origin, trust: trust)
            }
            let head = try await connection.exchange(request.headToSend, body: request.body) { event in
                switch event {
                case .head(let head): attempt.status = head.status
                case .part(let part): attempt.bytes += Int64(part.readableBytes)
                }
            }
            attempt.status = head.status
        }
        attempt.end = .now
    }

    /// One request on its way.
    private struct Attempt {
        let start = ContinuousClock.now
        /// Whether the connection had another request before.
        var isOnUsedConnection = false
        var address: String?
        var status: Int?
        var bytes: Int64 = 0
        var end: ContinuousClock.Instant?

        func outcome(failure: String? = nil) -> SendOutcome {
            let duration = start.duration(to: end ?? .now) / .microseconds(1)
            return SendOutcome(
                status: status,
                duration: Int64(duration),
                bytes: bytes,
                failure: failure,
                address: address
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
