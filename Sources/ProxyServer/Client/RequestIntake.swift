import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// What every request goes through before its exchange begins, whatever version it came in: checks, hop-by-hop fields,
/// where it leads.
struct RequestIntake {
    /// A request as its adapter has read it.
    struct Arrival {
        var head: RequestHead
        /// The method as the client sent it.
        var method: String
        var version: HTTPVersion
        /// What the adapter changed or tolerated.
        var notes: [String] = []
        /// Whether the client can be told that just this exchange was reset.
        var takesResets = false
        /// What the connection to the server has to be good for.
        var purpose = UpstreamConnector.Purpose.http(expectsHTTP2: false)
        var kind = ExchangeRecord.Kind.http
        var flags: ExchangeRecord.Flags = []
    }

    enum Outcome {
        /// Its exchange is there: tell it of the head, with these notes.
        case exchange(Exchange, RequestHead, notes: [String])
        case connect(RequestScope.Tunnel)
        case refused(status: Int, explanation: String)
    }

    let connection: ClientConnection
    let scope: RequestScope

    private var loop: LoopContext { connection.loop }

    /// Begins the exchange of a request, if it is to be proxied or answered.
    func admit(_ arrival: consuming Arrival, for leg: any ClientLeg) -> Outcome {
        do throws(HTTP1ParseError) {
            try HostCheck.check(arrival.head)
        } catch {
            return .refused(status: error.status, explanation: error.explanation)
        }
        let isConnect = arrival.method == "CONNECT"
        if !isConnect { strip(&arrival) }
        let router = RequestRouter(scope: scope, ownPort: connection.localPort, shared: loop.shared)
        switch router.route(&arrival.head, isConnect: isConnect) {
        case .forward(let url, let destination):
            if !arrival.head.fields.contains(.host) { arrival.head.fields.append("Host", url.authority) }
            let exchange = makeExchange(arrival, url, destination, for: leg)
            return .exchange(exchange, arrival.head, notes: arrival.notes)
        case .own(let url):
            let exchange = makeExchange(
                arrival,
                url,
                Destination(scheme: "http", host: url.host, port: url.port),
                chain: StageChain([OwnPages(shared: loop.shared)]),
                sink: DiscardingSink(),
                for: leg
            )
            return .exchange(exchange, arrival.head, notes: arrival.notes)
        case .connect(let tunnel): return .connect(tunnel)
        case .invalid(let text): return .refused(status: 400, explanation: text)
        }
    }

    private func strip(_ arrival: inout Arrival) {
        // In place: a copy of the fields would be made twice where one is removed.
        let upgrade = arrival.head.fields.contains(.upgrade) ? arrival.head.fields.value(of: .upgrade) : nil
        // HTTP/2 by Upgrade is answered in HTTP/1.1, which RFC 9110 §7.8 allows any server.
        let keepsUpgrade = upgrade.map { $0.lowercased() != "h2c" } ?? false
        let removed = HopByHop.strip(
            from: &arrival.head.fields,
            keeping: keepsUpgrade ? [.keepAlive, .upgrade] : .keepAlive
        )
        if keepsUpgrade, case .http = arrival.purpose, arrival.head.fields.contains(.connection, token: "upgrade") {
            arrival.purpose = .upgrade
        }
        // These two are on almost every request and say nothing worth a line.
        let worthNoting = removed.filter { $0.lowercased() != "connection" && $0.lowercased() != "proxy-connection" }
        if !worthNoting.isEmpty {
            arrival.notes.append(
                "removed what is meant for one connection only: \(worthNoting.joined(separator: ", "))"
            )
        }
    }

    // MARK: - Exchanges

    /// Begins the exchange of a tunnel whose bytes pass through a layer, from its CONNECT on.
    ///
    /// `isAnswered` where there is no CONNECT to be answered any more; `guess` where it may turn out to be no tunnel.
    func beginTunnel(
        _ tunnel: RequestScope.Tunnel,
        kind: ExchangeRecord.Kind = .tunnel,
        connector: UpstreamConnector,
        flags: ExchangeRecord.Flags = [],
        notes: [String],
        version: HTTPVersion = .http11,
        guess: TentativeSink? = nil,
        isAnswered: Bool,
        through layer: TunnelClientLayer
    ) {
        let authority = tunnel.url.authority
        let head = RequestHead(method: "CONNECT", target: authority, version: version, fields: [("Host", authority)])
        var arrival = Arrival(head: head, method: "CONNECT", version: version)
        arrival.kind = kind
        arrival.flags = flags
        let exchange = makeExchange(
            arrival,
            tunnel.url,
            tunnel.destination(scheme: kind == .tunnel ? "tunnel" : "https"),
            guess: guess,
            connector: connector,
            tunnelEstablished: isAnswered,
            for: layer
        )
        layer.exchange = exchange
        exchange.requestHead(head, framing: .none, notes: notes)
    }

    private func makeExchange(
        _ arrival: Arrival,
        _ url: RequestURL,
        _ destination: Destination,
        chain: StageChain? = nil,
        sink: (any RecordSink)? = nil,
        guess: TentativeSink? = nil,
        connector: UpstreamConnector? = nil,
        tunnelEstablished: Bool = false,
        for leg: any ClientLeg
    ) -> Exchange {
        var record = record(arrival.kind, arrival.method, url, isNumbered: guess == nil)
        record.clientVersion = arrival.version
        record.flags = arrival.flags
        let machine = ExchangeMachine(
            record: record,
            destination: destination,
            clientAddress: connection.record.peerAddress,
            chain: chain ?? loop.rules.chain,
            sink: guess ?? sink ?? loop.recorder,
            tunnelEstablished: tunnelEstablished,
            clientTakesResets: arrival.takesResets,
            now: loop.eventLoop.now
        )
        return Exchange(
            machine: machine,
            client: leg,
            loop: loop,
            connector: connector ?? UpstreamConnector(loop: loop, purpose: arrival.purpose)
        )
    }

    // MARK: - Records

    private func record(
        _ kind: ExchangeRecord.Kind,
        _ method: String,
        _ url: RequestURL,
        isNumbered: Bool = true
    ) -> ExchangeRecord {
        ExchangeRecord(
            id: isNumbered ? loop.shared.makeExchangeID() : TentativeSink.placeholder,
            kind: kind,
            startedAt: WallClock.now(),
            method: method,
            url: url,
            clientConnection: connection.record.id,
            clientAddress: connection.record.peerAddress
        )
    }

    /// Records a request that is none, answered with `status`.
    func recordMalformed(_ text: String, status: Int, method: String, head: ByteBuffer?) {
        var url = connection.ownURL(scheme: "http")
        if case .tunnel(let tunnel) = scope {
            url = RequestURL(scheme: tunnel.scheme, host: tunnel.host, port: tunnel.port, path: "")
        } else if let host = head.flatMap({ StoredHead.request($0)?.fields.value(of: .host) }),
            let (host, port) = RequestURL.splitAuthority(host)
        {
            url = RequestURL(scheme: "http", host: host, port: port ?? 80, path: "")
        }
        var record = record(.malformed, method, url)
        record.status = status
        record.sizes.requestHead = Int64(head?.readableBytes ?? 0)
        var messages = ExchangeMessages()
        messages.requestHead = head
        recordFailed(record, messages, ExchangeFailure(.badRequest, text))
    }

    /// Records a TLS handshake with the client that failed.
    func recordFailedHandshake(_ text: String, hint: String = "") {
        var url = connection.ownURL(scheme: "https")
        if case .tunnel(let tunnel) = scope { url = tunnel.url }
        let failure = ExchangeFailure(.clientTLS, text, hint: hint)
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
