/// Where in a document the reader is.
package struct ReadingState: Sendable, Hashable {
    /// The first shown row.
    package var top = ReadingPlace()
    /// The row with the cursor.
    package var cursor = ReadingPlace()
    /// Blocks that are folded, by the line that opens them.
    package var folds: Set<Int> = []
}
