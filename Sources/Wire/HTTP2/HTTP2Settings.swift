/// What an HTTP/2 session announces to its peer, and what it bounds on its own.
package struct HTTP2Settings: Sendable, Hashable {
    /// How many streams a client may have open at once (RFC 9113 §5.1.2); server role only.
    package var maxConcurrentStreams: UInt32 = 1000
    /// The bytes a peer may send on one stream before the owner consumed any.
    package var initialWindow: Int32 = 256 << 10
    /// The bytes a peer may have under way on the whole connection; given back on receipt.
    package var connectionWindow: Int32 = 16 << 20
    /// The bytes a peer may have in flight on the whole connection; given back on receipt.
    /// The most that the fields of one head may come to, with 32 bytes added for each (RFC 9113 §6.5.2).
    package var maxHeaderListSize: Int = 256 << 10
    /// The most that the heads of all streams may come to before the owner has taken them: a peer makes large heads of few
    /// bytes, and what it sends at once is decoded at once.
    package var maxPendingHeads: Int = 16 << 20
    /// The most field lines that one head may have.
    package var maxFieldCount: Int = 1000
    /// Whether clients may ask for extended CONNECT, such as WebSocket in a stream (RFC 8441); server role only.
    package var offersExtendedConnect: Bool = true
    /// Limits of frames that cost us more than the peer.
    package var limits = HTTP2FloodLimits()
    package init() {}
}

/// How often a peer may send frames that cost it little and us much; beyond that the connection is ended with
/// ENHANCE_YOUR_CALM.
package struct HTTP2FloodLimits: Sendable, Hashable {
    /// A number at once, and a number per second in the long run.
    package struct Rate: Sendable, Hashable {
        package let burst: Int
        package let perSecond: Int

        package init(burst: Int, perSecond: Int) {
            self.burst = burst
            self.perSecond = perSecond
        }
    }

    /// Streams that a client resets, or has us reset by breaking the protocol on them ("rapid reset").
    package var resets = Rate(burst: 1000, perSecond: 100)
    /// SETTINGS, without acknowledgements.
    package var settings = Rate(burst: 100, perSecond: 10)
    /// PING, acknowledgements included, beyond one for each DATA frame either way; gRPC measures the way so.
    package var pings = Rate(burst: 1000, perSecond: 100)
    /// DATA that may hold nothing but padding and does not end its stream, beyond one for each head.
    package var emptyData = Rate(burst: 1000, perSecond: 100)
    /// PRIORITY, GOAWAY, and frames of types that RFC 9113 does not know, beyond two for each head.
    package var idleFrames = Rate(burst: 2000, perSecond: 200)
    /// WINDOW_UPDATE beyond four for each DATA frame sent and four for each head received.
    package var windowUpdates = Rate(burst: 2000, perSecond: 200)
    /// CONTINUATION frames in one head.
    package var continuations = 24

    package init() {}
}
