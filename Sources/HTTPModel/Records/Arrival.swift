/// When the bytes of a stream's body from `offset` on arrived. A message has the time of the last arrival at or before
/// its last byte.
package struct Arrival: Sendable, Hashable {
    package var offset: Int64
    /// Microseconds since 1970.
    package var at: Int64

    package init(offset: Int64, at: Int64) { (self.offset, self.at) = (offset, at) }
}
