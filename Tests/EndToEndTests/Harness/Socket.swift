import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A blocking TCP socket for tests: what it reads and writes is exactly what stands on the wire.
///
/// Every wait ends.
final class Socket: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let descriptor: Int32
    private let unread = Mutex<[UInt8]>([])
    private let isClosed = Mutex(false)

    /// How long any single wait may take, in milliseconds.
    static let patience: Int32 = 120_000

    init(descriptor: Int32) {
        self.descriptor = descriptor
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close() }

    /// Connects to a port of this machine.
    convenience init(port: Int) throws {
        let descriptor = Socket.make()
        var address = Socket.loopback(port)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        self.init(descriptor: descriptor)
        guard status == 0 else { throw Failure(description: "cannot connect to port \(port): errno \(errno)") }
    }

    static func make() -> Int32 {
        #if canImport(Glibc)
        socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
        socket(AF_INET, SOCK_STREAM, 0)
        #endif
    }

    static func loopback(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    // MARK: - Writing

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends all bytes, waiting for the peer to take them.
    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count { sent += try sendSome(bytes[sent...]) }
    }

    /// Sends what the peer takes now; waits only where that would be nothing.
    func sendSome(_ bytes: ArraySlice<UInt8>, patience: Int32 = Socket.patience) throws -> Int {
        try wait(for: POLLOUT, patience)
        let count = bytes.withUnsafeBytes { Self.send(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else {
            if errno == EAGAIN { return 0 }
            throw Failure(description: "cannot send: errno \(errno)")
        }
        return count
    }

    private static func send(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
        Glibc.send(descriptor, bytes, count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        #else
        Darwin.send(descriptor, bytes, count, MSG_DONTWAIT)
        #endif
    }

    // MARK: - Reading

    /// The next bytes, whatever their number; none at the end.
    func receive(limit: Int = 1 << 16, patience: Int32 = Socket.patience) throws -> [UInt8] {
        let kept = unread.withLock { bytes in
            let kept = bytes
            bytes = []
            return kept
        }
        return kept.isEmpty ? try receiveFresh(limit, patience) : kept
    }

    private func receiveFresh(_ limit: Int, _ patience: Int32 = Socket.patience) throws -> [UInt8] {
        try wait(for: POLLIN, patience)
        let (bytes, problem) = Socket.recv(descriptor, limit)
        if let problem { throw Failure(description: "cannot receive: errno \(problem)") }
        return bytes
    }

    private static func recv(_ descriptor: Int32, _ limit: Int) -> ([UInt8], Int32?) {
        var problem: Int32?
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let got = systemRead(descriptor, buffer.baseAddress, limit)
            if got < 0 { problem = errno }
            count = max(0, got)
        }
        return (bytes, problem)
    }

    /// Reads up to and including an ending, as Latin-1 text.
    func read(until ending: String) throws -> String {
        let ending = Array(ending.utf8)
        var bytes: [UInt8] = []
        while true {
            let fresh = try receive()
            guard !fresh.isEmpty else {
                throw Failure(description: "the peer ended after \(latin1(bytes).debugDescription)")
            }
            let from = max(0, bytes.count - ending.count)
            bytes += fresh
            if let end = bytes[from...].firstRange(of: ending)?.upperBound {
                let rest = Array(bytes[end...])
                unread.withLock { $0 = rest }
                return latin1(bytes[..<end])
            }
        }
    }

    /// Reads a message's head, with the empty line.
    func readHead() throws -> String { try read(until: "\r\n\r\n") }

    /// Reads exactly so many bytes.
    func read(count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let fresh = try receive()
            guard !fresh.isEmpty else {
                throw Failure(description: "the peer ended after \(bytes.count) of \(count) bytes")
            }
            bytes += fresh
        }
        let rest = Array(bytes[count...])
        unread.withLock { $0 = rest }
        return Array(bytes[..<count])
    }

    /// Reads until the peer ends; a reset counts as an end where `toleratingReset` is set.
    func readToEnd(toleratingReset: Bool = false) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            do {
                let fresh = try receive()
                if fresh.isEmpty { return bytes }
                bytes += fresh
            } catch {
                if toleratingReset, !"\(error)".contains("came within") { return bytes }
                throw error
            }
        }
    }

    /// Reads the chunks of a body up to and including the trailer section, as they stand on the wire.
    func readChunked() throws -> (body: [UInt8], trailers: String) {
        var body: [UInt8] = []
        while true {
            let line = try read(until: "\r\n")
            guard let size = Int(line.prefix { $0.isHexDigit }, radix: 16) else {
                throw Failure(description: "no chunk size: \(line.debugDescription)")
            }
            if size == 0 { break }
            body += try read(count: size)
            _ = try read(until: "\r\n")
        }
        var trailers = ""
        while true {
            let line = try read(until: "\r\n")
            if line == "\r\n" { return (body, trailers) }
            trailers += line
        }
    }

    // MARK: - Ending

    /// Sends no more.
    func finish() { end(Int32(SHUT_WR)) }

    /// Wakes up whoever waits for this socket.
    func interrupt() { end(Int32(SHUT_RDWR)) }

    /// Under the lock, so that a descriptor that was closed and given to somebody else is left alone.
    private func end(_ how: Int32) { isClosed.withLock { if !$0 { shutdown(descriptor, how) } } }

    func close() {
        isClosed.withLock { isClosed in
            if !isClosed { _ = systemClose(descriptor) }
            isClosed = true
        }
    }

    /// Closes with a TCP reset.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Makes the kernel's receive buffer small, so that a reader who does not read is soon felt.
    func limitReceiveBuffer(to bytes: Int32) {
        var bytes = bytes
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    private func wait(for event: Int32, _ patience: Int32) throws {
        var poller = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        guard poll(&poller, 1, patience) == 1 else {
            throw Failure(description: "nothing came within \(patience) ms")
        }
    }
}

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

/// Bytes as text in which each byte is one character.
func latin1(_ bytes: some Sequence<UInt8>) -> String {
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: bytes.map { Unicode.Scalar($0) })
    return String(scalars)
}

/// Text in which each character is one byte.
func latin1Bytes(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
