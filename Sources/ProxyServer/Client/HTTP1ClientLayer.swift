import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// A client's connection that speaks HTTP/1: reads requests, one exchange at a time, and writes their responses.
///
/// Pipelined requests wait in the parser until the exchange before them is over, so that they are answered in order
/// (RFC 9112 §9.3.2).
final class HTTP1ClientLayer: ClientLayer, ClientLeg {
    private let connection: ClientConnection
    private let scope: RequestScope
    private var parser = HTTP1RequestParser()
    private var exchange: Exchange?
    /// The exchange whose bytes are being read just now.
    private var reading: Exchange?
    private var isMachineReading = true
    private var isProcessing = false
    private var isClosing = false
    private var hasInputEnded = false
    private var isParserDone = false

    // Of the exchange that is going on:
    private var keepsAlive = true
    private var clientVersion = HTTPVersion.http11
    private var requestMethod = ""
    private var responseFraming = BodyFraming.none
    private var connectTarget: (host: String, port: Int)?
    /// What arrived of a request whose head is not read yet, to be recorded where it turns out to be none.
    private var messageStart: ByteBuffer?
    /// Whether the request was read to its end, so that another may follow.
    private var isRequestRead = true

    init(connection: ClientConnection, scope: RequestScope) {
        self.connection = connection
        self.scope = scope
    }

    private var loop: LoopContext { connection.loop }

    // MARK: - ClientLayer

    var wantsRead: Bool {
        guard !hasInputEnded else { return false }
        guard let exchange else { return mayBegin || !parser.hasUnparsedBytes }
        // Behind a whole request only one read's worth of further ones is taken in.
        return exchange.isRequestComplete ? !parser.hasUnparsedBytes : isMachineReading
    }

    var isIdle: Bool { exchange == nil }

    func received(_ bytes: ByteBuffer) {
        guard !isClosing else { return }
        if parser.isIdle { messageStart = bytes }
        parser.receive(bytes)
        process()
    }

    func inputClosed(isHalfClose: Bool) {
        hasInputEnded = true
        if let exchange {
            // A client may close its sending side after its last request and still wait for the response; one that has
            // really gone is noticed at the next write. Who ends TLS does not mean to read on. While a message is held
            // nothing is written, and a client that was stopped is far more likely than one that closes one side.
            if !(isHalfClose && exchange.isRequestComplete && !exchange.isHeld) { exchange.clientGone() }
        } else {
            let isCut = !isClosing && !isParserDone && (parser.hasUnparsedBytes || !parser.isIdle)
            if isCut {
                refuse(status: 400, "The client closed the connection in the middle of a request head.", hint: "")
            } else if !isClosing {
                connection.close()
            }
        }
    }

    func closed() {
        exchange?.clientGone()
    }

    func failed(_ error: any Error) {
        exchange?.clientGone()
    }

    func writabilityChanged(_ isWritable: Bool) {
        exchange?.clientBecameWritable(isWritable)
        if isWritable { resume() }
    }

    func enforceTimeout(lastActivity: NIODeadline, now: NIODeadline) {
        guard exchange == nil else { return }
        let timeouts = loop.configuration.timeouts
        if isClosing {
            if now - lastActivity > timeouts.requestHead { connection.close() }
            return
        }
        if !isParserDone, !parser.isIdle {
            guard now - lastActivity > timeouts.requestHead else { return }
            let text =
                "Half a request head arrived, then nothing for \(timeouts.requestHead.inSeconds) s."
            refuse(status: 408, text, hint: "")
        } else if now - lastActivity > timeouts.keepAlive {
            connection.close()
        }
    }

    // MARK: - Requests

    /// Reads as many events as can be dealt with now.
    private func process() {
        guard !isProcessing else { return }
        isProcessing = true
        beginReading(exchange)
        defer {
            isProcessing = false
            beginReading(nil)
            closeIfServed()
            connection.readIfWanted()
        }
        do throws(HTTP1ParseError) {
            while !isClosing, !isParserDone, exchange != nil || mayBegin, !connection.isClosed,
                exchange.map({ !$0.isRequestComplete }) ?? true
            {
                guard let event = try parser.next() else { return }
                switch event {
                case .head(let head, let framing): begin(head, framing)
                case .part(let part): exchange?.requestPart(part)
                case .end(let trailers): end(trailers)
                }
            }
        } catch {
            requestFailed(error)
        }
    }

