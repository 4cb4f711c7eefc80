internal import CNGHTTP2
import HTTPModel
import NIOCore

extension HTTP2Session {
    func stream(_ id: Int32) -> HTTP2Stream? {
        if let recentStream, recentStream.id.number == id { return recentStream }
        guard let stream = streams[id] else { return nil }
        recentStream = stream
        return stream
    }

    func headBegan(on id: Int32, category: nghttp2_headers_category) {
        if category == NGHTTP2_HCAT_REQUEST {
            let stream = HTTP2Stream(HTTP2StreamID(id))
            streams[id] = stream
            recentStream = stream
            blockStream = stream
            builder.begin(.request)
        } else {
            blockStream = stream(id)
            // Interim responses may precede the final one.
            builder.begin(role == .client && blockStream?.incoming == .head ? .response : .trailers)
        }
    }

    /// Accepts odd values from a server, but no invalid name, framing field, NUL or line break (RFC 9113 §8.2.1).
    func fieldIsInvalid(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Bool {
        guard role == .client, !name.isEmpty, name.allSatisfy({ $0.isTokenCharacter }),
            !name.isConnectionSpecific, !name.isOption("content-length"),
            !value.contains(where: { $0 == 0 || $0 == .lineFeed || $0 == .carriageReturn })
        else { return false }
        builder.add(name: name, value: value, isOdd: true)
        return true
    }

    /// Finds the field's name in nghttp2's message, because nothing else has it.
    func noteProtocolError(_ message: String) {
        guard message.hasPrefix("Invalid"), let start = message.firstRange(of: "name: [")?.upperBound,
            let end = message[start...].firstRange(of: "], value: [")?.lowerBound
        else { return }
        wrongField = String(message[start..<end].map { $0 < " " ? "?" : $0 })
    }

    func headReceived(on id: Int32, category: nghttp2_headers_category, isEnd: Bool) {
        guard let stream = blockStream, stream.id.number == id else { return }
        blockStream = nil
        stream.wireBytes += Int64(blockWireBytes)
        pendingHeads += builder.size
        guard pendingHeads <= settings.maxPendingHeads else { return refuseCrowdedOut(stream, category: category) }
        if category == NGHTTP2_HCAT_REQUEST {
            requestReceived(stream, isEnd: isEnd)
        } else if role == .client, stream.incoming == .head {
            responseReceived(stream, isEnd: isEnd)
        } else if builder.block.isTooLarge {
            let explanation = "The trailers are larger than \(settings.maxHeaderListSize) bytes."
            giveUp(stream, .enhanceYourCalm, because: explanation)
        } else if isEnd {
            incomingEnded(stream, trailers: builder.trailers())
        }
    }

    private func requestReceived(_ stream: HTTP2Stream, isEnd: Bool) {
        if builder.block.isTooLarge { return refuseTooLarge(stream, isEnd: isEnd) }
        if builder.block.hasForeignHost {
            refuse(stream, because: "The Host field differs from the authority.")
            nghttp2_submit_rst_stream(handle, 0, stream.id.number, HTTP2ErrorCode.protocolError.rawValue)
            return
        }
        let framing = beginBody(of: stream, isEnd: isEnd)
        let scheme = builder.scheme
        let connectProtocol = builder.connectProtocol
        let head = builder.request()
        events.append(.requestHead(stream.id, head, framing, scheme: scheme, connectProtocol: connectProtocol))
        if isEnd { incomingEnded(stream, trailers: nil) }
    }

    private func responseReceived(_ stream: HTTP2Stream, isEnd: Bool) {
        if builder.block.isTooLarge {
            giveUp(stream, .enhanceYourCalm, because: "The head is larger than \(settings.maxHeaderListSize) bytes.")
            return
        }
        if (100..<200).contains(builder.block.status) { return events.append(.interim(stream.id, builder.response())) }
        let framing = beginBody(of: stream, isEnd: isEnd)
        events.append(.responseHead(stream.id, builder.response(), framing))
        if isEnd { incomingEnded(stream, trailers: nil) }
    }

    private func beginBody(of stream: HTTP2Stream, isEnd: Bool) -> BodyFraming {
        stream.incoming = .body
        stream.announcedLength = builder.block.contentLength
        return isEnd ? .none : builder.block.contentLength.map { .length($0) } ?? .chunked
    }

    func dataReceived(_ bytes: UnsafeRawBufferPointer, on id: Int32) {
        // Returns the connection's window at once, so that one stream cannot stop the others.
        nghttp2_session_consume_connection(handle, bytes.count)
        guard let stream = stream(id), stream.incoming == .body, !stream.isAbandoned else { return }
        stream.unconsumed += bytes.count
        events.append(.data(stream.id, slice(bytes)))
    }

    /// The input's slice at nghttp2's pointer, without a copy.
    private func slice(_ bytes: UnsafeRawBufferPointer) -> ByteBuffer {
        if let inputStart, let start = bytes.baseAddress {
            let offset = start - inputStart
            if offset >= 0, let slice = input.getSlice(at: input.readerIndex + offset, length: bytes.count) {
                return slice
            }
        }
        return ByteBuffer(bytes: bytes)
    }

    func incomingEnded(_ stream: HTTP2Stream, trailers: FieldSection?) {
        guard stream.incoming == .body else { return }
        stream.incoming = .ended
        events.append(.end(stream.id, trailers: trailers, wireBytes: stream.wireBytes))
    }

    /// The length of the next DATA frame, which ``writeData(header:length:on:)`` writes.
    func dataToSend(on id: Int32, atMost limit: Int, flags: inout UInt32) -> Int {
        guard let outputLimit, output.readableBytes < outputLimit else { return Int(NGHTTP2_ERR_PAUSE.rawValue) }
        guard let stream = stream(id) else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
        let count = min(limit, stream.queue.count)
        if count == 0, !stream.isEndQueued {
            stream.isDeferred = true
            if let code = stream.resetAfterQueue {
                stream.resetAfterQueue = nil
                nghttp2_submit_rst_stream(handle, 0, id, code.rawValue)
                floodGuard.noteSentReset()
            }
            return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        }
        flags |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue
        guard count == stream.queue.count, stream.isEndQueued else { return count }
        flags |= NGHTTP2_DATA_FLAG_EOF.rawValue
        if let trailers = stream.trailers {
            stream.trailers = nil
            let writer = HTTP2HeadWriter(trailers: trailers)
            if !writer.isEmpty {
                let result = writer.withNameValues { nghttp2_submit_trailer(handle, id, $0.baseAddress, $0.count) }
                if result == 0 { flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue }
            }
        }
        return count
    }

    func writeData(header: UnsafePointer<UInt8>, length: Int, on id: Int32) {
        guard let stream = stream(id) else { return }
        if output.writableBytes < length + 9 {
            let expected = min(stream.queue.count, outputLimit ?? 0) + 64
            output.reserveCapacity(minimumWritableBytes: max(length, expected) + 9)
        }
        output.writeBytes(UnsafeRawBufferPointer(start: header, count: 9))
        stream.queue.move(length, into: &output)
        stream.sentBytes += Int64(length)
        floodGuard.noteSentData()
        if stream.isBackedUp, stream.queue.count <= HTTP2Stream.lowMark {
            stream.isBackedUp = false
            events.append(.drained(stream.id))
        }
    }

    func resetReceived(on id: Int32, _ code: HTTP2ErrorCode) {
        guard let stream = stream(id) else { return }
        stream.wireBytes += 13
        stream.isEndKnown = true
        if stream.incoming == .refused || stream.isAbandoned { return }
        // An answered request was not refused, whatever the code.
        if role == .client, code == .refusedStream, stream.incoming == .head {
            events.append(.refused(stream.id))
        } else {
            let explanation = "The \(peerName) reset the stream with \(code)."
            events.append(.reset(stream.id, code, isLocal: false, explanation: explanation))
        }
    }

    func frameIsInvalid(on id: Int32, result: Int32) {
        defer { wrongField = nil }
        guard let stream = stream(id) else { return }
        let fault = HTTP2Error(result: result, field: wrongField)
        stream.fault = fault
        guard blockStream === stream else { return }
        blockStream = nil
        if role == .server, stream.incoming == .head { refuse(stream, because: fault.explanation) }
    }

    func streamClosed(_ id: Int32, _ code: HTTP2ErrorCode) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        if recentStream === stream { recentStream = nil }
        if blockStream === stream { blockStream = nil }
        if !stream.isEndKnown, !stream.isAbandoned {
            if role == .client, code == .refusedStream, stream.incoming == .head, stream.fault == nil {
                events.append(.refused(stream.id))
            } else if code != .noError || stream.fault != nil || stream.incoming != .ended || !stream.isEndSent {
                if stream.incoming != .refused {
                    let fault = stream.fault ?? HTTP2Error(code: code, on: stream)
                    events.append(.reset(stream.id, fault.code, isLocal: true, explanation: fault.explanation))
                }
                found(floodGuard.countForcedReset(now: now))
            }
        }
        events.append(.closed(stream.id))
    }

