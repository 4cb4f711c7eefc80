import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// A server's connection that speaks HTTP/1: writes one request at a time and reads its response.
final class HTTP1UpstreamConnection: ChannelDuplexHandler, UpstreamLeg {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let connection: UpstreamSocket
    let key: UpstreamPool.Key
    var exchange: Exchange?
    private(set) var idleSince: NIODeadline

    private let loop: LoopContext
    private var parser = HTTP1ResponseParser()
    private var gatherer = WriteGatherer()
    private var isTunnel = false
    /// The server has switched protocols; what it sends from here on is for the tunnel, once there is one.
    private var isSwitching = false
    private var isPooled = false
    private var keepsAlive = true
    private var requestFraming = BodyFraming.none
    private var isRequestSent = true
    private var isResponseRead = true
    private var isParsing = false

    init(_ connection: UpstreamSocket, key: UpstreamPool.Key) {
        self.connection = connection
        self.key = key
        loop = connection.loop
        idleSince = loop.eventLoop.now
    }

    /// Whether the connection may carry another request.
    var isUsable: Bool { connection.context?.channel.isActive ?? false }

    func facts(isReused: Bool) -> UpstreamFacts {
        isPooled = false
        return connection.facts(.http11, isReused: isReused)
    }

    // MARK: - UpstreamLeg

    func sendRequestHead(_ head: RequestHead, _ framing: BodyFraming) -> ByteBuffer {
        var head = head
        if head.version != .http11 { makeOurs(&head) }
        requestFraming = SentFraming.settle(&head, as: framing)
        parser.expect(method: head.method)
        isRequestSent = false
        isResponseRead = false
        keepsAlive = true
        var bytes = ByteBuffer()
        bytes.reserveCapacity(512)
        HTTP1Encoder.writeHead(head, into: &bytes)
        write(bytes)
        return bytes
    }

    /// What goes upstream is our own message (RFC 9110 §2.5), so it has our version; and HTTP/1 has one Cookie line
    /// where HTTP/2 may have crumbs of it (RFC 9113 §8.2.3).
    private func makeOurs(_ head: inout RequestHead) {
        if head.version == .http2 { head.fields.joinCookies() }
        head.version = .http11
    }

    func sendRequestPart(_ part: ByteBuffer) {
        if isTunnel {
            write(part)
            return
        }
        if let prefix = HTTP1Encoder.partPrefix(count: part.readableBytes, framing: requestFraming) { write(prefix) }
        write(part)
        if let suffix = HTTP1Encoder.partSuffix(framing: requestFraming) { write(suffix) }
    }

    func sendRequestEnd(_ trailers: FieldSection?) {
        if isTunnel {
            flush()
            connection.endOutput()
            return
        }
        isRequestSent = true
        if let end = HTTP1Encoder.end(framing: requestFraming, trailers: trailers) { write(end) }
    }

    func becomeTunnel() {
        isTunnel = true
        if let rest = parser.takeRemaining(), rest.readableBytes > 0 { exchange?.responsePart(rest) }
        // The server may have ended it while the head was held.
        if connection.hasInputEnded { endTunnel() }
    }

    func setReading(_ isReading: Bool) {
        connection.isReading = isReading
    }

    func flush() {
        guard let context = connection.context else { return }
        gatherer.flush { context.write(wrapOutboundOut($0), promise: nil) }
        context.flush()
    }

    func release() {
        exchange = nil
        connection.isReading = true
        if isTunnel {
            flush()
            connection.closeAfterWrites()
            return
        }
        if keepsAlive, isRequestSent, isResponseRead, parser.isIdle, isUsable, !loop.isStopping {
            idleSince = loop.eventLoop.now
            isPooled = true
            loop.pool.put(self)
        } else {
            close()
        }
    }

    func withholdCloseNotify() {
        connection.withholdCloseNotify()
    }

    func abandon(_ code: HTTP2ErrorCode) {
        exchange = nil
        if isTunnel, code != .noError {
            flush()
            connection.resetAfterWrites()
        } else {
            // Half a request is no whole one to a server that looks at close_notify either.
            if !isRequestSent { connection.withholdCloseNotify() }
            close()
        }
    }

    func close() {
        connection.context?.close(promise: nil)
    }

    private func write(_ bytes: ByteBuffer) {
        guard let context = connection.context else { return }
        gatherer.add(bytes) { context.write(wrapOutboundOut($0), promise: nil) }
    }

