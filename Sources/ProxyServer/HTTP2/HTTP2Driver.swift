import HTTPModel
import NIOCore
import Wire

protocol HTTP2Carrier: AnyObject {
    var takesOutput: Bool { get }
    func writeOutput(_ bytes: ByteBuffer)
    func flushOutput()
    /// Whether events are accepted now; others wait in the session.
    var takesEvents: Bool { get }
    func handle(_ event: HTTP2Event)
    func outputWasMade()
}

/// Runs an HTTP/2 session on a connection: handles events, keeps the read cycles of exchanges, and sends output.
final class HTTP2Driver {
    let session: HTTP2Session
    private let eventLoop: any EventLoop
    weak var carrier: (any HTTP2Carrier)?
    private var isProcessing = false
    private var isScheduled = false
    /// The exchanges with an event in the current read cycle.
    private var reading: [ObjectIdentifier: Exchange] = [:]
    /// Empty between cycles; keeps its memory for the next one.
    private var ending: [ObjectIdentifier: Exchange] = [:]
    /// Set once the connection is gone: nothing is sent or reported any more.
    private(set) var isStopped = false

    init(_ session: HTTP2Session, on eventLoop: any EventLoop) {
        self.session = session
        self.eventLoop = eventLoop
    }

    func stop() { isStopped = true }

    /// Sends the session's last output, which contains the reason of its end.
    func sendRest() {
        while let bytes = session.nextOutput() { carrier?.writeOutput(bytes) }
        carrier?.flushOutput()
        stop()
    }

    func receive(_ bytes: ByteBuffer) {
        guard !isStopped else { return }
        session.receive(bytes, now: eventLoop.now)
        process()
    }

    /// Handles events and makes output until there is neither; making output makes events too.
    func process() {
        guard !isProcessing, !isStopped else { return }
        isProcessing = true
        repeat {
            if let carrier {
                while !isStopped, carrier.takesEvents, let event = session.nextEvent() { carrier.handle(event) }
            }
            endReading()
            pump()
        } while canTakeEvents && session.hasEvents
        isProcessing = false
    }

    private func endReading() {
        guard !reading.isEmpty else { return }
        swap(&reading, &ending)
        for exchange in ending.values { exchange.readCompleted() }
        ending.removeAll(keepingCapacity: true)
    }

    private var canTakeEvents: Bool { !isStopped && carrier?.takesEvents == true }

    func pump() {
        guard let carrier else { return }
        var hasWritten = true
        // A flush may immediately make room for more, which is not reported inside this loop.
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

    /// Sends at the end of the tick, so that output of many streams leaves together.
    func scheduleFlush() {
        guard !isScheduled, !isProcessing, !isStopped else { return }
        isScheduled = true
        eventLoop.assumeIsolated().execute { [self] in
            isScheduled = false
            process()
        }
    }

    /// Begins the read cycle of an exchange that gets an event.
    func beginReading(_ exchange: Exchange?) {
        guard let exchange, reading.updateValue(exchange, forKey: ObjectIdentifier(exchange)) == nil else { return }
        exchange.readBegan()
    }

    /// Queues bytes; returns how many wait in the stream.
    func send(_ bytes: ByteBuffer, on stream: HTTP2StreamID) -> Int {
        session.sendData(bytes, on: stream)
        return session.queuedBytes(on: stream)
    }

    func consume(_ count: Int, on stream: HTTP2StreamID) {
        session.consume(count, on: stream)
        scheduleFlush()
    }

    /// Resets a stream once its queued bytes are sent.
    func cut(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        // A reset would overtake bytes that are not in frames yet.
        pump()
        session.resetWhenSent(stream, code)
        scheduleFlush()
    }

    /// Resets a stream whose client accepts no queued bytes.
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
