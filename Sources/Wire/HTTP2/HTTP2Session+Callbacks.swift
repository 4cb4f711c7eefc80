internal import CNGHTTP2
import HTTPModel

private enum FrameType {
    static let data = UInt8(NGHTTP2_DATA.rawValue)
    static let headers = UInt8(NGHTTP2_HEADERS.rawValue)
    static let resetStream = UInt8(NGHTTP2_RST_STREAM.rawValue)
    static let settings = UInt8(NGHTTP2_SETTINGS.rawValue)
    static let goAway = UInt8(NGHTTP2_GOAWAY.rawValue)
    static let continuation = UInt8(NGHTTP2_CONTINUATION.rawValue)
    static let endStream = UInt8(NGHTTP2_FLAG_END_STREAM.rawValue)
    static let acknowledgement = UInt8(NGHTTP2_FLAG_ACK.rawValue)
}

private func http2Session(_ pointer: UnsafeMutableRawPointer?) -> HTTP2Session? {
    pointer.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
}

private func report<Content>(
    _ content: UnsafePointer<Content>?,
    to session: UnsafeMutableRawPointer?,
    _ body: (HTTP2Session, UnsafePointer<Content>) -> Void
) -> Int32 {
    if let content, let session = http2Session(session) { body(session, content) }
    return 0
}

/// None of nghttp2's callbacks calls its receiving or sending functions, or the owner.
extension HTTP2Session {
    static func makeHandle(_ role: Role, settings: HTTP2Settings) -> OpaquePointer? {
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&option) == 0 else { return nil }
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(option)
        }
        setReceiving(callbacks)
        setSending(callbacks)
        nghttp2_option_set_no_auto_window_update(option, 1)
        nghttp2_option_set_peer_max_concurrent_streams(option, 100)
        // Received heads have a limit; sending them must not fail.
        nghttp2_option_set_max_send_header_block_length(option, 4 << 20)
        // ``HTTP2FloodGuard`` counts both: nghttp2 measures resets by its own clock, and counts a CONTINUATION frame
        // again for each read that has a part of it.
        nghttp2_option_set_stream_reset_rate_limit(option, 1 << 40, 1 << 20)
        nghttp2_option_set_max_continuations(option, (settings.limits.continuations + 1) * 10)
        // White space around a value is removed, not refused.
        nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1)
        var handle: OpaquePointer?
        let result =
            switch role {
            case .server: nghttp2_session_server_new2(&handle, callbacks, nil, option)
            case .client: nghttp2_session_client_new2(&handle, callbacks, nil, option)
            }
        return result == 0 ? handle : nil
    }

    func announceSettings() {
        var entries: [nghttp2_settings_entry] = []
        func announce(_ id: nghttp2_settings_id, _ value: UInt32) {
            entries.append(nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: value))
        }
        announce(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, UInt32(max(0, settings.initialWindow)))
        announce(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: settings.maxHeaderListSize))
        switch role {
        case .server:
            announce(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings.maxConcurrentStreams)
            if settings.offersExtendedConnect { announce(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1) }
        case .client: announce(NGHTTP2_SETTINGS_ENABLE_PUSH, 0)
        }
        nghttp2_submit_settings(handle, 0, entries, entries.count)
        nghttp2_session_set_local_window_size(handle, 0, 0, settings.connectionWindow)
    }

    private static func setReceiving(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, header, session in
            report(header, to: session) { $0.frameBegan($1.pointee) }
        }
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, session in
            report(frame, to: session) {
                $0.headBegan(on: $1.pointee.hd.stream_id, category: $1.pointee.headers.cat)
            }
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            guard let session = http2Session($7), session.blockStream != nil else { return 0 }
            let value = UnsafeRawBufferPointer(start: $4, count: $5)
            session.builder.add(name: UnsafeRawBufferPointer(start: $2, count: $3), value: value)
            return 0
        }
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) {
            guard let session = http2Session($7), session.blockStream != nil else { return 0 }
            let value = UnsafeRawBufferPointer(start: $4, count: $5)
            let isTolerated = session.fieldIsInvalid(name: UnsafeRawBufferPointer(start: $2, count: $3), value: value)
            return isTolerated ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, message, count, session in
            guard let message, let session = http2Session(session) else { return 0 }
            let bytes = UnsafeRawBufferPointer(start: message, count: count)
            session.noteProtocolError(String(fieldBytes: UnsafeRawBufferPointer(rebasing: bytes.prefix(300))))
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, session in
            guard let session = http2Session(session) else { return 0 }
            session.dataReceived(UnsafeRawBufferPointer(start: bytes, count: count), on: id)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, session in
            report(frame, to: session) { $0.frameReceived($1) }
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, result, session in
            report(frame, to: session) { $0.frameIsInvalid(on: $1.pointee.hd.stream_id, result: result) }
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, session in
            http2Session(session)?.streamClosed(id, HTTP2ErrorCode(rawValue: code))
            return 0
        }
    }

    private static func setSending(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, frame, header, length, _, session in
            guard let frame, let header, let session = http2Session(session) else { return 0 }
            session.writeData(header: header, length: length, on: frame.pointee.hd.stream_id)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, session in
            report(frame, to: session) { $0.frameSent($1) }
        }
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, result, session in
            report(frame, to: session) { $0.frameNotSent($1, result: result) }
        }
    }

    static var dataProvider: nghttp2_data_provider {
        var provider = nghttp2_data_provider()
        provider.read_callback = { _, id, _, length, flags, _, session in
            guard let flags, let session = http2Session(session) else {
                return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
            }
            return session.dataToSend(on: id, atMost: length, flags: &flags.pointee)
        }
        return provider
    }
}

