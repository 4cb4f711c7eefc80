import ExchangeCore
import HTTPModel
import NIOCore

extension ComposedRequest {
    var outgoing: OutgoingRequest {
        let isEmpty = body.readableBytes == 0
        let expectsBody = ["POST", "PUT", "PATCH", "QUERY"].contains(head.method)
        let origin = RequestURL(scheme: destination.scheme, host: destination.host, port: destination.port, path: "/")
        let framing: BodyFraming = isEmpty && !expectsBody ? .none : .length(Int64(body.readableBytes))
        return OutgoingRequest(head, to: origin, OutgoingBody(body), framing: framing)
    }
}
