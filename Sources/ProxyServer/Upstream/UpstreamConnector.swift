import ExchangeCore
import HTTPModel
import NIOCore
import NIOPosix
import Wire

/// Finds or makes the connection for one exchange: pool, name, TCP, TLS, in this order.
final class UpstreamConnector: UpstreamConnecting {
    /// What the connection is for.
    enum Purpose {
        /// HTTP requests; the connection may be pooled.
        case http
        /// Bytes passed through.
        case tunnel
        /// Bytes passed through inside TLS of our own, offering these protocols.
        case secureTunnel(protocols: [String])
    }

    private let loop: LoopContext
    private let purpose: Purpose
    private var exchange: Exchange?
    private var destination = Destination(scheme: "http", host: "", port: 0)
    private var attempt: ConnectAttempt?
    private var dnsTime: Int64?
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
            return
        }
        let host = destination.address ?? destination.host
        if let address = Resolver.address(host, port: destination.port) {
            resolved([address])
            return
        }
        let start = loop.eventLoop.now
        loop.shared.resolver.resolve(host, port: destination.port, on: loop.eventLoop)
            .assumeIsolated().whenComplete { result in
                self.dnsTime = (self.loop.eventLoop.now - start).nanoseconds / 1_000
                switch result {
                case .success(let addresses): self.resolved(addresses)
                case .failure(let error as ExchangeFailure): self.finish(failure: error)
                case .failure(let error):
                    self.finish(failure: ExchangeFailure(.dns, "The name \(host) could not be resolved: \(error)."))
                }
            }
    }

    func cancel() {
        exchange = nil
        attempt?.cancel()
        attempt = nil
    }

    private var isSecure: Bool {
        switch purpose {
        case .http: destination.scheme == "https"
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
            finish(
                failure: ExchangeFailure(
                    .loop,
                    "\(destination.authority) leads back to this proxy.",
                    hint: "Ask for the server itself, or use another port for the proxy."
                )
            )
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
            case .success(let handler): connected(handler)
            case .failure(let failure): finish(failure: failure)
            }
        }
    }

    private func addHandlers(to channel: any Channel) throws -> any UpstreamHandler {
        var session: TLSSession?
        if isSecure {
            let protocols: [String]
            if case .secureTunnel(let offered) = purpose { protocols = offered } else { protocols = ["http/1.1"] }
            session = try loop.clientTLS.makeSession(
                host: destination.serverName ?? destination.host,
                applicationProtocols: protocols,
                verification: skipsVerification ? .recordOnly : .full,
                isLegacy: isLegacy,
                resumptionKey: "\(destination.authority) \(protocols.joined(separator: ","))"
            )
        }
        let handler: any UpstreamHandler
        if case .http = purpose {
            handler = HTTP1UpstreamConnection(loop: loop, key: key, isSecure: isSecure)
        } else {
            handler = TunnelUpstreamConnection(loop: loop, isSecure: isSecure)
        }
        let pipeline = channel.pipeline.syncOperations
        if let session { try pipeline.addHandler(TLSChannelHandler(session: session)) }
        try pipeline.addHandler(handler)
        return handler
    }

    // MARK: - The outcome

    private func connected(_ handler: any UpstreamHandler) {
        handler.connection.dnsTime = dnsTime
        applicationProtocol = handler.connection.record?.tls?.applicationProtocol
        guard let exchange else {
            handler.release(reusable: true)
            return
        }
        self.exchange = nil
        exchange.upstreamReady(handler, handler.connection.facts(isReused: false))
    }

    private func finish(failure: ExchangeFailure) {
        let exchange = exchange
        self.exchange = nil
        exchange?.upstreamFailed(failure)
    }
}
