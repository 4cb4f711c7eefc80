import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// A server's connection that speaks HTTP/1: writes one request at a time and reads its response.
final class HTTP1UpstreamLayer: UpstreamLayer, UpstreamLeg {
    private enum State {
        /// New, or in the pool. Successors: `exchanging`, `closed`.
        case idle
        /// Successors: `idle`, `switching`, `closed`.
        case exchanging(Progress)
        /// Further bytes are for the tunnel. Successor: `closed`.
        case switching(Progress)
        case closed
    }

    private struct Progress {
        let framing: BodyFraming
        var isRequestSent = false
        var hasHead = false
        var isResponseRead = false
        var keepsAlive = true
        /// The key of a WebSocket handshake (RFC 6455 §4.1).
        var webSocketKey: String?

        func isAnswered(by head: ResponseHead) -> Bool {
            guard let webSocketKey, head.fields.contains(.upgrade, token: "websocket") else { return true }
            return head.fields.value(of: "sec-websocket-accept") == WebSocketHandshake.accept(webSocketKey)
        }
    }

    let key: UpstreamPool.Key
    var exchange: Exchange?
    private(set) var idleSince: NIODeadline

    private let connection: UpstreamConnection
    /// Set for a proxy that reads the requests.
    private let forwarding: ProxyForwarding?
    private let loop: LoopContext
    private var parser = HTTP1ResponseParser()
    private var state = State.idle
    private var isParsing = false
    private var hasServed = false
    /// Whether the server may have authenticated the connection for its owner (RFC 4559 §6).
    private var isBound = false
    /// The client's connection to which this one belongs if it is bound; both close together.
    private weak var owner: ClientIdentity?

    init(_ connection: UpstreamConnection, key: UpstreamPool.Key, forwarding: ProxyForwarding? = nil) {
        self.connection = connection
        self.key = key
        self.forwarding = forwarding
        loop = connection.loop
        idleSince = loop.eventLoop.now
    }

    var isUsable: Bool { connection.isActive && !connection.hasInputEnded }

    private var progress: Progress? {
        get {
            switch state {
            case .exchanging(let progress), .switching(let progress): progress
            case .idle, .closed: nil
            }
        }
        set {
            guard let newValue else { return }
            if case .switching = state { state = .switching(newValue) } else { state = .exchanging(newValue) }
        }
    }

    // MARK: - UpstreamLeg

    var facts: UpstreamFacts {
        var facts = connection.facts(.http11, isReused: hasServed)
        facts.isBound = isBound
        return facts
    }
    var partialHeadSize: Int { parser.partialHeadSize }

    func sendRequestHead(_ head: RequestHead, _ framing: BodyFraming) -> ByteBuffer {
        var head = head
        if head.version != .http11 { makeOurs(&head) }
        let framing = SentFraming.settle(&head, as: framing)
        parser.expect(method: head.method)
        if head.fields.contains(.authorization) { noteAuthorization(head.fields) }
        if case .idle = state { state = .exchanging(Progress(framing: framing)) }
        progress?.webSocketKey = head.fields.contains(.upgrade) ? head.fields.value(of: "sec-websocket-key") : nil
        var bytes = ByteBuffer()
        bytes.reserveCapacity(512)
        HTTP1Encoder.writeHead(head, into: &bytes)
        // The proxy's password is not a part of the message.
        connection.write(forwarding?.write(head) ?? bytes)
        return bytes
    }

    /// Our own version (RFC 9110 §2.5), and one Cookie line instead of the crumbs of HTTP/2 (RFC 9113 §8.2.3).
    private func makeOurs(_ head: inout RequestHead) {
        if head.version == .http2 { head.fields.joinCookies() }
        head.version = .http11
    }

    func sendRequestPart(_ part: ByteBuffer) {
        guard let progress else { return }
        if let prefix = HTTP1Encoder.partPrefix(count: part.readableBytes, framing: progress.framing) {
            connection.write(prefix)
        }
        connection.write(part)
        if let suffix = HTTP1Encoder.partSuffix(framing: progress.framing) { connection.write(suffix) }
    }

    func sendRequestEnd(_ trailers: FieldSection?) {
        guard let framing = progress?.framing else { return }
        progress?.isRequestSent = true
        if let end = HTTP1Encoder.end(framing: framing, trailers: trailers) { connection.write(end) }
    }

