import Dispatch
import HTTPModel
import Recording
import Synchronization

/// The desk's thread that makes passes over the session, step by step.
///
/// Between two steps it takes what is asked meanwhile; a step ends early for that, so nothing waits for longer than it
/// takes to look at some hundred rows.
final class DeskWorker {
    enum Command: Sendable {
        case query(ListQuery, generation: Int)
        case find(JumpKind, from: Int, forward: Bool, generation: Int)
        case structure(StructureNode, generation: Int)
        case refresh
        case cancel
    }

    /// What fills the list.
    enum Pass {
        /// Looks for matches from `next` down to `lowest`.
        case matching(next: Int64, lowest: Int64, from: Int64)
        /// Gathers what to order by: of matches, or of all numbers.
        case gathering(ExchangeSorter, GatherSource, isFirst: Bool)
    }

    /// Which exchanges are put in order.
    enum GatherSource {
        case matches(NumberList, done: Int)
        case numbers(ClosedRange<Int64>, next: Int64)
    }

    let reader: SessionReader
    let list: DeskListBox
    let deliver: @Sendable (DeskEvent) -> Void
    private let mailbox: DeskMailbox<Command>

    var query = ListQuery()
    var generation = 0
    var scan = ExchangeScan(.everything)
    var pass: Pass?
    /// Numbers up to this one have been looked at, or will be by the pass.
    var highest: Int64
    /// Exchanges whose answer may change.
    var pending = PendingNumbers()
    var search: RowSearch?
    var structures = StructureCounting()
    var error: String?
    /// Whether the order is behind the matches.
    var isOrderStale = false
    var lastSort: UInt64 = 0
    /// Whether a pass has seen the whole session.
    var isWhole = false

    private var summary: SessionSummary?
    private var hasVanished = false
    private var lastStatus: ListStatus?
    private var lastStatusTime: UInt64 = 0

    init(
        reader: SessionReader,
        list: DeskListBox,
        mailbox: DeskMailbox<Command>,
        deliver: @escaping @Sendable (DeskEvent) -> Void
    ) {
        self.reader = reader
        self.list = list
        self.mailbox = mailbox
        self.deliver = deliver
        highest = list.value.withLock { $0.bounds?.upperBound ?? 0 }
    }

    /// Runs until the mailbox is closed.
    func run() {
        attempt { try tellSummary() }
        tellStatus(force: true)
        while let commands = mailbox.take(waits: !hasWork) {
            for command in commands { attempt { try handle(command) } }
            attempt { try step() }
        }
    }

    private var hasWork: Bool { pass != nil || search != nil || structures.hasWork || isBehind }

    /// Whether there are numbers that the list has not looked at.
    var isBehind: Bool { list.value.withLock { $0.bounds?.upperBound ?? 0 } > highest }

    /// One short piece of whatever is to be done; what somebody waits for comes first.
    private func step() throws {
        if isBehind { try catchUp() }
        if search != nil {
            try stepSearch()
        } else if pass != nil {
            try stepPass()
        } else if structures.hasWork {
            try stepStructures()
        }
        if pass != nil || search != nil { tellStatus() }
    }

    /// Whether a step is to end, given when it began.
    func pauses(since begin: UInt64) -> Bool {
        mailbox.hasCommands || DispatchTime.now().uptimeNanoseconds - begin > DeskWorker.stepNanoseconds
    }

    private static let stepNanoseconds: UInt64 = 15_000_000

    // MARK: - Commands

    private func handle(_ command: Command) throws {
        switch command {
        case .query(let query, let generation): try begin(query, generation: generation)
        case .find(let kind, let row, let forward, let generation):
            guard generation == self.generation else { return }
            search = nil
            beginSearch(kind, from: row, forward: forward)
        case .structure(let node, let generation):
            guard generation == self.generation else { return }
            try loadStructure(node)
        case .refresh: try refresh()
        case .cancel:
            let wasAtWork = pass != nil || search != nil
            pass = nil
            if let kind = search?.kind { deliver(.found(generation: generation, index: nil, kind)) }
            search = nil
            structures.cancel()
            if wasAtWork { tellStatus(force: true) }
        }
    }

