import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// The connections to servers of one event loop, by what must be the same for one to be used again.
final class UpstreamPool {
    struct Key: Hashable {
        let destination: Destination
        let skipsVerification: Bool
        let isLegacy: Bool
        /// The proxy that they go through.
        let proxy: UpstreamProxy?
        /// What is shown to the server if it asks.
        let identity: TLSClientIdentity?
    }

    /// The idle connections that speak HTTP/1.
    private var idle: [Key: [HTTP1UpstreamLayer]] = [:]
    /// The servers that may speak HTTP/2.
    private var origins: [Key: UpstreamOrigin] = [:]

    /// Beyond this number, origins without a connection are forgotten.
    private static let keptOrigins = 1_000

    func origin(_ key: Key) -> UpstreamOrigin {
        if let origin = origins[key] { return origin }
        let origin = UpstreamOrigin()
        origins[key] = origin
        return origin
    }

    /// Takes the connection that became idle last: the server is the least likely to close it just now.
    func take(_ key: Key) -> HTTP1UpstreamLayer? {
        while let connection = idle[key]?.popLast() {
            if connection.isUsable { return connection }
        }
        return nil
    }

    func put(_ connection: HTTP1UpstreamLayer) { idle[connection.key, default: []].append(connection) }

    /// Closes the one that has been idle for the longest time: a fresh one takes its place.
    func closeOldest(_ key: Key) {
        guard let oldest = idle[key]?.first else { return }
        remove(oldest)
        oldest.close()
    }

    /// Forgets a connection that was closed while idle.
    func remove(_ connection: HTTP1UpstreamLayer) {
        guard var connections = idle[connection.key] else { return }
        connections.removeAll { $0 === connection }
        idle[connection.key] = connections.isEmpty ? nil : connections
    }

    /// Closes what has been idle since before a moment; returns how many connections that were.
    @discardableResult
    func closeIdle(before moment: NIODeadline) -> Int {
        let old = idle.values.flatMap(\.self).filter { $0.idleSince < moment }
        for connection in old { connection.close() }
        let multiplexed = origins.values.reduce(0) { $0 + $1.closeIdle(before: moment) }
        if origins.count > UpstreamPool.keptOrigins { origins = origins.filter { !$0.value.isForgettable } }
        return old.count + multiplexed
    }

    func closeAll() {
        let connections = idle.values.flatMap(\.self)
        idle = [:]
        for connection in connections { connection.close() }
        for origin in origins.values { origin.closeAll() }
        origins = [:]
    }
}