    func becomeTunnel() {
        let layer = TunnelUpstreamLayer(connection, server: key.destination.host, early: parser.takeRemaining())
        let exchange = exchange
        self.exchange = nil
        connection.become(layer)
        exchange?.hand(over: layer)
        layer.becomeTunnel()
    }

    func setReading(_ isReading: Bool) { connection.isReading = isReading }
    func flush() { connection.flush() }
    func withholdCloseNotify() { connection.withholdCloseNotify() }

    func release() {
        exchange = nil
        connection.isReading = true
        if isReusable {
            idleSince = loop.eventLoop.now
            state = .idle
            hasServed = true
            if !isBound { loop.pool.put(self) } else if owner?.keep(self) != true { connection.close() }
        } else {
            connection.close()
        }
    }

    private func leavePool() {
        if isBound { owner?.forget(self) } else { loop.pool.remove(self) }
    }

    private var isReusable: Bool {
        let isDone =
            switch state {
            case .idle: true
            case .exchanging(let progress): progress.isRequestSent && progress.isResponseRead && progress.keepsAlive
            case .switching, .closed: false
            }
        return isDone && parser.isIdle && isUsable && !loop.isStopping
    }

    func abandon(_ code: HTTP2ErrorCode) {
        exchange = nil
        switch state {
        // A server that checks for close_notify must not accept half a request as complete.
        case .exchanging(let progress) where !progress.isRequestSent:
            connection.withholdCloseNotify()
            connection.close()
        case .idle, .exchanging, .switching, .closed: connection.close()
        }
    }

    func close() { connection.close() }

    // MARK: - UpstreamLayer

    func begin() { connection.ready(single: self) }

    func received(_ bytes: ByteBuffer) {
        parser.receive(bytes)
        if progress?.isResponseRead == true { noteSurplus() }
        parse()
    }

    func writabilityChanged(_ isWritable: Bool) { exchange?.upstreamBecameWritable(isWritable) }

    func inputClosed() {
        switch state {
        case .switching, .closed: break
        case .idle where exchange == nil:
            state = .closed
            leavePool()
            connection.close()
        case .idle, .exchanging:
            parser.receiveEOF()
            parse()
            if isResponseOpen {
                fail(ended("closed the connection without an answer"))
            } else {
                exchange?.upstreamInputEnded()
            }
            state = .closed
            connection.close()
        }
    }

    private var isResponseOpen: Bool { progress.map { !$0.isResponseRead } ?? false }

    func broke(_ error: (any Error)?) {
        let last = state
        state = .closed
        switch last {
        case .closed: break
        case _ where connection.hasInputEnded: break
        case .idle where exchange == nil: leavePool()
        case .idle, .exchanging, .switching: fail(error, last)
        }
    }

    /// The exchange fails if its response is incomplete.
    private func fail(_ error: (any Error)?, _ last: State) {
        let what = UpstreamConnection.whatBecame(error)
        switch (error, last) {
        case (let failure as ExchangeFailure, _): fail(failure)
        case (let failure as TLSError, _): fail(.tls(key.destination.host, failure))
        case (_, .switching): fail(broken(what))
        case (_, .exchanging(let progress)) where !progress.isResponseRead:
            let place = parser.isIdle ? "without an answer" : inTheMiddle(headBytes: parser.partialHeadSize)
            fail(broken("\(what) \(place)"))
        case (_, .exchanging), (_, .idle), (_, .closed): exchange?.upstreamInputEnded()
        }
    }

    /// The end of a sentence; the exchange knows the body's size.
    private func inTheMiddle(headBytes: Int) -> String {
        guard headBytes > 0 else { return "in the middle of its response" }
        return "in the middle of its response's head, after \(headBytes) byte\(headBytes == 1 ? "" : "s")"
    }

    private func fail(_ failure: ExchangeFailure) {
        let exchange = exchange
        self.exchange = nil
        exchange?.upstreamClosed(failure)
    }

    private var host: String { key.destination.host }

    /// The failure if the peer ended the connection too early; `how` is the end of a sentence.
    private func ended(_ how: String) -> ExchangeFailure {
        guard let proxy = forwarding?.proxy else { return ExchangeFailure(.reset, "\(host) \(how).") }
        let text = "The upstream proxy \(proxy) \(how), asked for \(key.destination.authority)."
        return ExchangeFailure(.upstreamProxy, text, hint: proxy.question)
    }

