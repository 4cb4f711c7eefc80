import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// Checks and routes each request before its exchange begins, in all versions of HTTP.
struct RequestIntake {
    struct Arrival {
        var head: RequestHead
        /// The method as the client sent it.
        var method: String
        var version: HTTPVersion
        /// What the client layer changed or tolerated, for the trace.
        var notes: [String] = []
        var takesResets = false
        var purpose = UpstreamConnector.Purpose.http(expectsHTTP2: false)
        var kind = ExchangeRecord.Kind.http
        var flags: ExchangeRecord.Flags = []
        var connector: UpstreamConnector?
        var chain: StageChain?
        var sink: (any RecordSink)?
        /// Set for a tunnel whose bytes may still turn out to be HTTP.
        var guess: TentativeSink?
        /// Whether the tunnel has no CONNECT that needs an answer.
        var isEstablished = false
    }

    enum Outcome {
        /// The exchange, and the head and notes to pass to it.
        case exchange(Exchange, RequestHead, notes: [String])
        case connect(RequestScope.Tunnel, AuthenticationCheck?)
        case refused(status: Int, explanation: String)
    }

    let connection: ClientConnection
    let scope: RequestScope

    private var loop: LoopContext { connection.loop }

    func admit(_ arrival: consuming Arrival, for leg: any ClientLeg) -> Outcome {
        do throws(HTTP1ParseError) {
            try HostCheck.check(arrival.head)
        } catch {
            return .refused(status: error.status, explanation: error.explanation)
        }
        let isConnect = arrival.method == "CONNECT"
        let check = takeCredentials(&arrival.head)
        if !isConnect { strip(&arrival) }
        let router = RequestRouter(scope: scope, ownPort: connection.localPort, shared: loop.shared)
        switch router.route(&arrival.head, isConnect: isConnect) {
        case .forward(let url, let destination, let remarks):
            arrival.notes += remarks
            if !arrival.head.fields.contains(.host) { arrival.head.fields.append("Host", url.authority) }
            if var check {
                let sink = UnprovenSink(connection)
                arrival.sink = sink
                check.record = .init(sink: NIOLoopBound(sink, eventLoop: loop.eventLoop), entrance: loop.entrance)
                arrival.chain = chain(arrival.kind).between(AuthenticationStage(check: check), nil)
            }
            let exchange = makeExchange(arrival, url, destination, for: leg)
            return .exchange(exchange, arrival.head, notes: arrival.notes)
        case .own(let url):
            arrival.chain = StageChain([ProxyPages(shared: loop.shared)])
            arrival.sink = DiscardingSink()
            let destination = Destination(scheme: "http", host: url.host, port: url.port)
            let exchange = makeExchange(arrival, url, destination, for: leg)
            return .exchange(exchange, arrival.head, notes: arrival.notes)
        case .connect(let tunnel): return .connect(tunnel, check)
        case .invalid(let text, let status): return .refused(status: status, explanation: text)
        }
    }

    /// Removes the client's proxy credentials, which are never recorded or sent on; returns the check, if one is
    /// needed.
    private func takeCredentials(_ head: inout RequestHead) -> AuthenticationCheck? {
        guard let authentication = loop.configuration.authentication, let isReverse = asksAsServer else {
            head.fields.obliterate(.proxyAuthorization)
            return nil
        }
        var credentials = credentials(in: .proxyAuthorization, of: head)
        head.fields.obliterate(.proxyAuthorization)
        if credentials == nil, isReverse {
            // Clients of a reverse listener authenticate as to a server; the server does not get these credentials.
            credentials = self.credentials(in: .authorization, of: head)
            if credentials != nil {
                head.fields.obliterate(.authorization)
                head.fields.removeAll(.authorization)
            }
        }
        if let credentials, authentication.remembered(credentials) == .accepted { return nil }
        let client = connection.channel?.remoteAddress
        return .init(credentials: credentials, authentication: authentication, client: client, isReverse: isReverse)
    }

