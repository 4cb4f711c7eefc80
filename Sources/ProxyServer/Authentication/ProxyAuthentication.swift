import ExchangeCore
import NIOCore
import Synchronization
package import Wire

/// Decides whether clients that name a user may use the proxy; one for all event loops.
///
/// A password is hashed once, on a thread for that alone; after that it is remembered, so that a request costs one
/// comparison. How many wait for that has a limit, of which one client has a part.
/// Wrong attempts are counted for each client's address: beyond a number of them nothing is hashed, whoever asks.
package final class ProxyAuthentication: Sendable {
    /// What becomes of a client that named a user, or none.
    package enum Outcome: Sendable, Hashable {
        case accepted
        /// There are no credentials, or none that can be read.
        case missing
        case wrong
        /// There were too many wrong ones from this address; the next is looked at after so many seconds.
        case tooMany(seconds: Int)
        /// Too many wait to be looked at.
        case busy
    }

    /// The credentials of Sluice's own requests and of the command that it runs, new with each start.
    package let own: BasicCredentials

    private struct State {
        /// The passwords that were right, by user.
        var accepted: [[UInt8]: [UInt8]] = [:]
        /// The wrong attempts of each client, and when they were last reduced.
        var attempts: [ClientKey: (count: Double, at: NIODeadline)] = [:]
        /// How often credentials are to be looked at; the same ones of one client are hashed once if they are right.
        var queued: [Attempt: Int] = [:]
        var queue = SharedLimit(total: ProxyAuthentication.queueLimit)
    }

    private struct Attempt: Hashable {
        let credentials: BasicCredentials
        let client: ClientKey
    }

    private let users: ProxyUsers
    private let state = Mutex(State())
    /// Held while a password is hashed: one at a time, so that hashing takes one core at the most, and so that the second
    /// of two requests with the same password finds it remembered.
    private let hashing = Mutex(())
    /// The wrong attempts that a client may make at once, and one more after each pause.
    static let (burst, pause) = (10.0, TimeAmount.seconds(6))
    /// How many different credentials may wait to be looked at, which takes tens of milliseconds for each.
    static let queueLimit = 64
    /// Beyond this number of addresses with wrong attempts the oldest are forgotten.
    private static let rememberedAddresses = 10_000

    package init(_ users: ProxyUsers) {
        self.users = users
        var generator = SystemRandomNumberGenerator()
        let digits = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
        let password = (0..<26).map { _ in digits[Int.random(in: 0..<32, using: &generator)] }
        own = BasicCredentials(user: "sluice".utf8, password: password)
    }

    /// Whether these credentials are known to be right; `nil` where that has to be found out by ``verify(_:client:now:)``.
    func remembered(_ credentials: BasicCredentials) -> Outcome? {
        if credentials.user == own.user, PasswordHash.isEqual(credentials.password, own.password) { return .accepted }
        let accepted = state.withLock { $0.accepted[credentials.user] }
        guard let accepted, PasswordHash.isEqual(credentials.password, accepted) else { return nil }
        return .accepted
    }

    /// Gives credentials a place among those that ``verify(_:client:now:)`` is to look at; `false` if there are too many.
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

    /// Finds out whether credentials are right; takes tens of milliseconds, and waits for others that are looked at.
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
                // The right password was no wrong attempt.
                if let attempts = state.attempts[client] {
                    state.attempts[client] = (max(0, attempts.count - 1), attempts.at)
                }
            }
            return .accepted
        }
    }

    /// Counts an attempt; returns the seconds until the next where this is one too many.
    private static func begin(_ state: inout State, _ client: ClientKey, _ now: NIODeadline) -> Int? {
        var count = 0.0
        if let earlier = state.attempts[client] {
            let paused = Double((now - earlier.at).nanoseconds) / Double(pause.nanoseconds)
            count = max(0, earlier.count - max(0, paused))
        }
        if count + 1 > burst {
            state.attempts[client] = (count, now)
            // In milliseconds first, as a count in binary is a little more or less than what it means.
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
    /// Overwrites with asterisks what follows each word `Authorization` in bytes that are no request, whatever stands before
    /// it: with or without a colon, to the end of the line, and the lines after it that begin with a space or a tab.
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

    /// The end of a line that goes on in those after it which begin with a space or a tab (RFC 9112 §5.2), without its CR LF.
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
