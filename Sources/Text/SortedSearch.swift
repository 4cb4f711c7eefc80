extension Array {
    /// How many elements at the front satisfy a predicate, in an array where those that do come first.
    package func partitioningIndex(where isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
