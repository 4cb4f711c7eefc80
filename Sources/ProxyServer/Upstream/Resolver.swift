import HTTPModel
import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Looks up host names with the system's resolver, away from the event loops.
final class Resolver: Sendable {
    private let threads = NIOThreadPool.singleton

    /// The addresses of a host, in the order in which to try them; fails with an `ExchangeFailure`.
    func resolve(_ host: String, port: Int, on eventLoop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        threads.runIfActive(eventLoop: eventLoop) { try Resolver.lookUp(host, port: port) }
    }

    /// The address that a host is the text of; `nil` for a name.
    static func address(_ host: String, port: Int) -> SocketAddress? {
        try? SocketAddress(ipAddress: host, port: port)
    }

    private static func lookUp(_ host: String, port: Int) throws -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(streamSocket)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        var status = getaddrinfo(host, String(port), &hints, &list)
        if status == EAI_NONAME || status == addressFamilyMissing {
            // Without any address but loopback's, AI_ADDRCONFIG hides even localhost.
            hints.ai_flags = 0
            status = getaddrinfo(host, String(port), &hints, &list)
        }
        guard status == 0 else { throw failure(host, status) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = list
        while let info = entry {
            entry = info.pointee.ai_next
            guard let address = info.pointee.ai_addr else { continue }
            switch info.pointee.ai_family {
            case AF_INET:
                address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    addresses.append(SocketAddress($0.pointee))
                }
            case AF_INET6:
                address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    addresses.append(SocketAddress($0.pointee))
                }
            default: break
            }
        }
        guard !addresses.isEmpty else { throw failure(host, EAI_NONAME) }
        return interleaved(addresses)
    }

    /// Alternates between the families, so that one that leads nowhere costs one attempt (RFC 8305 §4).
    private static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let first = addresses.first else { return [] }
        var same = addresses.filter { $0.protocol == first.protocol }[...]
        var other = addresses.filter { $0.protocol != first.protocol }[...]
        var mixed: [SocketAddress] = []
        while !same.isEmpty || !other.isEmpty {
            if let next = same.popFirst() { mixed.append(next) }
            if let next = other.popFirst() { mixed.append(next) }
        }
        return mixed
    }

    private static func failure(_ host: String, _ status: CInt) -> ExchangeFailure {
        let reason = gai_strerror(status).map { String(cString: $0) } ?? "error \(status)"
        let hint =
            status == EAI_AGAIN
            ? "The name server did not answer; check the network connection."
            : "Check the spelling of the name, and whether this machine can resolve it."
        return ExchangeFailure(.dns, "The name \(host) could not be resolved: \(reason).", hint: hint)
    }
}

#if canImport(Glibc)
private let streamSocket = SOCK_STREAM.rawValue
/// glibc's EAI_ADDRFAMILY, a GNU extension that its header hides: the host has no address of the wanted family.
private let addressFamilyMissing: CInt = -9
#else
private let streamSocket = SOCK_STREAM
private let addressFamilyMissing = EAI_NONAME
#endif
