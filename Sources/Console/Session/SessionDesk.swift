import Dispatch
package import HTTPModel
package import Recording
import Synchronization

/// Everything the console asks of a session, answered by events: lists, rows, jumps, the structure.
///
/// Calls return at once. Two threads do the work, each with a connection of its own to the file: one reads rows and
/// exchanges for the screen, the other makes passes over the whole session in short steps, so that a later question, a
/// cancellation or a newer query never waits for an earlier one. Events come on those threads.
package final class SessionDesk: Sendable {
    /// A connection for detail views and exports, apart from those that the desk works with.
    package let reader: SessionReader

    private let list: DeskListBox
    private let passes = DeskMailbox<DeskWorker.Command>()
    private let pages = DeskMailbox<DeskPager.Command>()

    /// Opens a session; the list is that of all exchanges, generation 0.
    ///
    /// - Parameters:
    ///   - path: the session's file.
    ///   - deliver: called with each event, on threads of the desk; must not wait.
    /// - Throws: `SessionError` where the session cannot be opened.
    package init(path: String, deliver: @escaping @Sendable (DeskEvent) -> Void) throws {
        reader = try SessionReader(path: path)
        let pageReader = try SessionReader(path: path)
        let passReader = try SessionReader(path: path)
        let list = DeskListBox(bounds: try pageReader.bounds())
        self.list = list
        DispatchQueue(label: "sluice.desk.pages", qos: .userInteractive).async { [pages] in
            DeskPager(reader: pageReader, list: list, mailbox: pages, deliver: deliver).run()
        }
        DispatchQueue(label: "sluice.desk.passes", qos: .userInitiated).async { [passes] in
            DeskWorker(reader: passReader, list: list, mailbox: passes, deliver: deliver).run()
        }
    }

    deinit {
        passes.close()
        pages.close()
    }

    /// Begins another list; whatever went on for the one before ends.
    ///
    /// `.list` events tell how far it has come, at most ten a second. Matches are found newest first, so that the last
    /// rows are there at once.
    ///
    /// - Parameters:
    ///   - query: which exchanges, in which order.
    ///   - generation: what the events are marked with; requests with another one are not answered.
    package func setQuery(_ query: ListQuery, generation: Int) {
        list.value.withLock { $0.begin(query, generation: generation) }
        passes.put(.query(query, generation: generation)) { command in
            if case .refresh = command { false } else { true }
        }
    }

    /// Reads rows by their distance from the list's end: 0 is the last row.
    ///
    /// Answered by `.rows`.
    package func load(last rows: Range<Int>, generation: Int) {
        pages.put(.rows(rows, generation: generation))
    }

    /// Asks where an exchange is in the list.
    ///
    /// Answered by `.position`.
    package func locate(_ id: ExchangeID, generation: Int) {
        pages.put(.locate(id, generation: generation))
    }

    /// Looks for the next row of a kind.
    ///
    /// Answered by `.found`; ends with the next search, query or ``cancel()``.
    ///
    /// - Parameters:
    ///   - kind: what to look for.
    ///   - row: where to begin, as a distance from the list's end; that row itself is not looked at.
    ///   - forward: whether to go towards the list's end.
    ///   - generation: the list that is meant.
    package func find(_ kind: JumpKind, from row: Int, forward: Bool, generation: Int) {
        passes.put(.find(kind, from: row, forward: forward, generation: generation))
    }

    /// Counts the children of a node, over the exchanges of the list.
    ///
    /// Answered by `.structure`, several times while the
    /// counting goes on; asking again later is cheap, since what is new is counted as it comes.
    package func loadStructure(_ node: StructureNode, generation: Int) {
        passes.put(.structure(node, generation: generation))
    }

    /// Looks whether the session has grown or changed; a `.list` event follows where the list has.
    package func refresh() {
        passes.put(.refresh) { if case .refresh = $0 { true } else { false } }
    }

    /// Ends passes and searches; the list stays as far as it has come.
    package func cancel() {
        passes.put(.cancel)
    }
}

/// The list between the desk's threads.
final class DeskListBox: Sendable {
    let value: Mutex<DeskList>

    init(bounds: ClosedRange<Int64>?) {
        var list = DeskList()
        list.bounds = bounds
        value = Mutex(list)
    }
}

/// How an error is told to the user.
func deskWords(_ error: any Error) -> String {
    (error as? SessionError)?.description ?? "The session cannot be read: \(error)."
}
