import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// Finds or opens the connection for one exchange: looks in the pool, resolves the name, connects TCP, then TLS.
final class UpstreamConnector {
    enum Purpose {
        /// HTTP in the version that the server selects, pooled; without TLS, HTTP/2 is tried only with `expectsHTTP2`.
        case http(expectsHTTP2: Bool)
        /// An HTTP/1.1 request to switch to another protocol (RFC 9110 §7.8), on a connection of its own.
        case upgrade
        /// The same from an HTTP/2 client (RFC 8441): on a stream if the server supports this, otherwise as an upgrade.
        case extendedConnect
        case tunnel
        /// Bytes that pass through inside Sluice's own TLS connection, which offers these ALPN protocols.
        case secureTunnel(protocols: [String])
    }

    private enum Work {
        /// Waits for an origin's queue, a server's settings or authorities. Successors: `resolving`, `connecting`.
        case none
        /// A name is looked up. Successors: `none`, `connecting`.
        case resolving(AddressSearch, limit: Scheduled<Void>)
        /// Successor: `none`. The look-up of further addresses may still run.
        case connecting(ConnectAttempt, AddressSearch?)
    }

    private let loop: LoopContext
    private var purpose: Purpose
    /// The exchange that waits for the connection; `nil` after it has received one, or no longer waits.
    private var exchange: Exchange?
    /// The client whose limits apply.
    private(set) var client = ClientKey.unknown
    private var destination = Destination(scheme: "http", host: "", port: 0)
    /// Set together with the destination, because both belong to the pool's key.
    private var skipsVerification = false
    private var route = UpstreamRoute.direct
    private var identity: TLSClientIdentity?
    private var work = Work.none
    private var dnsTime: Int64?
    /// The start of the first attempt.
    private var connectingSince: NIODeadline?
    /// Whether one of the addresses is this proxy's own, and was left out.
    private var hasOwnAddress = false
    private var origin: UpstreamOrigin?
    var ticket: FairQueue<UpstreamConnector>.Ticket?
    private(set) var applicationProtocol: String?

    init(loop: LoopContext, purpose: Purpose) {
        self.loop = loop
        self.purpose = purpose
    }

    /// Finds or makes a connection for the exchange, perhaps at once; `fresh` excludes pooled ones.
    func connect(to destination: Destination, for exchange: Exchange, fresh: Bool) {
        self.exchange = exchange
        client = exchange.payer
        self.destination = destination
        skipsVerification = !loop.shared.verifies(destination)
        chooseRoute(exchange)
        if let answers = loop.configuration.answers {
            answer(from: answers, exchange)
        } else if !fresh, case .http = purpose, let connection = idleConnection(for: exchange) {
            hand(connection)
        } else if mayBeHTTP2 {
            askOrigin(fresh: fresh || exchange.needsFreshConnection)
        } else {
            resolve()
        }
    }

    private func idleConnection(for exchange: Exchange) -> HTTP1UpstreamLayer? {
        let key = key
        if exchange.identity.hasBoundConnections, let bound = exchange.identity.takeBoundConnection(key) {
            return bound
        }
        guard exchange.needsFreshConnection else { return loop.pool.take(key) }
        loop.pool.closeOldest(key)
        return nil
    }

    /// A recording answers requests, but not unread bytes.
    private func answer(from answers: any RecordedAnswers, _ exchange: Exchange) {
        switch purpose {
        case .http, .upgrade, .extendedConnect:
            hand(RecordedLeg(answers, url: exchange.sentURL, for: client, loop: loop))
        case .tunnel, .secureTunnel:
            // Fails later, like a refused connection, not during this call.
            loop.eventLoop.assumeIsolated().execute { [self] in
                guard self.exchange != nil else { return }
                failed(answers.explainRefusal(of: destination.authority))
            }
        }
    }

    func cancel() {
        exchange = nil
        stop()
        origin?.withdraw(self)
    }

    private func stop() {
        switch work {
        case .none: break
        case .resolving(let search, let limit):
            limit.cancel()
            search.cancel()
        case .connecting(let attempt, let search):
            attempt.cancel()
            search?.cancel()
        }
        work = .none
    }

    private func hand(_ leg: any UpstreamLeg) {
        let exchange = exchange
        self.exchange = nil
        if let exchange { exchange.upstreamReady(leg) } else { leg.abandon(.cancel) }
    }

