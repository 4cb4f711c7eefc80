import NIOCore

/// Clients that refuse Sluice's TLS for a server and so get tunnels to it for a while.
///
/// The second refusal starts ten minutes of tunnels. After that the next connection is decrypted again, unless a tunnel
/// of that client to that server is still open; one more refusal then starts twice the time, up to a day.
struct CertificateRefusals {
    /// A client by its address and program, if known, and a server as CONNECT named it.
    struct Pair: Hashable {
        let client: String
        /// Not the process: many programs, like curl, are a new one for each connection.
        var program: String?
        let host: String
        let port: Int

        var who: String { program.map { "\($0) at \(client)" } ?? client }
    }

    /// Why the TLS handshake with the client failed.
    enum Reason: Hashable {
        /// It does not trust Sluice's certificate.
        case certificate
        /// It has no TLS version, cipher suite or signature algorithm in common with Sluice.
        case nothingShared
    }

    private struct Entry {
        /// Refusals so far.
        var count = 0
        /// The duration of the latest tunnels; `nil` before the first.
        var wait: TimeAmount?
        var reason = Reason.certificate
        /// When the next connection may be decrypted again.
        var end = NIODeadline.uptimeNanoseconds(0)
        var tunnels = 0
        /// Distinguishes the entry from earlier ones of its pair.
        var number = 0
    }

    static let limit = 2
    static let firstWait = TimeAmount.minutes(10)
    static let longestWait = TimeAmount.hours(24)

    private let capacity: Int
    private var entries: [Pair: Entry] = [:]
    /// Oldest first; may contain removed pairs.
    private var order: CircularBuffer<(pair: Pair, number: Int)> = []
    private var lastNumber = 0

    /// Beyond `capacity` the oldest pairs are removed.
    init(capacity: Int = 4_096) { self.capacity = capacity }

    /// How long the client still gets tunnels; `nil` if the server is to be decrypted for it.
    func remaining(_ pair: Pair, now: NIODeadline) -> TimeAmount? {
        guard let entry = entries[pair], entry.wait != nil else { return nil }
        if now < entry.end { return entry.end - now }
        return entry.tunnels > 0 ? .zero : nil
    }

    func reason(_ pair: Pair) -> Reason { entries[pair]?.reason ?? .certificate }

    /// Whether any program at the client's address gets tunnels to the server.
    func concernsAddress(of pair: Pair) -> Bool {
        entries.contains {
            $0.value.wait != nil && $0.key.host == pair.host && $0.key.port == pair.port && $0.key.client == pair.client
        }
    }

    /// Counts a failed handshake; returns the duration of tunnels if they begin with this one.
    mutating func refused(_ pair: Pair, _ reason: Reason = .certificate, now: NIODeadline) -> TimeAmount? {
        // Handshakes that began together fail together.
        if remaining(pair, now: now) != nil { return nil }
        var entry = entries[pair] ?? Entry()
        entry.count += 1
        entry.reason = reason
        if entry.wait != nil || entry.count >= CertificateRefusals.limit {
            let wait = entry.wait.map { min($0 * 2, CertificateRefusals.longestWait) } ?? CertificateRefusals.firstWait
            entry.wait = wait
            entry.end = now + wait
        }
        store(entry, for: pair)
        return entry.wait
    }

    /// The client accepted the certificate in a new attempt: earlier refusals no longer count.
    mutating func accepted(_ pair: Pair, now: NIODeadline) {
        if entries[pair]?.wait != nil, remaining(pair, now: now) == nil { entries[pair] = nil }
    }

    mutating func opened(_ pair: Pair) { entries[pair]?.tunnels += 1 }

    mutating func closed(_ pair: Pair) {
        guard let entry = entries[pair], entry.tunnels > 0 else { return }
        entries[pair]?.tunnels -= 1
    }

    /// Decrypts a host again for every client, at one port or at all; returns the removed pairs.
    mutating func forget(host: String, port: Int?) -> [Pair] {
        let found = entries.keys.filter { pair in
            pair.host == host && (port == nil || pair.port == port) && entries[pair]?.wait != nil
        }
        // Open tunnels still count, for the next refusals.
        for pair in found {
            entries[pair] = entries[pair].flatMap {
                $0.tunnels > 0 ? Entry(tunnels: $0.tunnels, number: $0.number) : nil
            }
        }
        return found
    }

    /// Pairs that get tunnels now.
    var undecrypted: [Pair] { entries.filter { $0.value.wait != nil }.map(\.key) }

    private mutating func store(_ entry: Entry, for pair: Pair) {
        var entry = entry
        if entry.number == 0 {
            lastNumber += 1
            entry.number = lastNumber
            order.append((pair, lastNumber))
        }
        entries[pair] = entry
        while entries.count > capacity, let oldest = order.popFirst() {
            if entries[oldest.pair]?.number == oldest.number { entries[oldest.pair] = nil }
        }
        if order.count > 2 * capacity { order.removeAll { entries[$0.pair]?.number != $0.number } }
    }
}
