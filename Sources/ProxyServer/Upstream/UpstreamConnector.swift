import ExchangeCore
import HTTPModel
import NIOCore
import NIOPosix
import Wire

/// Finds or makes the connection for one exchange: pool, name, TCP, TLS, in this order.
final class UpstreamConnector: UpstreamConnecting {
    enum Purpose {
        /// HTTP requests, in the version that the server chooses; the connection may be pooled.
        ///
        /// Without TLS nobody chooses, so HTTP/2 has to be expected there.
        case http(expectsHTTP2: Bool)
        /// A request that asks for another protocol (RFC 9110 §7.8), on an HTTP/1.1 connection of its own.
        case upgrade
        /// The same from an HTTP/2 client (RFC 8441): on a stream where the server offers that, else as an upgrade.
        case extendedConnect
        /// Bytes passed through.
        case tunnel
        /// Bytes passed through inside TLS of our own, offering these protocols.
        case secureTunnel(protocols: [String])
    }

    private let loop: LoopContext
    private var purpose: Purpose
    private var exchange: Exchange?
    private var destination = Destination(scheme: "http", host: "", port: 0)
    private var attempt: ConnectAttempt?
    private var dnsTime: Int64?
    private var inquiry: Resolver.Inquiry?
    private var inquiryLimit: Scheduled<Void>?
    /// The origin that waits for what comes of this attempt, or in whose queue this request stands.
    private var origin: HTTP2Origin?
    private var isConnectingForOrigin = false
    /// What the server chose by ALPN, once it is connected.
    private(set) var applicationProtocol: String?

    init(loop: LoopContext, purpose: Purpose) {
        self.loop = loop
        self.purpose = purpose
    }

    func connect(to destination: Destination, for exchange: Exchange, fresh: Bool) {
        self.exchange = exchange
        self.destination = destination
        if !fresh, case .http = purpose, let connection = loop.pool.take(key) {
            self.exchange = nil
            exchange.upstreamReady(connection, connection.facts(isReused: true))
        } else if mayBeHTTP2 {
            askOrigin()
        } else {
            resolve()
        }
    }

    func cancel() {
        exchange = nil
        endInquiry()
        attempt?.cancel()
        attempt = nil
        origin?.withdraw(self)
        if isConnectingForOrigin {
            isConnectingForOrigin = false
            origin?.cancelled()
        }
    }

    // MARK: - HTTP/2

    private var mayBeHTTP2: Bool {
        guard loop.configuration.http2.contains(.upstream) else { return false }
        return switch purpose {
        case .http(let expectsHTTP2): destination.scheme == "https" || expectsHTTP2
        case .extendedConnect: true
        case .upgrade, .tunnel, .secureTunnel: false
        }
    }

    private func askOrigin() {
        let origin = loop.http2.origin(key)
        self.origin = origin
        switch origin.ask(self, now: loop.eventLoop.now) {
        case .stream(let stream): received(stream)
        case .connect:
            isConnectingForOrigin = !origin.speaksHTTP1(now: loop.eventLoop.now)
            if origin.requiresHTTP1 { exchange?.note("asked in HTTP/1.1, as this server wants it (HTTP_1_1_REQUIRED)") }
            resolve()
        case .wait(let isFull): if isFull { exchange?.upstreamQueued() }
        }
    }

    /// The origin has a stream for this request.
    func received(_ stream: HTTP2UpstreamStream) {
        if exchange != nil, case .extendedConnect = purpose {
            stream.withOffer { [self] offersExtendedConnect in
                if offersExtendedConnect || exchange == nil {
                    use(stream)
                } else {
                    stream.abandon(.cancel)
                    upgradeInstead()
                }
            }
        } else {
            use(stream)
        }
    }

    private func use(_ stream: HTTP2UpstreamStream) {
        guard let exchange else {
            stream.abandon(.cancel)
            return
        }
        self.exchange = nil
        exchange.upstreamReady(stream, stream.facts)
    }

