import ExchangeCore
import HTTPModel
import NIOCore
import Wire

extension ComposedRequest {
    var origin: RequestURL {
        RequestURL(scheme: destination.scheme, host: destination.host, port: destination.port, path: "/")
    }

    /// Whether TLS is spoken to its origin.
    var isSecure: Bool { destination.scheme == "https" }

    /// The head for a proxy: framed, and in absolute form without a tunnel (RFC 9112 §3.2.2).
    var headToSend: RequestHead {
        var head = head
        let isEmpty = body.readableBytes == 0
        let expectsBody = ["POST", "PUT", "PATCH"].contains(head.method)
        SentFraming.settle(&head, as: isEmpty && !expectsBody ? .none : .length(Int64(body.readableBytes)))
        if !isSecure {
            let target = head.target == "*" ? [] : Array(head.targetBytes)
            head.setTarget(Array("http://\(origin.authority)".utf8) + target)
        }
        return head
    }

    /// Whether sending it twice has the effect of sending it once (RFC 9110 §9.2.2).
    var isIdempotent: Bool { ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method) }
}
