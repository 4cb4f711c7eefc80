import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// Requests of plain HTTP to an HTTP proxy, which reads them and asks the server itself (RFC 9112 §3.2.2).
struct ProxyForwarding {
    let proxy: UpstreamProxy
    private let prefix: [UInt8]

    init(_ proxy: UpstreamProxy, to destination: Destination) {
        self.proxy = proxy
        // Keeps a name's trailing dot.
        let host = destination.address ?? destination.host
        let url = RequestURL(scheme: "http", host: host, port: destination.port, path: "/")
        prefix = Array("http://\(url.authority)".utf8)
    }

    /// In absolute form, with the user and the password.
    func write(_ head: RequestHead) -> ByteBuffer {
        var head = head
        // RFC 9112 §3.2.4: the asterisk form is an empty path for a proxy.
        let isWhole = head.targetBytes.elementsEqual(CollectionOfOne(UInt8(ascii: "*")))
        head.setTarget(isWhole ? prefix : prefix + head.targetBytes)
        if let authorization = proxy.authorization { head.fields.set("Proxy-Authorization", authorization) }
        var bytes = ByteBuffer()
        bytes.reserveCapacity(512)
        HTTP1Encoder.writeHead(head, into: &bytes)
        return bytes
    }

    func unauthorized(_ head: ResponseHead) -> ExchangeFailure { proxy.unauthorized(head.proxyAuthenticationSchemes) }
}
