import HTTPModel
import NIOCore
import Support
import Wire

/// Feeds a session with arbitrary bytes, has its owner do arbitrary things, and checks what the session promises.
final class HTTP2FeedProbe {
    /// What the owner of a session knows of a stream.
    private struct Ledger {
        enum Phase {
            case new
            case body
            case ended
            /// Reset, refused or malformed: only its close may follow.
            case over
            case closed
        }

        var phase = Phase.new
        var isGivenUp = false
        var unconsumed = 0
        var hasHeadSent = false
        var isEndSent = false
        /// How many bytes the session was given to send.
        var offered = 0
    }

    private var input: FuzzInput
    private let session: HTTP2Session
    private let isServer: Bool
    private let settings: HTTP2Settings
    private var streams: [Int32: Ledger] = [:]
    private var scan: HTTP2OutputScan
    private var hasFailed = false
    /// How much the session may have written by now.
    private var outputAllowance = 4096
    private var now = NIODeadline.uptimeNanoseconds(1)

    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        try HTTP2FeedProbe(bytes).run()
    }

    private init(_ whole: [UInt8]) {
        input = FuzzInput(whole)
        isServer = input.number(below: 2) == 0
        var settings = HTTP2Settings()
        settings.initialWindow = input.choose([256 << 10, 100, 1, 65_535])
        settings.connectionWindow = input.choose([16 << 20, 65_535])
        settings.maxConcurrentStreams = input.choose([1000, 2])
        settings.maxFieldCount = input.choose([1000, 6])
        settings.maxHeaderListSize = input.choose([256 << 10, 300])
        if input.number(below: 4) == 3 {
            settings.limits.resets = .init(burst: 2, perSecond: 1)
            settings.limits.pings = .init(burst: 2, perSecond: 1)
            settings.limits.settings = .init(burst: 2, perSecond: 1)
            settings.limits.emptyData = .init(burst: 2, perSecond: 1)
            settings.limits.idleFrames = .init(burst: 2, perSecond: 1)
            settings.limits.windowUpdates = .init(burst: 2, perSecond: 1)
            settings.limits.continuations = 2
        }
        self.settings = settings
        session = HTTP2Session(isServer ? .server : .client, settings: settings)
        scan = HTTP2OutputScan(skippingPreface: !isServer)
    }

    private func run() throws {
        if !isServer { for _ in 0..<input.number(below: 4) { request() } }
        let preface = isServer ? Array(FuzzFrames.preface.utf8) : []
        for piece in input.pieces(of: preface + input.bytes) {
            now = now + .milliseconds(Int64(input.number(below: 50)))
            // A frame of nine bytes is answered with one of 17 at most, or with a short response.
            outputAllowance += piece.count * 8 + 64
            session.receive(ByteBuffer(bytes: piece), now: now)
            try drain()
            actUnasked()
            try takeOutput()
            try drain()
        }
        if input.number(below: 2) == 1 {
            session.goAway(.noError, text: "done")
            try takeAll()
        }
        session.goAway(.internalError)
        try takeAll()
        try demand(session.isOver, "a session at its end is not over")
        try demand(session.openStreamCount == 0, "streams are open after the end")
        for (id, stream) in streams { try demand(stream.phase == .closed, "stream \(id) was never closed") }
    }

    // MARK: What the session says

    private func drain() throws {
        while let event = session.nextEvent() { try take(event) }
        let open = streams.values.count { $0.phase != .closed }
        try demand(session.openStreamCount >= open, "\(open) streams are open, not \(session.openStreamCount)")
        try demand(!hasFailed || open == 0, "streams are open after the connection failed")
    }

    private func take(_ event: HTTP2Event) throws {
        if hasFailed { guard case .closed = event else { throw ProbeError(description: "\(event) after failed") } }
        switch event {
        case .requestHead(let id, let head, _, _, _):
            try demand(isServer, "a request at a client")
            try demand(StoredHead.request(head.serialized()) != nil, "the head is no head")
            try move(id, from: [.new], to: .body)
            respond(on: id)
        case .interim(let id, let head):
            try demand(!isServer && head.isInformational && head.status != 101, "a wrong interim response")
            try move(id, from: [.new], to: .new)
        case .responseHead(let id, let head, _):
            try demand(!isServer && !head.isInformational, "a wrong response")
            try move(id, from: [.new], to: .body)
        case .data(let id, let bytes):
            try move(id, from: [.body], to: .body)
            try demand(bytes.readableBytes > 0, "empty data")
            try receive(bytes.readableBytes, on: id)
        case .end(let id, _, let wireBytes):
            try move(id, from: [.body], to: .ended)
            try demand(wireBytes >= 9, "a message of \(wireBytes) bytes")
            if isServer, input.number(below: 2) == 0 { respond(on: id) }
        case .reset(let id, _, _, let explanation):
            try demand(!explanation.isEmpty, "a reset without a reason")
            try move(id, from: [.new, .body, .ended], to: .over)
        case .refused(let id):
            try demand(!isServer, "a refused stream at a server")
            try move(id, from: [.new, .body, .ended], to: .over)
        case .malformedRequest(let id, let status, _, let head):
            try demand(isServer && (status == 400 || status == 431), "a malformed request with \(status)")
            _ = StoredHead.request(head)
            try move(id, from: [.new], to: .over)
        case .closed(let id):
            let phase = streams[id.number]?.phase ?? .new
            try demand(phase != .closed, "stream \(id) is closed twice")
            streams[id.number, default: Ledger()].phase = .closed
            try demand(session.queuedBytes(on: id) == 0, "bytes are queued on a closed stream")
        case .drained(let id):
            guard let stream = streams[id.number], stream.phase != .closed, stream.phase != .over, !stream.isGivenUp
            else { throw ProbeError(description: "stream \(id) drained at its end") }
            try demand(session.queuedBytes(on: id) <= stream.offered, "more is queued than was sent")
            if input.number(below: 2) == 0 { sendData(3000, on: id) } else { sendEnd(on: id) }
        case .settings: break
        case .goAway: break
        case .failed(let failure):
            try demand(!failure.explanation.isEmpty, "a failure without a reason")
            hasFailed = true
        }
    }

    private func move(_ id: HTTP2StreamID, from phases: [Ledger.Phase], to phase: Ledger.Phase) throws {
        let stream = streams[id.number, default: Ledger()]
        try demand(!stream.isGivenUp, "an event to \(phase) on stream \(id), which was given up")
        try demand(phases.contains(stream.phase), "an event to \(phase) on stream \(id) in \(stream.phase)")
        streams[id.number, default: Ledger()].phase = phase
    }

    private func receive(_ count: Int, on id: HTTP2StreamID) throws {
        let unconsumed = (streams[id.number]?.unconsumed ?? 0) + count
        // Until the peer acknowledges our SETTINGS it may send what RFC 9113 §6.9.2 begins with.
        let window = max(Int(settings.initialWindow), 65_535)
        try demand(unconsumed <= window, "\(unconsumed) bytes are under way in a window of \(window)")
        let consumed = input.choose([count, 0, unconsumed, count / 2])
        streams[id.number]?.unconsumed = unconsumed - min(consumed, unconsumed)
        outputAllowance += 13
        session.consume(consumed, on: id)
        if input.number(below: 16) == 15 { reset(.cancel, on: id) }
    }

    // MARK: What the owner does

    private func request() {
        let isEnd = input.number(below: 2) == 0
        let head = RequestHead(
            method: isEnd ? "GET" : "POST",
            target: "/a",
            fields: [("Host", "a.example"), ("X-Trace", "1"), ("Connection", "close")]
        )
        outputAllowance += 200
        guard let (id, _) = try? session.sendRequest(head, scheme: "https", isEnd: isEnd) else { return }
        streams[id.number] = Ledger(hasHeadSent: true, isEndSent: isEnd)
        if isEnd { return }
        sendData(input.choose([10, 0, 20_000]), on: id)
        if input.number(below: 2) == 0 { sendEnd(on: id) }
    }

    private func respond(on id: HTTP2StreamID) {
        guard let stream = streams[id.number], !stream.hasHeadSent, !stream.isGivenUp else { return }
        let action = input.number(below: 9)
        if action == 5 { return }
        if action == 4 { return reset(.cancel, on: id) }
        outputAllowance += 300
        if action == 3 { session.sendInterim(ResponseHead(status: 103, fields: [("Link", "</a>")]), on: id) }
        let isEnd = action == 0 || action == 6
        streams[id.number]?.hasHeadSent = true
        streams[id.number]?.isEndSent = isEnd
        _ = session.sendResponse(ResponseHead(status: 200, fields: [("X-A", "b")]), on: id, isEnd: isEnd)
        switch action {
        case 1, 3:
            sendData(1000, on: id)
            sendEnd(on: id)
        case 2: sendData(300, on: id)
        case 6: reset(.noError, on: id)
        case 7: sendData(70_000, on: id)
        default: break
        }
    }

    private func sendData(_ count: Int, on id: HTTP2StreamID) {
        guard let stream = streams[id.number], stream.hasHeadSent, !stream.isEndSent, !stream.isGivenUp else { return }
        let bytes = (stream.offered..<(stream.offered + count)).map { HTTP2OutputScan.byte($0, on: id.number) }
        streams[id.number]?.offered += count
        // In the worst case a byte each has its own frame, when the peer gives so little window at a time.
        outputAllowance += count + count / 1000 * 9 + 9
        session.sendData(ByteBuffer(bytes: bytes), on: id)
    }

    private func sendEnd(on id: HTTP2StreamID) {
        guard let stream = streams[id.number], stream.hasHeadSent, !stream.isEndSent, !stream.isGivenUp else { return }
        var trailers: FieldSection?
        if input.number(below: 4) == 3 {
            trailers = FieldSection()
            trailers?.append("X-Sum", "1")
        }
        streams[id.number]?.isEndSent = true
        outputAllowance += 100
        session.sendEnd(trailers, on: id)
    }

    private func reset(_ code: HTTP2ErrorCode, on id: HTTP2StreamID) {
        if streams[id.number]?.phase != .closed { streams[id.number]?.isGivenUp = true }
        outputAllowance += 26
        session.reset(id, code)
    }

    /// Does something on a stream that may long be over, which must do no harm.
    private func actUnasked() {
        let action = input.number(below: 8)
        if action == 7, !isServer { return request() }
        if action == 6 {
            outputAllowance += 17
            return session.ping()
        }
        let known = streams.keys.sorted()
        guard !known.isEmpty else { return }
        let id = HTTP2StreamID(known[input.number(below: known.count)])
        switch action {
        case 1: isServer ? respond(on: id) : sendData(500, on: id)
        case 2: sendData(2000, on: id)
        case 3: sendEnd(on: id)
        case 4:
            session.consume(input.choose([1, 100_000]), on: id)
            streams[id.number]?.unconsumed = 0
            outputAllowance += 13
        case 5: if input.number(below: 4) == 0 { reset(input.choose([.cancel, .noError]), on: id) }
        default: break
        }
    }

    // MARK: Output

    private func takeOutput() throws {
        let limit = input.choose([64 << 10, 0, 10, 1000])
        guard limit > 0, let bytes = session.nextOutput(limit: limit) else { return }
        try take(bytes, limit: limit)
    }

    private func takeAll() throws {
        try drain()
        while let bytes = session.nextOutput() {
            try take(bytes, limit: 64 << 10)
            try drain()
        }
        try drain()
    }

    private func take(_ bytes: ByteBuffer, limit: Int) throws {
        let most = max(limit, 64 << 10) + 16_384 + 9 + 1024
        try demand(bytes.readableBytes <= most, "\(bytes.readableBytes) bytes of output at a limit of \(limit)")
        try scan.take(bytes)
        try demand(scan.count <= outputAllowance + 9 * scan.dataFrames, "\(scan.count) bytes of output are too many")
        for (id, sent) in scan.streams {
            let offered = streams[id]?.offered ?? 0
            let queued = session.queuedBytes(on: HTTP2StreamID(id))
            try demand(sent.dataCount + queued <= offered, "stream \(id) sends more than it was given")
            if sent.hasEnd, !sent.isReset, let stream = streams[id] {
                try demand(!stream.hasHeadSent || stream.isEndSent, "stream \(id) ends without being told to")
                try demand(!stream.hasHeadSent || sent.dataCount == offered, "stream \(id) ends before all was sent")
            }
        }
    }
}
