import NIOCore

/// Which clients cannot have TLS to which servers ended here, and so get a tunnel there for a while.
///
/// The second refusal begins ten minutes of tunnels. After them the next connection is decrypted again, unless a tunnel
/// of that client to that server is still open; one more refusal then begins twice the time, up to a day.
struct CertificateRefusals {
    /// A client by its address and the program's name, if that is known, and a server as CONNECT named it.
    struct Pair: Hashable {
        let client: String
        /// Not the process: many programs, as curl, are a new one for each connection.
        var program: String?
        let host: String
        let port: Int

        /// The client in words.
        var who: String { program.map { "\($0) at \(client)" } ?? client }
    }

    /// Why TLS with the client did not come about.
    enum Reason: Hashable {
        /// It does not accept our certificate.
        case certificate
        /// It has no TLS version, cipher suite or signature algorithm in common with us.
        case nothingShared
    }

    private struct Entry {
        /// How often the client refused, until that begins tunnels.
        var count = 0
        /// How long the tunnels that were begun last are to last; `nil` before the first.
        var wait: TimeAmount?
        var reason = Reason.certificate
        /// When the next connection may be decrypted again.
        var end = NIODeadline.uptimeNanoseconds(0)
        var tunnels = 0
        /// Distinguishes the entry from others that its pair had before.
        var number = 0
    }

    /// After this many refusals the client gets tunnels.
    static let limit = 2
    static let firstWait = TimeAmount.minutes(10)
    static let longestWait = TimeAmount.hours(24)

    private let capacity: Int
    private var entries: [Pair: Entry] = [:]
    /// The entries, the oldest first; also some that were forgotten.
    private var order: CircularBuffer<(pair: Pair, number: Int)> = []
    private var lastNumber = 0

    /// Remembers at most `capacity` pairs; beyond that the oldest are forgotten.
    init(capacity: Int = 4_096) { self.capacity = capacity }

    /// Whether the client gets a tunnel, and for how long from now on; `nil` where the server is to be decrypted for it.
    func remaining(_ pair: Pair, now: NIODeadline) -> TimeAmount? {
        guard let entry = entries[pair], entry.wait != nil else { return nil }
        if now < entry.end { return entry.end - now }
        return entry.tunnels > 0 ? .zero : nil
    }

    /// Why the client gets tunnels.
    func reason(_ pair: Pair) -> Reason { entries[pair]?.reason ?? .certificate }

    /// Whether some program at the client's address gets tunnels to the server.
    func concernsAddress(of pair: Pair) -> Bool {
        entries.contains {
            $0.value.wait != nil && $0.key.host == pair.host && $0.key.port == pair.port && $0.key.client == pair.client
        }
    }

    /// TLS with the client did not come about; returns for how long it gets tunnels, where that begins with this.
    mutating func refused(_ pair: Pair, _ reason: Reason = .certificate, now: NIODeadline) -> TimeAmount? {
        // Handshakes that were begun together fail together.
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

    /// The client took our certificate: what it refused before, when it was tried again, counts no more.
    mutating func accepted(_ pair: Pair, now: NIODeadline) {
        if entries[pair]?.wait != nil, remaining(pair, now: now) == nil { entries[pair] = nil }
    }

    mutating func opened(_ pair: Pair) { entries[pair]?.tunnels += 1 }

    mutating func closed(_ pair: Pair) {
        guard let entry = entries[pair], entry.tunnels > 0 else { return }
        entries[pair]?.tunnels -= 1
    }

    /// Has a host decrypted again for every client, at one port or at all; returns what it was not decrypted for.
    mutating func forget(host: String, port: Int?) -> [Pair] {
        let found = entries.keys.filter { pair in
            pair.host == host && (port == nil || pair.port == port) && entries[pair]?.wait != nil
        }
        // Tunnels that are open count on, for what comes after the next refusals.
        for pair in found {
            entries[pair] = entries[pair].flatMap {
                $0.tunnels > 0 ? Entry(tunnels: $0.tunnels, number: $0.number) : nil
            }
        }
        return found
    }

    /// What is not decrypted at present because of refusals.
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
