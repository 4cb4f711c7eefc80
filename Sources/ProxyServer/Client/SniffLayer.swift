import ExchangeCore
import HTTPModel
import Logging
import NIOCore
import Synchronization
import Wire

/// Finds the protocol of a connection, or of a tunnel, by its first bytes. Line breaks, spaces and tabs before them are
/// skipped (RFC 9112 §2.2).
///
/// 0. Before any byte arrives, Sluice passes a tunnel unread if the rules do not intercept its host, or if its client
/// has refused Sluice's certificate (``CertificateRefusals``) and no rule must read it. If the client requested an
/// address, or its program is unknown, Sluice decides this after the ClientHello.
/// 1. A TLS ClientHello: Sluice terminates TLS with a minted certificate. If ALPN (RFC 7301) selects no protocol, the
/// inside is sniffed again. If the client of a tunnel offers neither `h2` nor `http/1.1`, Sluice offers its protocols
/// to the server: if that selects one, Sluice terminates TLS on both legs and passes the bytes on.
/// 2. The beginning of an HTTP/1 request, or the HTTP/2 preface if clients may speak HTTP/2: HTTP.
/// 3. No bytes for a moment, in a tunnel: the server speaks first, so bytes pass through, unless a recording answers.
/// 4. The incomplete beginning of one of these: Sluice waits as long as for a request head, then closes the connection.
/// 5. Other bytes pass through in a tunnel; outside a tunnel they are an error. If a rule must read requests to the
/// tunnel's host (``StageChain/reader(of:)``), they are an error too, unless they are SSH or the server speaks first.
///
/// A reverse listener for any protocol over TLS (`tls`) sniffs like a tunnel, others like the proxy's own port.
final class SniffLayer: ClientLayer {
    private enum State {
        /// Successors: `handshaking`, `decided`.
        case sniffing
        /// TLS for this host is being terminated. Successor: `decided`.
        case handshaking(host: String)
        /// Another layer has the connection, or it is closed.
        case decided
    }

    private enum Identification { case notNeeded, underWay, over }

    let connection: ClientConnection
    private var scope: RequestScope
    /// Whether this is inside terminated TLS for which ALPN selected no protocol.
    private let isInsideTLS: Bool
    /// Whether the server was offered the client's ALPN protocols and selected none.
    private let agreesOnNothing: Bool
    private var first = ByteBuffer()
    private var began: NIODeadline?
    private var timer: Scheduled<Void>?
    private var identification = Identification.notNeeded
    private var state = State.sniffing

    /// How long a client in a tunnel to port 443 or 8443 may be silent before the server is connected.
    private static let clientFirst = TimeAmount.seconds(3)
    /// The same limit inside TLS for which ALPN selected no protocol.
    private static let insideLimit = TimeAmount.seconds(1)

    init(connection: ClientConnection, scope: RequestScope, isInsideTLS: Bool = false, agreesOnNothing: Bool = false) {
        self.connection = connection
        self.scope = scope
        self.isInsideTLS = isInsideTLS
        self.agreesOnNothing = agreesOnNothing
        guard let tunnel = scope.tunnel else { return }
        // On these ports the client almost always speaks first, even if late on a slow network.
        let isUsuallyTLS = tunnel.port == 443 || tunnel.port == 8443
        let limit = isUsuallyTLS ? SniffLayer.clientFirst : loop.configuration.timeouts.serverFirst
        schedule(isInsideTLS ? SniffLayer.insideLimit : limit)
    }

    private var intake: RequestIntake { RequestIntake(connection: connection, scope: scope) }

    // MARK: - ClientLayer

    var wantsRead: Bool { if case .decided = state { false } else { true } }
    var isIdle: Bool { true }

    private func schedule(_ amount: TimeAmount) {
        timer?.cancel()
        timer = loop.eventLoop.assumeIsolated().scheduleTask(in: amount) { [weak self] in self?.waitedLongEnough() }
    }

    private func waitedLongEnough() {
        guard case .sniffing = state, let tunnel = scope.tunnel else { return }
        if connection.endsIfItLeadsBack() { return }
        // A recording does not speak first.
        if loop.configuration.answers != nil { return }
        passThrough(tunnel, notes: ["the client sent nothing, so the server was assumed to speak first"])
    }

