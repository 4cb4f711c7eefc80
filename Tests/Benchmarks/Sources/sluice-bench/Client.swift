/// A client that sends the same GET again and again, over one connection at a time, and checks each response.
///
/// SAFETY: `Load` gives each client to one thread, and waits for that thread before it returns.
final class Client: @unchecked Sendable {
    private var route: Route
    private let path: String
    /// The size that each body must have.
    private let bodySize: Int
    private let tls: ClientTLS
    private var hosts: HostNames?
    private var request: [UInt8] = []
    private var reader = ResponseReader()
    private var socket: ClientSocket?

    /// - Parameters:
    ///   - authority: The PEM file of the authority whose certificates the client accepts.
    ///   - hosts: The hosts to request, a new one for each connection; nil for the host of the route.
    init(route: Route, path: String, bodySize: Int, authority: String, hosts: HostNames? = nil) throws {
        self.route = route
        self.path = path
        self.bodySize = bodySize
        self.hosts = hosts
        tls = try ClientTLS(authority: authority)
    }

    /// Sends the request, on the connection that is open if one is, and reads the response.
    ///
    /// - Throws: if the response is not a 200 of the expected size.
    func send() throws {
        let socket = try socket ?? connect()
        try socket.write(request)
        let size = try reader.readResponse(from: socket)
        guard size == bodySize else { throw BenchmarkError("a body of \(size) bytes instead of \(bodySize)") }
    }

    func disconnect() { socket = nil }

    private func connect() throws -> ClientSocket {
        if let host = hosts?.removeFirst() { route.host = host }
        if request.isEmpty || hosts != nil {
            let head = "GET \(route.targetPrefix)\(path) HTTP/1.1\r\nHost: \(route.authority)\r\n"
            request = Array((head + "User-Agent: sluice-bench\r\nAccept: */*\r\n\r\n").utf8)
        }
        let socket = try ClientSocket(port: route.port)
        if route.usesTunnel {
            try socket.write(route.connectRequest)
            _ = try reader.readResponse(from: socket, hasBody: false)
        }
        if route.isSecure { try socket.startTLS(tls, host: route.host) }
        self.socket = socket
        return socket
    }
}
