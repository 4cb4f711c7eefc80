import Foundation
package import HTTPModel
package import Recording
import Synchronization

/// Sends the ended exchanges of a session to a store, on one thread of low priority. The session file stays the first
/// place: traffic never waits for the store, and what is not stored yet is read from the file when the store is there
/// again. Which exchanges the store has, only the store knows; rows that are sent again change nothing.
package final class Shipper: Sendable {
    package struct Settings: Sendable {
        package let address: StoreAddress
        package var labels: [String: String] = [:]
        package var version = ""
        /// In bytes; of a longer body the beginning is stored.
        package var longestBody = Shipper.longestBody

        package init(_ address: StoreAddress) { self.address = address }
    }

    package struct Status: Sendable, Hashable, Codable {
        /// Without the password.
        package var address = ""
        package var project = ""
        package var waiting = 0
        package var stored = 0
        /// Dropped from the session file, for `--max-session`, before they were stored.
        package var lost = 0
        /// In microseconds since 1970; the first exchange that waits ended then.
        package var waitsSince: Int64?
        package var error: String?

        package init() {}
    }

    /// Reads and masks exchanges of the session; on the shipper's thread.
    package protocol Source {
        /// Adds those of the numbers that the session still has, until the batch is large enough; returns how many
        /// numbers are dealt with.
        func fill(_ batch: StoreBatch, with numbers: [Int64]) throws -> Int
        /// Rule sets after this number.
        func rules(after number: Int64) throws -> [StoredRules]
        func annotations() throws -> [Int64: ExchangeAnnotation]
        var identifier: String { get throws }
        var ended: [Int64] { get throws }
    }

    package static let longestBody = 1_000_000
    /// The most exchanges of a batch.
    package static let mostExchanges = 500
    private static let niceness: CInt = 10
    /// Seconds between two attempts, at first and at most.
    private static let (shortestPause, longestPause) = (0.5, 30.0)
    /// How many seconds the first exchange of a batch waits for more.
    private static let gathering = 0.2

    private struct State {
        var waiting: Set<Int64> = []
        /// Those that wait, and some that do not any more, in the order in which they ended.
        var order: ArraySlice<Int64> = []
        var status = Status()
        var isStopping = false
        /// When waiting for the store ends; while exchanges are sent, it moves on to `end` at most.
        var deadline = Date.distantFuture
        var end = Date.distantFuture
        var patience = 0.0

        var next: [Int64] {
            mutating get {
                while let first = order.first, !waiting.contains(first) { order.removeFirst() }
                return order.prefix(Shipper.mostExchanges).filter { waiting.contains($0) }
            }
        }
    }

    private let settings: Settings
    private let state = Mutex(State())
    private let wakeUp = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let onError: @Sendable (String) -> Void

    /// `onError` gets a sentence when the store begins to fail, and when it is there again.
    package init(_ settings: Settings, onError: @escaping @Sendable (String) -> Void) {
        (self.settings, self.onError) = (settings, onError)
    }

    /// `makeSource` opens the session on the shipper's thread. `edits` grows when comments may have changed.
    package func start(
        edits: @escaping @Sendable () -> Int,
        makeSource: @escaping @Sendable () throws -> any Source
    ) {
        let thread = Thread { [self] in
            #if os(Linux)
            // There a thread has a priority of its own, which the quality of service does not set.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Shipper.niceness)
            #endif
            run(edits, makeSource)
            ended.signal()
        }
        thread.name = "sluice.shipper"
        thread.qualityOfService = .utility
        thread.start()
    }

    package var status: Status {
        state.withLock { state in
            var status = state.status
            (status.address, status.project) = (settings.address.shown, settings.address.project)
            status.waiting = state.waiting.count
            if state.waiting.isEmpty { status.waitsSince = nil }
            return status
        }
    }

    /// Takes ended exchanges; never waits, on any thread.
    package func add(_ numbers: [Int64]) {
        state.withLock { state in
            if state.waiting.isEmpty { state.status.waitsSince = WallClock.now() }
            state.waiting.formUnion(numbers)
            state.order += numbers
        }
        wakeUp.signal()
    }

    /// Whether an exchange was not stored yet.
    package func needs(_ number: Int64) -> Bool { state.withLock { $0.waiting.contains(number) } }

    /// Counts exchanges that the session drops before they are stored.
    package func lose(_ numbers: [Int64]) {
        state.withLock { state in
            for number in numbers where state.waiting.remove(number) != nil { state.status.lost += 1 }
        }
    }

    /// Sends what waits. Ends if nothing was sent for so many seconds, and after `most`. Call it after the last exchange.
    package func stop(patience seconds: Double, most: Double) {
        state.withLock { state in
            state.isStopping = true
            state.patience = seconds
            (state.deadline, state.end) = (Date() + seconds, Date() + most)
        }
        wakeUp.signal()
        while ended.wait(timeout: .now() + 0.1) == .timedOut {
            guard isLate else { continue }
            // The thread notices it soon.
            _ = ended.wait(timeout: .now() + 1)
            return
        }
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }
    private var isLate: Bool { state.withLock { Date() >= $0.deadline } }

    // MARK: - On the shipper's thread

    private func run(_ edits: () -> Int, _ makeSource: () throws -> any Source) {
        var pause = Shipper.shortestPause
        var progress = Progress()
        while !isLate {
            do {
                try ship(edits, makeSource, &progress) { pause = Shipper.shortestPause }
                return
            } catch is CancellationError {
                return
            } catch {
                note("\(error)")
                if let error = error as? StoreError, error.code == .library || error.code == .address { return }
            }
            let end = Date() + pause
            pause = min(Shipper.longestPause, pause * 2)
            while Date() < end, !isLate, !(isStopping && isIdle) { _ = wakeUp.wait(timeout: .now() + 0.1) }
            if isStopping, isIdle { return }
        }
    }

    private var isIdle: Bool { state.withLock { $0.waiting.isEmpty } }

    private struct Progress {
        var source: (any Source)?
        var rules: Int64 = 0
        /// `nil` before the store is asked.
        var annotations: [Int64: ExchangeAnnotation]?
        var edits = -1
        var reported = 0
        var hasAsked = false
    }

    /// Returns when everything is sent and the shipper stops; throws when the store fails.
    private func ship(
        _ edits: () -> Int,
        _ makeSource: () throws -> any Source,
        _ progress: inout Progress,
        onSuccess: () -> Void
    ) throws {
        let source = try progress.source ?? makeSource()
        progress.source = source
        let writer = try StoreWriter(
            settings,
            session: try source.identifier,
            isCancelled: { self.isLate }
        )
        // An earlier run of this session, or a connection that was lost, may have stored some.
        let stored = try writer.shipped()
        let all = progress.hasAsked ? [] : try source.ended
        progress.hasAsked = true
        state.withLock { state in
            state.status.stored += state.waiting.count { stored.contains($0) }
            state.waiting = state.waiting.union(all).filter { !stored.contains($0) }
            state.order = ArraySlice(state.waiting.sorted())
            if !state.waiting.isEmpty, state.status.waitsSince == nil { state.status.waitsSince = WallClock.now() }
        }
        while true {
            try shipOnce(writer, source, edits(), &progress)
            noteSuccess()
            onSuccess()
            if isIdle {
                if isStopping { return }
                while isIdle, !isStopping, edits() == progress.edits { _ = wakeUp.wait(timeout: .now() + 1) }
                // A batch of one costs as much as a batch of many: waits for more, unless it is the end.
                if !isStopping { Thread.sleep(forTimeInterval: Shipper.gathering) }
            }
            if isLate { throw CancellationError() }
        }
    }

    private func shipOnce(
        _ writer: StoreWriter,
        _ source: any Source,
        _ edits: Int,
        _ progress: inout Progress
    ) throws {
        let (next, lost) = state.withLock { ($0.next, $0.status.lost) }
        let rules = try source.rules(after: progress.rules)
        try writer.write(rules)
        progress.rules = rules.last?.number ?? progress.rules
        if !next.isEmpty {
            let batch = StoreBatch(longestBody: settings.longestBody)
            let count = try source.fill(batch, with: next)
            if !batch.isEmpty { try writer.write(batch) }
            state.withLock { state in
                state.waiting.subtract(next.prefix(count))
                state.status.stored += batch.numbers.count
                if state.isStopping { state.deadline = min(Date() + state.patience, state.end) }
                // The recorder tells of an exchange after it has removed it, if it had to at once. Without such removals,
                // the user has deleted it.
                if state.status.lost > 0 { state.status.lost += count - batch.numbers.count }
            }
        }
        if edits != progress.edits {
            try writer.write(source.annotations(), known: &progress.annotations)
            progress.edits = edits
        }
        if lost > progress.reported {
            try writer.write(missing: lost - progress.reported, reason: "removed from the session (--max-session)")
            progress.reported = lost
        }
    }

    private func note(_ error: String) {
        let line = error.split(separator: "\n").joined(separator: " ")
        let isNew = state.withLock { state in
            defer { state.status.error = line }
            return state.status.error == nil
        }
        if isNew { onError("\(line) Traffic goes on, and its exchanges wait in the session.") }
    }

    private func noteSuccess() {
        let wasFailing = state.withLock { state in
            defer { state.status.error = nil }
            return state.status.error != nil
        }
        if wasFailing { onError("The store \(settings.address.shown) is there again.") }
    }
}
