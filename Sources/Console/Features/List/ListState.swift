package import HTTPModel

/// The list of exchanges as the screen shows it. Row 0 is the newest, so older matches do not move other rows.
package struct ListState: Sendable {
    package var query = ListQuery()
    package var generation = 0
    package var total = 0
    package var sessionTotal = 0
    /// The progress of the search of the session, from 0 to 1; `nil` if no search runs.
    package var progress: Double?
    /// The filter term that alone excludes all exchanges; `nil` if there is no such term.
    package var excludedBy: String?
    /// The remark if the filter's regular expression took too long in some exchanges, without a full stop.
    package var unfinished: String?
    package var rows: [Int: ExchangeRecord] = [:]
    /// The GraphQL operations of the exchanges whose rows were loaded.
    package var operations: [ExchangeID: String] = [:]
    package var values: [ExchangeID: [Place: String]] = [:]
    /// The row at the lower edge of the screen.
    package var bottom = 0
    package var selected = 0
    package var selectedID: ExchangeID?
    /// Whether it is known if the list contains the selected exchange; `false` while a new list is searched for it.
    var isLocated = true
    /// The exchange to select; an error is reported if the list does not contain it.
    var sought: ExchangeID?
    /// The exchange that was just sent; it is selected once the list contains it, but not after `until`.
    var awaited: (id: ExchangeID, until: Int64)?
    var opensWhenFound = false { didSet { if !opensWhenFound { pageWhenFound = nil } } }
    var pageWhenFound: String?
    /// When unfinished rows were last loaded, in microseconds since 1970.
    var readAt: Int64 = 0
    var hiddenMarks = 0
    package var isFollowing = true
    /// The exchange selected before the list became empty; the next query selects it again.
    var lastSelected: ExchangeID?
    /// Whether to select the first row once the list is sorted.
    var beginsAtTop = false
    /// The chosen columns in order; empty to show the columns that fit.
    package var columns: [Column] = []

    package var selectedRecord: ExchangeRecord? { total > 0 ? rows[selected] : nil }
    /// The exchange to open; `nil` while it is unknown whether a new list contains the selected exchange.
    var visibleID: ExchangeID? { selectedRecord?.id ?? (isLocated ? selectedID : nil) }
    var isAwaitingRow: Bool { visibleID == nil && (progress != nil || total > 0) }
}

package enum Selection: Sendable, Hashable {
    /// The marked exchanges in the order of marking, or the single exchange at the cursor.
    case exchanges([ExchangeID])
    /// The exchanges at and below a branch of the structure that match the list's query.
    case branch(StructureNode)
}

extension ConsoleModel {
    /// The target of commands for several exchanges: the marked ones, or the branch or exchange at the cursor.
    var selection: Selection? {
        if !marks.isEmpty { return .exchanges(marks) }
        if let id = selectedID { return .exchanges([id]) }
        return isTreeInUse ? structure.selectedRow.map { .branch($0.child.node) } : nil
    }
}

package struct ListQuery: Hashable, Sendable {
    package var filter: Filter = .everything
    /// `nil` for the order of exchange numbers, oldest first.
    package var sort: SortOrder?
    /// The focused hosts, as `name` or `name:port`; empty for all hosts.
    package var focusedHosts: Set<String> = []
    package var ignoredHosts: Set<String> = []
    /// The numbers of the only exchanges to show, lowest first; `nil` for all exchanges.
    package var only: [Int64]?
    /// The structure node to which the query is limited, with everything below it; `nil` for all nodes.
    package var place: StructureNode?
    /// Text that one of an exchange's bodies must contain, ignoring case; `nil` or empty for no condition.
    package var bodyText: String?
    /// The time range in which an exchange must begin, in microseconds since 1970; `nil` for any time.
    package var period: Range<Int64>?

    package init(sort: SortOrder? = nil) { self.sort = sort }

    /// The maximum length of the text to search for, in bytes.
    static let longestBodyText = 4_096

    var filterWithoutBody: Filter { narrowing.reduce(filter) { $0.and($1.filter) } }

    /// The conditions for an exchange, except for the text in its bodies, each with a description.
    var terms: [(filter: Filter, words: String)] {
        let own = filter.conjuncts.map { (filter: $0, words: $0.description) }
        return (own + narrowing).filter { !$0.filter.matchesEverything }
    }

    private var narrowing: [(filter: Filter, words: String)] {
        var terms: [(filter: Filter, words: String)] = []
        func add(_ filter: Filter, _ words: String) { terms.append((filter, words)) }
        if !focusedHosts.isEmpty { add(.authorities(focusedHosts), "the focus on \(Self.names(focusedHosts))") }
        if !ignoredHosts.isEmpty { add(.except(ignoredHosts), "the ignored hosts: \(Self.names(ignoredHosts))") }
        if let url = place?.url { add(.place(url, withBelow: true), "the place \(url)") }
        if let period { add(.begun(in: period), "the time \(TimelineView.words(period))") }
        return terms
    }

    static func names(_ hosts: Set<String>) -> String { hosts.sorted().joined(separator: ", ") }

    var isNarrowed: Bool {
        bodyText != nil || only != nil || !focusedHosts.isEmpty || !ignoredHosts.isEmpty || period != nil
    }

    func below(_ node: StructureNode) -> ListQuery {
        var query = self
        query.place = node
        return query
    }

    var wholeFilter: Filter {
        guard let bodyText, !bodyText.isEmpty else { return filterWithoutBody }
        return filterWithoutBody.and(.body(containing: bodyText))
    }
}

package struct SortOrder: Hashable, Sendable {
    package var column: Column
    package var isDescending: Bool

    package init(column: Column, isDescending: Bool = false) {
        self.column = column
        self.isDescending = isDescending
    }
}
