package struct ReadingState: Sendable, Hashable {
    package var top = ReadingPlace()
    package var cursor = ReadingPlace()
    /// The folded blocks, by the line that opens them.
    package var folds: Set<Int> = []
}
