extension Array {
    /// The number of leading elements that satisfy the predicate. All elements that satisfy it must come first.
    package func partitioningIndex(where isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