    // MARK: - Deciding

    func received(_ bytes: ByteBuffer) {
        guard case .sniffing = state else { return }
        if began == nil { began = loop.eventLoop.now }
        if first.readableBytes == 0 { first = bytes } else { first.writeImmutableBuffer(bytes) }
        if !isIdentifying { decide() }
    }

    private var content: ByteBuffer { HTTP1Sniffer.content(of: first) }

    private func decide() {
        let content = content
        guard content.readableBytes > 0 else { return }
        timer?.cancel()
        switch ClientHello.parse(content) {
        case .hello(let hello):
            first = content
            begin(hello)
        case .needMoreData: break
        case .notTLS: decideWithoutTLS()
        }
    }

    private func decideWithoutTLS() {
        let verdict = HTTP1Sniffer.looksLikeHTTP(first)
        switch verdict {
        case .yes: becomeHTTP1()
        case .needMore: break
        case .http2Preface where speaksHTTP2:
            first = content
            become(HTTP2ClientLayer(connection: connection, scope: scope))
        case .http2Preface, .no:
            if let tunnel = scope.tunnel {
                passThrough(tunnel, notes: verdict == .http2Preface ? [SniffLayer.unreadHTTP2] : [])
            } else {
                // The parser reports and records the error.
                becomeHTTP1()
            }
        }
    }

