/// Numbers of exchanges, four bytes each as long as they are small enough.
struct NumberList: Sendable {
    private var narrow: [UInt32] = []
    /// All of them, where one needs more.
    private var wide: [Int64]?

    init() {}

    init(_ numbers: [Int64]) {
        if numbers.allSatisfy({ UInt32(exactly: $0) != nil }) {
            narrow = numbers.map { UInt32(truncatingIfNeeded: $0) }
        } else {
            wide = numbers
        }
    }

    var count: Int { wide?.count ?? narrow.count }

    subscript(index: Int) -> Int64 { wide?[index] ?? Int64(narrow[index]) }

    mutating func append(_ numbers: [Int64]) {
        for number in numbers { insert(number, at: count) }
    }

    mutating func insert(_ number: Int64, at index: Int) {
        if wide == nil, UInt32(exactly: number) == nil {
            wide = narrow.map(Int64.init)
            narrow = []
        }
        if wide == nil {
            narrow.insert(UInt32(truncatingIfNeeded: number), at: index)
        } else {
            wide?.insert(number, at: index)
        }
    }

    mutating func remove(at index: Int) {
        if wide == nil { narrow.remove(at: index) } else { wide?.remove(at: index) }
    }

    /// How many numbers at the front come before a place, where those that do stand before those that do not.
    func partitioningIndex(where isBefore: (Int64) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Where a number is, in whatever order they are.
    func firstIndex(of number: Int64) -> Int? {
        if let wide { return wide.firstIndex(of: number) }
        return UInt32(exactly: number).flatMap { narrow.firstIndex(of: $0) }
    }
}
