import CClientTLS
import Glibc
import Synchronization

/// One blocking connection to a hop on this machine, plain or TLS: the client that is the same for every subject.
///
/// It does as little as possible, to leave the machine to the measured programs.
final class ClientSocket {
    let descriptor: CInt
    private var tls: OpaquePointer?

    /// Connects.
    init(port: UInt16) throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in.loopback(port: port)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw BenchmarkError("connecting to port \(port) failed: errno \(errno)") }
        var on: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Wraps an accepted connection.
    init(accepted descriptor: CInt) {
        self.descriptor = descriptor
        var on: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Begins TLS; the peer must have a certificate for the host, a name or 127.0.0.1, that the client's authority signed.
    func startTLS(_ client: ClientTLS, host: String) throws {
        ERR_clear_error()
        guard let session = SSL_new(client.context) else { throw BenchmarkError("no TLS session") }
        tls = session
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) != 1 {
            SSL_set1_host(session, host)
            _ = host.withCString {
                let name = UnsafeMutableRawPointer(mutating: $0)
                return SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), name)
            }
        }
        SSL_set_fd(session, descriptor)
        guard SSL_connect(session) == 1 else {
            throw BenchmarkError("TLS handshake failed: \(ClientTLS.lastError)")
        }
    }

    func write(_ bytes: [UInt8]) throws {
        var offset = 0
        while offset < bytes.count {
            let written = bytes.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                return if let tls {
                    Int(SSL_write(tls, rest.baseAddress, CInt(rest.count)))
                } else {
                    send(descriptor, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL))
                }
            }
            guard written > 0 else { throw BenchmarkError("writing failed: errno \(errno)") }
            offset += written
        }
    }

    /// Reads the available bytes; returns their number, 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let count =
            if let tls {
                Int(SSL_read(tls, buffer.baseAddress, CInt(buffer.count)))
            } else {
                recv(descriptor, buffer.baseAddress, buffer.count, 0)
            }
        guard count >= 0 else { throw BenchmarkError("reading failed: errno \(errno)") }
        return count
    }

    deinit {
        if let tls {
            SSL_shutdown(tls)
            SSL_free(tls)
        }
        close(descriptor)
    }
}

/// The client's side of TLS; each client has one, because threads share nothing.
final class ClientTLS {
    let context: OpaquePointer

    /// Trusts one authority; sessions are not resumed, and each new connection has a full handshake.
    init(authority: String) throws {
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw BenchmarkError("no TLS context") }
        self.context = context
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        guard SSL_CTX_load_verify_locations(context, authority, nil) == 1 else {
            throw BenchmarkError("\(authority) cannot be trusted: \(ClientTLS.lastError)")
        }
    }

    deinit { SSL_CTX_free(context) }

    /// What OpenSSL says about the last failure of this thread.
    static var lastError: String {
        ERR_reason_error_string(ERR_peek_last_error()).map { String(cString: $0) } ?? "no reason given"
    }
}

extension sockaddr_in {
    /// 127.0.0.1.
    static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}

/// Whether a program accepts connections on a port.
func isAccepting(port: UInt16) -> Bool {
    (try? ClientSocket(port: port)) != nil
}

private let givenPorts = Mutex<Set<UInt16>>([])

/// A port on which no program listens at present, another one at each call.
func freePort() throws -> UInt16 {
    for _ in 0..<1_000 {
        let port = try unusedPort()
        if givenPorts.withLock({ $0.insert(port).inserted }) { return port }
    }
    throw BenchmarkError("no free port")
}

private func unusedPort() throws -> UInt16 {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in.loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
        }
    }
    guard result == 0 else { throw BenchmarkError("no free port: errno \(errno)") }
    return UInt16(bigEndian: address.sin_port)
}
