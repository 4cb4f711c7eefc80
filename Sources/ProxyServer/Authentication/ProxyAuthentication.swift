import ExchangeCore
import NIOCore
import Synchronization
package import Wire

/// Authenticates clients; one instance serves all event loops.
///
/// A password is hashed once, on its own thread, and then remembered. Waiting credentials are limited, in all and for
/// each client. After too many wrong attempts from an address, further ones are not hashed.
package final class ProxyAuthentication: Sendable {
    package enum Outcome: Sendable, Hashable {
        case accepted, missing, wrong
        case tooMany(seconds: Int)
        case busy
    }

    /// For Sluice's own requests and its child command, new at each start.
    package let own: BasicCredentials

    private struct State {
        var accepted: [[UInt8]: [UInt8]] = [:]
        /// Wrong attempts, and when they were last reduced.
        var attempts: [ClientKey: (count: Double, at: NIODeadline)] = [:]
        var queued: [Attempt: Int] = [:]
        var queue = SharedLimit(total: ProxyAuthentication.queueLimit)
    }

    private struct Attempt: Hashable {
        let credentials: BasicCredentials
        let client: ClientKey
    }

    private let users: ProxyUsers
    private let state = Mutex(State())
    /// Held during hashing: this uses one core at most, and a second request finds the same password remembered.
    private let hashing = Mutex(())
    /// How many wrong attempts are allowed at once, and the time until one more is allowed.
    static let (burst, pause) = (10.0, TimeAmount.seconds(6))
    /// How many different credentials may wait; each takes tens of milliseconds.
    static let queueLimit = 64
    private static let rememberedAddresses = 10_000

    package init(_ users: ProxyUsers) {
        self.users = users
        var generator = SystemRandomNumberGenerator()
        let digits = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
        let password = (0..<26).map { _ in digits[Int.random(in: 0..<32, using: &generator)] }
        own = BasicCredentials(user: "sluice".utf8, password: password)
    }

    /// `nil` if ``verify(_:client:now:)`` is needed.
    func remembered(_ credentials: BasicCredentials) -> Outcome? {
        if credentials.user == own.user, PasswordHash.isEqual(credentials.password, own.password) { return .accepted }
        let accepted = state.withLock { $0.accepted[credentials.user] }
        guard let accepted, PasswordHash.isEqual(credentials.password, accepted) else { return nil }
        return .accepted
    }

    func enqueue(_ credentials: BasicCredentials, client: SocketAddress?) -> Bool {
        let attempt = Attempt(credentials: credentials, client: ClientKey(client))
        return state.withLock { state in
            guard state.queued[attempt] != nil || state.queue.take(for: attempt.client) else { return false }
            state.queued[attempt, default: 0] += 1
            return true
        }
    }

    private func dequeue(_ attempt: Attempt) {
        state.withLock { state in
            guard let count = state.queued[attempt] else { return }
            state.queued[attempt] = count > 1 ? count - 1 : nil
            if count == 1 { state.queue.give(from: attempt.client) }
        }
    }

    /// Takes tens of milliseconds, and waits for earlier credentials.
    func verify(_ credentials: BasicCredentials, client: SocketAddress?, now: NIODeadline = .now()) -> Outcome {
        let client = ClientKey(client)
        defer { dequeue(Attempt(credentials: credentials, client: client)) }
        return hashing.withLock { _ in
            if let outcome = remembered(credentials) { return outcome }
            let wait = state.withLock { ProxyAuthentication.begin(&$0, client, now) }
            if let wait { return .tooMany(seconds: wait) }
            let hash = users.hash(ofUser: credentials.user)
            let compared = hash ?? users.hash(insteadOf: credentials.user)
            guard compared?.matches(credentials.password) == true, hash != nil else { return .wrong }
            state.withLock { state in
                state.accepted[credentials.user] = credentials.password
                // `begin` counted this attempt, but the password was correct.
                state.attempts[client] = state.attempts[client].map { (max(0, $0.count - 1), $0.at) }
            }
            return .accepted
        }
    }

    /// Counts an attempt; returns the seconds to wait if there were too many.
    private static func begin(_ state: inout State, _ client: ClientKey, _ now: NIODeadline) -> Int? {
        var count = 0.0
        if let earlier = state.attempts[client] {
            let paused = Double((now - earlier.at).nanoseconds) / Double(pause.nanoseconds)
            count = max(0, earlier.count - max(0, paused))
        }
        if count + 1 > burst {
            state.attempts[client] = (count, now)
            // In milliseconds first, because the binary count is inexact.
            let milliseconds = ((count + 1 - burst) * Double(pause.nanoseconds) / 1e6).rounded()
            return max(1, Int((milliseconds / 1_000).rounded(.up)))
        }
        if state.attempts[client] == nil, state.attempts.count >= rememberedAddresses,
            let oldest = state.attempts.min(by: { $0.value.at < $1.value.at })
        {
            state.attempts[oldest.key] = nil
        }
        state.attempts[client] = (count + 1, now)
        return nil
    }
}

extension ByteBuffer {
    /// Overwrites the text after each `Authorization` in malformed bytes up to the end of a (folded) line.
    mutating func obliterateAuthorization() {
        let word = Array("authorization".utf8)
        var bytes = Array(readableBytesView)
        var place = 0
        while place + word.count <= bytes.count {
            guard bytes[place..<place + word.count].elementsEqual(word, by: { $0 | 0x20 == $1 }) else {
                place += 1
                continue
            }
            let end = place + word.count
            let valueEnd = ByteBuffer.endOfFoldedLine(bytes, from: end)
            let value = bytes[end..<valueEnd]
            let first = value.firstIndex { ![0x20, 0x09, UInt8(ascii: ":")].contains($0) } ?? valueEnd
            for place in first..<valueEnd { bytes[place] = UInt8(ascii: "*") }
            place = valueEnd
        }
        setBytes(bytes, at: readerIndex)
    }

    /// The end of a line with continuation lines (RFC 9112 §5.2), without CR LF.
    private static func endOfFoldedLine(_ bytes: [UInt8], from start: Int) -> Int {
        var place = start
        while let lineFeed = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) {
            let next = lineFeed + 1
            guard next < bytes.count, bytes[next] == 0x20 || bytes[next] == 0x09 else {
                return lineFeed > start && bytes[lineFeed - 1] == UInt8(ascii: "\r") ? lineFeed - 1 : lineFeed
            }
            place = next
        }
        return bytes.count
    }
}
