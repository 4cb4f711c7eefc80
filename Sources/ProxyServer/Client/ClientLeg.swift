import HTTPModel
import NIOCore

/// The client's side of an exchange, for all versions of HTTP.
protocol ClientLeg: AnyObject {
    func sendInterim(_ head: ResponseHead)
    func sendResponseHead(_ head: ResponseHead, _ framing: BodyFraming, requestIsOpen: Bool) -> ByteBuffer
    func sendResponsePart(_ part: ByteBuffer)
    func sendResponseEnd(_ trailers: FieldSection?)
    func withholdCloseNotify()
    func becomeTunnel()
    func setReading(_ isReading: Bool)
    func flush()
    /// Called if the client's bytes are paced.
    func limitReceiveBuffer()
    func abort(_ code: HTTP2ErrorCode)
    func exchangeFinished()
    var isWritable: Bool { get }
    /// Sent bytes of the response while the client accepts no more; `nil` if it does, or if its connection checks this.
    var sentBytesOfBlocked: Int64? { get }
}

extension ClientLeg {
    var sentBytesOfBlocked: Int64? { nil }
    func withholdCloseNotify() {}
}

/// The protocol of a client's connection.
protocol ClientLayer: AnyObject {
    var connection: ClientConnection { get }
    func received(_ bytes: ByteBuffer)
    /// The client sends no more; after a half-close of TCP, but not of TLS, it may still read.
    func inputClosed(isHalfClose: Bool)
    func closed()
    func writabilityChanged(_ isWritable: Bool)
    func resume()
    func handshakeCompleted(_ details: TLSDetails)
    /// An ``ExchangeFailure`` if Sluice ends the connection.
    func failed(_ error: any Error)
    var wantsRead: Bool { get }
    var isIdle: Bool { get }
    func beginStopping()
    /// Sluice closes the idle connection; an incomplete request is recorded.
    func closing(_ reason: OwnClose)
    /// How long all exchanges have waited for the client alone; `nil` if one waits for something else.
    func stall(now: NIODeadline) -> TimeAmount?
    func enforceTimeout(lastActivity: NIODeadline, now: NIODeadline)
}

extension ClientLayer {
    var loop: LoopContext { connection.loop }
    func closed() {}
    func failed(_ error: any Error) {}
    func stall(now: NIODeadline) -> TimeAmount? { nil }
    func writabilityChanged(_ isWritable: Bool) {}
    func enforceTimeout(lastActivity: NIODeadline, now: NIODeadline) {}
    func resume() {}
    func beginStopping() {}
    func closing(_ reason: OwnClose) {}
    func handshakeCompleted(_ details: TLSDetails) {}
}

/// A connection with one exchange at a time.
extension ClientLeg where Self: ClientLayer {
    var isWritable: Bool { connection.isWritable }
    func flush() { connection.flush() }
    func limitReceiveBuffer() { connection.limitReceiveBuffer() }
}
