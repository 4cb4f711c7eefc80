import Text

/// Numbers as the fewest ranges, written `1-5,9`.
package struct ExchangeNumbers: Sendable, Hashable, CustomStringConvertible {
    /// Ascending, with gaps between them.
    package private(set) var ranges: [ClosedRange<Int64>] = []

    package init(_ numbers: some Sequence<Int64>) { self.init(ranges: numbers.map { $0...$0 }) }

    package init(ranges: some Sequence<ClosedRange<Int64>>) {
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = self.ranges.last,
                range.lowerBound <= last.upperBound || range.lowerBound - 1 == last.upperBound
            {
                let upper = max(last.upperBound, range.upperBound)
                self.ranges[self.ranges.count - 1] = last.lowerBound...upper
            } else {
                self.ranges.append(range)
            }
        }
    }

    /// Reads numbers and ranges with commas or spaces between; a number may have a `#`.
    package init?(_ text: some StringProtocol) {
        var ranges: [ClosedRange<Int64>] = []
        for part in text.split(whereSeparator: { $0 == "," || $0 == " " }) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { end in
                Int64(end.drop { $0 == "#" }).flatMap { RecordedRange.numbers.contains($0) && $0 > 0 ? $0 : nil }
            }
            guard ends.count <= 2, let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last else {
                return nil
            }
            ranges.append(first...last)
        }
        guard !ranges.isEmpty else { return nil }
        self.init(ranges: ranges)
    }

    package var isEmpty: Bool { ranges.isEmpty }

    package var description: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
    }

    package func contains(_ number: Int64) -> Bool {
        let place = ranges.partitioningIndex { $0.upperBound < number }
        return place < ranges.count && ranges[place].contains(number)
    }
}