    // MARK: - HTTP/2

    private var mayBeHTTP2: Bool {
        // A proxy that reads requests chooses its own version.
        guard loop.configuration.http2.contains(.upstream), forwarding == nil else { return false }
        if exchange?.authenticatesConnection == true { return false }
        return switch purpose {
        case .http(let expectsHTTP2): destination.scheme == "https" || expectsHTTP2
        case .extendedConnect: true
        case .upgrade, .tunnel, .secureTunnel: false
        }
    }

    private func askOrigin(fresh: Bool) {
        let origin = loop.pool.origin(key)
        self.origin = origin
        if fresh { origin.closeIdle() }
        switch origin.ask(self, now: loop.eventLoop.now) {
        case .stream(let stream): received(stream)
        case .connect:
            if origin.requiresHTTP1 { exchange?.note("asked in HTTP/1.1, as this server wants it (HTTP_1_1_REQUIRED)") }
            resolve()
        case .wait(let isFull): if isFull { queued() }
        }
    }

    func queued() { exchange?.upstreamQueued() }

    func received(_ stream: HTTP2UpstreamStream) {
        guard exchange != nil, case .extendedConnect = purpose else { return hand(stream) }
        stream.withOffer { [self] offersExtendedConnect in
            if offersExtendedConnect || exchange == nil {
                hand(stream)
            } else {
                // The server does not support extended CONNECT, but may support upgrades.
                stream.abandon(.cancel)
                exchange?.note(WebSocketBridge.fallbackNote)
                purpose = .upgrade
                origin = nil
                resolve()
            }
        }
    }

    func failed(_ failure: ExchangeFailure) {
        let exchange = exchange
        self.exchange = nil
        origin?.failed(failure, by: self)
        exchange?.upstreamFailed(failure)
    }

    // MARK: - The way there

    /// Chooses the certificate by the destination, and the proxy by the sent URL with the destination's host and port.
    private func chooseRoute(_ exchange: Exchange) {
        identity = isSecure ? findIdentity(exchange) : nil
        guard let choose = loop.rules.route, loop.configuration.answers == nil else {
            route = .direct
            return
        }
        var url = exchange.sentURL
        (url.host, url.port) = (destination.host, destination.port)
        let before = route
        route = choose(url)
        guard route != before else { return }
        switch route {
        case .direct: break
        case .bypassing(let reason): exchange.note("asked directly (\(reason))")
        case .through(let proxy, let reason): exchange.note("asked through the proxy \(proxy) (\(reason))")
        }
    }

    /// The certificate for the host or the TLS server name; `nil` if no server certificate proves the client's name.
    private func findIdentity(_ exchange: Exchange) -> TLSClientIdentity? {
        guard let find = loop.rules.identity else { return nil }
        let byHost = find(destination.host, destination.port)
        if byHost != nil, let claim = exchange.claim, !claim.isVerified, claim.address == destination.address {
            let word = "that \(destination.host) is at \(claim.address) is only the client's word"
            exchange.note("the client certificate for \(destination.host) was not offered: \(word)")
            return nil
        }
        guard byHost == nil, let name = destination.serverName, !skipsVerification else { return byHost }
        return find(name.lowercased(), destination.port)
    }

    /// Whether the address to connect to differs from the host; a trailing dot is no difference.
    private var isSpoofed: Bool {
        guard let address = destination.address else { return false }
        return address != destination.host + "."
    }

    /// Set if an HTTP proxy reads the requests: plain HTTP without a separate address, which no proxy accepts.
    private var forwarding: ProxyForwarding? {
        guard let proxy = route.proxy, proxy.kind != .socks5, case .http = purpose, !isSecure, !isSpoofed else {
            return nil
        }
        return ProxyForwarding(proxy, to: destination)
    }

    var readingProxy: UpstreamProxy? { forwarding?.proxy }

    // MARK: - Names

    /// The origin calls this after a wait, too.
    func resolve() {
        guard isSecure || route.proxy?.kind == .https else { return reach() }
        loop.withTrust { [self] in reach() }
    }

