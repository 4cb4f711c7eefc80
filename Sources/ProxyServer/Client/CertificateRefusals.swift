import NIOCore

/// Clients that refuse Sluice's TLS for a server get unread tunnels to it: for ten minutes after the second refusal.
/// After this time the next connection is decrypted again, unless a tunnel is still open. Each further refusal doubles
/// the time, up to a day.
struct CertificateRefusals {
    /// A client by address and program, if known, and a server as CONNECT named it.
    struct Pair: Hashable {
        let client: String
        /// Not the process: programs like curl start a process for each connection.
        var program: String?
        let host: String
        let port: Int

        var who: String { program.map { "\($0) at \(client)" } ?? client }
    }

    enum Reason: Hashable {
        case certificate
        /// No common TLS version, cipher suite or signature algorithm.
        case nothingShared
    }

    private struct Entry {
        var count = 0
        /// The duration of the latest tunnels; `nil` before the first.
        var wait: TimeAmount?
        var reason = Reason.certificate
        var end = NIODeadline.uptimeNanoseconds(0)
        var tunnels = 0
        /// The smallest number is the oldest entry.
        let number: Int
    }

    static let limit = 2
    static let firstWait = TimeAmount.minutes(10)
    static let longestWait = TimeAmount.hours(24)

    private let capacity: Int
    private var entries: [Pair: Entry] = [:]
    private var lastNumber = 0

    init(capacity: Int = 4_096) { self.capacity = capacity }

    /// The remaining time of tunnels; `nil` if the server is to be decrypted.
    func remaining(_ pair: Pair, now: NIODeadline) -> TimeAmount? {
        guard let entry = entries[pair], entry.wait != nil else { return nil }
        if now < entry.end { return entry.end - now }
        return entry.tunnels > 0 ? .zero : nil
    }

    func reason(_ pair: Pair) -> Reason { entries[pair]?.reason ?? .certificate }

    /// Whether any program at the client's address gets tunnels.
    func concernsAddress(of pair: Pair) -> Bool {
        entries.contains {
            $0.value.wait != nil && $0.key.host == pair.host && $0.key.port == pair.port && $0.key.client == pair.client
        }
    }

    /// Counts a failed handshake; returns the duration of the tunnels that start with it, `nil` if none start.
    mutating func refused(_ pair: Pair, _ reason: Reason = .certificate, now: NIODeadline) -> TimeAmount? {
        // Simultaneous handshakes fail together.
        if remaining(pair, now: now) != nil { return nil }
        lastNumber += 1
        var entry = entries[pair] ?? Entry(number: lastNumber)
        entry.count += 1
        entry.reason = reason
        if entry.wait != nil || entry.count >= CertificateRefusals.limit {
            let wait = entry.wait.map { min($0 * 2, CertificateRefusals.longestWait) } ?? CertificateRefusals.firstWait
            entry.wait = wait
            entry.end = now + wait
        }
        entries[pair] = entry
        if entries.count > capacity, let oldest = entries.min(by: { $0.value.number < $1.value.number }) {
            entries[oldest.key] = nil
        }
        return entry.wait
    }

    /// A successful handshake in a new attempt resets the count.
    mutating func accepted(_ pair: Pair, now: NIODeadline) {
        if entries[pair]?.wait != nil, remaining(pair, now: now) == nil { entries[pair] = nil }
    }

    mutating func opened(_ pair: Pair) { entries[pair]?.tunnels += 1 }

    mutating func closed(_ pair: Pair) {
        guard let entry = entries[pair], entry.tunnels > 0 else { return }
        entries[pair]?.tunnels -= 1
    }

    /// Decrypts a host again for every client, at one port or all; returns the removed pairs.
    mutating func forget(host: String, port: Int?) -> [Pair] {
        let found = entries.keys.filter { pair in
            pair.host == host && (port == nil || pair.port == port) && entries[pair]?.wait != nil
        }
        for pair in found {
            entries[pair] = entries[pair].flatMap {
                $0.tunnels > 0 ? Entry(tunnels: $0.tunnels, number: $0.number) : nil
            }
        }
        return found
    }

    var undecrypted: [Pair] { entries.filter { $0.value.wait != nil }.map(\.key) }
}
