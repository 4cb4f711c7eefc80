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
        /// The version the client speaks.
        var version: HTTPVersion
        /// What the adapter changed or tolerated.
        var notes: [String] = []
        /// Whether the client can be told that just this exchange was reset.
        var takesResets = false
        /// What the connection to the server has to be good for.
        var purpose = UpstreamConnector.Purpose.http(expectsHTTP2: false)
    }

    /// What is to be done about a request.
    enum Outcome {
        /// Its exchange is there: tell it of the head, with these notes.
        case exchange(Exchange, RequestHead, notes: [String])
        /// A tunnel is asked for.
        case connect(RequestScope.Tunnel)
        /// It is no acceptable request.
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
            return begin(arrival, url, destination, chain: loop.rules.chain, sink: loop.recorder, leg)
        case .own(let url):
            return begin(
                arrival,
                url,
                Destination(scheme: "http", host: url.host, port: url.port),
                chain: StageChain([OwnPages(shared: loop.shared)]),
                sink: DiscardingSink(),
                leg
            )
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

    private func begin(
        _ arrival: Arrival,
        _ url: RequestURL,
        _ destination: Destination,
        chain: StageChain,
        sink: any RecordSink,
        _ leg: any ClientLeg
    ) -> Outcome {
        let exchange = makeExchange(arrival, url, destination, chain: chain, sink: sink, leg)
        return .exchange(exchange, arrival.head, notes: arrival.notes)
    }

    /// Makes the exchange of a tunnel that is not read, and says why it is not.
    func tunnel(
        _ tunnel: RequestScope.Tunnel,
        _ arrival: Arrival,
        because reason: ExchangeRecord.Flags,
        for leg: any ClientLeg
    ) -> Exchange {
        makeExchange(
            arrival,
            tunnel.url,
            Destination(scheme: "tunnel", host: tunnel.host, port: tunnel.port, address: tunnel.rootedName),
            chain: loop.rules.chain,
            sink: loop.recorder,
            leg,
            kind: .tunnel,
            flags: reason
        )
    }

    private func makeExchange(
        _ arrival: Arrival,
        _ url: RequestURL,
        _ destination: Destination,
        chain: StageChain,
        sink: any RecordSink,
        _ leg: any ClientLeg,
        kind: ExchangeRecord.Kind = .http,
        flags: ExchangeRecord.Flags = []
    ) -> Exchange {
        var record = ExchangeRecord(
            id: loop.shared.makeExchangeID(),
            kind: kind,
            startedAt: WallClock.now(),
            method: arrival.method,
            url: url,
            clientConnection: connection.record.id,
            clientAddress: connection.record.peerAddress
        )
        record.clientVersion = arrival.version
        record.flags = flags
        let machine = ExchangeMachine(
            record: record,
            destination: destination,
            clientAddress: connection.record.peerAddress,
            chain: chain,
            sink: sink,
            clientTakesResets: arrival.takesResets,
            now: loop.eventLoop.now
        )
        return Exchange(
            machine: machine,
            client: leg,
            loop: loop,
            connector: UpstreamConnector(loop: loop, purpose: kind == .http ? arrival.purpose : .tunnel)
        )
    }

    /// Records a request that is none, answered with `status`.
    func recordMalformed(_ text: String, status: Int, method: String, head: ByteBuffer?) {
        var record = ExchangeRecord(
            id: loop.shared.makeExchangeID(),
            kind: .malformed,
            startedAt: WallClock.now(),
            method: method,
            url: connection.ownURL(scheme: "http"),
            clientConnection: connection.record.id,
            clientAddress: connection.record.peerAddress
        )
        let host = head.flatMap { StoredHead.request($0)?.fields.value(of: .host) }
        if case .tunnel(let tunnel) = scope {
            record.url = RequestURL(scheme: tunnel.scheme, host: tunnel.host, port: tunnel.port, path: "")
        } else if let (host, port) = host.flatMap({ RequestURL.splitAuthority($0) }) {
            record.url = RequestURL(scheme: "http", host: host, port: port ?? 80, path: "")
        }
        record.state = .failed
        record.status = status
        record.failure = ExchangeFailure(.badRequest, text)
        var messages = ExchangeMessages()
        messages.requestHead = head
        record.sizes.requestHead = Int64(head?.readableBytes ?? 0)
        loop.recorder.record(.opened(record, messages))
        loop.recorder.record(.finished(record, messages))
    }
}
