import HTTPModel
import Recording
import Synchronization

/// The desk's thread that reads what the screen shows: a page of rows at a time.
final class DeskPager {
    enum Command: Sendable {
        case rows(Range<Int>, generation: Int)
        case locate(ExchangeID, generation: Int)
    }

    private let reader: SessionReader
    private let list: DeskListBox
    private let mailbox: DeskMailbox<Command>
    private let deliver: @Sendable (DeskEvent) -> Void
    /// What was told to have failed last, so that a damaged row is not told of with every page.
    private var lastFailure = ""

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
    }

    /// Runs until the mailbox is closed.
    func run() {
        while let commands = mailbox.take(waits: true) {
            for command in commands { handle(command) }
        }
    }

    private func handle(_ command: Command) {
        switch command {
        case .rows(let rows, let generation):
            let numbers = list.value.withLock { $0.generation == generation ? $0.numbers(last: rows) : nil }
            guard let numbers else { return }
            deliver(.rows(generation: generation, first: rows.lowerBound, records(numbers)))
        case .locate(let id, let generation):
            let place = list.value.withLock { $0.generation == generation ? $0.position(of: id.number) : nil }
            guard let place else { return }
            deliver(.position(generation: generation, id: id, place))
        }
    }

    private func records(_ numbers: [Int64]) -> [ExchangeRecord?] {
        do {
            return try reader.records(numbers)
        } catch {
            fail(error)
            // One damaged row is to hide no other.
            return numbers.map { try? reader.record(ExchangeID($0)) }
        }
    }

    private func fail(_ error: any Error) {
        let words = deskWords(error)
        guard words != lastFailure else { return }
        lastFailure = words
        deliver(.failed(words))
    }
}
