package struct HTTP2Settings: Sendable, Hashable {
    /// For clients (RFC 9113 §5.1.2).
    package var maxConcurrentStreams: UInt32 = 1000
    /// Unconsumed bytes of one stream.
    package var initialWindow: Int32 = 256 << 10
    /// Bytes in flight on the whole connection; returned on receipt.
    package var connectionWindow: Int32 = 16 << 20
    /// Bytes of the fields of one head, plus 32 for each (RFC 9113 §6.5.2).
    package var maxHeaderListSize: Int = 256 << 10
    /// Bytes of all heads before the owner takes them: compression makes large heads of few bytes.
    package var maxPendingHeads: Int = 16 << 20
    package var maxFieldCount: Int = 1000
    /// Whether clients may use extended CONNECT, such as for WebSocket (RFC 8441).
    package var offersExtendedConnect: Bool = true
    package var limits = HTTP2FloodLimits()

    package init() {}
}

/// Limits of frames that are cheap for the peer and expensive here; beyond them the connection ends with
/// ENHANCE_YOUR_CALM.
package struct HTTP2FloodLimits: Sendable, Hashable {
    package struct Rate: Sendable, Hashable {
        package let burst: Int
        package let perSecond: Int

        package init(burst: Int, perSecond: Int) {
            self.burst = burst
            self.perSecond = perSecond
        }
    }

    /// Streams that a client resets, or makes us reset by faults ("rapid reset").
    package var resets = Rate(burst: 1000, perSecond: 100)
    package var settings = Rate(burst: 100, perSecond: 10)
    /// PING with acknowledgements, beyond one for each DATA frame of either side; gRPC measures the path with PING.
    package var pings = Rate(burst: 1000, perSecond: 100)
    /// DATA that may be only padding and does not end its stream, beyond one for each head.
    package var emptyData = Rate(burst: 1000, perSecond: 100)
    /// PRIORITY, GOAWAY and unknown frames, beyond two for each head.
    package var idleFrames = Rate(burst: 2000, perSecond: 200)
    /// WINDOW_UPDATE beyond four for each DATA frame sent and four for each head received.
    package var windowUpdates = Rate(burst: 2000, perSecond: 200)
    package var continuations = 24

    package init() {}
}
