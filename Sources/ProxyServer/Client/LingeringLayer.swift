import NIOCore

/// A connection that is about to be closed: whatever still arrives is dropped, for a moment.
final class LingeringLayer: ClientLayer {
    private let connection: ClientConnection
    private var dropped = 0
    private let began: NIODeadline

    /// Bytes that are dropped at the most before the connection is cut.
    static let limit = 4 << 20
    /// How long the client may be silent, and how long it may send on.
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
