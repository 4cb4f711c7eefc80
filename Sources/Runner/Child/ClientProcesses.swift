import Dispatch
import Foundation
import HTTPModel
import NIOCore
import ProxyServer
import Synchronization

/// Finds the processes of this machine that are the proxy's clients (Linux).
///
/// All connections that wait are looked up by one scan on a thread of its own. The time between two scans grows with what
/// a scan takes, so that scanning takes at most a twentieth of one core; connections that come faster than they are looked
/// up are left out. Needs no privileges, and so does not find processes of other users.
final class ClientProcesses: ClientProcessSource {
    fileprivate struct Ends: Hashable {
        var client: SocketEndpoint
        var proxy: SocketEndpoint
    }

    private struct State {
        var waiting: [Ends: @Sendable (ClientProcess) -> Void] = [:]
        var isScheduled = false
    }

    /// What only the scanning thread touches.
    fileprivate struct Scanner {
        let table = SocketTable()
        /// Processes that had a connection lately, the last one first: a browser makes many.
        var recent: [pid_t] = []
    }

    /// How many connections may wait for a scan.
    private static let most = 512
    /// How much longer than a scan the pause after it is.
    private static let rest: UInt64 = 19
    fileprivate static let mostRecent = 16

    private let state = Mutex(State())
    private let scanner = Mutex(Scanner())
    private let queue = DispatchQueue(label: "sluice.client-processes", qos: .utility)

    /// `nil` where this system does not have what the scan reads.
    init?() {
        guard ProcessFiles.exist else { return nil }
    }

    func find(client: SocketAddress, proxy: SocketAddress, deliver: @escaping @Sendable (ClientProcess) -> Void) {
        guard let client = SocketEndpoint(client), let proxy = SocketEndpoint(proxy),
            client.isLoopback || client.address == proxy.address
        else { return }
        let begins = state.withLock { state in
            guard state.waiting.count < Self.most else { return false }
            state.waiting[Ends(client: client, proxy: proxy)] = deliver
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if begins { queue.async { [self] in scan() } }
    }

    private func scan() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting
        }
        let begin = DispatchTime.now().uptimeNanoseconds
        scanner.withLock { $0.scan(waiting) }
        let took = DispatchTime.now().uptimeNanoseconds - begin
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: took * Self.rest))) { [self] in
            let isDone = state.withLock { state in
                if state.waiting.isEmpty { state.isScheduled = false }
                return state.waiting.isEmpty
            }
            if !isDone { scan() }
        }
    }
}

extension ClientProcesses.Scanner {
    fileprivate mutating func scan(_ waiting: [ClientProcesses.Ends: @Sendable (ClientProcess) -> Void]) {
        var wanted: [UInt64: @Sendable (ClientProcess) -> Void] = [:]
        table.read { row in
            guard row.inode != 0 else { return }
            let ends = ClientProcesses.Ends(client: row.local, proxy: row.remote)
            if let deliver = waiting[ends] { wanted[row.inode] = deliver }
        }
        look(in: recent, for: &wanted)
        // What has just begun has the highest numbers, most of the time.
        if !wanted.isEmpty { look(in: ProcessFiles.all().sorted(by: >), for: &wanted) }
    }

    private mutating func look(in processes: [pid_t], for wanted: inout [UInt64: @Sendable (ClientProcess) -> Void]) {
        for pid in processes where !wanted.isEmpty {
            var found: [@Sendable (ClientProcess) -> Void] = []
            ProcessFiles.forEachSocket(of: pid) { inode in
                if let deliver = wanted.removeValue(forKey: inode) { found.append(deliver) }
            }
            guard !found.isEmpty else { continue }
            let process = ClientProcess(id: pid, name: ProcessFiles.program(of: pid))
            for deliver in found { deliver(process) }
            recent.removeAll { $0 == pid }
            recent.insert(pid, at: 0)
            recent.removeLast(max(0, recent.count - ClientProcesses.mostRecent))
        }
    }
}
