import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A server of which every byte is chosen by the test.
///
/// Each connection has a thread of its own.
final class Origin: Sendable {
    let port: Int
    private let listener: Int32
    private let serve: @Sendable (Origin, Socket) throws -> Void
    private let state = Mutex(State())

    private struct State {
        var sockets: [Socket] = []
        var heads: [String] = []
        var errors: [String] = []
        var isStopped = false
    }

    /// Starts; `serve` is called for each connection, which is closed when it returns.
    init(_ serve: @escaping @Sendable (Origin, Socket) throws -> Void) throws {
        self.serve = serve
        let listener = Socket.make()
        self.listener = listener
        var address = Socket.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, length) }
        }
        guard bound == 0, listen(listener, 128) == 0 else { throw Socket.Failure(description: "cannot listen") }
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        port = Int(in_port_t(bigEndian: address.sin_port))
        let thread = Thread { [weak self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0, let self, !self.state.withLock({ $0.isStopped }) else { break }
                self.began(Socket(descriptor: descriptor))
            }
            close(listener)
        }
        thread.start()
    }

    deinit { stop() }

    private func began(_ socket: Socket) {
        state.withLock { $0.sockets.append(socket) }
        Thread.detachNewThread { [self] in
            do {
                try serve(self, socket)
            } catch {
                state.withLock { $0.errors.append("\(error)") }
            }
            socket.close()
        }
    }

    /// Ends every connection and takes no more.
    func stop() {
        let (wasStopped, sockets) = state.withLock { state in
            defer { state.isStopped = true }
            return (state.isStopped, state.sockets)
        }
        // The listener's thread closes it; its descriptor may be somebody else's by now.
        guard !wasStopped else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        for socket in sockets { socket.interrupt() }
    }

    /// How many connections there were.
    var connectionCount: Int { state.withLock { $0.sockets.count } }
    /// The request heads it got, in order.
    var heads: [String] { state.withLock { $0.heads } }
    /// What went wrong on its connections, in order.
    var errors: [String] { state.withLock { $0.errors } }

    /// Reads a request's head and keeps it.
    func head(_ socket: Socket) throws -> String {
        let head = try socket.readHead()
        state.withLock { $0.heads.append(head) }
        return head
    }

    /// A server that gives each request without a body the same answer, byte for byte, on lasting connections.
    static func answering(_ response: String, closes: Bool = false) throws -> Origin {
        try Origin { origin, socket in
            repeat {
                _ = try origin.head(socket)
                try socket.send(latin1Bytes(response))
            } while !closes
        }
    }
}

/// A port on which nobody listens, and that no other call returns.
///
/// It is none of those that the system gives to outgoing connections, so that it stays free until somebody binds it.
func unusedPort() throws -> Int {
    let ports = 10_240..<32_768
    for _ in 0..<1_000 {
        let port = nextPort.withLock { next in
            next = ports.contains(next + 1) ? next + 1 : ports.lowerBound
            return next
        }
        let descriptor = Socket.make()
        defer { close(descriptor) }
        var address = Socket.loopback(port)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if bound == 0 { return port }
    }
    throw Socket.Failure(description: "no port is free")
}

private let nextPort = Mutex(Int.random(in: 10_240..<30_000))