    /// Whether another request may begin: not while answers pile up that the client does not take, or records.
    private var mayBegin: Bool { connection.isWritable && !loop.isRecorderFull }

    func resume() {
        if exchange == nil { process() }
    }

    /// Closes once a client that sends no more has all its answers.
    private func closeIfServed() {
        guard hasInputEnded, exchange == nil, !isClosing, !isParserDone, mayBegin else { return }
        isClosing = true
        connection.closeAfterFlush()
    }

    /// Ends the read cycle of the exchange before, if there is one, and begins that of another.
    private func beginReading(_ next: Exchange?) {
        let previous = reading
        reading = next
        next?.readBegan()
        previous?.readCompleted()
    }

    private func end(_ trailers: FieldSection?) {
        let size = parser.wireSize
        isRequestRead = true
        if let exchange {
            exchange.requestEnd(trailers: trailers, wireBytes: Int64(size.head) + size.body)
        } else if let target = connectTarget {
            connectTarget = nil
            openTunnel(to: target)
        }
    }

    private func begin(_ received: RequestHead, _ framing: BodyFraming) {
        var head = received
        isRequestRead = false
        messageStart = nil
        requestMethod = head.method
        clientVersion = head.version
        keepsAlive = Persistence.keepsAlive(head) && !loop.isStopping
        responseFraming = .none
        var notes = parser.tolerances.explanations
        do throws(HTTP1ParseError) {
            try HostCheck.check(head)
        } catch {
            refuse(status: error.status, error.explanation, hint: "", head: head)
            return
        }
        let isConnect = requestMethod == "CONNECT"
        if !isConnect { strip(&head, &notes) }
        let router = RequestRouter(scope: scope, ownPort: connection.localPort, shared: loop.shared)
        switch router.route(&head, isConnect: isConnect) {
        case .forward(let url, let destination):
            // What goes upstream is our own message (RFC 9110 §2.5), so it has our version.
            if head.version == .http10 { head.version = .http11 }
            if !head.fields.contains(.host) { head.fields.append("Host", url.authority) }
            start(head, framing, url, destination, notes, chain: loop.rules.chain, sink: loop.recorder)
        case .own(let url):
            start(
                head,
                framing,
                url,
                Destination(scheme: "http", host: url.host, port: url.port),
                notes,
                chain: StageChain([OwnPages(shared: loop.shared)]),
                sink: DiscardingSink()
            )
        case .connect(let host, let port): connectTarget = (host, port)
        case .invalid(let text): refuse(status: 400, text, hint: "", head: head)
        }
    }

    private func strip(_ head: inout RequestHead, _ notes: inout [String]) {
        let upgrade = head.fields.contains(.upgrade) ? head.fields.value(of: .upgrade) : nil
        // HTTP/2 by Upgrade is answered in HTTP/1.1, which RFC 9110 §7.8 allows any server.
        let keepsUpgrade = upgrade.map { $0.lowercased() != "h2c" } ?? false
        let removed = HopByHop.strip(from: &head.fields, keeping: keepsUpgrade ? [.keepAlive, .upgrade] : .keepAlive)
        // These two are on almost every request and say nothing worth a line.
        let worthNoting = removed.filter { $0.lowercased() != "connection" && $0.lowercased() != "proxy-connection" }
        if !worthNoting.isEmpty {
            notes.append("removed what is meant for one connection only: \(worthNoting.joined(separator: ", "))")
        }
    }

