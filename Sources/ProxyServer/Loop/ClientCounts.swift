import Foundation
import NIOCore
import Synchronization

package struct ConnectionLimits: Sendable, Hashable {
    /// The connections of all clients; further connections wait until others end.
    package var inAll: Int { didSet { isGiven = true } }
    /// Whether the user set a limit; if not, the limit is half of the descriptors.
    private var isGiven: Bool
    /// The connections of one client address; further ones are closed at once. 0 for the default of ``perClient(_:)``.
    package var perClient: Int

    package static let range = 1...1_000_000

    /// By default, clients may have half of the process's descriptors, because each may need a server. A client of
    /// another machine may have 1,000 connections, but at most half of all; one of this machine has no limit.
    package init(inAll: Int? = nil, perClient: Int = 0) {
        self.inAll = inAll ?? ConnectionLimits.half
        isGiven = inAll != nil
        self.perClient = perClient
    }

    /// Descriptors that are left for files, and the least number for clients.
    package static let (files, least) = (64, 16)

    /// Half of the process's descriptors without those for files.
    package static var half: Int {
        var limit = rlimit()
        guard getrlimit(ClientCounts.openFiles, &limit) == 0 else { return 512 }
        return half(of: Int(clamping: min(limit.rlim_cur, 2_000_000)))
    }

    static func half(of descriptors: Int) -> Int { max(least, (descriptors - files) / 2) }

    /// Why clients may have no more connections, as the end of a sentence.
    var reason: String {
        isGiven
            ? "--max-connections allows no more"
            : "'ulimit -n' has room for no more, with as many servers and \(ConnectionLimits.files) files"
    }

    var hint: String {
        isGiven
            ? "Raise --max-connections, within 'ulimit -n'."
            : "Raise 'ulimit -n', or --max-connections if not every client needs a server."
    }

    package static let perForeignClient = 1_000

    func perClient(_ address: SocketAddress) -> Int {
        if perClient > 0 { return perClient }
        return AccessRules().allows(address) ? .max : min(ConnectionLimits.perForeignClient, max(1, inAll / 2))
    }
}

/// Counts the open connections of all clients, and of each.
final class ClientCounts: Sendable {
    #if canImport(Glibc)
    fileprivate static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    fileprivate static let openFiles = RLIMIT_NOFILE
    #endif

    private struct State {
        var total = 0
        var byClient: [[UInt8]: Int] = [:]
        var lastWarning: NIODeadline?
    }

    private let limits: ConnectionLimits
    private let state = Mutex(State())

    init(_ limits: ConnectionLimits) { self.limits = limits }

    enum Admission: Hashable {
        case admitted
        /// The client has too many connections; `isNew` if none of these was logged in the last minute.
        case tooMany(limit: Int, isNew: Bool)
    }

    func count(_ channel: any Channel) {
        state.withLock { $0.total += 1 }
        channel.closeFuture.whenComplete { [self] _ in state.withLock { $0.total -= 1 } }
    }

    /// Counts a client's connection until it is closed, if the client may have one more.
    func admit(_ channel: any Channel, now: NIODeadline) -> Admission {
        let address = channel.remoteAddress
        let client = address.flatMap(AccessRules.Network.bytes) ?? []
        let limit = address.map(limits.perClient) ?? .max
        let admission = state.withLock { state -> Admission in
            let count = state.byClient[client] ?? 0
            guard count < limit else {
                let isNew = state.lastWarning.map { now - $0 > .minutes(1) } ?? true
                if isNew { state.lastWarning = now }
                return .tooMany(limit: limit, isNew: isNew)
            }
            state.byClient[client] = count + 1
            return .admitted
        }
        if admission == .admitted { channel.closeFuture.whenComplete { [self] _ in ended(client) } }
        return admission
    }

    private func ended(_ client: [UInt8]) {
        state.withLock { state in
            let count = (state.byClient[client] ?? 1) - 1
            state.byClient[client] = count > 0 ? count : nil
        }
    }

    /// The limit of all clients with its reason, as the end of a sentence.
    var bound: String { "clients have \(limits.inAll) connections, and \(limits.reason)" }

    var isFull: Bool { state.withLock { $0.total >= limits.inAll } }
}

/// Remembers refused addresses, so that each is logged once.
final class RefusedClients: Sendable {
    private let known = Mutex<Set<String>>([])

    private static let most = 1_000

    func new(_ address: SocketAddress?) -> String? {
        guard let place = address.map(describe) else { return nil }
        // The next connection has another port.
        let name = String(place.prefix(upTo: place.lastIndex(of: ":") ?? place.endIndex))
        return known.withLock { known in
            known.count < RefusedClients.most && known.insert(name).inserted ? name : nil
        }
    }
}
