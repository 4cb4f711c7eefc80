import Files
import Foundation
import NIOCore

/// Finds the connections of a command's processes that do not lead to the proxy (Linux).
///
/// It needs no privileges. It misses connections that are opened and closed between two scans, and connections of
/// processes of another user or in another network namespace.
struct BypassScan {
    private static let dns: UInt16 = 53
    /// Limits the reports about a program that scans ports.
    private static let mostReported = 1_000
    /// A new socket that is missing from the table this many times is not a TCP socket.
    private static let mostGlances = 5

    private let listeners: [SocketEndpoint]
    private let table = SocketTable()
    private var tree: ProcessTree
    /// The newest process when the tree was last refreshed.
    private var newestProcess: Substring?
    /// How often ``hasNewSocket()`` saw each open socket of the command.
    private var glances: [UInt64: Int] = [:]
    private(set) var programs: Set<String> = []
    private var examined: Set<UInt64> = []
    /// Ports on which any process listens or listened. A connection of such a local port is incoming.
    private var listening: Set<UInt16> = []
    private var reported: Set<BypassedConnection> = []

    /// For a command that starts later; only that command gets `variable` (`NAME=VALUE`). `listeners` are the proxy's.
    init(variable: String, listeners: [SocketAddress]) {
        self.listeners = listeners.compactMap { SocketEndpoint($0) }
        tree = ProcessTree(variable: variable)
    }

    mutating func start(_ root: pid_t) { tree.start(root) }

    /// Whether the command has a new socket, which may be a connection. Much cheaper than ``sample()``.
    mutating func hasNewSocket() -> Bool {
        let newest = ProcessFiles.newest
        if newest == nil || newest != newestProcess {
            newestProcess = newest
            if tree.refresh() { examined = [] }
        }
        var hasNew = false
        var open: [UInt64: Int] = [:]
        for pid in tree.members {
            ProcessFiles.forEachSocket(of: pid) { inode in
                let count = min(Self.mostGlances, glances[inode] ?? 0) + 1
                open[inode] = count
                if count <= Self.mostGlances, !examined.contains(inode) { hasNew = true }
            }
        }
        glances = open
        return hasNew
    }

    /// The new connections; each destination of each process once.
    mutating func sample() -> [BypassedConnection] {
        if tree.refresh() { examined = [] }
        programs.formUnion(tree.members.map { ProcessFiles.program(of: $0) }.prefix(Self.mostReported))
        let candidates = candidates()
        examined.formIntersection(candidates.keys)
        // Reading the open files of every process is expensive.
        guard candidates.keys.contains(where: { !examined.contains($0) }) else { return [] }
        var found: [BypassedConnection] = []
        for pid in tree.members.sorted() {
            ProcessFiles.forEachSocket(of: pid) { inode in
                guard let row = candidates[inode], examined.insert(inode).inserted else { return }
                let connection = BypassedConnection(
                    address: row.remote.text,
                    port: Int(row.remote.port),
                    process: ProcessFiles.program(of: pid),
                    pid: pid,
                    isLocal: row.isLocal
                )
                guard reported.count < Self.mostReported else { return }
                if reported.insert(connection).inserted { found.append(connection) }
            }
        }
        examined.formUnion(candidates.keys)
        return found
    }

    /// The connections in this network namespace, of any process, that bypass the proxy, by inode.
    private mutating func candidates() -> [UInt64: SocketRow] {
        var candidates: [UInt64: SocketRow] = [:]
        table.read { row in
            if row.state == SocketRow.State.listen {
                listening.insert(row.local.port)
            } else if row.inode != 0, passesProxy(row) {
                candidates[row.inode] = row
            }
        }
        return candidates.filter { !listening.contains($0.value.local.port) }
    }

    /// Whether a connection leads neither to Sluice nor to a DNS server.
    func passesProxy(_ row: SocketRow) -> Bool {
        if row.remote.port == Self.dns { return false }
        return !listeners.contains { listener in
            row.remote.port == listener.port
                && (row.remote.address == listener.address || listener.isUnspecified && row.isLocal)
        }
    }
}
