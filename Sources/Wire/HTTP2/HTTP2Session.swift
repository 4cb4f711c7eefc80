internal import CNGHTTP2
import HTTPModel
package import NIOCore

/// One HTTP/2 connection without a socket, over nghttp2. The owner passes received bytes (``receive(_:now:)``), takes
/// all events (``nextEvent()``), sends heads and bodies, and writes ``nextOutput(limit:)`` when the connection accepts
/// more. Making output makes events, too. There are no callbacks; calls between two events take effect at once.
///
/// The connection's window is returned on receipt, so that no stream starves others; a stream's own window is returned
/// by ``consume(_:on:)``. Server push is refused. A client's priorities (RFC 7540 §5.3) order its responses and are not
/// passed on.
package final class HTTP2Session {
    /// A server receives requests, a client sends them.
    package enum Role: Sendable { case server, client }

    enum Phase {
        /// Successors: `failing`, `over`.
        case open
        /// Nothing is read; the GOAWAY is not in the output yet. Successor: `over`.
        case failing
        /// The last GOAWAY is in the output.
        case over
    }

    package let role: Role
    let settings: HTTP2Settings
    let handle: OpaquePointer?
    var phase = Phase.open

    var events = HTTP2EventQueue()
    var streams: [Int32: HTTP2Stream] = [:]
    /// Most look-ups are for the last stream again.
    var recentStream: HTTP2Stream?
    /// Streams that the owner gave up; it sees only their close.
    var abandoned: Set<Int32> = []

    var builder: HTTP2HeadBuilder
    var blockStream: HTTP2Stream?
    /// The bytes of the head's frames so far.
    var blockWireBytes = 0
    /// The bytes of heads whose events were not taken yet.
    var pendingHeads = 0
    var wrongField: String?

    var floodGuard: HTTP2FloodGuard
    var foundFailure: HTTP2Error?
    var hasSentGoAway = false
    var hasReceivedGoAway = false
    package internal(set) var hasPeerSettings = false
    var now = NIODeadline.uptimeNanoseconds(0)

    /// The bytes that nghttp2 works on, so that parts of bodies are slices of them.
    var input = ByteBuffer()
    var inputStart: UnsafeRawPointer?

    var output = ByteBuffer()
    /// The output length at which no more DATA is made; `nil` for no DATA at all.
    var outputLimit: Int?

    /// The most output without DATA that is made ahead of ``nextOutput(limit:)``.
    private static let settledLimit = 64 << 10
    /// The bytes of a head and a short body.
    private static let usualOutput = 2 << 10

    /// Preface and SETTINGS are in the output at once.
    package init(_ role: Role, settings: HTTP2Settings = HTTP2Settings()) {
        self.role = role
        self.settings = settings
        builder = HTTP2HeadBuilder(settings: settings)
        floodGuard = HTTP2FloodGuard(role: role, limits: settings.limits)
        handle = HTTP2Session.makeHandle(role, settings: settings)
        guard handle != nil else {
            noteEnd(HTTP2Error(.internalError, "There is no memory for an HTTP/2 connection."))
            return
        }
        nghttp2_session_set_user_data(handle, Unmanaged.passUnretained(self).toOpaque())
        announceSettings()
    }

    deinit { if let handle { nghttp2_session_del(handle) } }

    /// Processes received bytes into events; rates are measured by `now`.
    package func receive(_ bytes: ByteBuffer, now: NIODeadline) {
        guard phase == .open, bytes.readableBytes > 0 else { return }
        self.now = now
        input = bytes
        bytes.withUnsafeReadableBytes { bytes in
            let breach = floodGuard.inspect(bytes, now: now)
            let clean = UnsafeRawBufferPointer(rebasing: bytes[..<(breach?.cleanBytes ?? bytes.count)])
            inputStart = clean.baseAddress
            if clean.count > 0 {
                let start = clean.baseAddress?.assumingMemoryBound(to: UInt8.self)
                let result = nghttp2_session_mem_recv(handle, start, clean.count)
                if result < 0 { found(HTTP2Error(fatalResult: result)) }
            }
            inputStart = nil
            found(breach?.failure)
        }
        input = ByteBuffer()
        settle()
    }

    package var incompleteSince: NIODeadline? { floodGuard.incompleteSince }

    package var hasEvents: Bool { !events.isEmpty }

    /// `nil` until more is received, or more output is made.
    package func nextEvent() -> HTTP2Event? {
        while let event = events.popFirst() {
            if abandoned.isEmpty || concernsOwner(event) { return event }
        }
        pendingHeads = 0
        return nil
    }

    /// The next bytes to write, about `limit` of them at most; `nil` if there are none now.
    package func nextOutput(limit: Int = 64 << 10) -> ByteBuffer? {
        if output.readableBytes < limit { makeOutput(limit: limit) }
        guard output.readableBytes > 0 else { return nil }
        let made = output
        output = ByteBuffer()
        return made
    }

    /// Whether everything is written and nothing expected, so that the connection can be closed.
    package var isOver: Bool {
        guard output.readableBytes == 0 else { return false }
        switch phase {
        case .open: return nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0
        case .failing: return false
        case .over: return true
        }
    }

    /// Makes all output but DATA, because only then does nghttp2 report faults of the input.
    private func settle() {
        if output.readableBytes < HTTP2Session.settledLimit { makeOutput(limit: nil) } else { actOnFoundFailure() }
    }

    /// Makes frames until the output has `limit` bytes; without DATA for `nil`.
    private func makeOutput(limit: Int?) {
        let end = limit ?? HTTP2Session.settledLimit
        outputLimit = phase == .open ? limit : nil
        while phase != .over, output.readableBytes < end {
            var frame: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(handle, &frame)
            guard count > 0 else {
                if count < 0 { noteEnd(HTTP2Error(fatalResult: count)) } else if phase == .failing { phase = .over }
                break
            }
            if output.capacity == 0 { output.reserveCapacity(HTTP2Session.usualOutput) }
            output.writeBytes(UnsafeRawBufferPointer(start: frame, count: count))
        }
        outputLimit = nil
        actOnFoundFailure()
    }

    func found(_ failure: HTTP2Error?) { foundFailure = foundFailure ?? failure }

    private func actOnFoundFailure() {
        guard let failure = foundFailure else { return }
        foundFailure = nil
        end(failure, isReported: true)
    }

    func end(_ cause: HTTP2Error, isReported: Bool) {
        guard phase == .open else { return }
        phase = .failing
        hasSentGoAway = true
        if isReported { events.append(.failed(cause)) }
        closeAllStreams()
        let text = Array(cause.explanation.utf8)
        let lastStream = nghttp2_session_get_last_proc_stream_id(handle)
        if nghttp2_submit_goaway(handle, 0, lastStream, cause.code.rawValue, text, text.count) != 0 {
            phase = .over
        } else if output.readableBytes < HTTP2Session.settledLimit {
            makeOutput(limit: nil)
        }
    }

    /// The connection has ended: by a GOAWAY of nghttp2, or because it cannot continue.
    func noteEnd(_ cause: HTTP2Error) {
        if phase == .open {
            events.append(.failed(cause))
            closeAllStreams()
        }
        phase = .over
        hasSentGoAway = true
    }

    private func closeAllStreams() {
        for id in streams.keys.sorted() { events.append(.closed(HTTP2StreamID(id))) }
        streams.removeAll()
        recentStream = nil
        blockStream = nil
    }
}
