import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// A server's connection that speaks HTTP/2: carries one stream for each exchange.
final class HTTP2UpstreamLayer: UpstreamLayer, HTTP2Carrier {
    weak var origin: UpstreamOrigin?

    private let connection: UpstreamConnection
    private let key: UpstreamPool.Key
    private let loop: LoopContext
    let driver: HTTP2Driver
    private var streams: [HTTP2StreamID: HTTP2UpstreamStream] = [:]
    /// Streams without a request yet.
    private var reserved = 0
    private var idleSince: NIODeadline
    private var hadStream = false
    private var wideStreams: Set<HTTP2StreamID> = []
    private var settingsWaiters: [() -> Void] = []
    /// The server's reason for ending the connection, as the end of a sentence.
    private var reason = ""
    /// Set while it is unknown whether the server speaks HTTP/2 at all.
    private var preface: Scheduled<Void>?

    /// A small window for each stream: a thousand stalled streams must not cost a gigabyte.
    static let settings = {
        var settings = HTTP2Settings()
        settings.initialWindow = 128 << 10
        return settings
    }()
    /// For streams that are read quickly: the window limits the speed if the round trip is long.
    static let wideWindow: Int32 = 2 << 20
    static let wideLimit = 8
    /// The time for a server without TLS to show that it speaks HTTP/2.
    private static let prefaceLimit = TimeAmount.seconds(3)

    init(_ connection: UpstreamConnection, key: UpstreamPool.Key) {
        self.connection = connection
        self.key = key
        loop = connection.loop
        idleSince = loop.eventLoop.now
        driver = HTTP2Driver(HTTP2Session(.client, settings: HTTP2UpstreamLayer.settings), on: loop.eventLoop)
        driver.carrier = self
    }

    private var session: HTTP2Session { driver.session }
    private var isClosed: Bool { driver.isStopped }

    /// One stream until the server's SETTINGS arrive: the default has no limit (RFC 9113 §6.5.2), but a server with a
    /// low limit takes more streams for an attack.
    var hasRoom: Bool {
        guard !isClosed, !session.isGoingAway else { return false }
        return streams.count + reserved < (session.hasPeerSettings ? session.peerMaxConcurrentStreams : 1)
    }

    var hasSettings: Bool { session.hasPeerSettings }

    func openStream() -> HTTP2UpstreamStream {
        reserved += 1
        let isReused = hadStream
        hadStream = true
        return HTTP2UpstreamStream(self, facts: connection.facts(.http2, isReused: isReused))
    }

    func isIdle(since moment: NIODeadline) -> Bool { streams.isEmpty && reserved == 0 && idleSince < moment }

    var offersExtendedConnect: Bool { session.peerOffersExtendedConnect }

    /// Calls back once the server's settings are known, or the connection is gone.
    func withSettings(_ body: @escaping () -> Void) {
        if session.hasPeerSettings || isClosed { body() } else { settingsWaiters.append(body) }
    }

    func begin(
        _ stream: HTTP2UpstreamStream,
        _ head: RequestHead,
        connectProtocol: String?,
        isEnd: Bool
    ) throws(HTTP2Error) -> (stream: HTTP2StreamID, written: ByteBuffer) {
        reserved -= 1
        guard !isClosed else { throw HTTP2Error(.refusedStream, "The connection was closed.") }
        let scheme = key.destination.scheme
        let begun = try session.sendRequest(head, scheme: scheme, connectProtocol: connectProtocol, isEnd: isEnd)
        streams[begun.stream] = stream
        return begun
    }

    /// An opened stream is not needed after all.
    func giveBack() {
        reserved -= 1
        origin?.serve()
    }

    func widen(_ stream: HTTP2StreamID) {
        guard wideStreams.count < HTTP2UpstreamLayer.wideLimit else { return }
        wideStreams.insert(stream)
        session.widenWindow(of: stream, to: HTTP2UpstreamLayer.wideWindow)
    }

    var takesOutput: Bool { connection.isWritable }
    let takesEvents = true
    func writeOutput(_ bytes: ByteBuffer) { connection.write(bytes) }
    func flushOutput() { connection.flush() }

    func outputWasMade() {
        if session.isOver { close() }
    }

    func close() { connection.close() }