    private func start(
        _ head: RequestHead,
        _ framing: BodyFraming,
        _ url: RequestURL,
        _ destination: Destination,
        _ notes: [String],
        chain: StageChain,
        sink: any RecordSink,
        kind: ExchangeRecord.Kind = .http
    ) {
        isMachineReading = true
        var record = ExchangeRecord(
            id: loop.shared.makeExchangeID(),
            kind: kind,
            startedAt: WallClock.now(),
            method: requestMethod,
            url: url,
            clientConnection: connection.record.id
        )
        record.clientVersion = clientVersion
        let machine = ExchangeMachine(
            record: record,
            destination: destination,
            clientAddress: connection.record.peerAddress,
            chain: chain,
            sink: sink,
            now: loop.eventLoop.now
        )
        let exchange = Exchange(
            machine: machine,
            client: self,
            loop: loop,
            connector: UpstreamConnector(loop: loop, purpose: kind == .http ? .http : .tunnel)
        )
        self.exchange = exchange
        beginReading(exchange)
        if !connection.isWritable { exchange.clientBecameWritable(false) }
        exchange.requestHead(head, framing: framing, notes: notes)
    }

    // MARK: - CONNECT

    private func openTunnel(to target: (host: String, port: Int)) {
        isParserDone = true
        let rest = parser.takeRemaining()
        let isOwn = target.host == OwnPages.host
        let isWanted = loop.rules.decrypts(target.host, target.port)
        let isRefused = loop.shared.refusals.isRefused(target.host)
        if isOwn || isWanted && !isRefused {
            connection.write(ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n"))
            connection.flush()
            let tunnel = RequestScope.Tunnel(scheme: "http", host: target.host, port: target.port)
            connection.become(SniffLayer(connection: connection, scope: .tunnel(tunnel)), with: rest)
            return
        }
        let url = RequestURL(scheme: "tunnel", host: target.host, port: target.port, path: "")
        let head = RequestHead(
            method: "CONNECT",
            target: url.authority,
            version: clientVersion,
            fields: [("Host", url.authority)]
        )
        pendingTunnelBytes = rest
        start(
            head,
            .none,
            url,
            Destination(scheme: "tunnel", host: target.host, port: target.port),
            isWanted ? ["passed through unread, since clients refused Sluice's certificate for this host twice"] : [],
            chain: loop.rules.chain,
            sink: loop.recorder,
            kind: .tunnel
        )
    }

    private var pendingTunnelBytes: ByteBuffer?

    func becomeTunnel() {
        guard let exchange else { return }
        let rest = isParserDone ? pendingTunnelBytes : parser.takeRemaining()
        pendingTunnelBytes = nil
        isParserDone = true
        self.exchange = nil
        connection.flush()
        let layer = TunnelClientLayer(connection: connection, sniffsTLS: requestMethod == "CONNECT")
        layer.exchange = exchange
        exchange.hand(over: layer)
        connection.become(layer, with: rest)
    }

    // MARK: - Faults

    private func requestFailed(_ error: HTTP1ParseError) {
        if let exchange {
            isClosing = true
            keepsAlive = false
            exchange.requestFailed(
                ExchangeFailure(.badRequest, "The request's body is malformed: \(error.explanation)")
            )
        } else {
            refuse(status: error.status, error.explanation, hint: hint(for: error))
        }
    }

    /// What a client most likely meant that does not speak HTTP/1.
    private func hint(for error: HTTP1ParseError) -> String {
        guard error.code == .notHTTP || error.code == .unsupportedVersion, let first = messageStart?.readableBytesView
        else { return "" }
        if first.starts(with: "PRI ".utf8) {
            return " HTTP/2 without TLS is not supported yet; make the client use HTTP/1.1."
        }
        if first.first == 4 || first.first == 5 {
            return " It looks like SOCKS: set this address as an HTTP proxy instead."
        }
        return ""
    }

    /// Answers something that is no acceptable request, records it, and closes.
    private func refuse(status: Int, _ text: String, hint: String, head: RequestHead? = nil) {
        recordMalformed(text, status: status, head: head)
        isClosing = true
        let title = status == 408 ? "The request took too long" : "The request was not understood"
        var answer = LocalAnswer.explanation(status: status, title: title, text: text + hint, html: false)
        answer.head.fields.append("Connection", "close")
        var bytes = ByteBuffer()
        HTTP1Encoder.writeHead(answer.head, into: &bytes)
        bytes.writeImmutableBuffer(answer.body)
        connection.write(bytes)
        lingeringClose()
    }

    /// Closes our side and reads on for a moment: a client that is still sending would otherwise be told of a reset
    /// before it has read the answer (RFC 9112 §9.6).
    private func lingeringClose() {
        connection.flush()
        connection.become(LingeringLayer(connection: connection))
    }

    private func recordMalformed(_ text: String, status: Int = 0, head: RequestHead? = nil) {
        var record = ExchangeRecord(
            id: loop.shared.makeExchangeID(),
            kind: .malformed,
            startedAt: WallClock.now(),
            method: head?.method ?? "",
            url: connection.ownURL(scheme: "http"),
            clientConnection: connection.record.id
        )
        if case .tunnel(let tunnel) = scope {
            record.url = RequestURL(scheme: tunnel.scheme, host: tunnel.host, port: tunnel.port, path: "")
        } else if let (host, port) = head?.fields.value(of: .host).flatMap({ RequestURL.splitAuthority($0) }) {
            record.url = RequestURL(scheme: "http", host: host, port: port ?? 80, path: "")
        }
        record.state = .failed
        record.status = status
        record.failure = ExchangeFailure(.badRequest, text)
        var messages = ExchangeMessages()
        messages.requestHead =
            head?.received
            ?? messageStart.flatMap { $0.getSlice(at: $0.readerIndex, length: min($0.readableBytes, 65_536)) }
        record.sizes.requestHead = Int64(messages.requestHead?.readableBytes ?? 0)
        loop.recorder.record(.opened(record, messages))
        loop.recorder.record(.finished(record, messages))
    }

    // MARK: - ClientLeg

    var isWritable: Bool { connection.isWritable }

    func setReading(_ isReading: Bool) {
        isMachineReading = isReading
        if isReading { connection.readIfWanted() }
    }

    func sendInterim(_ head: ResponseHead) {
        // RFC 9110 §15.2: never to an HTTP/1.0 client.
        guard clientVersion != .http10 else { return }
        var bytes = ByteBuffer()
        HTTP1Encoder.writeHead(head, into: &bytes)
        connection.write(bytes)
    }

    func sendResponseHead(_ head: ResponseHead, _ framing: BodyFraming, requestIsOpen: Bool) -> ByteBuffer {
        var head = head
        var framing = framing
        if head.version == .http10 { head.version = .http11 }
        if framing == .chunked, clientVersion == .http10 { framing = .untilClose }
        framing = SentFraming.settle(&head, as: framing, requestMethod: requestMethod)
        responseFraming = framing
        // A client that waits for 100 may or may not send its body after this answer (RFC 9110 §10.1.1).
        if framing == .untilClose || exchange?.awaitsContinue == true || isClosing { keepsAlive = false }
        // Nobody will read the rest of the request, so what follows it cannot be found.
        if !requestIsOpen, !isRequestRead { keepsAlive = false }
        if head.status == 101 {
            // The upgrade's own Connection field stands.
        } else if !keepsAlive {
            head.fields.set("Connection", "close")
        } else if clientVersion == .http10 {
            head.fields.set("Connection", "keep-alive")
        }
        var bytes = connection.allocator.buffer(capacity: 512)
        HTTP1Encoder.writeHead(head, into: &bytes)
        connection.write(bytes)
        return bytes
    }

    func sendResponsePart(_ part: ByteBuffer) {
        if responseFraming == .none { return }
        if let prefix = HTTP1Encoder.partPrefix(count: part.readableBytes, framing: responseFraming) {
            connection.write(prefix)
        }
        connection.write(part)
        if let suffix = HTTP1Encoder.partSuffix(framing: responseFraming) { connection.write(suffix) }
    }

    func sendResponseEnd(_ trailers: FieldSection?) {
        if let end = HTTP1Encoder.end(framing: responseFraming, trailers: trailers) { connection.write(end) }
    }

    func flush() {
        connection.flush()
    }

    func abort() {
        isClosing = true
        exchange = nil
        connection.close()
    }

    func exchangeFinished() {
        guard exchange != nil else { return }
        exchange = nil
        if !isClosing, keepsAlive, isRequestRead {
            process()
        } else {
            isClosing = true
            if isParserDone || isRequestRead && parser.isIdle {
                connection.closeAfterFlush()
            } else {
                lingeringClose()
            }
        }
    }
}
