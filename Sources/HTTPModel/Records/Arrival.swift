/// When the bytes of a stream's body from some place on arrived.
///
/// A session keeps a stream as its raw bytes and a list of these, by growing offset. The time of a message is that of the
/// last arrival at or before the message's last byte.
package struct Arrival: Sendable, Hashable {
    /// The place in the body of the first byte that came then.
    package var offset: Int64
    /// Microseconds since 1970.
    package var at: Int64

    package init(offset: Int64, at: Int64) {
        (self.offset, self.at) = (offset, at)
    }
}
