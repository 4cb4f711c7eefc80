import ExchangeCore
import HTTPModel
import Logging
import NIOCore
import Wire

/// Decides by the first bytes of a connection, or of a tunnel, what is spoken there.
///
/// 1. A TLS ClientHello: TLS is ended here with a minted certificate, and what is inside is sniffed again. In a tunnel
///    whose client offers by ALPN neither `h2` nor `http/1.1`, TLS is ended on both legs and the bytes pass through.
/// 2. The beginning of an HTTP/1 request: HTTP.
/// 3. Nothing for a moment, in a tunnel: the server speaks first, so the bytes pass through.
/// 4. Anything else: in a tunnel the bytes pass through; on the proxy's own port it is an error.
final class SniffLayer: ClientLayer {
    private let connection: ClientConnection
    private let scope: RequestScope
    /// Whether this is the inside of TLS that we ended; then only a client without ALPN may wait for the server.
    private let isInsideTLS: Bool
    private var first = ByteBuffer()
    private var timer: Scheduled<Void>?
    private var isDecided = false
    private var handshakeHost: String?

    /// How long an incomplete beginning may take to grow, in a tunnel.
    static let partialLimit = TimeAmount.seconds(3)

    init(connection: ClientConnection, scope: RequestScope, isInsideTLS: Bool = false) {
        self.connection = connection
        self.scope = scope
        self.isInsideTLS = isInsideTLS
        if case .tunnel(let tunnel) = scope, !isInsideTLS {
            // Behind these ports it is almost always the client that speaks first, if late on a slow network.
            let isUsuallyTLS = tunnel.port == 443 || tunnel.port == 8443
            schedule(isUsuallyTLS ? SniffLayer.partialLimit : loop.configuration.timeouts.serverFirst)
        }
    }

    private var loop: LoopContext { connection.loop }

    var wantsRead: Bool { !isDecided || handshakeHost != nil }
    var isIdle: Bool { true }

    private func schedule(_ amount: TimeAmount) {
        timer?.cancel()
        timer = loop.eventLoop.assumeIsolated().scheduleTask(in: amount) { [weak self] in self?.waitedLongEnough() }
    }

    private func waitedLongEnough() {
        guard !isDecided, case .tunnel(let tunnel) = scope else { return }
        let note = "the client sent nothing to tell the protocol by, so the server was taken to speak first"
        passThrough(tunnel, notes: first.readableBytes == 0 ? [note] : [])
    }

    // MARK: - Deciding

    func received(_ bytes: ByteBuffer) {
        guard !isDecided else { return }
        if first.readableBytes == 0 { first = bytes } else { first.writeImmutableBuffer(bytes) }
        decide()
    }

    private func decide() {
        switch ClientHello.parse(first) {
        case .hello(let hello):
            begin(hello)
            return
        case .needMoreData:
            waitForMore()
            return
        case .notTLS: break
        }
        let verdict = HTTP1Sniffer.looksLikeHTTP(first)
        switch verdict {
        case .yes: become(HTTP1ClientLayer(connection: connection, scope: scope))
        case .needMore: waitForMore()
        case .http2Preface where speaksHTTP2: become(HTTP2ClientLayer(connection: connection, scope: scope))
        case .http2Preface, .no:
            switch scope {
            case .tunnel(let tunnel):
                passThrough(tunnel, notes: verdict == .http2Preface ? [SniffLayer.unreadHTTP2] : [])
            // The parser finds the words for what is wrong with it, and records it.
            case .proxy: become(HTTP1ClientLayer(connection: connection, scope: scope))
            }
        }
    }

