import Foundation
import NIOCore

/// Writes on a connection, and ends it after earlier writes. Small writes are collected until the flush, so that a head
/// and a short body leave in one system call.
final class ConnectionOutput {
    private let context: ChannelHandlerContext
    /// How long the peer may read nothing of the last bytes before the connection is closed.
    private let limit: TimeAmount
    private let close: () -> Void
    private var gathered = ByteBuffer()
    private var written: EventLoopFuture<Void>?

    private static let large = 4 << 10

    init(_ context: ChannelHandlerContext, limit: TimeAmount, close: @escaping () -> Void) {
        self.context = context
        self.limit = limit
        self.close = close
    }

    func write(_ bytes: ByteBuffer) {
        if bytes.readableBytes >= ConnectionOutput.large {
            passGathered()
            context.write(NIOAny(bytes), promise: nil)
        } else if gathered.readableBytes == 0 {
            gathered = bytes
        } else {
            gathered.writeImmutableBuffer(bytes)
        }
    }

    func flush() {
        passGathered()
        context.flush()
    }

    private func passGathered() {
        guard gathered.readableBytes > 0 else { return }
        let bytes = gathered
        gathered = ByteBuffer()
        context.write(NIOAny(bytes), promise: nil)
    }

    /// Closes TLS without close_notify; has no effect without TLS.
    func withholdCloseNotify() { context.triggerUserOutboundEvent(TLSCloseNotifyWithheld(), promise: nil) }

    /// If the peer has already half-closed, a half-close would drop pending writes: then this closes after the writes.
    func end(peerHasEnded: Bool) {
        flush()
        guard written == nil else { return }
        if peerHasEnded { return closeAfterWrites() }
        let promise = context.eventLoop.makePromise(of: Void.self)
        written = promise.futureResult
        context.close(mode: .output, promise: promise)
    }

    /// Closes after earlier writes; a peer that reads nothing is given up after the limit.
    func closeAfterWrites() { closeAfterWrites(close) }

    private func closeAfterWrites(_ close: @escaping () -> Void) {
        flush()
        let written: EventLoopFuture<Void>
        if let known = self.written {
            written = known
        } else {
            let promise = context.eventLoop.makePromise(of: Void.self)
            written = promise.futureResult
            self.written = written
            context.writeAndFlush(NIOAny(ByteBuffer()), promise: promise)
        }
        let eventLoop = context.eventLoop.assumeIsolated()
        let timer = eventLoop.scheduleTask(in: limit) { close() }
        written.assumeIsolated().whenComplete { _ in
            timer.cancel()
            // In a later tick: output of the close (close_notify) would be lost inside the flush that ends here.
            eventLoop.execute { close() }
        }
    }

    /// Resets the connection once the peer has the earlier writes, or after the limit.
    func resetAfterWrites() {
        let deadline = context.eventLoop.now + limit
        closeAfterWrites { [channel = context.channel, close] in
            ConnectionOutput.reset(channel, waitingFor: .milliseconds(1), until: deadline, close)
        }
    }

    /// Waits until the peer has all bytes, then closes with a reset, which drops bytes that the kernel still has.
    private static func reset(
        _ channel: any Channel,
        waitingFor time: TimeAmount,
        until deadline: NIODeadline,
        _ close: @escaping () -> Void
    ) {
        guard channel.isActive, let socket = channel as? any SocketOptionProvider else {
            channel.triggerUserOutboundEvent(ResetAtClose(), promise: nil)
            return close()
        }
        hasUndelivered(socket).assumeIsolated().whenComplete { result in
            let eventLoop = channel.eventLoop.assumeIsolated()
            if case .success(true) = result, channel.eventLoop.now < deadline {
                eventLoop.scheduleTask(in: time) {
                    reset(channel, waitingFor: min(time * 2, .milliseconds(100)), until: deadline, close)
                }
                return
            }
            socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenComplete { _ in close() }
        }
    }

    /// Whether the kernel has bytes that the peer has not acknowledged.
    private static func hasUndelivered(_ socket: any SocketOptionProvider) -> EventLoopFuture<Bool> {
        #if canImport(Darwin)
        let option = NIOBSDSocket.Option(rawValue: SO_NWRITE)
        let left: EventLoopFuture<Int32> = socket.unsafeGetSocketOption(level: .socket, name: option)
        return left.map { $0 > 0 }
        #else
        // The first numbers of SO_MEMINFO; the sixth is the size of the send queue.
        typealias Memory = (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)
        let option = NIOBSDSocket.Option(rawValue: SO_MEMINFO)
        let memory: EventLoopFuture<Memory> = socket.unsafeGetSocketOption(level: .socket, name: option)
        return memory.map { $0.5 > 0 }
        #endif
    }
}

/// Event for a channel that is not a socket: its close is to be a reset.
struct ResetAtClose: Sendable {}
