import Files
import Foundation
import NIOCore

/// Finds the connections of a command's processes that do not lead to the proxy (Linux).
///
/// Needs no privileges. It misses a connection that is opened and closed between two looks, and those of processes of
/// another user or in another network namespace.
struct BypassScan {
    private static let dns: UInt16 = 53
    /// More than a user reads, so that a program that scans ports does not fill our memory.
    private static let mostReported = 1_000
    /// How often a new socket may be missing from the table before it is taken for one that is not of TCP.
    private static let mostGlances = 5

    /// Where Sluice listens.
    private let listeners: [SocketEndpoint]
    private let table = SocketTable()
    private var tree: ProcessTree
    /// The number of the newest process of the system when the tree was last refreshed.
    private var newestProcess: Substring?
    /// How often each open socket of the command was seen by ``hasNewSocket()``.
    private var glances: [UInt64: Int] = [:]
    /// The programs of the command's processes, as far as ``sample()`` saw them.
    private(set) var programs: Set<String> = []
    /// Sockets whose owner was already searched for.
    private var examined: Set<UInt64> = []
    /// Ports on which some process listens or did: their connections came in, and were not made by the command.
    private var listening: Set<UInt16> = []
    private var reported: Set<BypassedConnection> = []

    /// Prepares for a command that is not started yet and that alone gets `variable`, as `NAME=VALUE`. Connections to the
    /// `listeners` are none past the proxy.
    init(variable: String, listeners: [SocketAddress]) {
        self.listeners = listeners.compactMap { SocketEndpoint($0) }
        tree = ProcessTree(variable: variable)
    }

    mutating func start(_ root: pid_t) { tree.start(root) }

    /// Whether a process of the command has opened a socket, so that ``sample()`` may find a connection; takes much less
    /// time than that for a few processes.
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
        // Reading the open files of every process is the expensive part, and needless where no socket is new.
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

    /// The connections of this network namespace, of any process.
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