    // MARK: - Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        connection.added(context)
        if context.channel.isActive { activated(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        connection.removed()
    }

    func channelActive(context: ChannelHandlerContext) {
        activated(context)
    }

    private func activated(_ context: ChannelHandlerContext) {
        connection.activated(context)
        // Under TLS it is put there when the handshake is done, by whoever has seen what was agreed on.
        if !connection.isSecure { connection.ready(.success(.single(self, connection))) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        if isTunnel {
            exchange?.responsePart(bytes)
            return
        }
        parser.receive(bytes)
        parse()
    }

    func read(context: ChannelHandlerContext) {
        connection.read(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if connection.isInputEnd(event) { inputClosed() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        exchange?.upstreamBecameWritable(context.channel.isWritable)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if connection.hasEndedOutput { inputClosed() }
        broke(nil)
        connection.closed()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        connection.ready(.failure(error))
        broke(error)
        context.close(promise: nil)
    }

    /// The connection is gone without having ended: what comes of that is the exchange's, if a response is not whole.
    private func broke(_ error: (any Error)?) {
        guard !connection.hasInputEnded else {
            if isTunnel { fail(ExchangeFailure(.reset, "\(key.host) closed the connection.")) }
            return
        }
        connection.hasInputEnded = true
        keepsAlive = false
        if isPooled {
            isPooled = false
            loop.pool.remove(self)
        } else if let failure = error as? ExchangeFailure {
            fail(failure)
        } else if let failure = error as? TLSFailure {
            fail(ExchangeFailure(.tls, "TLS with \(key.host) failed: \(failure.explanation)"))
        } else if isTunnel || isSwitching {
            fail(ExchangeFailure(.reset, "\(key.host) \(UpstreamSocket.whatBecame(error))."))
        } else if isResponseRead {
            exchange?.upstreamInputEnded()
        } else {
            let place = parser.isIdle ? "without an answer" : "in the middle of its response"
            fail(ExchangeFailure(.reset, "\(key.host) \(UpstreamSocket.whatBecame(error)) \(place)."))
        }
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
            while !isTunnel, !isSwitching, let event = try parser.next() { handle(event) }
        } catch {
            keepsAlive = false
            fail(
                ExchangeFailure(
                    error.code == .truncated ? .reset : .badResponse,
                    error.code == .truncated
                        ? "\(key.host) closed the connection in the middle of its response. \(error.explanation)"
                        : "The answer of \(key.host) is no valid HTTP response: \(error.explanation)",
                    hint: error.code == .notHTTP
                        ? "A server that knows only HTTP/2 answers so: let the client speak HTTP/2 too, and leave --http2 on."
                        : ""
                )
            )
            close()
        }
    }

    private func handle(_ event: HTTP1ResponseParser.Event) {
        switch event {
        case .informational(var head):
            HopByHop.strip(from: &head.fields)
            exchange?.interim(head)
        case .head(let received, let framing):
            var head = received
            keepsAlive = Persistence.keepsAlive(head, framing: framing)
            let isUpgrade = head.status == 101
            isSwitching = isUpgrade
            let removed = HopByHop.strip(from: &head.fields, keeping: isUpgrade ? [.keepAlive, .upgrade] : .keepAlive)
            var notes = parser.tolerances.explanations
            let worthNoting = removed.filter { $0.lowercased() != "connection" && $0.lowercased() != "keep-alive" }
            if !worthNoting.isEmpty {
                notes.append("removed what is meant for one connection only: \(worthNoting.joined(separator: ", "))")
            }
            exchange?.responseHead(head, framing: framing, notes: notes)
        case .part(let part): exchange?.responsePart(part)
        case .end(let trailers):
            isResponseRead = true
            let size = parser.wireSize
            exchange?.responseEnd(
                trailers: trailers,
                wireBytes: Int64(size.head) + size.body,
                isClean: !(connection.hasInputEnded && connection.lacksCloseNotify)
            )
        }
    }

    private func endTunnel() {
        exchange?.responseEnd(trailers: nil, wireBytes: 0, isClean: !connection.lacksCloseNotify)
    }

    private func inputClosed() {
        guard !connection.hasInputEnded else { return }
        connection.hasInputEnded = true
        if isPooled {
            isPooled = false
            loop.pool.remove(self)
            close()
            return
        }
        keepsAlive = false
        if isTunnel {
            endTunnel()
            return
        }
        if isSwitching { return }
        parser.receiveEOF()
        parse()
        if !isResponseRead {
            fail(ExchangeFailure(.reset, "\(key.host) closed the connection without an answer."))
        } else {
            exchange?.upstreamInputEnded()
        }
        close()
    }

    private func fail(_ failure: ExchangeFailure) {
        let exchange = exchange
        self.exchange = nil
        exchange?.upstreamClosed(failure)
    }
}

@available(*, unavailable)
extension HTTP1UpstreamConnection: Sendable {}
