import ExchangeCore
import HTTPModel
import NIOCore

/// The client's side of an exchange, for all versions of HTTP.
protocol ClientLeg: AnyObject {
    func sendInterim(_ head: ResponseHead)
    /// Returns the written bytes.
    func sendResponseHead(_ head: ResponseHead, _ framing: BodyFraming, requestIsOpen: Bool) -> ByteBuffer
    func sendResponsePart(_ part: ByteBuffer)
    func sendResponseEnd(_ trailers: FieldSection?)
    /// Ends the response without TLS close_notify, like the server did.
    func withholdCloseNotify()
    func becomeTunnel()
    func setReading(_ isReading: Bool)
    func flush()
    /// Keeps few bytes in the sockets' buffers, because its bytes are paced.
    func limitReceiveBuffer()
    func abort(_ code: HTTP2ErrorCode)
    func exchangeFinished()
    var isWritable: Bool { get }
    /// How many bytes of the response have left if the client accepts no more; `nil` if it does, or if its connection
    /// knows that.
    var sentBytesOfBlocked: Int64? { get }
}

extension ClientLeg {
    var sentBytesOfBlocked: Int64? { nil }
    func withholdCloseNotify() {}
}

/// The protocol of a client's connection; replaced when the protocol changes.
protocol ClientLayer: AnyObject {
    func received(_ bytes: ByteBuffer)
    /// The client sends no more; `isHalfClose` tells whether it may still read: TCP's half-close, but not the end of
    /// TLS.
    func inputClosed(isHalfClose: Bool)
    func closed()
    /// The client accepts bytes again, or no more for now.
    func writabilityChanged(_ isWritable: Bool)
    /// The recorder has room again.
    func resume()
    /// A TLS handshake with the client has succeeded.
    func handshakeCompleted(_ details: TLSDetails)
    /// The connection or its TLS session failed; an ``ExchangeFailure`` if Sluice ends it.
    func failed(_ error: any Error)
    /// Whether bytes are to be read now.
    var wantsRead: Bool { get }
    var isIdle: Bool { get }
    /// Sluice is stopping: exchanges may end, new ones must not begin.
    func beginStopping()
    /// Sluice closes the idle connection: an incomplete request is recorded.
    func closing(_ reason: OwnClose)
    /// How long all exchanges have waited only for the client; `nil` if they have not.
    func stall(now: NIODeadline) -> TimeAmount?
    /// Enforces time limits on a connection without activity since `lastActivity`.
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
