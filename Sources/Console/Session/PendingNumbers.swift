/// Exchanges whose answer may change: those that were in flight, and numbers that had no row yet.
///
/// Both are few, and bounded in any case: beyond that the oldest are given up.
struct PendingNumbers {
    static let most = 20_000
    /// How often a number without a row is looked for.
    private static let patience = 100

    private var order: [Int64] = []
    /// How often each will be looked at again; no more where it is not in `order`.
    private var tries: [Int64: Int] = [:]

    /// Notes what a step has seen.
    mutating func note(inFlight: [Int64], missing: some Sequence<Int64>) {
        for number in inFlight { add(number, tries: .max) }
        for number in missing { add(number, tries: Self.patience) }
        if order.count > Self.most {
            for number in order.prefix(order.count - Self.most) { tries[number] = nil }
            order.removeFirst(order.count - Self.most)
        }
    }

    private mutating func add(_ number: Int64, tries count: Int) {
        if tries.updateValue(count, forKey: number) == nil { order.append(number) }
    }

    /// Takes the next ones out, those first that have not been looked at for longest.
    mutating func take(_ count: Int) -> (numbers: [Int64], tries: [Int64: Int]) {
        let taken = Array(order.prefix(count))
        order.removeFirst(taken.count)
        var left: [Int64: Int] = [:]
        for number in taken { left[number] = tries.removeValue(forKey: number) }
        return (taken.sorted(), left)
    }

    /// Puts back what still has no row, unless it was looked for often enough.
    mutating func putBack(missing: [Int64], tries left: [Int64: Int]) {
        for number in missing {
            let count = left[number] ?? 0
            if count == .max || count > 1 { add(number, tries: min(count, Self.patience) - 1) }
        }
    }
}
