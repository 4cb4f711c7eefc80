/// A search in a document, and the reader's place.
package struct SearchState: Sendable {
    var reading: ReadingState
    var found: FoundPlaces?
    var foundBeside: FoundPlaces?
    var pattern: SoughtText?
}

/// Where somebody is in a document, and how it is shown.
package struct ReadingState: Sendable, Hashable {
    package var top = ReadingPlace()
    package var cursor = ReadingPlace()
    /// The folded blocks, by the line that opens them.
    package var folds: Set<Int> = []
    /// Where lines are not wrapped, how many columns are hidden at the left.
    package var left = 0
    /// Whether the end stays in view as the document grows, as long as the reader does not move.
    package var follows = false
    /// The match that was gone to last.
    package var match: FoundPlace?
}
