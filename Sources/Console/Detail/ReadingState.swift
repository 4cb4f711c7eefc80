/// Where in a document the reader is.
public struct ReadingState: Sendable, Hashable {
    /// The first shown row.
    public var top = ReadingPlace()
    /// The row with the cursor.
    public var cursor = ReadingPlace()
    /// Blocks that are folded, by the line that opens them.
    public var folds: Set<Int> = []
}
