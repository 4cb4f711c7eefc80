import Content
import HTTPModel
import NIOCore

extension ExchangeMachine {
    /// Receives a stage's answer as if a server had sent it, so that the response chain runs.
    mutating func receiveAnswer(_ answer: LocalAnswer) {
        let answer = framed(answer)
        state = .answering(.bytes)
        if let end = answer.end, end.after == nil { return endAnswer(end) }
        marks.responseBegan = exchange.now
        marks.responseEnded = exchange.now
        recordAnswer(answer)
        for item in items(of: answer) { response.flow.accept(item) }
        if let file = answer.file { read(file, as: .received) }
        pumpResponse()
    }

    /// Replaces the response that passes a stage by the stage's answer, which later stages still see.
    mutating func replaceResponse(with answer: LocalAnswer, next: Int) {
        let takesPlace =
            switch state {
            case .relaying(.switching): true
            // A file replaces the server, even if the server still has to read the rest of the request.
            case .relaying(.responded): answer.file != nil
            case .relaying, .answering, .tunnel, .over: state.hasSource
            }
        if takesPlace {
            abandonUpstream()
            discardRequest()
            state = .answering(.bytes)
        }
        record.flags.insert(.answeredLocally)
        let answer = framed(answer)
        response.flow.replace(with: items(of: answer), next: next)
        if let file = answer.file { read(file, as: .sent) }
    }

    /// Answers the client without the response chain.
    mutating func answerDirectly(_ answer: LocalAnswer) {
        releaseHold()
        abandonUpstream()
        discardRequest()
        pause(.response, [.held, .paced, .working], false)
        guard responseState == .none else {
            // A tunnel whose CONNECT was answered already.
            emit(.abortClient(.connectError))
            finish()
            return
        }
        state = .answering(.bytes)
        record.flags.insert(.answeredLocally)
        let answer = framed(answer)
        let role: FileRole = messages.responseHead == nil ? .received : .sent
        recordAnswer(answer)
        response.flow.replace(with: items(of: answer), next: links.count)
        // `recordAnswer` has recorded the bytes; a file's bytes are recorded when they are read.
        let isFileSent = answer.file != nil && role == .sent
        response.flow.isChanged = isFileSent
        response.flow.bodyMayChange = isFileSent
        if let file = answer.file { read(file, as: role) }
        pumpResponse()
    }

    /// Ends an answer that has sent its bytes: after its silence the client's connection is cut.
    mutating func endAnswer(_ end: AnswerEnd) {
        guard let deadline = silentUntil ?? (end.silence > .zero ? exchange.now + end.silence : nil) else {
            return fail(end.failure, cutClient: true)
        }
        if exchange.now >= deadline { return fail(end.failure, cutClient: true) }
        guard silentUntil == nil else { return }
        silentUntil = deadline
        abandonUpstream()
        obey(.pause(.again(at: deadline)), .response)
    }

    /// Reads a file in place of a server's response.
    private mutating func read(_ file: AnswerFile, as role: FileRole) {
        state = .answering(.file(role))
        response.reading.isOn = true
        marks.responseEnded = nil
        emit(.readFile(file))
    }

    /// Sets `Content-Length` of an answer from a file; an answer without a body does not read its file.
    private mutating func framed(_ answer: LocalAnswer) -> LocalAnswer {
        ending = answer.end
        guard let file = answer.file else { return answer }
        var answer = answer
        if answer.head.status != 204, answer.head.status != 304 {
            answer.head.fields.set("Content-Length", String(file.length))
        }
        if forbidsBody(answer.head.status) || file.length == 0 { answer.file = nil }
        return answer
    }

    /// Records an answer as received, or as sent if a server's response was received before.
    private mutating func recordAnswer(_ answer: LocalAnswer) {
        record.status = answer.head.status
        if record.flags.contains(.grpc) { record.grpc = GRPCOutcome(answer.head.fields) }
        let body = forbidsBody(answer.head.status) ? ByteBuffer() : answer.body
        if messages.responseHead == nil {
            messages.responseHead = answer.head.serialized()
            record.mediaType = mediaType(answer.head)
            record.sizes.responseHead = Int64(messages.responseHead?.readableBytes ?? 0)
            record.sizes.responseBody = Int64(body.readableBytes)
        } else {
            messages.responseHeadSent = answer.head.serialized()
            record.flags.formUnion([.responseChanged, .responseBodyChanged])
        }
        if body.readableBytes > 0 {
            let side: BodySide = messages.responseHeadSent == nil ? .responseReceived : .responseSent
            sink.record(.body(record.id, side, body))
        }
    }

    private func items(of answer: LocalAnswer) -> [MessageFlow<ResponseHead>.Item] {
        guard !forbidsBody(answer.head.status) else { return [.head(answer.head, .none), .end(nil)] }
        if let file = answer.file { return [.head(answer.head, .length(file.length))] }
        let head = MessageFlow<ResponseHead>.Item.head(answer.head, .length(Int64(answer.body.readableBytes)))
        return answer.body.readableBytes > 0 ? [head, .part(answer.body), .end(nil)] : [head, .end(nil)]
    }

    func mediaType(_ head: ResponseHead) -> String {
        head.fields.withValue(of: .contentType) { bytes in
            var essence = bytes.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
            while let last = essence.last, last == 0x20 || last == 0x09 { essence.removeLast() }
            let text = String(fieldBytes: UnsafeRawBufferPointer(rebasing: essence))
            return essence.contains { $0 &- 0x41 < 26 || $0 >= 0x80 } ? text.lowercased() : text
        } ?? ""
    }
}
