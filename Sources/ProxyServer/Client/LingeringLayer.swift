import NIOCore

/// A connection that is about to be closed: whatever still arrives is dropped, for a moment.
final class LingeringLayer: ClientLayer {
    private let connection: ClientConnection
    private var dropped = 0

    /// Bytes that are dropped at the most before the connection is cut.
    private static let limit = 4 << 20

    init(connection: ClientConnection) {
        self.connection = connection
        connection.closeOutput()
    }

    let wantsRead = true
    let isIdle = true

    func received(_ bytes: ByteBuffer) {
        dropped += bytes.readableBytes
        if dropped > LingeringLayer.limit { connection.close() }
    }

    func inputClosed(isHalfClose: Bool) { connection.closeAfterFlush() }
    func closed() {}
    func failed(_ error: any Error) {}
    func writabilityChanged(_ isWritable: Bool) {}

    func enforceTimeout(lastActivity: NIODeadline, now: NIODeadline) {
        if now - lastActivity > .seconds(2) { connection.close() }
    }
}
