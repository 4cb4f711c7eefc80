import NIOCore
import Wire

struct ProbeOutcome: Sendable {
    var findings = TLSProbeFindings.none
    /// `nil` for a complete handshake.
    var failure: ProbeFailure?
    var address: String?
}

/// Makes the handshakes of a probe, each on its own connection, until its time is over.
struct ProbeHandshakes: Sendable {
    let target: ProbeTarget
    let route: any ProbeRoute
    let trust: TLSTrust
    /// The limit for one handshake, including its connection.
    let limit: Duration
    /// The limit for all handshakes.
    let timeLimit: Duration
    /// After this time no handshake begins, and open handshakes end.
    let end: ContinuousClock.Instant
    let counted: @Sendable () throws -> Void

    /// Time to wait after a handshake for tickets, and for alerts about a missing client certificate.
    private static let linger = Duration.milliseconds(500)

    /// Throws the errors of `counted`, and `CancellationError`.
    func run(
        _ offer: TLSProbeOffer,
        in context: TLSProbeContext? = nil,
        resumes: Bool = false
    ) async throws -> ProbeOutcome {
        try Task.checkCancellation()
        var outcome = ProbeOutcome()
        let left = ContinuousClock.now.duration(to: end)
        // The limit that ends this handshake: the limit for all handshakes, or the limit for one.
        let given = left < limit ? timeLimit : limit
        let limit = min(limit, left)
        guard limit > .zero else {
            outcome.failure = .outOfTime
            return outcome
        }
        let session: TLSSession
        do {
            let context = try context ?? TLSProbeContext(trust: trust)
            session = try context.makeSession(host: target.serverName, offer: offer, resumes: resumes)
        } catch let error as TLSError {
            outcome.failure = ProbeFailure(error)
            return outcome
        }
        let begun = ContinuousClock.now
        let stream: ProbeStream
        do {
            stream = try await route.connect(within: limit)
        } catch {
            try Task.checkCancellation()
            outcome.failure = ProbeFailure(connecting: error, to: target)
            return outcome
        }
        // Behind a proxy, the server's address is unknown.
        if route.proxy == nil { outcome.address = stream.channel.remoteAddress?.ipAddress }
        let rest = limit - begun.duration(to: .now)
        let isLate = try await shake(session, on: stream, within: max(rest, .milliseconds(1)), resumes: resumes)
        outcome.findings = session.findings
        if case .failed(let error) = session.state {
            outcome.failure = ProbeFailure(error)
        } else if session.state == .handshaking {
            outcome.failure = isLate ? .silent(seconds: given / .seconds(1)) : .closed
        }
        try counted()
        return outcome
    }

    /// Returns whether the time ran out before the handshake was done.
    private func shake(
        _ session: TLSSession,
        on stream: ProbeStream,
        within limit: Duration,
        resumes: Bool
    ) async throws -> Bool {
        let channel = stream.channel
        let deadline = ContinuousClock.now + limit
        let expiry = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) { channel.close(promise: nil) }
        defer { expiry.cancel() }
        var lingering: Scheduled<Void>?
        defer { lingering?.cancel() }
        do {
            try await stream.executeThenClose { inbound, outbound in
                var inbound = inbound.makeAsyncIterator()
                while true {
                    var plaintext = ByteBuffer()
                    let progress = session.advance(into: &plaintext, limit: 1 << 16)
                    if let output = session.takeOutput() { try await outbound.write(output) }
                    if progress == .ended || isDone(session, resumes: resumes) { return }
                    if session.state == .open, lingering == nil {
                        let linger = TimeAmount(ProbeHandshakes.linger)
                        lingering = channel.eventLoop.scheduleTask(in: linger) { channel.close(promise: nil) }
                    }
                    guard let bytes = try await inbound.next() else { break }
                    session.receive(bytes)
                }
            }
        } catch {
            // Either side closed the connection.
            try Task.checkCancellation()
        }
        return ContinuousClock.now >= deadline
    }

    private func isDone(_ session: TLSSession, resumes: Bool) -> Bool {
        guard session.state == .open else { return false }
        let notes = session.probeProgress
        return notes.hasTicket || !resumes && !notes.isCertificateRequested
    }

    /// Makes the first handshake. If the server is silent for half the time, a request without TLS gets the other half.
    func runFirst(_ offer: TLSProbeOffer, in context: TLSProbeContext) async throws -> (ProbeOutcome, Bool) {
        let time = min(limit, ContinuousClock.now.duration(to: end))
        async let answers = answersPlainHTTP(after: time / 2, within: time / 2)
        let outcome = try await run(offer, in: context, resumes: true)
        guard case .silent = outcome.failure else { return (outcome, false) }
        return (outcome, try await answers)
    }

    func answersPlainHTTP(after pause: Duration = .zero, within longest: Duration? = nil) async throws -> Bool {
        if pause > .zero { try await Task.sleep(for: pause) }
        let limit = min(longest ?? limit, ContinuousClock.now.duration(to: end), .seconds(5))
        let deadline = ContinuousClock.now + limit
        guard limit > .zero, let stream = try? await route.connect(within: limit) else { return false }
        let channel = stream.channel
        let rest = max(ContinuousClock.now.duration(to: deadline), .milliseconds(1))
        let expiry = channel.eventLoop.scheduleTask(in: TimeAmount(rest)) { channel.close(promise: nil) }
        defer { expiry.cancel() }
        let request = "HEAD / HTTP/1.1\r\nHost: \(target.authority)\r\nConnection: close\r\n\r\n"
        let answers = try? await stream.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: request))
            var answer = ByteBuffer()
            for try await bytes in inbound {
                answer.writeImmutableBuffer(bytes)
                if answer.readableBytes >= 5 { break }
            }
            return answer.readString(length: min(5, answer.readableBytes)) == "HTTP/"
        }
        try Task.checkCancellation()
        try counted()
        return answers ?? false
    }
}

extension ProbeFailure {
    init(_ error: TLSError) {
        self =
            switch error.cause {
            case .peerAlert(let name): .alert(name)
            case .closedDuringHandshake: .closed
            case .plainHTTP: .plainHTTP
            case .nothingShared: .refused("this machine's OpenSSL cannot offer it")
            case .unsupportedVersion: .refused("no version in common")
            case .legacyRenegotiation: .refused("no secure renegotiation")
            case .dhKeyTooSmall: .refused("Diffie-Hellman parameters that are too short")
            case .protocolViolation(let reason), .resource(let reason): .refused(reason)
            default: .refused(error.openSSLText)
            }
    }
}
