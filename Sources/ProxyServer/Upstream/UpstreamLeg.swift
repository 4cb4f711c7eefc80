import ExchangeCore
import HTTPModel
import NIOCore

/// The server's side of an exchange, whatever version of HTTP it speaks: what an exchange tells its adapter.
protocol UpstreamLeg: AnyObject {
    /// The exchange that uses it; told what the server sends.
    var exchange: Exchange? { get set }
    /// Sends the request's head; returns the bytes that were written.
    func sendRequestHead(_ head: RequestHead, _ framing: BodyFraming) -> ByteBuffer
    /// Sends bytes of the request's body.
    func sendRequestPart(_ part: ByteBuffer)
    /// Ends the request.
    func sendRequestEnd(_ trailers: FieldSection?)
    /// Raw bytes are exchanged from here on.
    func becomeTunnel()
    /// Reads, or stops reading.
    func setReading(_ isReading: Bool)
    /// Puts what was sent on the wire.
    func flush()
    /// The exchange needs it no more; it may serve another where that is asked for and possible, else it is closed.
    func release(reusable: Bool)
}

/// Finds or makes the server's side of an exchange, and tells the exchange.
protocol UpstreamConnecting: AnyObject {
    /// Finds or makes a connection; `fresh` excludes pooled ones. The exchange is told of the outcome, perhaps at once.
    func connect(to destination: Destination, for exchange: Exchange, fresh: Bool)
    /// The exchange waits no more.
    func cancel()
}
