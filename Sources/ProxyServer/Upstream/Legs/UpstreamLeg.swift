import ExchangeCore
import HTTPModel
import NIOCore

/// The server's side of an exchange, whatever version of HTTP it speaks: what an exchange asks of its adapter.
protocol UpstreamLeg: AnyObject {
    /// The exchange that uses it, which gets what the server sends.
    var exchange: Exchange? { get set }
    /// The facts of its connection when an exchange takes it.
    var facts: UpstreamFacts { get }
    /// How many bytes of a response's head have come that is not whole, where its exchange cannot know.
    var partialHeadSize: Int { get }
    /// Sends the request's head; returns the bytes that were written.
    func sendRequestHead(_ head: RequestHead, _ framing: BodyFraming) -> ByteBuffer
    func sendRequestPart(_ part: ByteBuffer)
    func sendRequestEnd(_ trailers: FieldSection?)
    /// Raw bytes are exchanged from here on.
    func becomeTunnel()
    func setReading(_ isReading: Bool)
    func flush()
    /// The end of the request is to come without TLS close_notify, as it came from the client.
    func withholdCloseNotify()
    /// The exchange is over and needs it no more; it may serve another if that is possible.
    func release()
    /// Whether another request waits for what it takes up and gets it; then it has to be abandoned.
    func givesWay() -> Bool
    /// The exchange gives it up before it was done: nobody can use the connection, or the stream, any further.
    func abandon(_ code: HTTP2ErrorCode)
}

extension UpstreamLeg {
    func givesWay() -> Bool { false }
    var partialHeadSize: Int { 0 }
    func withholdCloseNotify() {}
}
