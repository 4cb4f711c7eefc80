import HTTPModel
import NIOCore
import Wire

/// A stream of a client: the client's side of one exchange.
final class HTTP2ClientStream: ClientLeg, HTTP2ServedStream {
    var exchange: Exchange?
    /// Set if the stream carries another protocol (RFC 8441).
    var upgrade: WebSocketBridge?

    var isServed: Bool { exchange == nil }

    private let driver: HTTP2Driver
    private let id: HTTP2StreamID
    private let connection: ClientConnection
    private var isReading = true
    private var hasEnded = false
    /// Bytes whose window was not returned.
    private var withheld = 0
    /// A head that may have no body. If so, its HEADERS frame must end the stream, because gRPC requires this.
    private var pending: ResponseHead?
    /// Events after an unanswered extended CONNECT; the stream's window limits them.
    private var early: [Early] = []
    private var isAnswered = false

    private enum Early {
        case data(ByteBuffer)
        case end(FieldSection?, wireBytes: Int64)
    }

    init(_ driver: HTTP2Driver, _ id: HTTP2StreamID, on connection: ClientConnection) {
        self.driver = driver
        self.id = id
        self.connection = connection
    }

    var isWritable: Bool { driver.session.queuedBytes(on: id) < HTTP2Framing.highMark }

    var sentBytesOfBlocked: Int64? { driver.session.sentBytesOfBlocked(id) }

    func sendInterim(_ head: ResponseHead) { driver.session.sendInterim(head, on: id) }

    func sendResponseHead(_ head: ResponseHead, _ framing: BodyFraming, requestIsOpen: Bool) -> ByteBuffer {
        var head = head
        isAnswered = true
        if head.status == 101, let upgrade {
            let written = head.serialized()
            upgrade.makeConnectAnswer(&head)
            _ = driver.session.sendResponse(head, on: id, isEnd: false)
            return written
        }
        deliverEarly()
        HTTP2Framing.settle(&head.fields, as: framing)
        let names = HTTP2Session.namesLeftOut(of: head.fields)
        if !names.isEmpty {
            let list = names.joined(separator: ", ")
            exchange?.note("fields that are invalid in HTTP/2 were not sent to the client: \(list)")
        }
        if framing == .none || framing == .length(0) {
            pending = head
            return HTTP2Session.text(of: head)
        }
        return driver.session.sendResponse(head, on: id, isEnd: false)
    }

    func sendResponsePart(_ part: ByteBuffer) {
        sendPending(isEnd: false)
        if driver.send(part, on: id) >= HTTP2Framing.highMark { exchange?.clientBecameWritable(false) }
    }

    func sendResponseEnd(_ trailers: FieldSection?) {
        if pending != nil, trailers?.isEmpty ?? true {
            sendPending(isEnd: true)
        } else {
            sendPending(isEnd: false)
            driver.session.sendEnd(trailers, on: id)
        }
    }

    private func sendPending(isEnd: Bool) {
        guard let head = pending else { return }
        pending = nil
        _ = driver.session.sendResponse(head, on: id, isEnd: isEnd)
    }

    func becomeTunnel() { deliverEarly() }

    private func deliverEarly() {
        let waiting = early
        early = []
        for item in waiting {
            switch item {
            case .data(let bytes): data(bytes)
            case .end(let trailers, let wireBytes): ended(trailers, wireBytes)
            }
        }
    }

    private var isUnanswered: Bool { upgrade != nil && !isAnswered }

    func setReading(_ isReading: Bool) {
        self.isReading = isReading
        guard isReading, withheld > 0 else { return }
        driver.consume(withheld, on: id)
        withheld = 0
    }

    func flush() {
        sendPending(isEnd: false)
        driver.scheduleFlush()
    }

    func limitReceiveBuffer() { connection.limitReceiveBuffer() }

    func abort(_ code: HTTP2ErrorCode) {
        let isStalled = exchange?.failure?.code == .clientTimeout
        exchange = nil
        sendPending(isEnd: false)
        if isStalled { driver.cutAtOnce(id, code) } else { driver.cut(id, code) }
    }

    func exchangeFinished() {
        exchange = nil
        // Nobody reads the rest of the request (RFC 9113 §8.1).
        if !hasEnded, upgrade == nil { driver.reset(id, .noError) }
    }

    func data(_ bytes: ByteBuffer) {
        if isUnanswered { return early.append(.data(bytes)) }
        let count = bytes.readableBytes
        exchange?.requestPart(bytes)
        if isReading { driver.consume(count, on: id) } else { withheld += count }
    }

    func ended(_ trailers: FieldSection?, _ wireBytes: Int64) {
        hasEnded = true
        if isUnanswered { return early.append(.end(trailers, wireBytes: wireBytes)) }
        // The end of the other protocol's bytes.
        exchange?.requestEnd(trailers: trailers, wireBytes: upgrade == nil ? wireBytes : 0)
    }

    func reset(_ code: HTTP2ErrorCode, isLocal: Bool, _ explanation: String) {
        let exchange = exchange
        self.exchange = nil
        if isLocal {
            let text = "The client's stream is not valid HTTP/2: \(explanation)"
            exchange?.interrupt(ExchangeFailure(.badRequest, text))
        } else {
            exchange?.clientGone(code)
        }
    }

    func drained() { exchange?.clientBecameWritable(true) }

    func connectionClosed(_ failure: ExchangeFailure?) {
        let exchange = exchange
        self.exchange = nil
        if let failure { exchange?.interrupt(failure) }
        exchange?.clientGone()
    }
}