    private var speaksHTTP2: Bool { loop.configuration.http2.contains(.client) }
    private var protocols: [String] { speaksHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"] }

    /// In the trace of a tunnel that could have been read.
    private static let unreadHTTP2 =
        "the client speaks HTTP/2, which is turned off for clients (--http2), so it is not read"

    private func waitForMore() {
        if case .tunnel = scope { schedule(SniffLayer.partialLimit) }
    }

    private func become(_ layer: any ClientLayer) {
        isDecided = true
        timer?.cancel()
        connection.become(layer, with: first)
    }

    // MARK: - TLS

    private func begin(_ hello: ClientHello) {
        isDecided = true
        timer?.cancel()
        switch scope {
        case .proxy:
            let host = hello.serverName ?? connection.localAddress?.ipAddress ?? "127.0.0.1"
            endTLS(host: host, protocols: protocols)
        case .tunnel(let tunnel):
            if let offered = hello.alpnProtocols, Set(offered).isDisjoint(with: protocols) {
                passThroughBothLegs(tunnel, hello, offered)
            } else {
                endTLS(host: hello.serverName ?? tunnel.host, protocols: protocols)
            }
        }
    }

    /// Ends the client's TLS here; what is inside is sniffed once the handshake is done.
    private func endTLS(host: String, protocols: [String]) {
        handshakeHost = host
        do {
            let session = try loop.serverTLS.makeSession(
                certificate: try loop.mint.certificate(for: host),
                host: host,
                applicationProtocols: protocols
            )
            connection.beginTLS(session, early: first)
        } catch {
            recordFailure("No certificate could be made for \(host): \(error)", hint: "")
            connection.close()
        }
    }

    func handshakeCompleted(_ details: TLSDetails) {
        guard handshakeHost != nil else { return }
        handshakeHost = nil
        var scope = scope
        if case .tunnel(var tunnel) = scope {
            tunnel.scheme = "https"
            tunnel.serverName = details.serverName == tunnel.host ? nil : details.serverName
            scope = .tunnel(tunnel)
        }
        let layer = SniffLayer(connection: connection, scope: scope, isInsideTLS: true)
        // A client that agreed on HTTP by ALPN may take its time; one that did not may wait for the server to speak.
        if details.applicationProtocol == nil, case .tunnel = scope { layer.schedule(.seconds(1)) }
        connection.become(layer)
    }

    func failed(_ error: any Error) {
        timer?.cancel()
        guard handshakeHost != nil else { return }
        handshakeHost = nil
        guard let failure = error as? TLSFailure else { return }
        var hint = ""
        if failure.clientRefusedCertificate, case .tunnel(let tunnel) = scope,
            loop.configuration.tunnelsRefusingHosts, loop.shared.refusals.count(tunnel.host, tunnel.port)
        {
            hint = "\(tunnel.host) is passed through unread from now on; --no-auto-tunnel turns that off."
            loop.logger.notice(
                """
                clients refused Sluice's certificate for this host twice, so it is passed through unread until Sluice is \
                started again; trust the authority (sluice ca export --format trust-help) or use --no-auto-tunnel
                """,
                metadata: ["host": "\(tunnel.host)"]
            )
        }
        recordFailure(failure.explanation, hint: hint)
    }

    private func recordFailure(_ text: String, hint: String) {
        var url = connection.ownURL(scheme: "https")
        if case .tunnel(let tunnel) = scope {
            url = RequestURL(scheme: "tunnel", host: tunnel.host, port: tunnel.port, path: "")
        }
        var record = ExchangeRecord(
            id: loop.shared.makeExchangeID(),
            kind: .failedHandshake,
            startedAt: WallClock.now(),
            method: "CONNECT",
            url: url,
            clientConnection: connection.record.id
        )
        record.state = .failed
        record.failure = ExchangeFailure(.clientTLS, text, hint: hint)
        loop.recorder.record(.opened(record, ExchangeMessages()))
        loop.recorder.record(.finished(record, ExchangeMessages()))
    }

    // MARK: - Bytes

    private func passThrough(_ tunnel: RequestScope.Tunnel, notes: [String] = []) {
        let isSecure = tunnel.scheme == "https"
        startTunnel(
            tunnel,
            kind: isSecure ? .decryptedTunnel : .tunnel,
            purpose: isSecure ? .secureTunnel(protocols: []) : .tunnel,
            early: first,
            notes: notes
        )
    }

    /// Ends TLS on both legs, with the application protocol that the server chooses from the client's list.
    private func passThroughBothLegs(_ tunnel: RequestScope.Tunnel, _ hello: ClientHello, _ offered: [String]) {
        var tunnel = tunnel
        tunnel.serverName = hello.serverName
        let early = first
        startTunnel(
            tunnel,
            kind: .decryptedTunnel,
            purpose: .secureTunnel(protocols: offered),
            early: ByteBuffer()
        ) { [connection, loop] connector in
            do {
                let session = try loop.serverTLS.makeSession(
                    certificate: try loop.mint.certificate(for: hello.serverName ?? tunnel.host),
                    host: hello.serverName ?? tunnel.host,
                    applicationProtocols: connector.applicationProtocol.map { [$0] } ?? []
                )
                connection.beginTLS(session, early: early)
            } catch {
                connection.close()
            }
        }
    }

    private func startTunnel(
        _ tunnel: RequestScope.Tunnel,
        kind: ExchangeRecord.Kind,
        purpose: UpstreamConnector.Purpose,
        early: ByteBuffer,
        notes: [String] = [],
        onEstablished: ((UpstreamConnector) -> Void)? = nil
    ) {
        isDecided = true
        timer?.cancel()
        let url = RequestURL(scheme: "tunnel", host: tunnel.host, port: tunnel.port, path: "")
        let record = ExchangeRecord(
            id: loop.shared.makeExchangeID(),
            kind: kind,
            startedAt: WallClock.now(),
            method: "CONNECT",
            url: url,
            clientConnection: connection.record.id
        )
        let machine = ExchangeMachine(
            record: record,
            destination: Destination(
                scheme: kind == .tunnel ? "tunnel" : "https",
                host: tunnel.host,
                port: tunnel.port,
                serverName: tunnel.serverName
            ),
            clientAddress: connection.record.peerAddress,
            chain: loop.rules.chain,
            sink: loop.recorder,
            tunnelEstablished: true,
            now: loop.eventLoop.now
        )
        let layer = TunnelClientLayer(connection: connection, sniffsTLS: kind == .tunnel)
        if kind == .tunnel, early.readableBytes == 0 {
            layer.reconsider = { [connection, scope] bytes in
                connection.become(SniffLayer(connection: connection, scope: scope), with: bytes)
            }
        }
        let connector = UpstreamConnector(loop: loop, purpose: purpose)
        if let onEstablished { layer.onEstablished = { onEstablished(connector) } }
        let exchange = Exchange(machine: machine, client: layer, loop: loop, connector: connector)
        layer.exchange = exchange
        let head = RequestHead(method: "CONNECT", target: url.authority, fields: [("Host", url.authority)])
        exchange.requestHead(head, framing: .none, notes: notes)
        connection.become(layer, with: early)
    }

    // MARK: - The rest of ClientLayer

    func inputClosed(isHalfClose: Bool) {
        timer?.cancel()
        guard !isDecided, first.readableBytes > 0 else {
            connection.close()
            return
        }
        switch scope {
        case .tunnel(let tunnel): passThrough(tunnel)
        // The parser finds the words for what is missing, and records it.
        case .proxy: become(HTTP1ClientLayer(connection: connection, scope: scope))
        }
    }

    func closed() {
        timer?.cancel()
        if handshakeHost != nil {
            failed(TLSFailure(leg: .client, cause: .closedDuringHandshake, host: handshakeHost))
        }
    }

    func writabilityChanged(_ isWritable: Bool) {}

    func enforceTimeout(lastActivity: NIODeadline, now: NIODeadline) {
        let timeouts = loop.configuration.timeouts
        let limit = first.readableBytes > 0 || handshakeHost != nil ? timeouts.requestHead : timeouts.keepAlive
        guard now - lastActivity > limit else { return }
        if handshakeHost != nil {
            handshakeHost = nil
            recordFailure("The client began a TLS handshake and then sent nothing more.", hint: "")
        } else if !isDecided, first.readableBytes > 0, case .proxy = scope {
            become(HTTP1ClientLayer(connection: connection, scope: scope))
            connection.enforceTimeout(now: now)
            return
        }
        connection.close()
    }
}