extension HTTP2Session {
    private func frameBegan(_ header: nghttp2_frame_hd) {
        switch header.type {
        case FrameType.headers: blockWireBytes = header.length + 9
        case FrameType.continuation: blockWireBytes += header.length + 9
        default: break
        }
    }

    private func frameReceived(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        let isEnd = header.flags & FrameType.endStream != 0
        switch header.type {
        case FrameType.headers: headReceived(on: header.stream_id, category: frame.pointee.headers.cat, isEnd: isEnd)
        case FrameType.data:
            guard let stream = stream(header.stream_id) else { return }
            stream.wireBytes += Int64(header.length) + 9
            if isEnd { incomingEnded(stream, trailers: nil) }
        case FrameType.settings:
            if header.flags & FrameType.acknowledgement != 0 { return }
            hasPeerSettings = true
            events.append(.settings)
        case FrameType.resetStream:
            resetReceived(on: header.stream_id, HTTP2ErrorCode(rawValue: frame.pointee.rst_stream.error_code))
        case FrameType.goAway:
            hasReceivedGoAway = true
            let goAway = frame.pointee.goaway
            let code = HTTP2ErrorCode(rawValue: goAway.error_code)
            events.append(.goAway(code, text: goAway.text, lastStream: HTTP2StreamID(goAway.last_stream_id)))
        default:
            // WINDOW_UPDATE and PRIORITY count, too.
            if header.stream_id != 0 { stream(header.stream_id)?.wireBytes += Int64(header.length) + 9 }
        }
    }

    private func frameSent(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        switch header.type {
        case FrameType.data, FrameType.headers:
            guard let stream = stream(header.stream_id) else { return }
            stream.isHeadSent = true
            if header.flags & FrameType.endStream == 0 { return }
            stream.isEndSent = true
            if let code = stream.resetAfterEnd, stream.incoming != .ended {
                nghttp2_submit_rst_stream(handle, 0, header.stream_id, code.rawValue)
            }
        case FrameType.goAway:
            let goAway = frame.pointee.goaway
            let code = HTTP2ErrorCode(rawValue: goAway.error_code)
            if code != .noError { noteEnd(HTTP2Error(code: code, reason: goAway.text, role: role)) }
        default: break
        }
    }

    /// A frame that nghttp2 could not send, on a stream that stays open.
    private func frameNotSent(_ frame: UnsafePointer<nghttp2_frame>, result: Int32) {
        let header = frame.pointee.hd
        guard header.type == FrameType.headers, let stream = stream(header.stream_id), !stream.isAbandoned else {
            return
        }
        // nghttp2 then closes an unsent request as refused.
        if frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST { return }
        let reason = HTTP2Error.text(of: Int(result))
        stream.fault = HTTP2Error(.internalError, "A head could not be sent on the stream: \(reason).")
        nghttp2_submit_rst_stream(handle, 0, header.stream_id, HTTP2ErrorCode.internalError.rawValue)
    }
}

extension nghttp2_goaway {
    fileprivate var text: String {
        String(decoding: UnsafeBufferPointer(start: opaque_data, count: opaque_data_len), as: UTF8.self)
    }
}
