import HTTPModel
import NIOCore
import Wire

/// The connection that an HTTP/2 session runs on.
protocol HTTP2Carrier: AnyObject {
    /// Whether the socket takes more at present.
    var takesOutput: Bool { get }
    func writeOutput(_ bytes: ByteBuffer)
    /// Puts what was written on the wire.
    func flushOutput()
    /// Whether events are taken at present; those that are not wait in the session.
    var takesEvents: Bool { get }
    func handle(_ event: HTTP2Event)
    /// There is nothing more to send at present.
    func outputWasMade()
}

/// Runs one HTTP/2 session on a connection, and sends for its streams: takes events until there are none, keeps the read
/// cycles of the exchanges that they are for, and puts output on the wire.
final class HTTP2Driver {
    let session: HTTP2Session
    private let eventLoop: any EventLoop
    private weak var carrier: (any HTTP2Carrier)?
    private var isProcessing = false
    private var isScheduled = false
    /// The exchanges that got an event in the current read cycle.
    private var reading: [ObjectIdentifier: Exchange] = [:]
    /// Set once the connection is gone: nothing is sent or reported any more.
    private(set) var isStopped = false

    init(_ session: HTTP2Session, on eventLoop: any EventLoop) {
        self.session = session
        self.eventLoop = eventLoop
    }

    func attach(to carrier: any HTTP2Carrier) { self.carrier = carrier }

    func stop() { isStopped = true }

    /// Sends the rest of the session's output, which says why it ends, and nothing after it.
    func sendRest() {
        while let bytes = session.nextOutput() { carrier?.writeOutput(bytes) }
        carrier?.flushOutput()
        stop()
    }

    // MARK: - The connection

    func receive(_ bytes: ByteBuffer) {
        guard !isStopped else { return }
        session.receive(bytes, now: eventLoop.now)
        process()
    }

    /// Takes events and makes output until there is neither; making output makes events too.
    func process() {
        guard !isProcessing, !isStopped else { return }
        isProcessing = true
        repeat {
            while canTakeEvents, let event = session.nextEvent() { carrier?.handle(event) }
            let read = reading
            reading.removeAll(keepingCapacity: true)
            for exchange in read.values { exchange.readCompleted() }
            pump()
        } while canTakeEvents && session.hasEvents
        isProcessing = false
    }

    private var canTakeEvents: Bool { !isStopped && carrier?.takesEvents == true }

    /// Puts on the wire what windows and the socket have room for.
    func pump() {
        guard let carrier else { return }
        var hasWritten = true
        // A flush may at once make room for more, which is not reported in the middle of this.
        while hasWritten, !isStopped {
            hasWritten = false
            while carrier.takesOutput, let bytes = session.nextOutput() {
                carrier.writeOutput(bytes)
                hasWritten = true
            }
            if hasWritten { carrier.flushOutput() }
        }
        if !isStopped { carrier.outputWasMade() }
    }

    /// Sends what there is at the end of the tick, so that what many streams wrote leaves in one go.
    func scheduleFlush() {
        guard !isScheduled, !isProcessing, !isStopped else { return }
        isScheduled = true
        eventLoop.assumeIsolated().execute { [self] in
            isScheduled = false
            process()
        }
    }

    /// An exchange is about to get an event.
    func beginReading(_ exchange: Exchange?) {
        guard let exchange, reading.updateValue(exchange, forKey: ObjectIdentifier(exchange)) == nil else { return }
        exchange.readBegan()
    }

    // MARK: - The streams

    /// Queues bytes; returns how many wait in the stream.
    func send(_ bytes: ByteBuffer, on stream: HTTP2StreamID) -> Int {
        session.sendData(bytes, on: stream)
        return session.queuedBytes(on: stream)
    }

    func end(_ stream: HTTP2StreamID, trailers: FieldSection?) { session.sendEnd(trailers, on: stream) }

    func consume(_ count: Int, on stream: HTTP2StreamID) {
        session.consume(count, on: stream)
        scheduleFlush()
    }

    /// Resets a stream once what is queued on it is sent.
    func cut(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        // A reset overtakes what was not made into frames before it.
        pump()
        session.resetWhenSent(stream, code)
        scheduleFlush()
    }

    /// Resets a stream whose client has no room for what is queued on it.
    func cutAtOnce(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        pump()
        session.resetAtOnce(stream, code)
        scheduleFlush()
    }

    func reset(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        session.reset(stream, code)
        scheduleFlush()
    }
}