    /// The failure if the connection broke; `how` is the end of a sentence.
    private func broken(_ how: String) -> ExchangeFailure {
        var failure = ended(how)
        failure.isReset = true
        return failure
    }

    // MARK: - Authentication

    /// Binds the connection to its client if the request's credentials may authenticate the connection.
    private func noteAuthorization(_ fields: FieldSection) {
        if ConnectionAuthentication.isNamed(in: fields, by: .authorization)
            || loop.shared.authenticatesConnections(key.destination)
        {
            bind()
        }
    }

    private func bind() {
        guard !isBound else { return }
        isBound = true
        owner = exchange?.identity
        exchange?.note(
            "the connection to the server is this client connection's own from here on, since the server may authenticate it "
                + "(NTLM, Negotiate)"
        )
    }

    // MARK: - Responses

    private func parse() {
        guard !isParsing else { return }
        isParsing = true
        let exchange = exchange
        exchange?.readBegan()
        defer {
            isParsing = false
            exchange?.readCompleted()
        }
        do throws(HTTP1ParseError) {
            while readsResponses, let event = try parser.next() { handle(event) }
        } catch {
            fail(failure(error))
            connection.close()
        }
    }

    private func failure(_ error: HTTP1ParseError) -> ExchangeFailure {
        if error.code == .truncated {
            let headBytes = progress?.hasHead == true ? 0 : Int(clamping: error.offset)
            return ended("closed the connection \(inTheMiddle(headBytes: headBytes))")
        }
        if let proxy = forwarding?.proxy {
            return proxy.failure(.invalid(error.explanation), to: key.destination.authority)
        }
        let hint = "A server that knows only HTTP/2 answers so: let the client speak HTTP/2 too, and leave --http2 on."
        let text = "The answer of \(host) is no valid HTTP response: \(error.explanation)"
        return ExchangeFailure(.badResponse, text, hint: error.code == .notHTTP ? hint : "")
    }

    /// Surplus bytes after a response are noted, and the connection is not reused.
    private func noteSurplus() {
        let count = parser.unparsedBytes
        guard readsResponses, count > 0 else { return }
        let bytes = "\(count) byte\(count == 1 ? "" : "s")"
        exchange?.note("\(bytes) more than the response came from the server, and were dropped")
    }

    private var readsResponses: Bool { if case .switching = state { false } else { true } }

    private func handle(_ event: HTTP1ResponseParser.Event) {
        switch event {
        case .informational(var head):
            HopByHop.strip(from: &head.fields)
            exchange?.interim(head)
        case .head(let received, let framing):
            if let forwarding, received.status == 407 {
                exchange?.upstreamFailed(forwarding.unauthorized(received))
                return connection.close()
            }
            if received.status == 401, ConnectionAuthentication.isNamed(in: received.fields, by: .wwwAuthenticate) {
                loop.shared.noteConnectionAuthentication(key.destination)
                bind()
            }
            var head = received
            let isUpgrade = head.status == 101
            if isUpgrade, progress?.isAnswered(by: head) == false {
                let text = "\(host) switched to WebSocket without the Sec-WebSocket-Accept that answers the key."
                exchange?.upstreamFailed(ExchangeFailure(.badResponse, text))
                return connection.close()
            }
            if var progress {
                progress.hasHead = true
                progress.keepsAlive = Persistence.keepsAlive(head, framing: framing)
                state = isUpgrade ? .switching(progress) : .exchanging(progress)
            }
            let kept: HopByHop.Kept = isUpgrade ? [.keepAlive, .upgrade] : .keepAlive
            let notes = RequestIntake.notes(
                onRemoved: HopByHop.strip(from: &head.fields, keeping: kept, usual: .keepAlive)
            )
            exchange?.responseHead(head, framing: framing, notes: parser.tolerances.explanations + notes)
        case .part(let part): exchange?.responsePart(part)
        case .end(let trailers):
            progress?.isResponseRead = true
            noteSurplus()
            let size = parser.wireSize
            let isClean = !(connection.hasInputEnded && connection.lacksCloseNotify)
            exchange?.responseEnd(trailers: trailers, wireBytes: Int64(size.head) + size.body, isClean: isClean)
        }
    }
}
