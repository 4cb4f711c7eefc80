import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// One event loop's connections to servers, by the properties that an exchange and its connection must share.
final class UpstreamPool {
    struct Key: Hashable {
        let destination: Destination
        let skipsVerification: Bool
        let isLegacy: Bool
        let proxy: UpstreamProxy?
        let identity: TLSClientIdentity?
    }

    /// What belongs to one key.
    private final class Shelf {
        let key: Key
        /// Idle connections, the newest last.
        var idle: [HTTP1UpstreamLayer] = []
        /// Set if the server may speak HTTP/2.
        var origin: UpstreamOrigin?

        init(_ key: Key) { self.key = key }
    }

    private var shelves: [Key: Shelf] = [:]
    /// Most requests go where the last one went: then no key is hashed.
    private var latest: Shelf?

    /// Beyond this number, shelves without a connection are forgotten.
    private static let keptShelves = 1_000

    private func shelf(_ key: Key) -> Shelf {
        if let latest, latest.key == key { return latest }
        let shelf = shelves[key] ?? Shelf(key)
        shelves[key] = shelf
        latest = shelf
        return shelf
    }

    func origin(_ key: Key) -> UpstreamOrigin {
        let shelf = shelf(key)
        let origin = shelf.origin ?? UpstreamOrigin()
        shelf.origin = origin
        return origin
    }

    /// The newest idle connection: the server is least likely to close this one now.
    func take(_ key: Key) -> HTTP1UpstreamLayer? {
        let shelf = shelf(key)
        while let connection = shelf.idle.popLast() {
            if connection.isUsable { return connection }
        }
        return nil
    }

    func put(_ connection: HTTP1UpstreamLayer) { shelf(connection.key).idle.append(connection) }

    /// Closes the oldest idle connection; a fresh one replaces it.
    func closeOldest(_ key: Key) {
        guard let oldest = shelf(key).idle.first else { return }
        remove(oldest)
        oldest.close()
    }

    func remove(_ connection: HTTP1UpstreamLayer) { shelf(connection.key).idle.removeAll { $0 === connection } }

    @discardableResult
    func closeIdle(before moment: NIODeadline) -> Int {
        let old = shelves.values.flatMap(\.idle).filter { $0.idleSince < moment }
        for connection in old { connection.close() }
        let multiplexed = shelves.values.reduce(0) { $0 + ($1.origin?.closeIdle(before: moment) ?? 0) }
        if shelves.count > UpstreamPool.keptShelves { forgetEmptyShelves() }
        return old.count + multiplexed
    }

    private func forgetEmptyShelves() {
        shelves = shelves.filter { !$0.value.idle.isEmpty || $0.value.origin?.isForgettable == false }
        latest = nil
    }

    func closeAll() {
        let all = shelves.values
        shelves = [:]
        latest = nil
        for shelf in all {
            for connection in shelf.idle { connection.close() }
            shelf.origin?.closeAll()
        }
    }
}
