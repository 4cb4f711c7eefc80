import ExchangeCore
import HTTPModel
import NIOCore
import NIOPosix
import Wire

/// Finds or makes the connection for one exchange: pool, name, TCP, TLS, in this order.
final class UpstreamConnector {
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

    private enum Work {
        /// Nothing, or it waits for others: in an origin's queue, for an HTTP/2 server's settings, for the authorities to
        /// be loaded. Successors: `resolving`, `connecting`.
        case none
        /// A name is looked up. Successors: `none`, `connecting`.
        case resolving(Resolver.Inquiry, limit: Scheduled<Void>)
        /// Successor: `none`.
        case connecting(ConnectAttempt)
    }

    private let loop: LoopContext
    private var purpose: Purpose
    /// The exchange that waits for the connection; `nil` once it has one, or waits no more.
    private var exchange: Exchange?
    private var destination = Destination(scheme: "http", host: "", port: 0)
    private var work = Work.none
    private var dnsTime: Int64?
    /// The server, where it may speak HTTP/2.
    private var origin: UpstreamOrigin?
    /// What the server chose by ALPN, once it is connected.
    private(set) var applicationProtocol: String?

    init(loop: LoopContext, purpose: Purpose) {
        self.loop = loop
        self.purpose = purpose
    }

    /// Finds or makes a connection for the exchange, perhaps at once; `fresh` excludes pooled ones.
    func connect(to destination: Destination, for exchange: Exchange, fresh: Bool) {
        self.exchange = exchange
        self.destination = destination
        if let answers = loop.configuration.answers {
            answer(from: answers, exchange)
        } else if !fresh, case .http = purpose, let connection = loop.pool.take(key) {
            hand(connection)
        } else if mayBeHTTP2 {
            askOrigin()
        } else {
            resolve()
        }
    }

    /// Lets a recording take the server's place; bytes that nobody reads have nothing there that could answer them.
    private func answer(from answers: any RecordedAnswers, _ exchange: Exchange) {
        switch purpose {
        case .http, .upgrade, .extendedConnect: hand(RecordedLeg(answers, url: exchange.sentURL, loop: loop))
        case .tunnel, .secureTunnel:
            // Not at once, as no connection is refused at once: who asks may not be ready for the outcome.
            loop.eventLoop.assumeIsolated().execute { [self] in
                guard self.exchange != nil else { return }
                failed(answers.explainRefusal(of: destination.authority))
            }
        }
    }

    /// The exchange waits no more.
    func cancel() {
        exchange = nil
        stop()
        origin?.withdraw(self)
    }

    private func stop() {
        switch work {
        case .none: break
        case .resolving(let inquiry, let limit):
            limit.cancel()
            loop.shared.resolver.withdraw(inquiry)
        case .connecting(let attempt): attempt.cancel()
        }
        work = .none
    }

    /// Gives a connection, or a stream, to the exchange.
    private func hand(_ leg: any UpstreamLeg) {
        let exchange = exchange
        self.exchange = nil
        if let exchange { exchange.upstreamReady(leg) } else { leg.abandon(.cancel) }
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
        let origin = loop.pool.origin(key)
        self.origin = origin
        switch origin.ask(self, now: loop.eventLoop.now) {
        case .stream(let stream): received(stream)
        case .connect:
            if origin.requiresHTTP1 { exchange?.note("asked in HTTP/1.1, as this server wants it (HTTP_1_1_REQUIRED)") }
            resolve()
        case .wait(let isFull): if isFull { exchange?.upstreamQueued() }
        }
    }

    /// The origin has a stream for this request.
    func received(_ stream: HTTP2UpstreamStream) {
        guard exchange != nil, case .extendedConnect = purpose else { return hand(stream) }
        stream.withOffer { [self] offersExtendedConnect in
            if offersExtendedConnect || exchange == nil {
                hand(stream)
            } else {
                // The server has no streams for other protocols, but may have upgrades.
                stream.abandon(.cancel)
                exchange?.note(WebSocketBridge.fallbackNote)
                purpose = .upgrade
                origin = nil
                resolve()
            }
        }
    }

    /// No result came from this attempt, or from the one that it waited for.
    func failed(_ failure: ExchangeFailure) {
        let exchange = exchange
        self.exchange = nil
        origin?.failed(failure, by: self)
        exchange?.upstreamFailed(failure)
    }

    // MARK: - Names