    private func reach() {
        guard exchange != nil else { return }
        // The proxy looks up the server's name.
        let host = route.proxy?.host ?? destination.address ?? destination.host
        if let address = Resolver.address(host, port: port) { return connect([address], nil) }
        let start = loop.eventLoop.now
        let amount = loop.configuration.timeouts.connect
        let search = AddressSearch(host, for: client, loop: loop)
        let limit = loop.eventLoop.assumeIsolated().scheduleTask(in: amount) { [self] in
            stop()
            noteLookUp(since: start)
            let text = "The name \(host) was not resolved within \(amount.inWords)."
            let hint = "\(Resolver.unanswered) --connect-timeout sets the limit."
            failed(ofRoute(ExchangeFailure(.timeout, text, hint: hint)))
        }
        work = .resolving(search, limit: limit)
        search.start { [self] outcome in
            switch (outcome, work) {
            case (_, .none): break
            case (.success(let found), .resolving(_, let limit)):
                limit.cancel()
                dnsTime = microseconds(from: start, to: loop.eventLoop.now)
                connect(found.addresses, found.isLast ? nil : search)
            case (.success(let found), .connecting(let attempt, _)): add(found, to: attempt)
            case (.failure, .connecting(let attempt, _)): attempt.add([], areAll: true)
            case (.failure(let failure), .resolving):
                stop()
                noteLookUp(since: start)
                failed(ofRoute(failure))
            }
        }
    }

    private func noteLookUp(since start: NIODeadline) {
        dnsTime = microseconds(from: start, to: loop.eventLoop.now)
        exchange?.upstreamNotReached(dns: dnsTime)
    }

    private func microseconds(from start: NIODeadline, to end: NIODeadline) -> Int64 {
        max(0, (end - start).nanoseconds / 1_000)
    }

    /// If the proxy's name was looked up, the failure is reported as the proxy's.
    private func ofRoute(_ failure: ExchangeFailure) -> ExchangeFailure {
        guard let proxy = route.proxy else { return failure }
        let code = failure.code == .dns ? ExchangeFailure.Code.upstreamProxy : failure.code
        let text = "The upstream proxy \(proxy) was not found. \(failure.message)"
        return ExchangeFailure(code, text, hint: failure.hint)
    }

    private var port: Int { route.proxy?.port ?? destination.port }

    private func add(_ found: AddressSearch.Found, to attempt: ConnectAttempt) {
        work = .connecting(attempt, found.isLast ? nil : currentSearch)
        // Skips addresses of this proxy, because another address may connect.
        let all = withPort(found.addresses)
        let others = all.filter { !loop.shared.isOwnAddress($0) }
        if others.count < all.count { hasOwnAddress = true }
        attempt.add(others, areAll: found.isLast)
    }

    private var currentSearch: AddressSearch? { if case .connecting(_, let search) = work { search } else { nil } }

    private func withPort(_ addresses: [SocketAddress]) -> [SocketAddress] {
        var addresses = addresses
        for index in addresses.indices { addresses[index].port = port }
        return addresses
    }

    private var isSecure: Bool {
        switch purpose {
        case .http, .upgrade, .extendedConnect: destination.scheme == "https"
        case .tunnel: false
        case .secureTunnel: true
        }
    }

    private var isLegacy: Bool { loop.configuration.legacyHosts.contains(destination.host) }

    private var key: UpstreamPool.Key {
        UpstreamPool.Key(
            destination: destination,
            skipsVerification: skipsVerification,
            isLegacy: isLegacy,
            proxy: route.proxy,
            identity: identity
        )
    }

    // MARK: - TCP

    private func connect(_ addresses: [SocketAddress], _ search: AddressSearch?) {
        guard exchange != nil else {
            search?.cancel()
            return
        }
        let addresses = withPort(addresses)
        guard !addresses.contains(where: loop.shared.isOwnAddress) else {
            search?.cancel()
            work = .none
            return failed(leadsBack)
        }
        let attempt = ConnectAttempt(loop: loop, authority: destination.authority, proxy: route.proxy) { [self] in
            try addHandlers(to: $0)
        }
        work = .connecting(attempt, search)
        (connectingSince, hasOwnAddress) = (loop.eventLoop.now, false)
        attempt.start { [self, weak attempt] result in
            currentSearch?.cancel()
            work = .none
            if let account = attempt?.account(ofName: isNamed) { exchange?.note(account) }
            if case .failure = result { noteAttempt(connectedAt: attempt?.connectedAt, attempt?.proxyConnection) }
            switch result {
            case .success(let upstream): connected(upstream)
            case .failure(let failure) where hasOwnAddress && attempt?.connectedAt == nil:
                // The failures of other addresses do not matter.
                failed(failure.code == .loop ? failure : leadsBack)
            case .failure(let failure): failedToConnect(failure)
            }
        }
        attempt.add(addresses, areAll: search == nil)
    }

