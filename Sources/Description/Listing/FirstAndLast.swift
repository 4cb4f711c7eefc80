/// The first and the last elements of a sequence that may be too long to keep.
struct FirstAndLast<Element> {
    static var keptAtEachEnd: Int { 50 }

    private(set) var first: [Element] = []
    /// The last elements that are not among the first, in a ring.
    private var ring: [Element] = []
    private(set) var count = 0

    /// How many elements are neither among the first nor among the last.
    var leftOut: Int { count - first.count - ring.count }

    /// The last elements that are not among the first, in order.
    var last: [Element] {
        let start = ring.count == Self.keptAtEachEnd ? (count - first.count) % ring.count : 0
        return Array(ring[start...] + ring[..<start])
    }

    mutating func append(_ element: Element) {
        let place = count - Self.keptAtEachEnd
        count += 1
        if place < 0 {
            first.append(element)
        } else if place < Self.keptAtEachEnd {
            ring.append(element)
        } else {
            ring[place % Self.keptAtEachEnd] = element
        }
    }
}
