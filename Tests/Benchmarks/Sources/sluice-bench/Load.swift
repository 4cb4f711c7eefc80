import Foundation
import Synchronization

/// How a client reaches the origin by way of a subject.
struct Route: Sendable {
    /// The port the client connects to.
    var port: UInt16
    /// Whether the client speaks TLS.
    var isSecure: Bool
    /// What comes before the path in the request line: empty, or scheme and authority as a proxy wants them.
    var targetPrefix = ""
    /// The `host:port` that the client asks a tunnel to before TLS.
    var tunnel: String?
    /// The value of Host.
    var host: String
}

/// A bounded number of requests, over several connections at once.
struct Load: Sendable {
    var route: Route
    var path: String
    /// The size that each body must have.
    var bodySize: Int
    var requests: Int
    var connections: Int
    /// Whether each request has a connection, and a TLS handshake, of its own.
    var reconnects = false
    /// The PEM file of the authority whose certificates the client accepts.
    var authority: String

    /// Sends all of the requests; returns the seconds that took.
    @discardableResult
    func go() throws -> Double {
        let failure = Mutex<(any Error)?>(nil)
        let group = DispatchGroup()
        let start = ContinuousClock.now
        for index in 0..<connections {
            let share = requests / connections + (index < requests % connections ? 1 : 0)
            group.enter()
            Thread.detachNewThread { [self] in
                do {
                    try runOne(requests: share)
                } catch {
                    failure.withLock { $0 = error }
                }
                group.leave()
            }
        }
        group.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
        return (ContinuousClock.now - start).inSeconds
    }

    private func runOne(requests: Int) throws {
        guard requests > 0 else { return }
        let tls = try ClientTLS(authority: authority)
        let request = Array(
            "GET \(route.targetPrefix)\(path) HTTP/1.1\r\nHost: \(route.host)\r\nUser-Agent: sluice-bench\r\nAccept: */*\r\n\r\n"
                .utf8
        )
        var reader = ResponseReader()
        var done = 0
        while done < requests {
            let socket = try connect(tls, &reader)
            for _ in 0..<(reconnects ? 1 : requests) {
                try socket.write(request)
                let size = try reader.readResponse(from: socket)
                guard size == bodySize else {
                    throw BenchmarkError("a body of \(size) bytes in place of \(bodySize)")
                }
                done += 1
            }
        }
    }

    private func connect(_ tls: ClientTLS, _ reader: inout ResponseReader) throws -> ClientSocket {
        let socket = try ClientSocket(port: route.port)
        if let tunnel = route.tunnel {
            try socket.write(Array("CONNECT \(tunnel) HTTP/1.1\r\nHost: \(tunnel)\r\n\r\n".utf8))
            _ = try reader.readResponse(from: socket, hasBody: false)
        }
        if route.isSecure { try socket.startTLS(tls) }
        return socket
    }
}
