import Recording

/// The progress of passes over a session's exchanges, from blocks of exchange numbers and the number of exchanges done.
final class PassProgress {
    private let work: LongWork
    private let bounds: ClosedRange<Int64>
    private let title: () -> String
    /// For each block: the number of exchanges up to its end, and the part of the session up to its end.
    private var places: [(count: Int, part: Double)] = [(0, 0)]
    private var done = 0

    init(_ work: LongWork, _ bounds: ClosedRange<Int64>, title: @escaping () -> String) {
        (self.work, self.bounds, self.title) = (work, bounds, title)
    }

    func begin() {
        (places, done) = ([(0, 0)], 0)
        work.begin(title(), .things("exchange"))
    }

    func expect(_ numbers: [Int64]) {
        guard let last = numbers.last, let count = places.last?.count else { return }
        places.append((count + numbers.count, bounds.part(upTo: last)))
    }

    func add(_ count: Int) throws {
        guard count > 0 else { return try work.check() }
        done += count
        while places.count > 2, places[1].count <= done { places.removeFirst() }
        try work.report(Int64(done), part: part)
    }

    /// From 0 to 1.
    var part: Double {
        guard let before = places.first, places.count > 1 else { return 0 }
        let after = places[1]
        let share = Double(done - before.count) / Double(max(1, after.count - before.count))
        return before.part + (after.part - before.part) * min(1, max(0, share))
    }
}

extension ExportPipeline {
    /// For the exchanges of a query; `title` is read at the beginning of each pass.
    package init(_ query: SessionQuery, _ work: LongWork, title: @escaping () -> String) throws {
        let progress = PassProgress(work, try query.reader.bounds() ?? 1...1, title: title)
        self.init(
            query.reader,
            onProgress: { try progress.add($0) },
            numbers: { body in
                progress.begin()
                try query.forEachNumbers { numbers in
                    progress.expect(numbers)
                    try body(numbers)
                }
            }
        )
    }
}
