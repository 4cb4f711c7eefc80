import HTTPModel
import NIOCore

/// Counts frames before nghttp2 reads them, and stops a flooding peer: nghttp2 does not report frames that it ignores,
/// and at some of its limits it ends the connection without GOAWAY.
struct HTTP2FloodGuard: ~Copyable {
    private let isServer: Bool
    private let maxContinuations: Int
    private var resets: HTTP2TokenBucket
    private var settings: HTTP2TokenBucket
    private var pings: HTTP2TokenBucket
    private var emptyData: HTTP2TokenBucket
    private var idleFrames: HTTP2TokenBucket
    private var windowUpdates: HTTP2TokenBucket
    private var continuations = 0

    /// The rest of a payload, or of the client's preface.
    private var skip: Int
    /// The bytes so far of an incomplete frame header, the first one as the most significant.
    private var partial: UInt64 = 0
    private var partialStream: UInt32 = 0
    private var partialCount = 0
    /// Whether a CONTINUATION frame must follow.
    private var isHeadOpen = false
    /// The start of an incomplete preface, head or frame other than DATA.
    private(set) var incompleteSince: NIODeadline?
    private var hasBegun = false

    /// The highest stream number of the client, and the latest ranges of numbers that it skipped.
    private var highestStream: UInt32 = 0
    private var passedOver: [Range<UInt32>] = []

    init(role: HTTP2Session.Role, limits: HTTP2FloodLimits) {
        isServer = role == .server
        skip = isServer ? 24 : 0
        maxContinuations = limits.continuations
        resets = HTTP2TokenBucket(limits.resets)
        settings = HTTP2TokenBucket(limits.settings)
        pings = HTTP2TokenBucket(limits.pings)
        emptyData = HTTP2TokenBucket(limits.emptyData)
        idleFrames = HTTP2TokenBucket(limits.idleFrames)
        windowUpdates = HTTP2TokenBucket(limits.windowUpdates)
    }

    /// Counts the frames that begin in `bytes`; returns a failure with the number of bytes before the offending frame.
    mutating func inspect(_ bytes: UnsafeRawBufferPointer, now: NIODeadline) -> (failure: HTTP2Error, cleanBytes: Int)?
    {
        var position = 0
        if !hasBegun {
            hasBegun = true
            incompleteSince = now
        }
        while true {
            let skipped = min(skip, bytes.count - position)
            skip -= skipped
            position += skipped
            if skip == 0, partialCount == 0, !isHeadOpen { incompleteSince = nil }
            if position == bytes.count { return nil }
            if incompleteSince == nil { incompleteSince = now }
            let start = position
            // Length, type and flags are five bytes, the stream four.
            while partialCount < 9, position < bytes.count {
                if partialCount < 5 {
                    partial = partial << 8 | UInt64(bytes[position])
                } else {
                    partialStream = partialStream << 8 | UInt32(bytes[position])
                }
                partialCount += 1
                position += 1
            }
            guard partialCount == 9 else { return nil }
            let length = Int(partial >> 16)
            let type = UInt8(truncatingIfNeeded: partial >> 8)
            let flags = UInt8(truncatingIfNeeded: partial)
            let stream = partialStream & 0x7FFF_FFFF
            skip = length
            noteBegun(type: type, flags: flags)
            if let failure = count(type: type, flags: flags, length: length, stream: stream, now: now) {
                return (failure, start)
            }
            partial = 0
            partialStream = 0
            partialCount = 0
        }
    }

    /// A body may arrive slowly, but a head with all its frames may not (RFC 9113 §4.3).
    private mutating func noteBegun(type: UInt8, flags: UInt8) {
        switch type {
        case 0x0 where !isHeadOpen: incompleteSince = nil
        case 0x1, 0x9: isHeadOpen = flags & 0x4 == 0
        default: break
        }
    }

    /// Counts a stream that was reset for the peer's fault.
    mutating func countForcedReset(now: NIODeadline) -> HTTP2Error? {
        !isServer || resets.take(at: now) ? nil : tooMany("requests that were reset")
    }