    /// Makes a connection; the origin says so where it was asked to wait before.
    func resolve() {
        let host = destination.address ?? destination.host
        if let address = Resolver.address(host, port: destination.port) { return resolved([address]) }
        let start = loop.eventLoop.now
        let amount = loop.configuration.timeouts.connect
        let inquiry = loop.shared.resolver.resolve(host, on: loop.eventLoop)
        let limit = loop.eventLoop.assumeIsolated().scheduleTask(in: amount) { [self] in
            stop()
            let text = "The name \(host) was not resolved within \(amount.inSeconds) seconds."
            failed(ExchangeFailure(.timeout, text, hint: "\(Resolver.unanswered) --connect-timeout sets the limit."))
        }
        work = .resolving(inquiry, limit: limit)
        inquiry.addresses.assumeIsolated().whenComplete { [self] result in
            // Not where it was taken back.
            guard case .resolving = work else { return }
            stop()
            dnsTime = (loop.eventLoop.now - start).nanoseconds / 1_000
            switch result {
            case .success(var addresses):
                for index in addresses.indices { addresses[index].port = destination.port }
                resolved(addresses)
            case .failure(let error):
                let failure = error as? ExchangeFailure
                failed(failure ?? ExchangeFailure(.dns, "The name \(host) could not be resolved: \(error)."))
            }
        }
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
        UpstreamPool.Key(destination: destination, skipsVerification: skipsVerification, isLegacy: isLegacy)
    }

    // MARK: - TCP

    private func resolved(_ addresses: [SocketAddress]) {
        guard exchange != nil else { return }
        if addresses.contains(where: loop.shared.isOwnAddress) { return failed(.leadsBack(destination.authority)) }
        if isSecure { loop.withTrust { [self] in connect(addresses) } } else { connect(addresses) }
    }

    private func connect(_ addresses: [SocketAddress]) {
        guard exchange != nil else { return }
        let authority = destination.authority
        let attempt = ConnectAttempt(loop: loop, addresses: addresses, authority: authority) { [self] in
            try addHandlers(to: $0)
        }
        work = .connecting(attempt)
        attempt.start { [self] result in
            work = .none
            switch result {
            case .success(let upstream): connected(upstream)
            case .failure(let failure): failedToConnect(failure)
            }
        }
    }

    private func addHandlers(to channel: any Channel) throws -> UpstreamConnection {
        let pipeline = channel.pipeline.syncOperations
        let offersHTTP2 = mayBeHTTP2 && origin?.requiresHTTP1 != true
        if isSecure {
            var protocols = offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
            if case .secureTunnel(let offered) = purpose { protocols = offered }
            let session = try loop.clientTLS.makeSession(
                host: destination.serverName ?? destination.host,
                applicationProtocols: protocols,
                verification: skipsVerification ? .recordOnly : .full,
                isLegacy: isLegacy,
                resumptionKey: "\(destination.authority) \(protocols.joined(separator: ","))"
            )
            try pipeline.addHandler(TLSChannelHandler(session: session))
        }
        // Without TLS a server is asked for HTTP/2 in the hope that it knows it.
        let guessesHTTP2 = !isSecure && offersHTTP2 && origin?.speaksHTTP1(now: loop.eventLoop.now) != true
        let connection = UpstreamConnection(
            loop: loop,
            authority: destination.authority,
            isSecure: isSecure,
            dnsTime: dnsTime
        ) { [purpose, key] connection, applicationProtocol in
            switch purpose {
            case .tunnel, .secureTunnel: TunnelUpstreamLayer(connection)
            case .http, .upgrade, .extendedConnect:
                guessesHTTP2 || applicationProtocol == "h2"
                    ? HTTP2UpstreamLayer(connection, key: key) : HTTP1UpstreamLayer(connection, key: key)
            }
        }
        try pipeline.addHandler(connection)
        return connection
    }

    // MARK: - The outcome

    private func connected(_ upstream: EstablishedUpstream) {
        switch upstream {
        case .multiplexed(let connection):
            let stream = connection.openStream()
            (origin ?? loop.pool.origin(key)).connected(connection, by: self)
            received(stream)
        case .single(let leg, let applicationProtocol):
            self.applicationProtocol = applicationProtocol
            origin?.turnedOutHTTP1(by: self)
            if case .extendedConnect = purpose { exchange?.note(WebSocketBridge.fallbackNote) }
            hand(leg)
        }
    }

    private func failedToConnect(_ failure: ExchangeFailure) {
        let guessEnds = loop.eventLoop.now + UpstreamConnector.guessHolds
        if !isSecure, failure.code == .badResponse || failure.code == .reset,
            origin?.turnedOutHTTP1(by: self, until: guessEnds) == true
        {
            resolve()
        } else {
            failed(failure)
        }
    }

    /// For how long a server without TLS that did not answer in HTTP/2 is asked in HTTP/1.1: it may only have been starting.
    private static let guessHolds = TimeAmount.seconds(10)
}
