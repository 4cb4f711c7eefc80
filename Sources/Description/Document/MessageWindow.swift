/// Which messages of a stream a document has, counted from 0.
package struct MessageWindow: Sendable, Hashable {
    /// The most messages of a document.
    package static let most = 200

    package var range: Range<Int>
    /// Whether there were later messages when the document was made.
    package var hasMore: Bool
}
