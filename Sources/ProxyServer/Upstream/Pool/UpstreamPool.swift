import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// The connections to servers of one event loop, by what they must have in common.
final class UpstreamPool {
    struct Key: Hashable {
        let destination: Destination
        let skipsVerification: Bool
        let isLegacy: Bool
        let proxy: UpstreamProxy?
        let identity: TLSClientIdentity?
    }

    private var idle: [Key: [HTTP1UpstreamLayer]] = [:]
    private var origins: [Key: UpstreamOrigin] = [:]

    /// Beyond this number, origins without a connection are forgotten.
    private static let keptOrigins = 1_000

    func origin(_ key: Key) -> UpstreamOrigin {
        if let origin = origins[key] { return origin }
        let origin = UpstreamOrigin()
        origins[key] = origin
        return origin
    }

    /// The newest one: the server is least likely to close it now.
    func take(_ key: Key) -> HTTP1UpstreamLayer? {
        while let connection = idle[key]?.popLast() {
            if connection.isUsable { return connection }
        }
        return nil
    }

    func put(_ connection: HTTP1UpstreamLayer) { idle[connection.key, default: []].append(connection) }

    /// A fresh connection takes its place.
    func closeOldest(_ key: Key) {
        guard let oldest = idle[key]?.first else { return }
        remove(oldest)
        oldest.close()
    }

    func remove(_ connection: HTTP1UpstreamLayer) {
        guard var connections = idle[connection.key] else { return }
        connections.removeAll { $0 === connection }
        idle[connection.key] = connections.isEmpty ? nil : connections
    }

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
