import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// A server's connection whose bytes are passed through.
final class TunnelUpstreamLayer: UpstreamLayer, UpstreamLeg {
    private let connection: UpstreamConnection
    /// What arrived before the exchange took the connection over.
    private var early = ByteBuffer()
    var exchange: Exchange?

    init(_ connection: UpstreamConnection) { self.connection = connection }

    // MARK: - UpstreamLeg

    var facts: UpstreamFacts { connection.facts(.http11, isReused: false) }

    func sendRequestHead(_ head: RequestHead, _ framing: BodyFraming) -> ByteBuffer { ByteBuffer() }
    func sendRequestPart(_ part: ByteBuffer) { connection.write(part) }
    func sendRequestEnd(_ trailers: FieldSection?) { connection.endOutput() }

    func becomeTunnel() {
        let bytes = early
        early = ByteBuffer()
        if bytes.readableBytes > 0 { exchange?.responsePart(bytes) }
        if connection.hasInputEnded { inputClosed() }
    }

    func setReading(_ isReading: Bool) { connection.isReading = isReading }
    func flush() { connection.flush() }
    func withholdCloseNotify() { connection.withholdCloseNotify() }

    func release() {
        exchange = nil
        connection.closeAfterWrites()
    }

    func abandon(_ code: HTTP2ErrorCode) {
        exchange = nil
        if code == .noError { connection.close() } else { connection.resetAfterWrites() }
    }

    // MARK: - UpstreamLayer

    func begin() {
        connection.ready(.success(.single(self, applicationProtocol: connection.applicationProtocol)))
    }

    func received(_ bytes: ByteBuffer) {
        if let exchange { exchange.responsePart(bytes) } else { early.writeImmutableBuffer(bytes) }
    }

    func inputClosed() {
        exchange?.responseEnd(trailers: nil, wireBytes: 0, isClean: !connection.lacksCloseNotify)
    }

    func writabilityChanged(_ isWritable: Bool) { exchange?.upstreamBecameWritable(isWritable) }

    func broke(_ error: (any Error)?) {
        let exchange = exchange
        self.exchange = nil
        if let failure = error as? ExchangeFailure {
            exchange?.upstreamClosed(failure)
        } else if let failure = error as? TLSFailure {
            exchange?.upstreamClosed(ExchangeFailure(.tls, "TLS failed in the tunnel: \(failure.explanation)"))
        } else {
            let what = connection.hasInputEnded ? "closed the connection" : UpstreamConnection.whatBecame(error)
            exchange?.upstreamClosed(ExchangeFailure(.reset, "The server \(what)."))
        }
    }
}

@available(*, unavailable)
extension TunnelUpstreamLayer: Sendable {}