    /// Whether Sluice requests credentials like a server (401) and not like a proxy (407); `nil` if it requests none.
    private var asksAsServer: Bool? {
        switch scope {
        case .proxy: false
        case .reverse: true
        // A tunnel's CONNECT or SOCKS request was already checked.
        case .tunnel, .nowhere: nil
        }
    }

    private func credentials(in name: FieldName, of head: RequestHead) -> BasicCredentials? {
        head.fields.withValue(of: name) { BasicCredentials(fieldValue: $0) } ?? nil
    }

    private func strip(_ arrival: inout Arrival) {
        // Strips in place: with a second copy of the fields, removing one would copy all of them.
        let upgrade = arrival.head.fields.contains(.upgrade) ? arrival.head.fields.value(of: .upgrade) : nil
        // HTTP/2 by Upgrade is answered in HTTP/1.1, because a server may ignore an upgrade (RFC 9110 §7.8).
        let keepsUpgrade = upgrade.map { $0.lowercased() != "h2c" } ?? false
        let kept: HopByHop.Kept = keepsUpgrade ? [.keepAlive, .upgrade] : .keepAlive
        let removed = HopByHop.strip(from: &arrival.head.fields, keeping: kept, usual: .proxyConnection)
        if keepsUpgrade, case .http = arrival.purpose, arrival.head.fields.contains(.connection, token: "upgrade") {
            arrival.purpose = .upgrade
        }
        arrival.notes += RequestIntake.notes(onRemoved: removed)
    }

    /// Notes about removed fields for the trace; `Connection` is too common for one.
    static func notes(onRemoved names: [String]) -> [String] {
        let unusual = names.filter { $0.lowercased() != "connection" }
        return unusual.isEmpty ? [] : ["removed fields for one connection only: \(unusual.joined(separator: ", "))"]
    }

    func begin(_ tunnel: RequestScope.Tunnel, _ arrival: Arrival, through layer: TunnelClientLayer) {
        let destination = tunnel.destination(scheme: arrival.kind == .tunnel ? "tunnel" : "https")
        let exchange = makeExchange(arrival, tunnel.url, destination, for: layer)
        layer.exchange = exchange
        // A client of a reverse listener requests no host.
        if case .reverse = scope {} else { layer.tunnel = tunnel }
        exchange.requestHead(arrival.head, framing: .none, notes: arrival.notes + (tunnel.note.map { [$0] } ?? []))
    }

    private func makeExchange(
        _ arrival: Arrival,
        _ url: RequestURL,
        _ destination: Destination,
        for leg: any ClientLeg
    ) -> Exchange {
        var record = record(arrival.kind, arrival.method, url, isNumbered: arrival.guess == nil)
        record.clientVersion = arrival.version
        record.flags = arrival.flags
        if let process = connection.identity.process { record.extras.process = process }
        let machine = ExchangeMachine(
            record: record,
            destination: destination,
            clientAddress: connection.record.peerAddress,
            chain: arrival.chain ?? chain(arrival.kind),
            sink: arrival.guess ?? arrival.sink ?? loop.recorder,
            tunnelEstablished: arrival.isEstablished,
            clientTakesResets: arrival.takesResets,
            client: connection.identity.key,
            heads: connection.heads,
            claim: claim(url, destination),
            awaitsProcess: connection.identity.isAwaited,
            now: loop.eventLoop.now
        )
        let connector = arrival.connector ?? UpstreamConnector(loop: loop, purpose: arrival.purpose)
        return Exchange(machine: machine, client: leg, identity: connection.identity, loop: loop, connector: connector)
    }

