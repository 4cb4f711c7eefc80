internal import CNGHTTP2
package import HTTPModel
package import NIOCore

extension HTTP2Session {
    /// Client role: opens a stream with a request of any HTTP version; returns the head's text form as sent. The
    /// authority is the value of `Host`; fields that HTTP/2 forbids are left out (RFC 9113 §8.2.2). `connectProtocol`
    /// makes this an extended CONNECT (RFC 8441), which the peer must offer; with `isEnd` there is neither body nor
    /// trailers. Throws REFUSED_STREAM if the request may be sent on another connection.
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

    /// Server role: sends an interim response (RFC 9110 §15.2), but not 101, which HTTP/2 does not have.
    package func sendInterim(_ head: ResponseHead, on id: HTTP2StreamID) {
        guard head.isInformational, head.status != 101, let stream = sendable(id), !stream.isHeadQueued else { return }
        let writer = HTTP2HeadWriter(head)
        _ = writer.withNameValues {
            nghttp2_submit_headers(handle, 0, id.number, nil, $0.baseAddress, $0.count, nil)
        }
    }

    /// Server role: returns the head's text form as sent; with `isEnd` there is neither body nor trailers.
    package func sendResponse(_ head: ResponseHead, on id: HTTP2StreamID, isEnd: Bool) -> ByteBuffer {
        let writer = HTTP2HeadWriter(head)
        guard let stream = sendable(id), !stream.isHeadQueued else { return writer.text }
        submitResponse(writer, on: stream, isEnd: isEnd)
        return writer.text
    }

    /// Fields that HTTP/2 does not allow.
    package static func namesLeftOut(of fields: FieldSection) -> [String] {
        guard fields.hasOddities else { return [] }
        var names: [String] = []
        fields.forEachLine { if !HTTP2HeadWriter.isCarried($0, $1) { names.append(String(fieldBytes: $0)) } }
        return names
    }

    /// The text form of a head to be sent later.
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

    /// Queues a part of a body after the head; the peer's windows limit its sending.
    package func sendData(_ bytes: ByteBuffer, on id: HTTP2StreamID) {
        guard bytes.readableBytes > 0, let stream = sendable(id), !stream.isEndQueued else { return }
        stream.queue.append(bytes)
        if stream.queue.count >= HTTP2Stream.highMark { stream.isBackedUp = true }
        resume(stream)
    }

    /// Ends the message after the queued bytes, with these trailers or none.
    package func sendEnd(_ trailers: FieldSection?, on id: HTTP2StreamID) {
        guard let stream = sendable(id), !stream.isEndQueued else { return }
        stream.isEndQueued = true
        stream.trailers = trailers
        resume(stream)
    }

    /// Body bytes that are not in the output yet; 0 for a closed stream.
    package func queuedBytes(on id: HTTP2StreamID) -> Int { streams[id.number]?.queue.count ?? 0 }

    /// The sent body bytes of a stream whose further bytes wait for a window of the peer; `nil` if no bytes wait.
    package func sentBytesOfBlocked(_ id: HTTP2StreamID) -> Int64? {
        guard phase == .open, let stream = streams[id.number], stream.queue.count > 0 else { return nil }
        let streamWindow = nghttp2_session_get_stream_remote_window_size(handle, id.number)
        return min(streamWindow, nghttp2_session_get_remote_window_size(handle)) <= 0 ? stream.sentBytes : nil
    }

    /// Returns `count` bytes of a stream's window; harmless for a closed stream.
    package func consume(_ count: Int, on id: HTTP2StreamID) {
        guard phase == .open, count > 0, let stream = stream(id.number) else { return }
        let count = min(count, stream.unconsumed)
        stream.unconsumed -= count
        // A half that has ended needs no window.
        if count == 0 || stream.incoming == .ended || stream.isAbandoned { return }
        nghttp2_session_consume_stream(handle, id.number, count)
    }

    /// For a stream whose bytes are consumed quickly.
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

    /// Sends RST_STREAM and drops queued bytes; of the stream's events only `closed` still comes. NO_ERROR waits until
    /// the queued end is sent, because it declines only the rest of the request (RFC 9113 §8.1).
    package func reset(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        guard phase == .open, let stream = stream(id.number) else {
            // Earlier events may still wait.
            func isItsClose(_ event: HTTP2Event) -> Bool { if case .closed(id) = event { true } else { false } }
            if events.contains(where: isItsClose) {
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
            // nghttp2 would close an unsent request only when its turn comes.
            streamClosed(id.number, code)
        }
    }

    /// Like ``reset(_:_:)``, even if an earlier reset still waits for queued bytes.
    package func resetAtOnce(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        if phase == .open, let stream = stream(id.number), stream.queue.count > 0 {
            stream.isAbandoned = false
            stream.resetAfterEnd = nil
            stream.resetAfterQueue = nil
        }
        reset(id, code)
    }

    /// Like ``reset(_:_:)``, but sends the queued bytes first.
    package func resetWhenSent(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        guard phase == .open, let stream = stream(id.number), !stream.isAbandoned, stream.queue.count > 0 else {
            return reset(id, code)
        }
        stream.isAbandoned = true
        abandoned.insert(id.number)
        stream.isEndQueued = false
        stream.resetAfterQueue = code
    }

    /// Sends GOAWAY. With NO_ERROR, no new streams begin, and open ones continue until ``isOver``; with any other code,
    /// all streams are closed.
    package func goAway(_ code: HTTP2ErrorCode, text: String = "") {
        guard phase == .open else { return }
        if code != .noError { return end(HTTP2Error(code, text), isReported: false) }
        if hasSentGoAway { return }
        hasSentGoAway = true
        let text = Array(text.utf8)
        let lastStream = nghttp2_session_get_last_proc_stream_id(handle)
        nghttp2_submit_goaway(handle, 0, lastStream, code.rawValue, text, text.count)
    }

    /// Sends a PING, whose answer arrives as bytes, but makes no event.
    package func ping() {
        if phase == .open { nghttp2_submit_ping(handle, 0, nil) }
    }

    /// 100 until the peer's SETTINGS: the default has no limit (RFC 9113 §6.5.2), but the peer refuses excess streams.
    package var peerMaxConcurrentStreams: Int {
        guard hasPeerSettings, handle != nil else { return 100 }
        return Int(nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// RFC 8441.
    package var peerOffersExtendedConnect: Bool {
        guard hasPeerSettings, handle != nil else { return false }
        return nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1
    }

    package var openStreamCount: Int { streams.count }

    /// Whether no new streams are possible: after a GOAWAY, or at the end of the connection.
    package var isGoingAway: Bool { hasSentGoAway || hasReceivedGoAway || phase != .open }

    /// `false` for events of streams that the owner gave up, except their close.
    func concernsOwner(_ event: HTTP2Event) -> Bool {
        switch event {
        case .requestHead(let id, _, _, _, _), .interim(let id, _), .responseHead(let id, _, _), .data(let id, _),
            .end(let id, _, _), .reset(let id, _, _, _), .refused(let id), .drained(let id),
            .malformedRequest(let id, _, _, _):
            return !abandoned.contains(id.number)
        case .closed(let id):
            abandoned.remove(id.number)
            return true
        case .settings, .goAway, .failed: return true
        }
    }
}
