import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// One stream of a server's HTTP/2 connection: the server's side of one exchange.
final class HTTP2UpstreamStream: UpstreamLeg {
    var exchange: Exchange?
    let facts: UpstreamFacts

    private let connection: HTTP2UpstreamLayer
    private var id: HTTP2StreamID?
    private var isReading = true
    private var withheld = 0
    /// Bytes that were consumed at once, until the window is widened.
    private var taken = 0
    private var isRequestSent = false
    private var isResponseRead = false
    private var isOver = false
    /// Set if the request asks for another protocol (RFC 8441).
    private var upgrade: WebSocketBridge?

    init(_ connection: HTTP2UpstreamLayer, facts: UpstreamFacts) {
        self.connection = connection
        self.facts = facts
    }

    /// Calls back with whether the server offers extended CONNECT, once that is known.
    func withOffer(_ body: @escaping (Bool) -> Void) {
        connection.withSettings { [connection] in body(connection.offersExtendedConnect) }
    }

    func givesWay() -> Bool { connection.origin?.endsStreamForOther() ?? false }

    func sendRequestHead(_ head: RequestHead, _ framing: BodyFraming) -> ByteBuffer {
        var head = head
        HTTP2Framing.settle(&head.fields, as: framing)
        upgrade = WebSocketBridge(makingConnect: &head)
        isRequestSent = framing == .none && upgrade == nil
        do throws(HTTP2Error) {
            let name = upgrade?.protocolName
            let begun = try connection.begin(self, head, connectProtocol: name, isEnd: isRequestSent)
            id = begun.stream
            return begun.written
        } catch {
            isOver = true
            let text = "The request could not be sent: \(error.explanation)"
            exchange?.upstreamClosed(ExchangeFailure(.reset, text), wasProcessed: false)
            return ByteBuffer()
        }
    }

    func sendRequestPart(_ part: ByteBuffer) {
        guard let id, !isOver else { return }
        if connection.driver.send(part, on: id) >= HTTP2Framing.highMark { exchange?.upstreamBecameWritable(false) }
    }

    func sendRequestEnd(_ trailers: FieldSection?) {
        // An upgrade's request ends, but the stream stays open for the other protocol.
        if let bridge = upgrade, !bridge.isOpen { return }
        guard let id, !isOver, !isRequestSent else { return }
        isRequestSent = true
        connection.driver.session.sendEnd(trailers, on: id)
    }

    func becomeTunnel() {}

    func setReading(_ isReading: Bool) {
        self.isReading = isReading
        guard isReading, withheld > 0, let id else { return }
        connection.driver.consume(withheld, on: id)
        withheld = 0
    }

    func flush() { connection.driver.scheduleFlush() }

    func release() {
        exchange = nil
        // Only an unfinished stream is cut.
        if !(isRequestSent && isResponseRead) { end(.cancel) }
    }

    func abandon(_ code: HTTP2ErrorCode) {
        exchange = nil
        // RFC 8441 §5: a TCP reset in the middle of a WebSocket becomes a stream reset with CANCEL.
        end(code == .connectError ? .cancel : code)
    }

    private func end(_ code: HTTP2ErrorCode) {
        guard !isOver else { return }
        isOver = true
        if let id { connection.driver.reset(id, code) } else { connection.giveBack() }
    }

    func responseHead(_ head: ResponseHead, _ framing: BodyFraming) {
        var head = head
        if upgrade != nil, (200..<300).contains(head.status) {
            upgrade?.isOpen = true
            upgrade?.makeSwitchingProtocols(&head)
            exchange?.responseHead(head, framing: .none, notes: [WebSocketBridge.upstreamNote])
        } else {
            exchange?.responseHead(head, framing: framing, notes: HTTP2Framing.notes(on: head.fields))
        }
    }

    func data(_ bytes: ByteBuffer) {
        let count = bytes.readableBytes
        exchange?.responsePart(bytes)
        guard let id else { return }
        guard isReading else {
            withheld += count
            return
        }
        connection.driver.consume(count, on: id)
        if taken < HTTP2UpstreamStream.worthWidening {
            taken += count
            if taken >= HTTP2UpstreamStream.worthWidening { connection.widen(id) }
        }
    }

    /// A body that has reached this size is probably much longer.
    private static let worthWidening = 256 << 10

    func ended(_ trailers: FieldSection?, _ wireBytes: Int64) {
        isResponseRead = true
        exchange?.responseEnd(trailers: trailers, wireBytes: wireBytes, isClean: true)
    }

    func reset(_ code: HTTP2ErrorCode, isLocal: Bool, _ explanation: String, host: String) {
        if isLocal {
            failed(ExchangeFailure(.badResponse, "The answer of \(host) is no valid HTTP/2: \(explanation)"))
        } else {
            let text = "\(host) reset the stream (RST_STREAM \(code))."
            failed(ExchangeFailure(.reset, text, resetCode: code), wasProcessed: code != .http11Required)
        }
    }

    func failed(_ failure: ExchangeFailure, wasProcessed: Bool = true) {
        isOver = true
        let exchange = exchange
        self.exchange = nil
        exchange?.upstreamClosed(failure, wasProcessed: wasProcessed)
    }
}
