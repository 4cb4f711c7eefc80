import ExchangeCore
import HTTPModel
import NIOCore

/// Looks up both families of a name at once, and reports each as soon as it may be used (RFC 8305 §3).
final class AddressSearch {
    struct Found {
        var addresses: [SocketAddress]
        var isLast: Bool
    }

    typealias Outcome = Result<Found, ExchangeFailure>

    private enum Family { case waiting, failed, found }

    private let loop: LoopContext
    private let host: String
    private let client: ClientKey
    private var inquiries: [Resolver.Inquiry] = []
    private var v4 = Family.waiting
    private var v6 = Family.waiting
    /// IPv4 addresses that wait for those of IPv6.
    private var early: [SocketAddress] = []
    private var delay: Scheduled<Void>?
    private var report: ((Outcome) -> Void)?

    /// How long IPv4 addresses wait for those of IPv6 (RFC 8305 §8, Resolution Delay).
    static let resolutionDelay = TimeAmount.milliseconds(50)

    init(_ host: String, for client: ClientKey, loop: LoopContext) {
        self.host = host
        self.client = client
        self.loop = loop
    }

    /// Begins; `report` is called once or twice with addresses, or once with a failure.
    func start(_ report: @escaping (Outcome) -> Void) {
        self.report = report
        for family in [AddressFamily.v6, .v4] { ask(family) }
    }

    func cancel() {
        report = nil
        delay?.cancel()
        for inquiry in inquiries { loop.shared.resolver.withdraw(inquiry) }
        inquiries = []
    }

    private func ask(_ family: AddressFamily) {
        let inquiry = loop.shared.resolver.resolve(host, family, for: client, on: loop.eventLoop)
        inquiries.append(inquiry)
        inquiry.addresses.assumeIsolated().whenComplete { [self] result in
            guard report != nil else { return }
            switch family {
            case .v6: foundV6(result)
            case .v4: foundV4(result)
            case .any: foundAny(result)
            }
        }
    }

    private func foundV6(_ result: Result<[SocketAddress], any Error>) {
        delay?.cancel()
        guard case .success(let addresses) = result else {
            v6 = .failed
            return oneFailed(other: v4)
        }
        v6 = .found
        tell(addresses + early, isLast: v4 != .waiting)
    }

    private func foundV4(_ result: Result<[SocketAddress], any Error>) {
        guard case .success(let addresses) = result else {
            v4 = .failed
            return oneFailed(other: v6)
        }
        v4 = .found
        guard v6 == .waiting else { return tell(addresses, isLast: true) }
        early = addresses
        delay = loop.eventLoop.assumeIsolated().scheduleTask(in: Self.resolutionDelay) { [self] in
            tell(early, isLast: false)
            early = []
        }
    }

    private func oneFailed(other: Family) {
        switch other {
        case .waiting: break
        case .failed: ask(.any)
        case .found: tell(early, isLast: true)
        }
    }

    /// The system's answer for any family: addresses for a name of this machine, or the reason for the failure.
    private func foundAny(_ result: Result<[SocketAddress], any Error>) {
        switch result {
        case .success(let addresses): tell(addresses, isLast: true)
        case .failure(let error):
            let text = "The name \(host) could not be resolved: \(error)."
            end(.failure(error as? ExchangeFailure ?? ExchangeFailure(.dns, text)))
        }
    }

    private func tell(_ addresses: [SocketAddress], isLast: Bool) {
        let outcome = Outcome.success(Found(addresses: addresses, isLast: isLast))
        if isLast { end(outcome) } else { report?(outcome) }
    }

    private func end(_ outcome: Outcome) {
        let report = report
        self.report = nil
        report?(outcome)
    }
}

/// The addresses to try; families take turns, IPv6 first (RFC 8305 §4).
struct AddressQueue {
    private var v6: ArraySlice<SocketAddress> = []
    private var v4: ArraySlice<SocketAddress> = []
    private var isV4Next = false
    /// All added addresses: `/etc/hosts` may list an address twice.
    private var known: Set<SocketAddress> = []

    var isEmpty: Bool { v6.isEmpty && v4.isEmpty }

    mutating func add(_ addresses: [SocketAddress]) {
        for address in addresses where known.insert(address).inserted {
            if address.protocol == .inet6 { v6.append(address) } else { v4.append(address) }
        }
    }

    mutating func putBack(_ address: SocketAddress) {
        if address.protocol == .inet6 { v6 = [address] + v6 } else { v4 = [address] + v4 }
        isV4Next = address.protocol != .inet6
    }

    mutating func next() -> SocketAddress? {
        let takesV4 = v6.isEmpty || isV4Next && !v4.isEmpty
        isV4Next = !takesV4
        return takesV4 ? v4.popFirst() : v6.popFirst()
    }
}

/// Looks up the name that a client uses for its tunnel's address, and checks that the name has this address.
final class NameCheck {
    private let address: String
    private let search: AddressSearch
    private var limit: Scheduled<Void>?
    private var report: ((Bool) -> Void)?

    /// Begins; `report` is called once, but not after `cancel`.
    init(
        _ name: String,
        _ address: String,
        for client: ClientKey,
        loop: LoopContext,
        then report: @escaping (Bool) -> Void
    ) {
        self.address = address
        self.report = report
        search = AddressSearch(name, for: client, loop: loop)
        let amount = loop.configuration.timeouts.connect
        limit = loop.eventLoop.assumeIsolated().scheduleTask(in: amount) { [self] in end(false) }
        search.start { [self] outcome in
            guard case .success(let found) = outcome else { return end(false) }
            let isFound = found.addresses.contains {
                $0.ipAddress.flatMap { HostAddress.canonical($0[...]) } == address
            }
            if isFound || found.isLast { end(isFound) }
        }
    }

    func cancel() {
        report = nil
        limit?.cancel()
        search.cancel()
    }

    private func end(_ isFound: Bool) {
        let report = report
        cancel()
        report?(isFound)
    }
}
