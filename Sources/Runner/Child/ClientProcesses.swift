import Dispatch
import Files
import Foundation
import HTTPModel
import NIOCore
import ProxyServer
import Synchronization

/// Finds the processes of this machine that are the proxy's clients (Linux).
///
/// The lookup begins when a connection is accepted, on its own thread, because a client such as `curl` may end a few
/// milliseconds later. One scan serves all waiting connections. Scans use at most a twentieth of a core over time and a
/// tenth of a second at once; Sluice skips further connections. Processes of other users are not found.
final class ClientProcesses: ClientProcessSource {
    typealias Delivery = @Sendable (ClientProcess?) -> Void

    fileprivate struct Ends: Hashable {
        var client: SocketEndpoint
        var proxy: SocketEndpoint
    }

    private struct State {
        var waiting: [Ends: Delivery] = [:]
        var isScheduled = false
    }

    fileprivate struct Scanner {
        let table = SocketTable()
        /// Processes that had a connection recently, the last one first.
        var recent: [pid_t] = []
        var known: Set<pid_t> = []
        var allowance = ScanAllowance()
    }

    private static let most = 512
    fileprivate static let mostRecent = 16
    /// If more connections wait, all sockets are read instead.
    fileprivate static let mostSingly = 8

    private let state = Mutex(State())
    private let scanner = Mutex(Scanner())
    private let queue = DispatchQueue(label: "sluice.client-processes", qos: .default)

    init?() {
        guard ProcessFiles.exist else { return nil }
    }

    func find(client: SocketAddress, proxy: SocketAddress, deliver: @escaping Delivery) {
        guard let client = SocketEndpoint(client), let proxy = SocketEndpoint(proxy),
            client.isLoopback || client.address == proxy.address
        else { return deliver(nil) }
        let (isTaken, begins) = state.withLock { state in
            guard state.waiting.count < Self.most else { return (false, false) }
            state.waiting[Ends(client: client, proxy: proxy)] = deliver
            defer { state.isScheduled = true }
            return (true, !state.isScheduled)
        }
        guard isTaken else { return deliver(nil) }
        if begins { queue.async { [self] in scan() } }
    }

    func hasClosed(client: SocketAddress, proxy: SocketAddress) -> Bool {
        guard let client = SocketEndpoint(client), let proxy = SocketEndpoint(proxy) else { return false }
        var hasClosed = false
        // A second table, because a scan may hold the first. A closed socket remains for a while, without an owner.
        SocketTable().read(local: client, remote: proxy) { hasClosed = $0.inode == 0 }
        return hasClosed
    }

    /// Scans until no connection waits, with pauses as ``ScanAllowance`` says.
    private func scan() {
        while true {
            let waiting = state.withLock { state in
                if state.waiting.isEmpty { state.isScheduled = false }
                defer { state.waiting = [:] }
                return state.waiting
            }
            guard !waiting.isEmpty else { return }
            let pause = scanner.withLock { scanner in
                let begin = ScanAllowance.processorTime
                scanner.scan(waiting)
                let took = ScanAllowance.processorTime &- begin
                return scanner.allowance.pause(after: took, now: DispatchTime.now().uptimeNanoseconds)
            }
            guard pause == 0 else {
                return queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: pause))) { [self] in scan() }
            }
        }
    }
}

/// A limit on the processor time of scans; all in nanoseconds.
struct ScanAllowance {
    private static let most: Int64 = 100_000_000

    private let share: Int64
    private var left = ScanAllowance.most
    private var last: UInt64?

    init(share: Int64 = 20) { self.share = share }

    static var processorTime: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(clamping: time.tv_sec) * 1_000_000_000 + UInt64(clamping: time.tv_nsec)
    }

    mutating func pause(after took: UInt64, now: UInt64) -> UInt64 {
        let passed = last.map { now > $0 ? now - $0 : 0 } ?? 0
        last = now
        left = min(Self.most, left + Int64(clamping: passed) / share) - Int64(clamping: took)
        return left >= 0 ? 0 : UInt64(-left) * UInt64(share)
    }
}

extension ClientProcesses.Scanner {
    fileprivate mutating func scan(_ waiting: [ClientProcesses.Ends: ClientProcesses.Delivery]) {
        var wanted: [UInt64: ClientProcesses.Delivery] = [:]
        var unknown = waiting
        func take(_ row: SocketRow) {
            let ends = ClientProcesses.Ends(client: row.local, proxy: row.remote)
            guard row.inode != 0, let deliver = unknown.removeValue(forKey: ends) else { return }
            wanted[row.inode] = deliver
        }
        if waiting.count <= ClientProcesses.mostSingly {
            for ends in waiting.keys { table.read(local: ends.client, remote: ends.proxy, take) }
        } else {
            table.read(take)
        }
        // Most programs open several connections in a row.
        look(in: Array(recent.prefix(1)), for: &wanted)
        if !wanted.isEmpty {
            let processes = Set(ProcessFiles.all())
            // New processes first, because a short-lived client has only just started.
            look(in: processes.subtracting(known).sorted(by: >), for: &wanted)
            look(in: Array(recent.dropFirst()), for: &wanted)
            if !wanted.isEmpty { look(in: processes.intersection(known).sorted(by: >), for: &wanted) }
            known = processes
        }
        for deliver in unknown.values { deliver(nil) }
        for deliver in wanted.values { deliver(nil) }
    }

    private mutating func look(in processes: [pid_t], for wanted: inout [UInt64: ClientProcesses.Delivery]) {
        for pid in processes where !wanted.isEmpty {
            var found: [ClientProcesses.Delivery] = []
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