    private func begin(_ query: ListQuery, generation: Int) throws {
        self.query = query
        self.generation = generation
        let text = (query.bodyText ?? "").isEmpty ? nil : query.bodyText
        let bodyText = text.flatMap { BodyText($0) }
        scan = ExchangeScan(query.wholeFilter, bodyText: bodyText)
        pass = nil
        search = nil
        pending = PendingNumbers()
        structures = StructureCounting()
        error = nil
        isOrderStale = false
        isWhole = false
        if text != nil, bodyText == nil {
            error = "The text to search for is longer than \(BodyText.maximumLength) bytes."
            highest = .max
            tellStatus(force: true)
            return
        }
        let bounds = try reader.bounds()
        list.value.withLock { $0.bounds = bounds ?? $0.bounds }
        highest = bounds?.upperBound ?? 0
        if let bounds {
            if list.value.withLock(\.isFiltered) {
                pass = .matching(next: bounds.upperBound, lowest: bounds.lowerBound, from: bounds.upperBound)
            } else {
                beginOrdering(isFirst: true)
            }
        }
        if pass == nil { tellStatus(force: true) }
    }

    /// Does something that may fail, and tells if it did; the pass that failed is not tried again.
    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            let words = deskWords(error)
            pass = nil
            search = nil
            structures.cancel()
            highest = max(highest, list.value.withLock { $0.bounds?.upperBound ?? 0 })
            self.error = words
            deliver(.failed(words))
            tellStatus(force: true)
        }
    }

    // MARK: - What is new

    private func refresh() throws {
        guard reader.isInPlace else {
            if !hasVanished {
                hasVanished = true
                deliver(.failed("The session \(reader.path) was removed or replaced; what was open is shown on."))
            }
            return
        }
        let bounds = try reader.bounds()
        let isFiltered = list.value.withLock { list in
            list.bounds = bounds ?? list.bounds
            return list.isFiltered
        }
        if !isFiltered, structures.isEmpty {
            if let upper = bounds?.upperBound, upper > highest {
                highest = upper
                isOrderStale = true
            }
        } else if isBehind {
            try catchUp()
        }
        try lookAgain()
        orderAgain()
        try tellSummary()
        if pass == nil { tellStatus(force: true) }
    }

    private func tellSummary() throws {
        let now = try reader.summary()
        guard now != summary else { return }
        summary = now
        deliver(.summary(now))
    }

    // MARK: - Telling

    /// Tells how far the list has come, at most ten times a second unless it is forced; never the same twice.
    func tellStatus(force: Bool = false) {
        let now = DispatchTime.now().uptimeNanoseconds
        guard force || now - lastStatusTime >= 100_000_000 || isFirstPage else { return }
        let total = list.value.withLock { list -> Int? in
            guard list.generation == generation else { return nil }
            if pass == nil { list.isFilled = true }
            return list.count
        }
        guard let total else { return }
        var status = ListStatus(
            generation: generation,
            total: total,
            sessionTotal: Int(clamping: summary?.exchanges ?? 0),
            progress: progress,
            error: error
        )
        if isWhole, pass == nil, total == 0, error == nil { status.excludedBy = excludedBy }
        guard status != lastStatus else { return }
        lastStatus = status
        lastStatusTime = now
        deliver(.list(status))
    }

    /// Whether the first rows of a list have been found and not been told of.
    private var isFirstPage: Bool {
        guard case .matching = pass, lastStatus?.generation != generation || lastStatus?.total ?? 0 < 50 else {
            return false
        }
        let count = list.value.withLock(\.count)
        return count >= 50 || count > 0 && lastStatus?.generation != generation
    }

    private var progress: Double? {
        if let search { return search.progress }
        switch pass {
        case nil, .gathering(_, _, isFirst: false): return nil
        case .matching(let next, let lowest, let from):
            let part = Double(from - next) / Double(max(1, from - lowest))
            return query.sort == nil ? part : part * 0.6
        case .gathering(_, .matches(let numbers, let done), _):
            return 0.6 + 0.4 * Double(done) / Double(max(1, numbers.count))
        case .gathering(_, .numbers(let range, let next), _):
            return Double(next - range.lowerBound) / Double(max(1, range.count))
        }
    }

    /// The one term that lets nothing pass.
    private var excludedBy: String? {
        if scan.filterHasMatched, let text = query.bodyText { return "the text \"\(text)\" in bodies" }
        return scan.unmatchedTerms.first?.description
    }
}