    /// The server has no streams for other protocols, but may have upgrades.
    private func upgradeInstead() {
        exchange?.note(WebSocketBridge.fallbackNote)
        purpose = .upgrade
        origin = nil
        resolve()
    }

    /// Makes a connection, as the origin says now that it was asked to wait before.
    func connectAlone() {
        isConnectingForOrigin = origin?.speaksHTTP1(now: loop.eventLoop.now) == false
        resolve()
    }

    /// The origin cannot be connected to.
    func failed(_ failure: ExchangeFailure) {
        finish(failure: failure)
    }

    // MARK: - Names

    private func resolve() {
        let host = destination.address ?? destination.host
        if let address = Resolver.address(host, port: destination.port) {
            resolved([address])
            return
        }
        let start = loop.eventLoop.now
        let limit = loop.configuration.timeouts.connect
        let inquiry = loop.shared.resolver.resolve(host, on: loop.eventLoop)
        self.inquiry = inquiry
        inquiryLimit = loop.eventLoop.assumeIsolated().scheduleTask(in: limit) { [self] in
            endInquiry()
            finish(
                failure: ExchangeFailure(
                    .timeout,
                    "The name \(host) was not resolved within \(limit.inSeconds) seconds.",
                    hint: "\(Resolver.unanswered) --connect-timeout sets the limit."
                )
            )
        }
        inquiry.addresses.assumeIsolated().whenComplete { [self] result in
            // Not where it was taken back.
            guard self.inquiry != nil else { return }
            endInquiry()
            dnsTime = (loop.eventLoop.now - start).nanoseconds / 1_000
            switch result {
            case .success(var addresses):
                for index in addresses.indices { addresses[index].port = destination.port }
                resolved(addresses)
            case .failure(let error as ExchangeFailure): finish(failure: error)
            case .failure(let error):
                finish(failure: ExchangeFailure(.dns, "The name \(host) could not be resolved: \(error)."))
            }
        }
    }

    private func endInquiry() {
        inquiryLimit?.cancel()
        guard let inquiry else { return }
        self.inquiry = nil
        loop.shared.resolver.withdraw(inquiry)
    }

    private var isSecure: Bool {
        switch purpose {
        case .http, .upgrade, .extendedConnect: destination.scheme == "https"
        case .tunnel: false
        case .secureTunnel: true
        }
    }

    private var skipsVerification: Bool {
        loop.configuration.skipsVerification
            || loop.configuration.insecureHosts.contains(destination.serverName ?? destination.host)
            || loop.configuration.insecureHosts.contains(destination.host)
    }

    private var isLegacy: Bool { loop.configuration.legacyHosts.contains(destination.host) }

    private var key: UpstreamPool.Key {
        UpstreamPool.Key(
            scheme: destination.scheme,
            host: destination.host,
            port: destination.port,
            serverName: destination.serverName,
            address: destination.address,
            skipsVerification: skipsVerification,
            isLegacy: isLegacy
        )
    }

    // MARK: - TCP

    private func resolved(_ addresses: [SocketAddress]) {
        guard exchange != nil else { return }
        if addresses.contains(where: { loop.shared.isOwnAddress($0) }) {
            finish(failure: .leadsBack(destination.authority))
            return
        }
        if isSecure { loop.withTrust { [self] in connect(addresses) } } else { connect(addresses) }
    }

    private func connect(_ addresses: [SocketAddress]) {
        guard exchange != nil else { return }
        let attempt = ConnectAttempt(loop: loop, addresses: addresses, authority: destination.authority) {
            [self] channel in
            try addHandlers(to: channel)
        }
        self.attempt = attempt
        attempt.start { [self] result in
            self.attempt = nil
            switch result {
            case .success(let upstream): connected(upstream)
            case .failure(let failure): failedToConnect(failure)
            }
        }
    }

    /// Whether HTTP/2 is tried on the connection that is being made.
    private var triesHTTP2: Bool { mayBeHTTP2 && origin?.requiresHTTP1 != true }

