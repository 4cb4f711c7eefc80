/// Which messages of a stream a document has, counted from 0.
package struct MessageWindow: Sendable, Hashable {
    /// How many one has at most.
    package static let most = 200

    package var range: Range<Int>
    /// Whether there were later ones when it was made.
    package var hasMore: Bool
}
