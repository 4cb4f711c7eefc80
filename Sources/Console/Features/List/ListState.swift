package import HTTPModel

/// The list of exchanges as the screen knows it. Rows count from the end, 0 for the newest: older matches move none.
package struct ListState: Sendable {
    package var query = ListQuery()
    package var generation = 0
    package var total = 0
    package var sessionTotal = 0
    /// How far a pass over the session is, from 0 to 1; `nil` if none runs.
    package var progress: Double?
    /// The term that excludes everything, if the list is empty because of it.
    package var excludedBy: String?
    /// Where the filter's expressions were given up, without a full stop; `nil` for nowhere.
    package var unfinished: String?
    package var rows: [Int: ExchangeRecord] = [:]
    /// The operations of GraphQL that exchanges ask for, as far as their rows were read.
    package var operations: [ExchangeID: String] = [:]
    package var values: [ExchangeID: [Place: String]] = [:]
    /// The row at the lower edge of the screen.
    package var bottom = 0
    package var selected = 0
    package var selectedID: ExchangeID?
    /// Whether the list has the selected exchange; `false` while that is asked of a list just begun.
    var isLocated = true
    /// The exchange to go to; reported if it is not in the list.
    var sought: ExchangeID?
    /// The exchange that was just sent, which is selected as soon as the list has it, but not after that time.
    var awaited: (id: ExchangeID, until: Int64)?
    var opensWhenFound = false { didSet { if !opensWhenFound { pageWhenFound = nil } } }
    var pageWhenFound: String?
    /// When unfinished rows were last read, in microseconds since 1970.
    var readAt: Int64 = 0
    var hiddenMarks = 0
    package var isFollowing = true
    /// What was selected before the list had nothing: it is again when the list has it.
    var lastSelected: ExchangeID?
    /// Whether the first row is selected once the list is sorted.
    var beginsAtTop = false
    /// In their order; empty for those that fit.
    package var columns: [Column] = []

    package var selectedRecord: ExchangeRecord? { total > 0 ? rows[selected] : nil }
    /// The exchange that is opened: never one that the list just begun may not have.
    var visibleID: ExchangeID? { selectedRecord?.id ?? (isLocated ? selectedID : nil) }
    /// Whether the row that is selected is still read.
    var isAwaitingRow: Bool { visibleID == nil && (progress != nil || total > 0) }
}

package enum Selection: Sendable, Hashable {
    /// In the order in which they were marked; one for the row that has the cursor.
    case exchanges([ExchangeID])
    /// All exchanges at and below a branch of the structure that the list's query leaves.
    case branch(StructureNode)
}

extension ConsoleModel {
    /// What commands for several exchanges act on: the marked ones, else the branch or the exchange under the cursor.
    var selection: Selection? {
        if !marks.isEmpty { return .exchanges(marks) }
        if let id = selectedID { return .exchanges([id]) }
        return isTreeInUse ? structure.selectedRow.map { .branch($0.child.node) } : nil
    }
}

package struct ListQuery: Hashable, Sendable {
    package var filter: Filter = .everything
    /// `nil` for the order of numbers, oldest first.
    package var sort: SortOrder?
    /// The hosts that are focused on, as `name` or `name:port`; empty for all.
    package var focusedHosts: Set<String> = []
    package var ignoredHosts: Set<String> = []
    /// The only exchanges, lowest number first; `nil` for all.
    package var only: [Int64]?
    /// The place of the structure that alone is meant, with all below it; `nil` for all.
    package var place: StructureNode?
    /// Text that one of their bodies must also contain, in any case; `nil` or empty for none.
    package var bodyText: String?
    /// When they began, in microseconds since 1970; `nil` for any time.
    package var period: Range<Int64>?

    package init(sort: SortOrder? = nil) { self.sort = sort }

    /// The longest text to search for, in bytes.
    static let longestBodyText = 4_096

    var filterWithoutBody: Filter { narrowing.reduce(filter) { $0.and($1.filter) } }

    /// What an exchange must pass apart from the text in its bodies, each part with words for it.
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
