import Foundation

/// One connection to a control socket, whose calls block; closed when it is released.
final class ControlSocket {
    let descriptor: CInt
    private let deadline: ContinuousClock.Instant
    /// The bytes after the last line that was returned.
    private var received = Data()

    enum SocketError: Error {
        case refused, timeout, tooLong
        /// The running Sluice closed the connection.
        case gone
        case system(CInt)
    }

    /// Connects; the deadline is for everything on this connection.
    init(path: String, deadline: ContinuousClock.Instant) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count <= ControlPaths.longestPath else { throw SocketError.system(ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        #if os(Linux)
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw SocketError.system(errno) }
        #if !os(Linux)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var on: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<CInt>.size))
        #endif
        self.descriptor = descriptor
        self.deadline = deadline
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        while true {
            let result = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
            }
            if result == 0 || errno == EISCONN { return }
            switch errno {
            case EINTR: continue
            case EINPROGRESS, EALREADY: try wait(for: POLLOUT)
            // If a local socket's queue is full, connect(2) fails at once, and poll(2) cannot wait for room.
            case EAGAIN:
                guard ContinuousClock.now < deadline else { throw SocketError.timeout }
                usleep(5_000)
            case ECONNREFUSED, ENOENT: throw SocketError.refused
            default: throw SocketError.system(errno)
            }
        }
    }

    deinit { close(descriptor) }

    func sendLine(_ line: Data) throws {
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                #if os(Linux)
                send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
                #else
                send(descriptor, bytes.baseAddress, bytes.count, 0)
                #endif
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                try wait(for: POLLOUT)
            } else if errno == EPIPE || errno == ECONNRESET {
                // A reply that Sluice sent before it closed the connection may still be readable.
                return
            } else if errno != EINTR {
                throw SocketError.system(errno)
            }
        }
    }

    func receiveLine() throws -> Data {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        var searched = 0
        while true {
            if let end = received[(received.startIndex + searched)...].firstIndex(of: 0x0A) {
                defer { received = received[(end + 1)...] }
                return received[..<end]
            }
            searched = received.count
            guard searched <= ControlProtocol.longestLine else { throw SocketError.tooLong }
            let count = read(descriptor, &piece, piece.count)
            if count > 0 {
                received.append(contentsOf: piece[..<count])
            } else if count == 0 || errno == ECONNRESET {
                throw SocketError.gone
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                try wait(for: POLLIN)
            } else if errno != EINTR {
                throw SocketError.system(errno)
            }
        }
    }

    private func wait(for event: some BinaryInteger) throws {
        var request = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        while true {
            let left = deadline - .now
            guard left > .zero else { throw SocketError.timeout }
            let milliseconds = left.components.seconds * 1_000 + left.components.attoseconds / 1_000_000_000_000_000
            let result = poll(&request, 1, CInt(clamping: milliseconds + 1))
            if result > 0 { return }
            guard result == 0 || errno == EINTR else { throw SocketError.system(errno) }
        }
    }
}
