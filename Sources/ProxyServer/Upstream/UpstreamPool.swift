import NIOCore
import Wire

/// The idle connections to servers of one event loop.
final class UpstreamPool {
    /// What must be the same for a connection to be used again.
    struct Key: Hashable {
        let scheme: String
        let host: String
        let port: Int
        let serverName: String?
        let address: String?
        let skipsVerification: Bool
        let isLegacy: Bool
    }

    private var idle: [Key: [HTTP1UpstreamConnection]] = [:]

    /// Takes the connection that became idle last: it is the least likely to be closed by the server just now.
    func take(_ key: Key) -> HTTP1UpstreamConnection? {
        while let connection = idle[key]?.popLast() {
            if connection.isUsable { return connection }
        }
        return nil
    }

    func put(_ connection: HTTP1UpstreamConnection) {
        idle[connection.key, default: []].append(connection)
    }

    /// Forgets a connection that was closed while idle.
    func remove(_ connection: HTTP1UpstreamConnection) {
        guard var connections = idle[connection.key] else { return }
        connections.removeAll { $0 === connection }
        idle[connection.key] = connections.isEmpty ? nil : connections
    }

    /// Closes what has been idle since before a moment, and returns how many connections that were.
    @discardableResult
    func closeIdle(before moment: NIODeadline) -> Int {
        let old = idle.values.flatMap(\.self).filter { $0.idleSince < moment }
        for connection in old { connection.close() }
        return old.count
    }

    func closeAll() {
        let connections = idle.values.flatMap(\.self)
        idle = [:]
        for connection in connections { connection.close() }
    }
}
