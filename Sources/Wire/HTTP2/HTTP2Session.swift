internal import CNGHTTP2
import HTTPModel
package import NIOCore

/// One HTTP/2 connection without a socket, over nghttp2: bytes in and out on one side, messages on the other.
///
/// The owner gives it what the connection received (``receive(_:now:)``) and takes events with ``nextEvent()`` until there
/// are none; it sends heads and bodies, and writes what ``nextOutput(limit:)`` returns whenever the connection can take
/// more. Making output makes events too, so they are to be taken after both. Nothing is called back: events are kept
/// until they are taken, and calls made between two events take effect at once.
///
/// Flow control is by hand. The connection's window is given back on receipt, so that one stream never starves the
/// others; a stream's own is given back by ``consume(_:on:)``. Server push is refused. What a client says about
/// priorities (RFC 7540 §5.3) orders what nghttp2 sends to it and is not passed on.
///
/// It belongs to one event loop.
package final class HTTP2Session {
    /// Which end of the connection this is: a server takes requests, a client makes them.
    package enum Role: Sendable {
        case server, client
    }

    /// The state of the connection.
    enum Phase {
        /// Successors: `failing`, `over`.
        case open
        /// Nothing more is read; the GOAWAY that says so is still to be put into the output. Successor: `over`.
        case failing
        /// The GOAWAY that ends the connection is in the output.
        case over
    }

    package let role: Role
    let settings: HTTP2Settings
    /// The nghttp2 session; `nil` only if there was no memory for it.
    let handle: OpaquePointer?
    var phase = Phase.open

    /// The events that are not in `takenEvents` yet.
    var events: [HTTP2Event] = []
    /// The events that ``nextEvent()`` returns next, the last first: moved out from the end, an event is not copied.
    var takenEvents: [HTTP2Event] = []
    var streams: [Int32: HTTP2Stream] = [:]
    /// The stream looked up last: most look-ups in a row are for the same one.
    /// The stream looked up last: the next look-up is mostly for the same one.
    var recentStream: HTTP2Stream?
    /// The streams that the owner gave up, of whose waiting events it is to see only the close.
    var abandoned: Set<Int32> = []

    var builder: HTTP2HeadBuilder
    /// The stream whose head is being received.
    var blockStream: HTTP2Stream?
    /// The bytes of that head's frames so far.
    var blockWireBytes = 0
    /// What the heads come to whose events were not all taken yet, in bytes.
    var pendingHeads = 0
    /// The field that nghttp2 has just rejected.
    var wrongField: String?

    var floodGuard: HTTP2FloodGuard
    /// A failure found while nghttp2 was at work, which is to be acted on when it is done.
    var foundFailure: HTTP2Error?
    var hasSentGoAway = false
    var hasReceivedGoAway = false
    /// Whether the peer's SETTINGS have arrived.
    package internal(set) var hasPeerSettings = false
    var now = NIODeadline.uptimeNanoseconds(0)

    /// What is being worked on, so that parts of bodies can be slices of it.
    var input = ByteBuffer()
    var inputStart: UnsafeRawPointer?

    var output = ByteBuffer()
    /// How long the output may become while nghttp2 makes frames; `nil` if it is to make no DATA.
    var outputLimit: Int?

    /// How much may be made ahead of ``nextOutput(limit:)``, apart from DATA.
    private static let settledLimit = 64 << 10

    /// Starts a connection; the preface and SETTINGS are in the output at once.
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

    // MARK: Input

    /// Takes bytes that were read from the connection, and works on all of them; what came of it are events.
    ///
    /// `now` is what rates are measured by.
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

    /// When the preface, the frame or the head that is being received began; `nil` between them, and within DATA.
    package var incompleteSince: NIODeadline? { floodGuard.incompleteSince }

    package var hasEvents: Bool { !events.isEmpty || !takenEvents.isEmpty }

    /// The next event; `nil` if there is none until more is received, or more output is made.
    package func nextEvent() -> HTTP2Event? {
        while true {
            if takenEvents.isEmpty {
                if events.isEmpty {
                    pendingHeads = 0
                    // A burst's room is not kept for an idle connection.
                    if takenEvents.capacity > 256 { takenEvents = [] }
                    return nil
                }
                swap(&events, &takenEvents)
                takenEvents.reverse()
            }
            let event = takenEvents.removeLast()
            if abandoned.isEmpty || concernsOwner(event) { return event }
        }
    }

    // MARK: Output

    /// The next bytes to write to the connection; `nil` if there are none at present.
    ///
    /// Stops soon after `limit` bytes; then there may be more at once.
    package func nextOutput(limit: Int = 64 << 10) -> ByteBuffer? {
        if output.readableBytes < limit { makeOutput(limit: limit) }
        guard output.readableBytes > 0 else { return nil }
        let made = output
        output = ByteBuffer()
        return made
    }

    /// Whether the connection can be closed: all is written, and nothing more is expected.
    package var isOver: Bool {
        guard output.readableBytes == 0 else { return false }
        switch phase {
        case .open: return nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0
        case .failing: return false
        case .over: return true
        }
    }

    /// Makes nghttp2 make everything but DATA: only then it shows what it found wrong with the input.
    ///
    /// What the peer does not take stays with nghttp2, which bounds it.
    private func settle() {
        if output.readableBytes < HTTP2Session.settledLimit { makeOutput(limit: nil) } else { actOnFoundFailure() }
    }

    /// Makes frames until the output is as long as `limit`; without DATA where that is `nil`.
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
            output.writeBytes(UnsafeRawBufferPointer(start: frame, count: count))
        }
        outputLimit = nil
        actOnFoundFailure()
    }

    /// Keeps the first failure found inside nghttp2.
    func found(_ failure: HTTP2Error?) { foundFailure = foundFailure ?? failure }

    private func actOnFoundFailure() {
        guard let failure = foundFailure else { return }
        foundFailure = nil
        end(failure, isReported: true)
    }

    // MARK: Ends

    /// Ends the connection with a GOAWAY.
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

    /// Notes that the connection is at its end: by a GOAWAY of nghttp2's own, or because it cannot go on.
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
