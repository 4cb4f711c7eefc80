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

    /// The newest idle connection: the server is least likely to close this one now.
    func take(_ key: Key) -> HTTP1UpstreamLayer? {
        while let connection = idle[key]?.popLast() {
            if connection.isUsable { return connection }
        }
        return nil
    }

    func put(_ connection: HTTP1UpstreamLayer) { idle[connection.key, default: []].append(connection) }

    /// Closes the oldest idle connection; a fresh one replaces it.
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
