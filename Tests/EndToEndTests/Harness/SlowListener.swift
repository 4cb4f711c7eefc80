import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A port to which connections cannot be made until it is opened (Linux).
///
/// Its queue of connections is full from the start, so that the system leaves further ones unanswered.
final class SlowListener: Sendable {
    let port: Int
    private let listener: Int32
    private let filler: Socket

    init() throws {
        let listener = Socket.make()
        self.listener = listener
        var address = Socket.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 0) == 0
                    ? getsockname(listener, address, &length) : -1
            }
        }
        guard result == 0 else { throw Socket.Failure(description: "cannot listen: errno \(errno)") }
        port = Int(in_port_t(bigEndian: address.sin_port))
        filler = try Socket(port: port)
    }

    deinit { close(listener) }

    /// Whether somebody is connecting right now, and has had no answer.
    var isAsked: Bool {
        // Columns: number, local address, remote address, state; 02 is SYN_SENT.
        // The kernel gives the table out in pieces, of which `String(contentsOfFile:)` reads the first only.
        let file = FileHandle(forReadingAtPath: "/proc/net/tcp")
        let table = String(decoding: (try? file?.readToEnd()) ?? Data(), as: UTF8.self)
        let remote = String(format: "0100007F:%04X", port)
        return table.split(separator: "\n").contains { line in
            let columns = line.split(separator: " ")
            return columns.count > 3 && columns[2] == remote && columns[3] == "02"
        }
    }

    /// Opens the port; returns the first connection that was not there before.
    func open() throws -> Socket {
        try next().close()
        filler.close()
        return try next()
    }

    private func next() throws -> Socket {
        var poller = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        guard poll(&poller, 1, Socket.patience) == 1 else { throw Socket.Failure(description: "nobody connects") }
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { throw Socket.Failure(description: "cannot accept: errno \(errno)") }
        return Socket(descriptor: descriptor)
    }
}