    func begin() {
        if !connection.isSecure {
            let limit = HTTP2UpstreamLayer.prefaceLimit
            preface = loop.eventLoop.assumeIsolated().scheduleTask(in: limit) { [self] in refusePreface() }
        }
        driver.pump()
        if connection.isSecure { connection.ready(.success(.multiplexed(self))) }
    }

    private func refusePreface() {
        guard preface != nil else { return }
        connection.ready(.failure(ExchangeFailure(.badResponse, "\(host) does not speak HTTP/2 without TLS.")))
        close()
    }

    func received(_ bytes: ByteBuffer) { driver.receive(bytes) }
    func inputClosed() { close() }

    func writabilityChanged(_ isWritable: Bool) {
        if isWritable { driver.process() }
    }

    func broke(_ error: (any Error)?) {
        if let failure = error as? TLSError {
            closed(.tls(host, failure))
        } else {
            let isEnd = error == nil && connection.hasInputEnded
            let what = isEnd ? "closed the connection" : UpstreamConnection.whatBecame(error)
            var failure = ExchangeFailure(.reset, "\(host) \(what) before the response was whole\(reason).")
            failure.isReset = !isEnd
            closed(failure)
        }
        refusePreface()
    }

    private func closed(_ failure: ExchangeFailure) {
        guard !isClosed else { return }
        driver.stop()
        endStreams(failure)
    }

    private func endStreams(_ failure: ExchangeFailure) {
        origin?.retire(self)
        let open = Array(streams.values)
        streams = [:]
        for stream in open { stream.failed(failure, wasProcessed: true) }
        answerSettingsWaiters()
    }

    private var host: String { key.destination.host }

    private func answerSettingsWaiters() {
        let waiters = settingsWaiters
        settingsWaiters = []
        for waiter in waiters { waiter() }
    }

    private func stream(_ id: HTTP2StreamID) -> HTTP2UpstreamStream? {
        guard let stream = streams[id] else { return nil }
        driver.beginReading(stream.exchange)
        return stream
    }

    func handle(_ event: HTTP2Event) {
        switch event {
        case .interim(let id, let head): stream(id)?.exchange?.interim(head)
        case .responseHead(let id, let head, let framing): stream(id)?.responseHead(head, framing)
        case .data(let id, let bytes):
            if let stream = stream(id) { stream.data(bytes) } else { session.consume(bytes.readableBytes, on: id) }
        case .end(let id, let trailers, let wireBytes): stream(id)?.ended(trailers, wireBytes)
        case .reset(let id, let code, let isLocal, let explanation):
            if code == .http11Required { origin?.requireHTTP1() }
            stream(id)?.reset(code, isLocal: isLocal, explanation, host: host)
        case .refused(let id):
            let reason = reason.isEmpty ? " (REFUSED_STREAM)" : reason
            let text = "\(host) refused the request before it did anything about it\(reason)."
            stream(id)?.failed(ExchangeFailure(.reset, text, resetCode: .refusedStream), wasProcessed: false)
        case .closed(let id):
            streams[id] = nil
            wideStreams.remove(id)
            if streams.isEmpty { idleSince = loop.eventLoop.now }
            if session.isGoingAway, streams.isEmpty, reserved == 0 { close() } else { origin?.serve() }
        case .drained(let id): streams[id]?.exchange?.upstreamBecameWritable(true)
        case .settings: settingsArrived()
        case .goAway(let code, let text, _):
            reason = ", saying GOAWAY \(code)" + (text.isEmpty ? "" : " (\(text.prefix(200)))")
            origin?.retire(self)
        case .failed(let failure):
            let guess = "\(host) does not speak HTTP/2: \(failure.explanation)"
            connection.ready(.failure(ExchangeFailure(.badResponse, guess)))
            preface?.cancel()
            preface = nil
            driver.sendRest()
            let text = "\(host) broke the rules of HTTP/2 (\(failure.code)): \(failure.explanation)"
            endStreams(ExchangeFailure(.badResponse, text))
            connection.closeAfterWrites()
        case .requestHead, .malformedRequest: break
        }
    }

    private func settingsArrived() {
        if let preface {
            preface.cancel()
            self.preface = nil
            connection.ready(.success(.multiplexed(self)))
        }
        answerSettingsWaiters()
        origin?.serve()
    }
}
