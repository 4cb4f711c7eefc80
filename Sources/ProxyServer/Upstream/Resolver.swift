import Foundation
import HTTPModel
import NIOCore
import Synchronization

/// Looks up host names with the system's resolver, each on a thread of its own.
///
/// A name that is being looked up is not looked up again. A name server that does not answer for some names holds up
/// neither others nor what else is done away from the event loops.
final class Resolver: Sendable {
    /// A name that somebody waits for.
    struct Inquiry {
        /// The addresses, without a port, in the order in which to try them; fails with an `ExchangeFailure`, and with
        /// `CancellationError` where it was taken back.
        let addresses: EventLoopFuture<[SocketAddress]>
        fileprivate let host: String
        fileprivate let number: Int?
    }

    private let lookUp: @Sendable (_ host: String) throws -> [SocketAddress]
    private let names: Mutex<NameLookUps<EventLoopPromise<[SocketAddress]>>>

    /// At most `limit` names that somebody waits for are looked up at a time, and `threadLimit` in all, those included
    /// that nobody waits for any more; `lookUp` may block.
    init(
        limit: Int = 192,
        threadLimit: Int = 256,
        lookUp: @escaping @Sendable (_ host: String) throws -> [SocketAddress] = Resolver.addresses(of:)
    ) {
        self.lookUp = lookUp
        names = Mutex(NameLookUps(limit: limit, threadLimit: threadLimit, queueLimit: 1_000))
    }

    func resolve(_ host: String, on eventLoop: any EventLoop) -> Inquiry {
        let promise = eventLoop.makePromise(of: [SocketAddress].self)
        let number = names.withLock { $0.add(promise, for: host) }
        if number == nil {
            let text = "The name \(host) was not looked up, since too many others wait for an answer."
            promise.fail(ExchangeFailure(.dns, text, hint: Resolver.unanswered))
        }
        startNext()
        return Inquiry(addresses: promise.futureResult, host: host, number: number)
    }

    func withdraw(_ inquiry: Inquiry) {
        guard let number = inquiry.number else { return }
        names.withLock { $0.remove(number, for: inquiry.host) }?.fail(CancellationError())
        startNext()
    }

    private func startNext() {
        while let host = names.withLock({ $0.next() }) {
            Thread.detachNewThread { [self] in
                let result = Result { try lookUp(host) }
                for waiter in names.withLock({ $0.finished(host) }) { waiter.completeWith(result) }
                startNext()
            }
        }
    }

    /// The address that a host is the text of; `nil` for a name.
    static func address(_ host: String, port: Int) -> SocketAddress? {
        try? SocketAddress(ipAddress: host, port: port)
    }

    /// The addresses of a host, in the order in which to try them; blocks.
    @Sendable
    static func addresses(of host: String) throws -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(streamSocket)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        var status = getaddrinfo(host, nil, &hints, &list)
        if status == EAI_NONAME || status == addressFamilyMissing {
            // Without any address but loopback's, AI_ADDRCONFIG hides even localhost.
            hints.ai_flags = 0
            status = getaddrinfo(host, nil, &hints, &list)
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
                address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { addresses.append(.init($0.pointee)) }
            case AF_INET6:
                address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { addresses.append(.init($0.pointee)) }
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

    static let unanswered = "The name server did not answer; check the network connection."

    private static func failure(_ host: String, _ status: CInt) -> ExchangeFailure {
        let reason = gai_strerror(status).map { String(cString: $0) } ?? "error \(status)"
        let spelling = "Check the spelling of the name, and whether this machine can resolve it."
        let hint = status == EAI_AGAIN ? unanswered : spelling
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