    /// Resets a stream for the peer's fault; nghttp2 ignores this if both halves have ended.
    private func giveUp(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode, because explanation: String) {
        stream.fault = HTTP2Error(code, explanation)
        nghttp2_submit_rst_stream(handle, 0, stream.id.number, code.rawValue)
    }

    private func refuse(_ stream: HTTP2Stream, status: Int = 400, because explanation: String) {
        stream.incoming = .refused
        var text = builder.partialText()
        pendingHeads += text.readableBytes
        if pendingHeads > settings.maxPendingHeads { text = text.beginning(ExchangeRecord.refusedHeadLimit) }
        events.append(.malformedRequest(stream.id, status: status, explanation: explanation, head: text))
    }

    /// Answers with 431 and does not wait for the rest of the request (RFC 9113 §8.1).
    private func refuseTooLarge(_ stream: HTTP2Stream, isEnd: Bool) {
        let explanation =
            "The request's head has more than \(settings.maxHeaderListSize) bytes"
            + " or \(settings.maxFieldCount) field lines."
        refuse(stream, status: 431, because: explanation)
        found(floodGuard.countOversizedHead(now: now))
        if isEnd { stream.incoming = .ended } else { stream.resetAfterEnd = .noError }
        stream.isEndKnown = true
        submitResponse(HTTP2HeadWriter(ResponseHead(status: 431, version: .http2)), on: stream, isEnd: true)
    }

    /// Refuses a head because all heads that arrived together are too large.
    private func refuseCrowdedOut(_ stream: HTTP2Stream, category: nghttp2_headers_category) {
        let explanation = "The simultaneous heads are larger than \(settings.maxPendingHeads) bytes."
        guard category == NGHTTP2_HCAT_REQUEST else {
            if stream.fault == nil { giveUp(stream, .enhanceYourCalm, because: explanation) }
            return
        }
        refuse(stream, status: 0, because: explanation)
        // REFUSED_STREAM lets the client repeat the request (RFC 9113 §8.7).
        nghttp2_submit_rst_stream(handle, 0, stream.id.number, HTTP2ErrorCode.refusedStream.rawValue)
    }

    private var peerName: String { role == .server ? "client" : "server" }
}
