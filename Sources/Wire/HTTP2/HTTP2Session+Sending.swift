internal import CNGHTTP2
package import HTTPModel
package import NIOCore

extension HTTP2Session {
    // MARK: Heads

    /// Client role: opens a stream with a request, in whatever version it came.
    ///
    /// The authority is that of the head's `Host`. What HTTP/2 forbids stays out (RFC 9113 §8.2.2). `scheme` is not
    /// sent for a plain CONNECT; `connectProtocol` is for an extended one (RFC 8441), which the peer must offer;
    /// `isEnd` says that there is neither body nor trailers.
    ///
    /// - Returns: the stream, and the head's text form as sent.
    /// - Throws: REFUSED_STREAM where the connection takes no further request, which then may be made on another one.
    package func sendRequest(
        _ head: RequestHead,
        scheme: String,
        connectProtocol: String? = nil,
        isEnd: Bool
    ) throws(HTTP2Error) -> (stream: HTTP2StreamID, written: ByteBuffer) {
        guard phase == .open, role == .client, !isGoingAway else {
            throw HTTP2Error(.refusedStream, "The HTTP/2 connection accepts no further requests.")
        }
        if let connectProtocol, !peerOffersExtendedConnect {
            let explanation = "The server does not offer extended CONNECT, which “\(connectProtocol)” needs."
            throw HTTP2Error(.connectError, explanation)
        }
        let writer = HTTP2HeadWriter(head, scheme: scheme, connectProtocol: connectProtocol)
        let id = writer.withNameValues { list in
            if isEnd { return nghttp2_submit_request(handle, nil, list.baseAddress, list.count, nil, nil) }
            var provider = HTTP2Session.dataProvider
            return nghttp2_submit_request(handle, nil, list.baseAddress, list.count, &provider, nil)
        }
        guard id > 0 else {
            let reason = HTTP2Error.text(of: Int(id))
            throw HTTP2Error(.refusedStream, "The HTTP/2 connection cannot open another stream: \(reason).")
        }
        let stream = HTTP2Stream(HTTP2StreamID(id))
        stream.isHeadQueued = true
        stream.isEndQueued = isEnd
        streams[id] = stream
        recentStream = stream
        return (stream.id, writer.text)
    }

    /// Server role: sends an interim response (RFC 9110 §15.2); a 101 does not exist in HTTP/2 and is left out.
    package func sendInterim(_ head: ResponseHead, on id: HTTP2StreamID) {
        guard head.isInformational, head.status != 101, let stream = sendable(id), !stream.isHeadQueued else { return }
        let writer = HTTP2HeadWriter(head)
        _ = writer.withNameValues {
            nghttp2_submit_headers(handle, 0, id.number, nil, $0.baseAddress, $0.count, nil)
        }
    }

    /// Server role: sends the response's head; returns its text form as sent.
    ///
    /// `isEnd` says that there is neither body nor trailers.
    package func sendResponse(_ head: ResponseHead, on id: HTTP2StreamID, isEnd: Bool) -> ByteBuffer {
        let writer = HTTP2HeadWriter(head)
        guard let stream = sendable(id), !stream.isHeadQueued else { return writer.text }
        submitResponse(writer, on: stream, isEnd: isEnd)
        return writer.text
    }

    /// The names of the fields that are left out of a head, since no recipient of HTTP/2 takes them.
    package static func namesLeftOut(of fields: FieldSection) -> [String] {
        fields.hasOddities ? fields.filter { !HTTP2HeadWriter.isCarried($0) }.map(\.name) : []
    }

    /// The text form that a response's head is sent in, for one that is to be sent later.
    package static func text(of head: ResponseHead) -> ByteBuffer { HTTP2HeadWriter(head).text }

    func submitResponse(_ writer: borrowing HTTP2HeadWriter, on stream: HTTP2Stream, isEnd: Bool) {
        stream.isHeadQueued = true
        stream.isEndQueued = isEnd
        _ = writer.withNameValues { list in
            if isEnd { return nghttp2_submit_response(handle, stream.id.number, list.baseAddress, list.count, nil) }
            var provider = HTTP2Session.dataProvider
            return nghttp2_submit_response(handle, stream.id.number, list.baseAddress, list.count, &provider)
        }
    }

    // MARK: Bodies

    /// Queues a part of a body, after the head; it goes out as fast as the peer's windows allow.
    package func sendData(_ bytes: ByteBuffer, on id: HTTP2StreamID) {
        guard bytes.readableBytes > 0, let stream = sendable(id), !stream.isEndQueued else { return }
        stream.queue.append(bytes)
        if stream.queue.count >= HTTP2Stream.highMark { stream.isBackedUp = true }
        resume(stream)
    }

    /// Says that after what is queued there are only these trailers, or none.
    package func sendEnd(_ trailers: FieldSection?, on id: HTTP2StreamID) {
        guard let stream = sendable(id), !stream.isEndQueued else { return }
        stream.isEndQueued = true
        stream.trailers = trailers
        resume(stream)
    }

    /// The bytes of a stream that are queued and not yet in the output; 0 for one that is over.
    package func queuedBytes(on id: HTTP2StreamID) -> Int { streams[id.number]?.queue.count ?? 0 }

    /// How much of a stream's body was put into the output, in bytes, where more of it waits for a window of the peer;
    /// `nil` if nothing does.
    package func sentBytesOfBlocked(_ id: HTTP2StreamID) -> Int64? {
        guard phase == .open, let stream = streams[id.number], stream.queue.count > 0 else { return nil }
        let window = min(
            nghttp2_session_get_stream_remote_window_size(handle, id.number),
            nghttp2_session_get_remote_window_size(handle)
        )
        return window <= 0 ? stream.sentBytes : nil
    }

