import HTTPModel
import NIOCore
import Wire

enum DemoHTTP2Server {
    static func serve(_ connection: DemoOrigin.Connection) async throws {
        try await connection.executeThenClose { inbound, outbound in
            let session = HTTP2Session(.server)
            var requests: [HTTP2StreamID: DemoRequest] = [:]
            var arriving = inbound.makeAsyncIterator()
            repeat {
                while let event = session.nextEvent() {
                    switch event {
                    case .requestHead(let id, let head, _, _, _): requests[id] = DemoRequest(head: head)
                    case .data(let id, let bytes):
                        requests[id]?.add(bytes)
                        session.consume(bytes.readableBytes, on: id)
                    case .end(let id, _, _):
                        guard let request = requests.removeValue(forKey: id) else { break }
                        let answer = try DemoRoutes.answer(request)
                        if answer.delay > .zero { try await Task.sleep(for: answer.delay) }
                        send(answer, on: id, isHead: request.head.method == "HEAD", session)
                    case .closed(let id): requests[id] = nil
                    default: break
                    }
                }
                while let bytes = session.nextOutput() { try await outbound.write(bytes) }
                if session.hasEvents { continue }
                guard !session.isOver, let bytes = try await arriving.next() else { return }
                session.receive(bytes, now: .now())
            } while true
        }
    }

    private static func send(_ answer: DemoAnswer, on id: HTTP2StreamID, isHead: Bool, _ session: HTTP2Session) {
        var head = answer.head
        if case .length(let length) = answer.framing { head.fields.set("Content-Length", String(length)) }
        let isEmpty = isHead || answer.pieces.isEmpty && answer.trailers == nil
        _ = session.sendResponse(head, on: id, isEnd: isEmpty)
        guard !isEmpty else { return }
        for piece in answer.pieces { session.sendData(piece, on: id) }
        session.sendEnd(answer.trailers, on: id)
    }
}
