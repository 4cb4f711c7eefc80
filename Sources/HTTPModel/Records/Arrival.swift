/// When the bytes of a stream's body from some place on arrived.
///
/// A session keeps a stream as its raw bytes and a list of these, by growing offset. The time of a message is that of the
/// last arrival at or before the message's last byte.
public struct Arrival: Sendable, Hashable {
    /// The place in the body of the first byte that came then.
    public var offset: Int64
    /// When it came: microseconds since 1970.
    public var at: Int64

    /// Creates an arrival.
    public init(offset: Int64, at: Int64) {
        self.offset = offset
        self.at = at
    }
}