    private var offeredProtocols: [String] {
        if case .secureTunnel(let offered) = purpose { return offered }
        return triesHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
    }

    private func addHandlers(to channel: any Channel) throws -> UpstreamSocket {
        let socket = UpstreamSocket(loop: loop, authority: destination.authority, isSecure: isSecure)
        let pipeline = channel.pipeline.syncOperations
        if isSecure {
            let protocols = offeredProtocols
            let session = try loop.clientTLS.makeSession(
                host: destination.serverName ?? destination.host,
                applicationProtocols: protocols,
                verification: skipsVerification ? .recordOnly : .full,
                isLegacy: isLegacy,
                resumptionKey: "\(destination.authority) \(protocols.joined(separator: ","))"
            )
            try pipeline.addHandler(TLSChannelHandler(session: session))
        }
        switch purpose {
        case .tunnel, .secureTunnel: try pipeline.addHandler(TunnelUpstreamConnection(socket))
        case .http, .upgrade, .extendedConnect:
            let key = key
            if isSecure {
                try pipeline.addHandler(
                    UpstreamNegotiator(socket) { UpstreamConnector.speak($0 ?? "http/1.1", on: socket, key) }
                )
            } else if triesHTTP2, origin?.speaksHTTP1(now: loop.eventLoop.now) != true {
                try pipeline.addHandler(HTTP2UpstreamConnection(socket, key: key))
            } else {
                try pipeline.addHandler(HTTP1UpstreamConnection(socket, key: key))
            }
        }
        return socket
    }

    private static func speak(
        _ applicationProtocol: String,
        on socket: UpstreamSocket,
        _ key: UpstreamPool.Key
    ) -> (any ChannelHandler, EstablishedUpstream) {
        if applicationProtocol == "h2" {
            let connection = HTTP2UpstreamConnection(socket, key: key)
            return (connection, .multiplexed(connection))
        }
        let connection = HTTP1UpstreamConnection(socket, key: key)
        return (connection, .single(connection, socket))
    }

    // MARK: - The outcome

    private func connected(_ upstream: EstablishedUpstream) {
        switch upstream {
        case .multiplexed(let connection):
            connection.connection.dnsTime = dnsTime
            isConnectingForOrigin = false
            let stream = connection.openStream()
            (origin ?? loop.http2.origin(key)).established(connection)
            received(stream)
        case .single(let leg, let socket):
            socket.dnsTime = dnsTime
            applicationProtocol = socket.record?.tls?.applicationProtocol
            if isConnectingForOrigin {
                isConnectingForOrigin = false
                origin?.turnedOutHTTP1()
            }
            if case .extendedConnect = purpose {
                exchange?.note(WebSocketBridge.fallbackNote)
            }
            guard let exchange else {
                leg.release()
                return
            }
            self.exchange = nil
            exchange.upstreamReady(leg, socket.facts(.http11, isReused: false))
        }
    }

    private func failedToConnect(_ failure: ExchangeFailure) {
        // Without TLS a server is asked for HTTP/2 in the hope that it knows it.
        if isConnectingForOrigin, !isSecure, failure.code == .badResponse || failure.code == .reset {
            isConnectingForOrigin = false
            origin?.turnedOutHTTP1(until: loop.eventLoop.now + UpstreamConnector.guessHolds)
            resolve()
        } else {
            finish(failure: failure)
        }
    }

    /// For how long a server without TLS that did not answer in HTTP/2 is asked in HTTP/1.1: it may only have been starting.
    private static let guessHolds = TimeAmount.seconds(10)

    private func finish(failure: ExchangeFailure) {
        if failure.code == .tls, origin?.requiresHTTP1 == true { origin?.withdrawHTTP1() }
        let exchange = exchange
        self.exchange = nil
        if isConnectingForOrigin {
            isConnectingForOrigin = false
            origin?.failed(failure)
        }
        exchange?.upstreamFailed(failure)
    }
}

@available(*, unavailable)
extension UpstreamConnector: Sendable {}