    private var speaksHTTP2: Bool { loop.configuration.http2.contains(.client) }
    private var protocols: [String] { speaksHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"] }

    private static let unreadHTTP2 = "the client speaks HTTP/2, which is off for clients (--http2), so it is not read"

    /// `unreadHint` explains why invalid requests do not pass unread.
    private func becomeHTTP1(unreadHint: String = "") {
        become(HTTP1ClientLayer(connection: connection, scope: scope, headBegan: began, unreadHint: unreadHint))
    }

    private func become(_ layer: any ClientLayer) {
        endSniffing()
        connection.become(layer, with: first)
    }

    private func endSniffing() {
        state = .decided
        timer?.cancel()
    }

    // MARK: - TLS

    private func begin(_ hello: ClientHello) {
        if case .tunnel(var tunnel) = scope, !isInsideTLS {
            let wasUnnamed = tunnel.isUnnamed
            tunnel.isUnnamed = false
            if wasUnnamed, let name = hello.serverName.flatMap({ RequestURL.splitAuthority($0)?.host }),
                name != tunnel.host
            {
                // The client names its server in TLS: rules use this name.
                (tunnel.host, tunnel.address) = (name, tunnel.host)
            }
            if tunnel.host == ProxyPages.host {
                scope = .ownPages
            } else {
                scope = .tunnel(tunnel)
                if case .notNeeded = identification, connection.identity.isAwaited, isRefused(tunnel) {
                    return identify()
                }
                if let reason = Unread(tunnel, of: connection, hasWaited: true) { return passUnread(tunnel, reason) }
            }
        }
        if case .reverse(let target) = scope, let tunnel = target.unreadTunnel,
            !loop.rules.decrypts(tunnel.host, tunnel.port, nil)
        {
            return passUnreadInReverse(tunnel)
        }
        endSniffing()
        let host = hello.serverName ?? certificateHost
        let key = hello.acceptsECDSA ? LeafKey.Kind.ecdsa : .rsa
        guard let tunnel = scope.tunnel else { return endTLS(host: host, protocols: protocols, key: key) }
        let offered = hello.alpnProtocols ?? protocols
        let isOther = Set(offered).isDisjoint(with: protocols)
        // Unread HTTP would bypass the rules.
        let mayPass = !offered.contains { $0 == "h2" || $0.hasPrefix("http/") } || reader(of: tunnel) == nil
        if isOther, mayPass, !agreesOnNothing, loop.configuration.answers == nil {
            passThroughBothLegs(tunnel, hello, offered)
        } else {
            // If the client offers only other protocols, ALPN selects none; a recording cannot select one either.
            endTLS(host: host, protocols: isOther || agreesOnNothing ? [] : protocols, key: key)
        }
    }

    private var isIdentifying: Bool { identification == .underWay }

    private func isRefused(_ tunnel: RequestScope.Tunnel) -> Bool {
        let pair = connection.pair(with: tunnel)
        return loop.shared.refusals.withLock { $0.concernsAddress(of: pair) }
    }

    /// Continues once the client's program is known, or after a limit.
    private func identify() {
        identification = .underWay
        let goOn = { [weak self] in
            guard let self, isIdentifying, case .sniffing = state else { return }
            timer?.cancel()
            identification = .over
            decide()
        }
        timer?.cancel()
        timer = loop.eventLoop.assumeIsolated().scheduleTask(in: loop.configuration.timeouts.identity, goOn)
        connection.identity.whenKnown(goOn)
    }

    private var certificateHost: String {
        if case .tunnel(let tunnel) = scope { return tunnel.host }
        return connection.localAddress?.ipAddress ?? "127.0.0.1"
    }

    private func endTLS(host: String, protocols: [String], key: LeafKey.Kind) {
        state = .handshaking(host: host)
        do {
            try connection.beginTLS(host: host, protocols: protocols, key: key, early: first)
        } catch {
            intake.recordFailedHandshake(.init(.clientTLS, "No certificate could be made for \(host): \(error)"))
            connection.close()
        }
    }

    func handshakeCompleted(_ details: TLSDetails) {
        guard case .handshaking = state else { return }
        state = .decided
        var scope = scope
        if case .tunnel(var tunnel) = scope {
            let pair = connection.pair(with: tunnel)
            loop.shared.refusals.withLock { $0.accepted(pair, now: loop.eventLoop.now) }
            tunnel.scheme = "https"
            // RFC 6066 §3: a server name has no trailing dot, but clients send it.
            let name = details.serverName.map { RequestURL.splitAuthority($0)?.host ?? $0 }
            tunnel.serverName = name == tunnel.host ? nil : name
            scope = .tunnel(tunnel)
        }
        switch details.applicationProtocol {
        case "h2": connection.become(HTTP2ClientLayer(connection: connection, scope: scope))
        case "http/1.1": connection.become(HTTP1ClientLayer(connection: connection, scope: scope))
        default: connection.become(SniffLayer(connection: connection, scope: scope, isInsideTLS: true))
        }
    }

    func failed(_ error: any Error) {
        timer?.cancel()
        if case .sniffing = state, !(error is ExchangeFailure) { recordEnd("The client's connection broke") }
        guard case .handshaking = state else { return }
        state = .decided
        guard let failure = error as? TLSError else { return }
        intake.recordFailedHandshake(.init(.clientTLS, failure.explanation, hint: hint(after: failure)))
    }

    /// Counts a handshake that the client refused; returns the hint for its record.
    private func hint(after failure: TLSError) -> String {
        guard failure.clientRefusedCertificate || failure.clientSharesNothing, case .tunnel(let tunnel) = scope,
            loop.configuration.tunnelsRefusingHosts
        else { return "" }
        if let tool = loop.rules.reader(of: tunnel) {
            return Undecrypted.hint(tool, reads: Undecrypted.place(tunnel.url))
        }
        let reason: CertificateRefusals.Reason = failure.clientSharesNothing ? .nothingShared : .certificate
        var hint = ""
        connection.identity.whenKnown { [connection, loop] in
            let pair = connection.pair(with: tunnel)
            let now = loop.eventLoop.now
            guard let wait = loop.shared.refusals.withLock({ $0.refused(pair, reason, now: now) }) else { return }
            hint = Undecrypted.hint(pair, wait)
            loop.logger.notice("\(Undecrypted.notice(pair, reason, wait))")
        }
        return hint
    }

    // MARK: - Bytes

    /// The tool that must read requests to a tunnel, found by its host or by the address that the client requested.
    private func reader(of tunnel: RequestScope.Tunnel) -> String? {
        for case let host? in [tunnel.host, tunnel.askedAddress] {
            let url = RequestURL(scheme: "http", host: host, port: tunnel.port, path: "")
            if let stage = loop.rules.chain.reader(of: url) { return stage.name }
        }
        return nil
    }

    private func passThrough(_ tunnel: RequestScope.Tunnel, notes: [String] = []) {
        let isSecure = tunnel.scheme == "https"
        let reader = reader(of: tunnel)
        if let reader, first.readableBytes > 0, !HTTP1Sniffer.isSSH(content) {
            let authority = tunnel.url.authority
            let hint =
                "Unreadable bytes do not pass to \(authority), because a rule of '\(reader)' must read them. "
                + "To pass another protocol, put \(authority) under 'except' of 'intercept' in the profile."
            return becomeHTTP1(unreadHint: hint)
        }
        startTunnel(
            tunnel,
            kind: isSecure ? .decryptedTunnel : .tunnel,
            purpose: isSecure ? .secureTunnel(protocols: []) : .tunnel,
            early: first,
            retry: first.readableBytes > 0
                ? nil
                : { [connection, scope, isInsideTLS] in
                    SniffLayer(connection: connection, scope: scope, isInsideTLS: isInsideTLS)
                },
            notes: notes,
            mustBeRead: reader != nil
        )
    }

    private func passUnread(_ tunnel: RequestScope.Tunnel, _ reason: Unread?) {
        startTunnel(tunnel, kind: .tunnel, purpose: .tunnel, early: first, retry: nil, notes: [], reason: reason)
    }

    /// Passes the client's TLS unread to the server of a reverse listener; an error if clients must authenticate.
    private func passUnreadInReverse(_ tunnel: RequestScope.Tunnel) {
        guard loop.configuration.authentication == nil else {
            endSniffing()
            let text =
                "'intercept' does not have \(tunnel.host) decrypted, and a client that is not decrypted cannot be asked for a user "
                + "and a password (--proxy-auth)."
            intake.recordFailedHandshake(ExchangeFailure(.clientTLS, text))
            return connection.close()
        }
        passUnread(tunnel, .notIntercepted)
    }

    func forwardUnread() {
        guard case .sniffing = state, let tunnel = scope.tunnel else { return }
        passUnread(tunnel, nil)
    }

    /// Terminates TLS on both legs, with the protocol that the server chooses from the client's list.
    private func passThroughBothLegs(_ tunnel: RequestScope.Tunnel, _ hello: ClientHello, _ offered: [String]) {
        var tunnel = tunnel
        if case .tunnel = scope { tunnel.serverName = hello.serverName }
        let host = hello.serverName ?? certificateHost
        let key = hello.acceptsECDSA ? LeafKey.Kind.ecdsa : .rsa
        let early = first
        startTunnel(
            tunnel,
            kind: .decryptedTunnel,
            purpose: .secureTunnel(protocols: offered),
            early: ByteBuffer(),
            retry: { [connection, scope] in SniffLayer(connection: connection, scope: scope, agreesOnNothing: true) },
            notes: offered.contains("h2") ? [SniffLayer.unreadHTTP2] : [],
            onEstablished: { [connection] layer, connector in
                if connector.applicationProtocol == nil, layer.handBack(early) { return }
                layer.guess?.sink.confirm()
                layer.guess = nil
                do {
                    let protocols = connector.applicationProtocol.map { [$0] } ?? []
                    try connection.beginTLS(host: host, protocols: protocols, key: key, early: early)
                } catch {
                    connection.close()
                }
            }
        )
    }

    /// Connects to the server and passes bytes through, `early` first. If the client's bytes turn out to be readable,
    /// the layer made by `retry` takes the connection back; with `mustBeRead` always, unless the server spoke first.
    private func startTunnel(
        _ tunnel: RequestScope.Tunnel,
        kind: ExchangeRecord.Kind,
        purpose: UpstreamConnector.Purpose,
        early: ByteBuffer,
        retry: (() -> SniffLayer)?,
        notes: [String],
        reason: Unread? = nil,
        mustBeRead: Bool = false,
        onEstablished: ((TunnelClientLayer, UpstreamConnector) -> Void)? = nil
    ) {
        endSniffing()
        let connector = UpstreamConnector(loop: loop, purpose: purpose)
        let sniffsTLS = kind == .tunnel || retry != nil && onEstablished == nil
        let layer = TunnelClientLayer(connection: connection, sniffsTLS ? .sniffing(ByteBuffer()) : .passing)
        if let onEstablished { layer.onEstablished = { onEstablished($0, connector) } }
        var arrival = RequestIntake.Arrival(tunnel)
        arrival.kind = kind
        arrival.connector = connector
        arrival.notes = notes + tunnel.remarks(onServerName: tunnel.serverName)
        arrival.isEstablished = true
        reason?.apply(to: &arrival, layer, of: connection)
        if let retry {
            let sink = TentativeSink(loop.recorder, makeID: loop.shared.makeExchangeID)
            layer.guess = (sink, mustBeRead, { [connection] in connection.become(retry(), with: $0) })
            arrival.guess = sink
        }
        intake.begin(tunnel, arrival, through: layer)
        connection.become(layer, with: early)
    }

    // MARK: - The rest of ClientLayer

    private enum Beginning: String {
        case hello = "its TLS hello"
        case preface = "the HTTP/2 preface"
        case request = "a request head"
    }

    /// `nil` without bytes.
    private var beginning: Beginning? {
        guard first.readableBytes > 0 else { return nil }
        let content = content
        if content.readableBytes > 0, ClientHello.parse(content) == .needMoreData { return .hello }
        return speaksHTTP2 && HTTP1Sniffer.beginsHTTP2(content) ? .preface : .request
    }

    func inputClosed(isHalfClose: Bool) {
        timer?.cancel()
        guard case .sniffing = state, !isIdentifying, let beginning else {
            connection.close()
            return
        }
        switch (beginning, scope.tunnel) {
        case (.hello, _), (.preface, _):
            recordEnd("The client closed the connection")
            state = .decided
            connection.close()
        // Bytes that cannot be a request belong to another protocol.
        case (.request, let tunnel?): passThrough(tunnel)
        // The parser reports and records what is missing.
        case (.request, nil): becomeHTTP1()
        }
    }

    /// Records that the client ended too early; `how` begins a sentence.
    private func recordEnd(_ how: String) {
        recordEnd { beginning in
            let text = "\(how) in the middle of \(beginning.rawValue)."
            return ExchangeFailure(beginning == .hello ? .clientTLS : .clientGone, text)
        }
    }

    private func recordEnd(_ failure: (Beginning) -> ExchangeFailure) {
        guard let beginning else { return }
        switch beginning {
        case .hello: intake.recordFailedHandshake(failure(beginning))
        case .preface, .request: intake.recordMalformed(failure(beginning), head: first)
        }
    }

    func closing(_ reason: OwnClose) {
        switch state {
        case .sniffing: recordEnd { reason.failure(inTheMiddleOf: $0.rawValue) }
        case .handshaking: intake.recordFailedHandshake(reason.failure(inTheMiddleOf: "its TLS handshake"))
        case .decided: return
        }
        endSniffing()
    }

    func closed() {
        timer?.cancel()
        if case .handshaking(let host) = state {
            failed(TLSError(leg: .client, cause: .closedDuringHandshake, host: host))
        }
    }

    func enforceTimeout(lastActivity: NIODeadline, now: NIODeadline) {
        let timeouts = loop.configuration.timeouts
        guard let began else {
            if now - lastActivity > timeouts.keepAlive { connection.close() }
            return
        }
        guard now - began > timeouts.requestHead else { return }
        let limit = "\(timeouts.requestHead.inSeconds) s after its first byte."
        switch (state, beginning) {
        case (.decided, _), (.sniffing, nil): break
        case (.handshaking, _), (.sniffing, .hello):
            let text = "The client's TLS handshake was not complete \(limit)"
            intake.recordFailedHandshake(ExchangeFailure(.clientTLS, text))
        case (.sniffing, .preface):
            let text = "The client's HTTP/2 preface was not complete \(limit)"
            intake.recordMalformed(ExchangeFailure(.badRequest, text), head: first)
        case (.sniffing, .request):
            becomeHTTP1()
            return connection.enforceTimeout(now: now)
        }
        state = .decided
        connection.close()
    }
}
