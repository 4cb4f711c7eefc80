import NIOCore

/// A closing connection, whose bytes are dropped for a moment.
final class LingeringLayer: ClientLayer {
    let connection: ClientConnection
    private var dropped = 0
    private let began: NIODeadline

    static let limit = 4 << 20
    /// How long the client may be silent, and how long it may send.
    static let (silence, patience) = (TimeAmount.seconds(2), TimeAmount.seconds(30))

    init(connection: ClientConnection) {
        self.connection = connection
        began = connection.loop.eventLoop.now
        connection.closeOutput()
    }

    let wantsRead = true
    let isIdle = true

    func received(_ bytes: ByteBuffer) {
        dropped += bytes.readableBytes
        if dropped > LingeringLayer.limit { connection.close() }
    }

    func inputClosed(isHalfClose: Bool) { connection.closeAfterFlush() }

    func enforceTimeout(lastActivity: NIODeadline, now: NIODeadline) {
        if now - lastActivity > LingeringLayer.silence || now - began > LingeringLayer.patience { connection.close() }
    }
}
