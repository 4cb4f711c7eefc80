import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// A server's connection whose bytes are passed through.
final class TunnelUpstreamLayer: UpstreamLayer, UpstreamLeg {
    private let connection: UpstreamConnection
    private let server: String
    /// Bytes before the exchange took over; `nil` from then on.
    private var early: ByteBuffer?
    var exchange: Exchange?

    init(_ connection: UpstreamConnection, server: String = "The server", early: ByteBuffer? = nil) {
        self.connection = connection
        self.server = server
        self.early = early ?? ByteBuffer()
    }

    var facts: UpstreamFacts { connection.facts(.http11, isReused: false) }

    func sendRequestHead(_ head: RequestHead, _ framing: BodyFraming) -> ByteBuffer { ByteBuffer() }
    func sendRequestPart(_ part: ByteBuffer) { connection.write(part) }
    func sendRequestEnd(_ trailers: FieldSection?) { connection.endOutput() }

    func becomeTunnel() {
        let bytes = early
        early = nil
        if let bytes, bytes.readableBytes > 0 { exchange?.responsePart(bytes) }
        // The server may have ended the connection while the head was held.
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

    func begin() { connection.ready(single: self) }

    func received(_ bytes: ByteBuffer) {
        if early != nil { early?.writeImmutableBuffer(bytes) } else { exchange?.responsePart(bytes) }
    }

    func inputClosed() { exchange?.responseEnd(trailers: nil, wireBytes: 0, isClean: !connection.lacksCloseNotify) }

    func writabilityChanged(_ isWritable: Bool) { exchange?.upstreamBecameWritable(isWritable) }

    func broke(_ error: (any Error)?) {
        let exchange = exchange
        self.exchange = nil
        switch error {
        case let failure as ExchangeFailure: exchange?.upstreamClosed(failure)
        case let failure as TLSError:
            exchange?.upstreamClosed(ExchangeFailure(.tls, "TLS failed in the tunnel: \(failure.explanation)"))
        default:
            let what = connection.hasInputEnded ? "closed the connection" : UpstreamConnection.whatBecame(error)
            exchange?.upstreamClosed(ExchangeFailure(.reset, "\(server) \(what)."))
        }
    }
}
