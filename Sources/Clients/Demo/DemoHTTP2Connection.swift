import HTTPModel
import NIOCore
import Runner
import Wire

final class DemoHTTP2Connection {
    private let connection: HTTPConnection
    private let origin: RequestURL
    private let session = HTTP2Session(.client)

    init(_ connection: HTTPConnection, origin: RequestURL) { (self.connection, self.origin) = (connection, origin) }

    func exchange(_ head: RequestHead, _ body: [ByteBuffer]) async throws -> DemoConnection.Response {
        let stream = try session.sendRequest(head, scheme: origin.scheme, isEnd: body.isEmpty).stream
        for piece in body { session.sendData(piece, on: stream) }
        if !body.isEmpty { session.sendEnd(nil, on: stream) }
        var response: DemoConnection.Response?
        while true {
            while let event = session.nextEvent() {
                switch event {
                case .responseHead(stream, let head, _): response = DemoConnection.Response(head: head)
                case .data(let id, let bytes):
                    session.consume(bytes.readableBytes, on: id)
                    if id == stream { response?.body.writeImmutableBuffer(bytes) }
                case .end(stream, let trailers, _):
                    response?.trailers = trailers
                    if let response { return response }
                case .reset(stream, let code, _, let text): throw HTTP2Error(code, text)
                case .failed(let failure): throw failure
                default: break
                }
            }
            while let bytes = session.nextOutput() { try await connection.write(bytes) }
            if session.hasEvents { continue }
            guard let bytes = try await connection.read() else {
                try Task.checkCancellation()
                throw HTTPConnection.ConnectionError.closed(hadAnswer: response != nil)
            }
            session.receive(bytes, now: .now())
        }
    }
}
