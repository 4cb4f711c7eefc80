import ExchangeCore
import HTTPModel
import NIOCore

/// The client's side of an exchange, whatever version of HTTP it speaks: what an exchange asks of its adapter.
protocol ClientLeg: AnyObject {
    func sendInterim(_ head: ResponseHead)
    /// Sends the response's head; returns the bytes that were written.
    func sendResponseHead(_ head: ResponseHead, _ framing: BodyFraming, requestIsOpen: Bool) -> ByteBuffer
    func sendResponsePart(_ part: ByteBuffer)
    func sendResponseEnd(_ trailers: FieldSection?)
    /// The end of the response is to come without TLS close_notify, as it came from the server.
    func withholdCloseNotify()
    /// Raw bytes are exchanged from here on.
    func becomeTunnel()
    func setReading(_ isReading: Bool)
    func flush()
    /// Its bytes are paced: little of them is to be on its way in the sockets' buffers.
    func limitReceiveBuffer()
    func abort(_ code: HTTP2ErrorCode)
    func exchangeFinished()
    /// Whether the client takes bytes at present.
    var isWritable: Bool { get }
    /// How many bytes of the response have left where the client gives no room for more; `nil` where it does, or where
    /// its connection is what knows that.
    var sentBytesOfBlocked: Int64? { get }
}

extension ClientLeg {
    var sentBytesOfBlocked: Int64? { nil }
    func withholdCloseNotify() {}
}

/// What a client's connection speaks at present; replaced as it changes protocol.
protocol ClientLayer: AnyObject {
    func received(_ bytes: ByteBuffer)
    /// The client sends no more; `isHalfClose` says whether it may still read: TCP's half-close, but not the end of TLS.
    func inputClosed(isHalfClose: Bool)
    func closed()
    /// The client takes bytes again, or takes no more for now.
    func writabilityChanged(_ isWritable: Bool)
    /// There is room again for what was held back.
    func resume()
    /// A TLS handshake with the client is done, or failed.
    func handshakeCompleted(_ details: TLSDetails)
    /// The connection, or its TLS session, failed; an ``ExchangeFailure`` where Sluice ends it.
    func failed(_ error: any Error)
    /// Whether it is read from at present.
    var wantsRead: Bool { get }
    /// Whether nothing is going on, so that the connection may be closed without harm.
    var isIdle: Bool { get }
    /// Sluice is stopping: what is going on may end, nothing new begins.
    func beginStopping()
    /// Sluice closes the connection, which is idle: what the client has begun is recorded.
    func closing(_ reason: OwnClose)
    /// How long all that is going on has waited for the client alone; `nil` where it has not.
    func stall(now: NIODeadline) -> TimeAmount?
    /// What to do about a connection on which nothing happened since `lastActivity`.
    func enforceTimeout(lastActivity: NIODeadline, now: NIODeadline)
}

extension ClientLayer {
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
