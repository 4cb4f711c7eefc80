/// The reader's place in a document.
package struct ReadingState: Sendable, Hashable {
    /// The first visible row.
    package var top = ReadingPlace()
    package var cursor = ReadingPlace()
    /// The folded blocks, by the line that opens them.
    package var folds: Set<Int> = []
}