    /// Counts a head that was too large, which costs as much as many small ones even if compressed to few bytes.
    mutating func countOversizedHead(now: NIODeadline) -> HTTP2Error? {
        guard isServer else { return nil }
        for _ in 0..<HTTP2FloodGuard.oversizedHeadCost where !resets.take(at: now) {
            return tooMany("heads that are too large")
        }
        return nil
    }

    /// An oversized head counts like this many forced resets.
    private static let oversizedHeadCost = 50

    /// For each sent DATA frame the peer may send WINDOW_UPDATE, or a PING to measure the path.
    mutating func noteSentData() {
        windowUpdates.refund(4)
        pings.refund(1)
    }

    /// Many clients answer our reset with one of their own.
    mutating func noteSentReset() { resets.refund(1) }

    private mutating func count(
        type: UInt8,
        flags: UInt8,
        length: Int,
        stream: UInt32,
        now: NIODeadline
    ) -> HTTP2Error? {
        switch type {
        case 0x0:
            let mayHoldData = length > (flags & 0x8 == 0 ? 0 : 256)
            if mayHoldData { pings.refund(1) }
            return mayHoldData || flags & 0x1 != 0 || emptyData.take(at: now) ? nil : tooMany("empty DATA frames")
        case 0x1:
            continuations = 0
            windowUpdates.refund(4)
            emptyData.refund(1)
            idleFrames.refund(2)
            return isServer ? noteOpened(stream) : nil
        case 0x3:
            // A server resets only streams of our own requests, so their number is limited already.
            return !isServer || resets.take(at: now) ? nil : tooMany("RST_STREAM frames")
        case 0x4: return flags & 0x1 != 0 || settings.take(at: now) ? nil : tooMany("SETTINGS frames")
        case 0x5: return isServer ? nil : HTTP2Error(.protocolError, "The server pushed a stream although push is off.")
        case 0x6: return pings.take(at: now) ? nil : tooMany("PING frames")
        case 0x8: return windowUpdates.take(at: now) ? nil : tooMany("WINDOW_UPDATE frames")
        case 0x9:
            continuations += 1
            return continuations <= maxContinuations ? nil : tooMany("CONTINUATION frames")
        default: return idleFrames.take(at: now) ? nil : tooMany("PRIORITY or unknown frames")
        }
    }

    /// Refuses a new stream whose number is below an earlier one's (RFC 9113 §5.1.1), because nghttp2 ignores it.
    private mutating func noteOpened(_ stream: UInt32) -> HTTP2Error? {
        if stream > highestStream {
            let next = highestStream == 0 ? 1 : highestStream + 2
            if stream > next {
                if passedOver.count == 8 { passedOver.removeFirst() }
                passedOver.append(next..<stream)
            }
            highestStream = stream
            return nil
        }
        guard passedOver.contains(where: { $0.contains(stream) }) else { return nil }
        return HTTP2Error(.protocolError, "The client opened a stream after a higher one.")
    }

    private func tooMany(_ what: String) -> HTTP2Error {
        HTTP2Error(.enhanceYourCalm, "The \(isServer ? "client" : "server") sent too many \(what).")
    }
}

/// Allows a burst at once, and a number per second in the long run.
struct HTTP2TokenBucket {
    private let rate: HTTP2FloodLimits.Rate
    private var tokens: Int
    private var refilled: NIODeadline?

    init(_ rate: HTTP2FloodLimits.Rate) {
        self.rate = rate
        tokens = rate.burst
    }

    mutating func take(at now: NIODeadline) -> Bool {
        if tokens == 0 { refill(at: now) } else if refilled == nil { refilled = now }
        guard tokens > 0 else { return false }
        tokens -= 1
        return true
    }

    /// Adds tokens beyond the rate, up to the burst.
    mutating func refund(_ count: Int) { tokens = min(rate.burst, tokens + count) }

    /// Only an empty bucket is refilled, by the time that has passed.
    private mutating func refill(at now: NIODeadline) {
        let elapsed = max(0, (now - (refilled ?? now)).nanoseconds)
        let gained = min(Double(rate.burst), Double(elapsed) / 1e9 * Double(rate.perSecond))
        guard gained >= 1 else { return }
        tokens = Int(gained)
        refilled = now
    }
}