    /// Whether the peer was requested by name, even if a rule sets its address.
    private var isNamed: Bool { Resolver.address(route.proxy?.host ?? destination.host, port: port) == nil }

    private func noteAttempt(connectedAt: NIODeadline?, _ proxy: (connection: ConnectionID, address: String)?) {
        guard let began = connectingSince else { return }
        let now = loop.eventLoop.now
        let handshake = isSecure && route.proxy == nil ? connectedAt.map { microseconds(from: $0, to: now) } : nil
        let connect = microseconds(from: began, to: connectedAt ?? now)
        exchange?.upstreamNotReached(dns: dnsTime, connect: connect, tls: handshake, proxy: proxy)
    }

    private var leadsBack: ExchangeFailure { route.proxy?.leadsBack() ?? .leadsBack(destination.authority) }

    /// Adds the handlers for a proxy; returns whether a handshake with it comes first.
    private func addProxy(to pipeline: ChannelPipeline.SynchronousOperations) throws -> Bool {
        guard let proxy = route.proxy else { return false }
        if proxy.kind == .https {
            let session = try loop.clientTLS.makeSession(
                host: proxy.host,
                verification: loop.shared.verifies(proxy.host) ? .full : .recordOnly,
                isLegacy: loop.configuration.legacyHosts.contains(proxy.host),
                resumptionKey: "proxy \(proxy)"
            )
            try pipeline.addHandler(TLSChannelHandler(session: session))
        }
        let isForwarded = forwarding != nil
        // A plain HTTP proxy that reads the requests needs no handshake.
        if isForwarded, proxy.kind == .http { return false }
        let host = isSpoofed ? destination.address ?? destination.host : destination.host
        let handshake = isForwarded ? nil : proxy.handshake(host: host, port: destination.port)
        try pipeline.addHandler(ProxyHandshakeHandler(proxy, to: destination.authority, handshake: handshake))
        return true
    }

    private func addHandlers(to channel: any Channel) throws -> UpstreamConnection {
        let pipeline = channel.pipeline.syncOperations
        let offersHTTP2 = mayBeHTTP2 && origin?.requiresHTTP1 != true
        let waitsForProxy = try addProxy(to: pipeline)
        if isSecure {
            var protocols = offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
            if case .secureTunnel(let offered) = purpose { protocols = offered }
            let asked = "\(destination.authority) \(destination.verifiedName)"
            let session = try loop.clientTLS.makeSession(
                host: destination.verifiedName,
                applicationProtocols: protocols,
                verification: skipsVerification ? .recordOnly : .full,
                isLegacy: isLegacy,
                identity: identity,
                resumptionKey: "\(asked) \(protocols.joined(separator: ","))"
            )
            try pipeline.addHandler(TLSChannelHandler(session: session))
        }
        // Without TLS, HTTP/2 is a guess.
        let guessesHTTP2 = !isSecure && offersHTTP2 && origin?.speaksHTTP1(now: loop.eventLoop.now) != true
        let connection = UpstreamConnection(
            loop: loop,
            authority: destination.authority,
            isSecure: isSecure,
            proxy: route.proxy,
            waitsForProxy: waitsForProxy,
            dnsTime: dnsTime,
            began: connectingSince
        ) { [purpose, key, forwarding] connection, applicationProtocol in
            switch purpose {
            case .tunnel, .secureTunnel: TunnelUpstreamLayer(connection)
            case .http, .upgrade, .extendedConnect:
                guessesHTTP2 || applicationProtocol == "h2"
                    ? HTTP2UpstreamLayer(connection, key: key)
                    : HTTP1UpstreamLayer(connection, key: key, forwarding: forwarding)
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

    /// How long Sluice uses HTTP/1 after a failed guess of HTTP/2: the server may only have been starting.
    private static let guessHolds = TimeAmount.seconds(10)
}
