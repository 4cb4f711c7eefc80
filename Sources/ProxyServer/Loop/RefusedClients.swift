import NIOCore
import Synchronization

/// Addresses without permission, so that each is logged once.
final class RefusedClients: Sendable {
    private let known = Mutex<Set<String>>([])

    /// Beyond this number of addresses no more are logged.
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
