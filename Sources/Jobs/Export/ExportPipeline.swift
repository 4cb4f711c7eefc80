import Dispatch
import Foundation
package import HTTPModel
package import Recording
import Synchronization

/// Reads exchanges of a session in pages, on one or several threads. The caller's thread gets the results in order.
/// Only a few pages and results are in memory; a faster thread waits. The first error ends all threads.
package struct ExportPipeline {
    static let pageLength = 128
    private static let mostThreads = 4

    package let reader: SessionReader
    /// The current page of ``forEachExchange(_:)``, for exports on one thread.
    package let pages: SessionPages
    private let threads: Int
    private let numbers: (([Int64]) throws -> Void) throws -> Void
    private let onProgress: (Int) throws -> Void

    /// `onProgress` gets the number of exchanges since its last call (several times a second 0) on the caller's thread;
    /// its errors end the pass. `numbers` calls its closure with the exchanges' numbers, in order, in blocks.
    package init(
        _ reader: SessionReader,
        threads: Int = min(ProcessInfo.processInfo.activeProcessorCount, mostThreads),
        onProgress: @escaping (Int) throws -> Void = { _ in },
        numbers: @escaping (([Int64]) throws -> Void) throws -> Void
    ) {
        (self.reader, self.numbers, self.onProgress) = (reader, numbers, onProgress)
        self.threads = max(1, threads)
        pages = SessionPages(reader)
    }

    /// Calls `body` with each exchange on the caller's thread; ``pages`` has its short bodies then. Returns the count.
    @discardableResult
    package func forEachExchange(_ body: (RecordedExchange) throws -> Void) throws -> Int {
        var count = 0
        try numbers { block in
            var rest = block[...]
            while !rest.isEmpty {
                var page = rest.prefix(ExportPipeline.pageLength)
                rest = rest.dropFirst(page.count)
                while !page.isEmpty {
                    let exchanges = try pages.read(&page)
                    for exchange in exchanges {
                        try onProgress(0)
                        try body(exchange)
                    }
                    count += exchanges.count
                    try onProgress(exchanges.count)
                }
            }
        }
        return count
    }

    /// Processes pages on several threads; returns the number of exchanges. `makeWork` is called once on each thread,
    /// and returns the work on a page. `take` gets each result on the caller's thread, in order.
    @discardableResult
    func run<Made: Sendable>(
        _ makeWork: @escaping @Sendable (SessionPages) -> (ExportPage<Made>) throws -> Void,
        take: (_ made: Made, _ isFirst: Bool) throws -> Void
    ) throws -> Int {
        let queue = PageQueue<Made>()
        var (count, started) = (0, 0)
        var waiting: [ExportPage<Made>] = []
        defer {
            queue.close()
            for page in waiting { page.cancel() }
            for _ in 0..<started { queue.ended.wait() }
        }
        func takeFirst() throws {
            var isFirst = true
            while let made = try waiting[0].next(check: { try onProgress(0) }) {
                try take(made, isFirst)
                isFirst = false
            }
            let found = waiting.removeFirst().found
            count += found
            try onProgress(found)
        }
        try numbers { block in
            var rest = block[...]
            while !rest.isEmpty {
                let page = ExportPage<Made>(rest.prefix(ExportPipeline.pageLength))
                rest = rest.dropFirst(ExportPipeline.pageLength)
                if started < threads {
                    // The first thread uses our reader, so that a single page needs no second reader.
                    start(queue, isFirst: started == 0, makeWork)
                    started += 1
                }
                queue.add(page)
                waiting.append(page)
                if waiting.count >= threads * 3 { try takeFirst() }
            }
        }
        while !waiting.isEmpty { try takeFirst() }
        return count
    }

    private func start<Made: Sendable>(
        _ queue: PageQueue<Made>,
        isFirst: Bool,
        _ makeWork: @escaping @Sendable (SessionPages) -> (ExportPage<Made>) throws -> Void
    ) {
        Thread.detachNewThread { [reader] in
            ExportPipeline.serve(queue, reader, isFirst: isFirst, makeWork)
            // This must be the last step, because the caller may then remove the file.
            queue.ended.signal()
        }
    }

    private static func serve<Made: Sendable>(
        _ queue: PageQueue<Made>,
        _ reader: SessionReader,
        isFirst: Bool,
        _ makeWork: (SessionPages) -> (ExportPage<Made>) throws -> Void
    ) {
        // A file without a name (an imported archive) cannot be opened again, so all threads share one reader.
        let own = isFirst ? reader : reader.another() ?? reader
        let pages = SessionPages(own) { if queue.isClosed { throw CancellationError() } }
        let work = makeWork(pages)
        while let page = queue.next() { page.end(Result { try work(page) }) }
    }
}

private final class PageQueue<Made: Sendable>: Sendable {
    private let pages = Mutex<[ExportPage<Made>]>([])
    private let added = DispatchSemaphore(value: 0)
    private let closed = Atomic(false)
    /// Signalled by each thread at its end.
    let ended = DispatchSemaphore(value: 0)

    var isClosed: Bool { closed.load(ordering: .relaxed) }

    func add(_ page: ExportPage<Made>) {
        pages.withLock { $0.append(page) }
        added.signal()
    }

    /// `nil` after the last page.
    func next() -> ExportPage<Made>? {
        added.wait()
        guard !isClosed else {
            // Wakes the next waiting thread.
            added.signal()
            return nil
        }
        return pages.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    func close() {
        closed.store(true, ordering: .relaxed)
        added.signal()
    }
}

/// Some exchanges of a session, and their results that wait for the caller's thread.
final class ExportPage<Made: Sendable>: Sendable {
    static var mostWaiting: Int { 16 }
    private static var checkInterval: DispatchTimeInterval { .milliseconds(100) }

    private struct State {
        var made: [Made] = []
        var outcome: Result<Void, any Error>?
        var found = 0
        var isCancelled = false
    }

    private let numbers: [Int64]
    private let state = Mutex(State())
    private let given = DispatchSemaphore(value: 0)
    private let room = DispatchSemaphore(value: 0)

    init(_ numbers: ArraySlice<Int64>) {
        self.numbers = Array(numbers)
        for _ in 0..<ExportPage.mostWaiting { room.signal() }
    }

    var found: Int { state.withLock { $0.found } }

    func forEach(in pages: SessionPages, _ body: (RecordedExchange) throws -> Void) throws {
        var rest = numbers[...]
        while !rest.isEmpty {
            let exchanges = try pages.read(&rest)
            for exchange in exchanges { try body(exchange) }
            state.withLock { $0.found += exchanges.count }
        }
    }

    /// Waits while many results are queued. Throws `CancellationError` if the caller takes no more results.
    func give(_ made: Made) throws {
        room.wait()
        let isTaken = state.withLock { state in
            if !state.isCancelled { state.made.append(made) }
            return !state.isCancelled
        }
        guard isTaken else {
            room.signal()
            throw CancellationError()
        }
        given.signal()
    }

    func end(_ outcome: Result<Void, any Error>) {
        state.withLock { $0.outcome = outcome }
        given.signal()
    }

    /// The next result, `nil` at the end; calls `check` while it waits. Throws the error of the work.
    func next(check: () throws -> Void) throws -> Made? {
        while given.wait(timeout: .now() + ExportPage.checkInterval) == .timedOut { try check() }
        let made = try state.withLock { state -> Made? in
            if !state.made.isEmpty { return state.made.removeFirst() }
            try state.outcome?.get()
            return nil
        }
        if made != nil { room.signal() }
        return made
    }

    func cancel() {
        state.withLock { $0.isCancelled = true }
        room.signal()
    }
}
