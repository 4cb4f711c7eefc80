import ExchangeCore
import HTTPModel
import NIOCore

/// The server's side of an exchange, for all versions of HTTP.
protocol UpstreamLeg: AnyObject {
    /// The exchange that uses this leg and gets the server's events.
    var exchange: Exchange? { get set }
    var facts: UpstreamFacts { get }
    /// How many bytes of an incomplete response head have arrived.
    var partialHeadSize: Int { get }
    /// Sends the request's head; returns the bytes that were written.
    func sendRequestHead(_ head: RequestHead, _ framing: BodyFraming) -> ByteBuffer
    func sendRequestPart(_ part: ByteBuffer)
    func sendRequestEnd(_ trailers: FieldSection?)
    func becomeTunnel()
    func setReading(_ isReading: Bool)
    func flush()
    /// Ends the request without TLS close_notify.
    func withholdCloseNotify()
    /// The exchange is over; another one may follow.
    func release()
    /// Whether a waiting request takes this leg's place; then this leg must be abandoned.
    func givesWay() -> Bool
    /// The connection, or the stream, is unusable.
    func abandon(_ code: HTTP2ErrorCode)
}

extension UpstreamLeg {
    func givesWay() -> Bool { false }
    var partialHeadSize: Int { 0 }
    func withholdCloseNotify() {}
}