    /// Gives `count` bytes of a stream's window back; harmless for a stream that is over.
    package func consume(_ count: Int, on id: HTTP2StreamID) {
        guard phase == .open, count > 0, let stream = stream(id.number) else { return }
        let count = min(count, stream.unconsumed)
        stream.unconsumed -= count
        // A half that has ended needs no window.
        if count == 0 || stream.incoming == .ended || stream.isAbandoned { return }
        nghttp2_session_consume_stream(handle, id.number, count)
    }

    /// Widens a stream's window beyond the one that all streams begin with, for one whose bytes are taken as they come.
    package func widenWindow(of id: HTTP2StreamID, to size: Int32) {
        guard phase == .open, let stream = stream(id.number), stream.incoming != .ended, !stream.isAbandoned else {
            return
        }
        nghttp2_session_set_local_window_size(handle, 0, id.number, size)
    }

    private func sendable(_ id: HTTP2StreamID) -> HTTP2Stream? {
        guard phase == .open, let stream = stream(id.number), !stream.isAbandoned else { return nil }
        return stream
    }

    private func resume(_ stream: HTTP2Stream) {
        guard stream.isDeferred else { return }
        stream.isDeferred = false
        nghttp2_session_resume_data(handle, stream.id.number)
    }

    // MARK: Ends

    /// Gives a stream up: sends RST_STREAM, and drops what is queued on it.
    ///
    /// Of its events only `closed` still comes.
    ///
    /// NO_ERROR after ``sendEnd(_:on:)``, or after a response without a body, waits until that is sent: so a server says
    /// that it wants no more of the request (RFC 9113 §8.1).
    package func reset(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        guard phase == .open, let stream = stream(id.number) else {
            // What happened to it before its end may still wait to be taken.
            func isItsClose(_ event: HTTP2Event) -> Bool { if case .closed(id) = event { true } else { false } }
            if takenEvents.contains(where: isItsClose) || events.contains(where: isItsClose) {
                abandoned.insert(id.number)
            }
            return
        }
        if stream.isAbandoned { return }
        stream.isAbandoned = true
        abandoned.insert(id.number)
        if code == .noError, stream.isEndQueued, !stream.isEndSent {
            stream.resetAfterEnd = code
            return
        }
        stream.queue.removeAll()
        stream.trailers = nil
        nghttp2_submit_rst_stream(handle, 0, id.number, code.rawValue)
        floodGuard.noteSentReset()
        if role == .client, !stream.isHeadSent {
            // A request that waits for its turn is forgotten at once; nghttp2 would do so when its turn comes.
            streamClosed(id.number, code)
        }
    }

    /// Gives a stream up as ``reset(_:_:)`` does, even one that was given up before and whose reset waits for what is
    /// queued.
    package func resetAtOnce(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        if phase == .open, let stream = stream(id.number), stream.queue.count > 0 {
            stream.isAbandoned = false
            stream.resetAfterEnd = nil
            stream.resetAfterQueue = nil
        }
        reset(id, code)
    }

    /// Gives a stream up as ``reset(_:_:)`` does, but sends what is queued on it first.
    package func resetWhenSent(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        guard phase == .open, let stream = stream(id.number), !stream.isAbandoned, stream.queue.count > 0 else {
            reset(id, code)
            return
        }
        stream.isAbandoned = true
        abandoned.insert(id.number)
        stream.isEndQueued = false
        stream.resetAfterQueue = code
    }

    /// Ends the connection, and says so to the peer.
    ///
    /// With NO_ERROR no new streams are taken, and those that are open go on until ``isOver``. With another code they are
    /// all closed.
    package func goAway(_ code: HTTP2ErrorCode, text: String = "") {
        guard phase == .open else { return }
        if code != .noError { return end(HTTP2Error(code, text), isReported: false) }
        if hasSentGoAway { return }
        hasSentGoAway = true
        let text = Array(text.utf8)
        let lastStream = nghttp2_session_get_last_proc_stream_id(handle)
        nghttp2_submit_goaway(handle, 0, lastStream, code.rawValue, text, text.count)
    }

    /// Sends a PING, which shows whether the peer is alive; its answer makes no event, but bytes come in.
    package func ping() {
        if phase == .open { nghttp2_submit_ping(handle, 0, nil) }
    }

    // MARK: Facts

    /// How many streams the peer lets us have open at once; 100 until its SETTINGS came.
    ///
    /// RFC 9113 §6.5.2 has no limit until then, but a request beyond the one to come is refused.
    package var peerMaxConcurrentStreams: Int {
        guard hasPeerSettings, handle != nil else { return 100 }
        return Int(nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// Whether the peer takes extended CONNECT (RFC 8441).
    package var peerOffersExtendedConnect: Bool {
        guard hasPeerSettings, handle != nil else { return false }
        return nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1
    }

    /// How many streams are open: those we opened as a client, those the peer opened where we are the server.
    package var openStreamCount: Int { streams.count }

    /// Whether a GOAWAY was sent or received, or the connection is at its end: there are no new streams.
    package var isGoingAway: Bool { hasSentGoAway || hasReceivedGoAway || phase != .open }

    /// Whether an event matters to an owner that gave up streams.
    func concernsOwner(_ event: HTTP2Event) -> Bool {
        switch event {
        case .requestHead(let id, _, _, _, _), .interim(let id, _), .responseHead(let id, _, _), .data(let id, _),
            .end(let id, _, _), .reset(let id, _, _, _), .refused(let id), .drained(let id),
            .malformedRequest(let id, _, _, _):
            return !abandoned.contains(id.number)
        case .closed(let id):
            abandoned.remove(id.number)
            return true
        case .settings, .goAway, .failed:
            return true
        }
    }
}
