import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Synchronization
import Wire

enum AddressFamily: Sendable, Hashable {
    case v4, v6
    /// Both, even if this machine has only loopback addresses of a family.
    case any
}

/// Looks up names with the system's resolver, each on its own thread. A client's simultaneous requests for a name share
/// one look-up. A name server that does not answer delays nothing else.
final class Resolver: Sendable {
    struct Inquiry {
        /// Without ports, in the order to try them; fails with an `ExchangeFailure`, or `CancellationError` after a
        /// withdrawal.
        let addresses: EventLoopFuture<[SocketAddress]>
        fileprivate let key: Names.Key
        fileprivate let number: Int?
    }

    /// Default limits of simultaneous and of waiting questions.
    static let (mostAtOnce, mostWaiting) = (384, 2_000)

    typealias LookUp = @Sendable (_ host: String, _ family: AddressFamily) throws -> [SocketAddress]

    fileprivate struct Question: Hashable {
        let host: String
        let family: AddressFamily
    }

    private let lookUp: LookUp
    fileprivate typealias Names = NameLookUps<Question, EventLoopPromise<[SocketAddress]>>
    private let names: Mutex<Names>

    /// `limit` is for running questions that are awaited, `threadLimit` for all running ones, `queueLimit` for waiting
    /// ones; each family of a name is one question. `lookUp` may block.
    init(
        limit: Int = mostAtOnce,
        threadLimit: Int = 512,
        queueLimit: Int = mostWaiting,
        lookUp: @escaping LookUp = Resolver.addresses(of:family:)
    ) {
        self.lookUp = lookUp
        names = Mutex(NameLookUps(limit: limit, threadLimit: threadLimit, queueLimit: queueLimit))
    }

    func resolve(
        _ host: String,
        _ family: AddressFamily,
        for client: ClientKey,
        on eventLoop: any EventLoop
    ) -> Inquiry {
        let promise = eventLoop.makePromise(of: [SocketAddress].self)
        let key = Names.Key(name: Question(host: host, family: family), client: client)
        let number = names.withLock { $0.add(promise, for: key) }
        if number == nil {
            let text = "The name \(host) was not looked up, since too many others wait for an answer."
            promise.fail(ExchangeFailure(.dns, text, hint: Resolver.unanswered))
        }
        startNext()
        return Inquiry(addresses: promise.futureResult, key: key, number: number)
    }

    func withdraw(_ inquiry: Inquiry) {
        guard let number = inquiry.number else { return }
        names.withLock { $0.remove(number, for: inquiry.key) }?.fail(CancellationError())
        startNext()
    }

    private func startNext() {
        while let key = names.withLock({ $0.next() }) {
            Thread.detachNewThread { [self] in
                let result = Result { try lookUp(HostName.inASCII(key.name.host), key.name.family) }
                // In one step, so that a withdrawn question is never answered later.
                names.withLock { for waiter in $0.finished(key) { waiter.completeWith(result) } }
                startNext()
            }
        }
    }

    /// The address if the host is the text of one; `nil` for a name.
    static func address(_ host: String, port: Int) -> SocketAddress? { try? SocketAddress(ipAddress: host, port: port) }

    /// The addresses of a host, in the order in which to try them; blocks.
    @Sendable
    static func addresses(of host: String, family: AddressFamily) throws -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(streamSocket)
        switch family {
        case .v4: hints.ai_family = AF_INET
        case .v6: hints.ai_family = AF_INET6
        case .any: hints.ai_family = AF_UNSPEC
        }
        // If this machine has only loopback addresses, AI_ADDRCONFIG hides even localhost.
        let isHere = host == "localhost" || host.hasSuffix(".localhost")
        hints.ai_flags = family == .any || isHere ? 0 : AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        guard status == 0, let list else { throw failure(host, status) }
        defer { freeaddrinfo(list) }
        let addresses = sequence(first: list) { $0.pointee.ai_next }.compactMap { info -> SocketAddress? in
            guard let address = info.pointee.ai_addr else { return nil }
            return switch info.pointee.ai_family {
            case AF_INET: address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) }
            case AF_INET6: address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee) }
            default: nil
            }
        }
        guard !addresses.isEmpty else { throw failure(host, EAI_NONAME) }
        return addresses
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
#else
private let streamSocket = SOCK_STREAM
#endif