    /// Set if the client requested its tunnel by address and names the URL's host only inside the tunnel. The name
    /// counts as verified if the server's certificate must prove it, or if a recording answers.
    private func claim(_ url: RequestURL, _ destination: Destination) -> NameClaim? {
        guard case .tunnel(let tunnel) = scope, let address = tunnel.targetAddress, url.host != address else {
            return nil
        }
        let isSecure = destination.scheme == "https"
        let isVerified = isSecure && loop.shared.verifies(destination) && destination.verifiedName == url.host
        return NameClaim(
            address: address,
            isVerified: isVerified || loop.configuration.answers != nil,
            isNeeded: isSecure && destination.address != nil
                && loop.rules.identity?(destination.host, destination.port) != nil
        )
    }

    private func chain(_ kind: ExchangeRecord.Kind) -> StageChain {
        guard case .reverse(let target) = scope, kind == .http else { return loop.rules.chain }
        return loop.reverseChain(target, clientScheme: connection.record.tls == nil ? "http" : "https")
    }

    private func record(
        _ kind: ExchangeRecord.Kind,
        _ method: String,
        _ url: RequestURL,
        isNumbered: Bool = true
    ) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: isNumbered ? loop.shared.makeExchangeID() : TentativeSink.placeholder,
            kind: kind,
            startedAt: WallClock.now(),
            method: method,
            url: url,
            clientConnection: connection.record.id,
            clientAddress: connection.record.peerAddress
        )
        if let mode = connection.recordedMode { record.extras.listeningMode = mode }
        return record
    }

    /// Records an invalid request that Sluice answered with `status`; 0 if it sent no answer.
    func recordMalformed(_ failure: ExchangeFailure, status: Int = 0, method: String = "", head: ByteBuffer?) {
        var head = head
        head?.obliterateAuthorization()
        var url = connection.ownURL(scheme: "http")
        if case .tunnel(let tunnel) = scope {
            url = RequestURL(scheme: tunnel.scheme, host: tunnel.host, port: tunnel.port, path: "")
        } else if case .reverse(let target) = scope {
            url = RequestURL(scheme: target.scheme, host: target.host, port: target.port, path: "")
        } else if let host = head.flatMap({ StoredHead.request($0)?.fields.value(of: .host) }),
            let (host, port) = RequestURL.splitAuthority(host)
        {
            url = RequestURL(scheme: "http", host: HostName.inASCII(host), port: port ?? 80, path: "")
        }
        var record = record(.malformed, method, url)
        record.status = status
        record.sizes.requestHead = Int64(head?.readableBytes ?? 0)
        var messages = ExchangeMessages()
        messages.requestHead = head
        if loop.configuration.authentication != nil, asksAsServer != nil {
            // Any client may send this, so the records are limited.
            let refusals = loop.shared.refusedRecords
            guard let unrecorded = refusals.count(connection.identity.key, now: loop.eventLoop.now) else { return }
            RefusedRecords.abridge(&record, &messages, unrecorded)
        }
        recordFailed(record, messages, failure)
    }

    func recordFailedHandshake(_ failure: ExchangeFailure) {
        var url = connection.ownURL(scheme: "https")
        if case .tunnel(let tunnel) = scope { url = tunnel.url }
        if case .reverse(let target) = scope {
            url = RequestURL(scheme: "tunnel", host: target.host, port: target.port, path: "")
        }
        recordFailed(record(.failedHandshake, "CONNECT", url), ExchangeMessages(), failure)
    }

    private func recordFailed(_ record: ExchangeRecord, _ messages: ExchangeMessages, _ failure: ExchangeFailure) {
        var record = record
        record.state = .failed
        record.failure = failure
        loop.recorder.record(.opened(record, messages))
        loop.recorder.record(.finished(record, messages))
    }
}

extension RequestIntake.Arrival {
    init(_ tunnel: RequestScope.Tunnel, version: HTTPVersion = .http11) {
        let authority = tunnel.url.authority
        head = RequestHead(method: "CONNECT", target: authority, version: version, fields: [("Host", authority)])
        method = "CONNECT"
        self.version = version
        purpose = .tunnel
        kind = .tunnel
    }
}
