import Foundation
import Glibc
import Synchronization

/// A port whose connections continue to a subject, through its tunnel if the route has one.
///
/// Load generators that cannot use proxies connect to it. It is used for every subject, nginx too, because it changes
/// the sizes of the reads and writes.
final class Relay: Sendable {
    let port: UInt16
    private let listener: CInt
    private let lastFailure = Mutex<(any Error)?>(nil)

    /// Listens on a free port until it is closed.
    init(route: Route) throws {
        listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    ? getsockname(listener, address, &length) : -1
            }
        }
        guard result == 0 else { throw BenchmarkError("the relay cannot listen: errno \(errno)") }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { return }
                Thread.detachNewThread { self.carry(descriptor, by: route) }
            }
        }
    }

    /// Accepts no more connections.
    func close() {
        shutdown(listener, CInt(SHUT_RDWR))
        Glibc.close(listener)
    }

    /// Why a connection could not be made; nil if all could.
    var failure: (any Error)? { lastFailure.withLock { $0 } }

    private func carry(_ descriptor: CInt, by route: Route) {
        let client = ClientSocket(accepted: descriptor)
        do {
            let server = try ClientSocket(port: route.port)
            if route.usesTunnel {
                try server.write(route.connectRequest)
                var reader = ResponseReader()
                _ = try reader.readResponse(from: server, hasBody: false)
            }
            Relay.pump(client, server)
        } catch {
            lastFailure.withLock { $0 = error }
        }
    }

    /// Carries bytes both ways until one side ends.
    private static func pump(_ client: ClientSocket, _ server: ClientSocket) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var pollers = [client, server].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while poll(&pollers, 2, -1) > 0 {
            for (poller, (source, sink)) in zip(pollers, [(client, server), (server, client)]) where poller.revents != 0
            {
                guard let count = try? source.read(into: buffer), count > 0,
                    (try? sink.write(Array(buffer[..<count]))) != nil
                else { return }
            }
        }
    }
}
