package import HTTPModel

/// The list of exchanges, as far as the screen knows it.
///
/// Rows are counted from the list's end, 0 for the newest, so that nothing moves while older matches are still being
/// found.
package struct ListState: Sendable {
    package var query = ListQuery()
    /// The query that the rows answer.
    package var generation = 0
    package var total = 0
    package var sessionTotal = 0
    /// How far a pass over the session is, from 0 to 1; `nil` where none runs.
    package var progress: Double?
    /// The term that excludes everything, where the list is empty because of it.
    package var excludedBy: String?
    /// Where the filter's expressions were given up, without a full stop; `nil` for nowhere.
    package var unfinished: String?
    /// The known rows: those on the screen and some around them.
    package var rows: [Int: ExchangeRecord] = [:]
    /// The operations of GraphQL that exchanges ask for, as far as their rows were read.
    package var operations: [ExchangeID: String] = [:]
    /// The row at the lower edge of the screen.
    package var bottom = 0
    package var selected = 0
    package var selectedID: ExchangeID?
    /// Whether the list has the selected exchange; `false` while that is asked of a list just begun.
    var isLocated = true
    /// The exchange to go to; reported where it is not in the list.
    var sought: ExchangeID?
    /// The exchange that was just sent, which is selected as soon as the list has it, but not after that time.
    var awaited: (id: ExchangeID, until: Int64)?
    /// Whether the result of a search is opened.
    var opensWhenFound = false {
        didSet { if !opensWhenFound { pageWhenFound = nil } }
    }
    /// The page that it is then turned to, as it was typed.
    var pageWhenFound: String?
    /// When unfinished rows were last read, in microseconds since 1970.
    var readAt: Int64 = 0
    /// How many marked exchanges the list does not have.
    var hiddenMarks = 0
    /// Whether the newest exchange stays selected.
    package var isFollowing = true
    /// What was selected before the list had nothing: it is again when the list has it.
    var lastSelected: ExchangeID?
    /// Whether the first row is selected once the list is sorted.
    var beginsAtTop = false
    /// In their order; empty for those that fit.
    package var columns: [Column] = []

    /// `nil` where the selected row is not known.
    package var selectedRecord: ExchangeRecord? { total > 0 ? rows[selected] : nil }
    /// The exchange that is opened: never one that the list just begun may not have.
    var visibleID: ExchangeID? { selectedRecord?.id ?? (isLocated ? selectedID : nil) }
    /// Whether the row that is selected is still read.
    var isAwaitingRow: Bool { visibleID == nil && (progress != nil || total > 0) }
}

package struct StructureState: Sendable {
    package struct Row: Sendable, Hashable {
        /// The place; for an exchange, the place where it is.
        package var child: StructureChild
        package var depth: Int
        package var isOpen: Bool
        /// One of the place's own exchanges; `nil` for the place itself.
        package var exchange: ExchangeRecord?
        /// How many further exchanges the place has, in the row that says so; else 0.
        package var more = 0

        /// The exchange that the row stands for: a leaf for its newest; `nil` for a branch.
        package var id: ExchangeID? { exchange?.id ?? (more == 0 && child.isLeaf ? child.newest : nil) }
        /// Whether it can be opened to show what is below it.
        package var isBranch: Bool { exchange == nil && more == 0 && (!child.isLeaf || child.count > 1) }
        /// Tells the rows apart.
        fileprivate var place: Place { Place(node: child.node, id: exchange?.id, isMore: more > 0) }
    }

    fileprivate struct Place: Hashable {
        var node: StructureNode
        var id: ExchangeID?
        var isMore: Bool
    }

    /// The most exchanges of a place that are shown.
    package static let mostExchanges = QueryService.mostExchanges

    /// The children of open branches.
    package private(set) var levels: [StructureNode: StructureLevel] = [:] { didSet { arrange() } }
    /// The newest exchanges at a place itself, the newest first, where they were asked for.
    package private(set) var exchanges: [StructureNode: [ExchangeRecord]] = [:] { didSet { arrange() } }
    /// Places that were read before an edit of the session and are being read again.
    private var outdatedLevels: Set<StructureNode> = []
    private var outdatedExchanges: Set<StructureNode> = []
    /// When unfinished exchanges were last read, in microseconds since 1970.
    var readAt: Int64 = 0
    package var open: Set<StructureNode> = [StructureNode()] { didSet { arrange() } }
    package var selected = 0
    package var top = 0
    package private(set) var rows: [Row] = []

    /// The place to select again once it has a row: the tree is empty for a moment when another list is asked for.
    private var kept: Place?

    var selectedRow: Row? { rows.indices.contains(selected) ? rows[selected] : nil }

    /// Begins the tree of another query.
    mutating func clear() {
        (levels, exchanges) = ([:], [:])
        (outdatedLevels, outdatedExchanges) = ([], [])
    }

    /// Has everything be read again. Until then the tree stays as it is, so that no key finds it empty.
    mutating func expire() { (outdatedLevels, outdatedExchanges) = (Set(levels.keys), Set(exchanges.keys)) }

    mutating func take(_ level: StructureLevel) {
        // Half a count does not take the place of the whole one before it.
        guard level.progress == nil || !outdatedLevels.contains(level.node) else { return }
        outdatedLevels.remove(level.node)
        levels[level.node] = level
    }

    mutating func take(_ records: [ExchangeRecord], at node: StructureNode) {
        outdatedExchanges.remove(node)
        exchanges[node] = records
    }

    /// Selects another row.
    mutating func move(to row: Int) {
        kept = nil
        selected = min(max(0, row), max(0, rows.count - 1))
    }

    /// Makes the rows from the levels; the selected place stays selected on whichever row it is then.
    private mutating func arrange() {
        let place = kept ?? selectedRow?.place
        kept = place
        rows = []
        add(.root, depth: 0)
        guard !rows.isEmpty else { return }
        let now = rows.indices.contains(selected) && rows[selected].place == place ? selected : nil
        if let found = now ?? rows.firstIndex(where: { $0.place == place }) {
            (selected, kept) = (found, nil)
            return
        }
        // An exchange without a row gives way to its place, and a place to what it is below of.
        let above = rows.lastIndex { row in place.map { row.child.node.contains($0.node) } ?? false }
        selected = above ?? min(selected, max(0, rows.count - 1))
    }

    /// How many exchanges are at a place itself and not below it; 0 while that is not known.
    func own(_ child: StructureChild) -> Int {
        guard !child.isLeaf else { return child.count }
        guard let level = levels[child.node], level.progress == nil else { return 0 }
        return max(0, child.count - level.more - level.children.reduce(0) { $0 + $1.count })
    }

    /// Whether the exchanges at a place that is open have to be read, for the first time or again.
    func wantsExchanges(_ child: StructureChild) -> Bool {
        let own = own(child)
        guard open.contains(child.node), own > 0, let known = exchanges[child.node] else {
            return open.contains(child.node) && own > 0
        }
        if outdatedExchanges.contains(child.node) { return true }
        let isNewest = levels[child.node]?.children.allSatisfy { $0.newest < child.newest } ?? true
        return known.count < min(own, StructureState.mostExchanges) || isNewest && known.first?.id != child.newest
    }

    /// Whether a place's exchanges were never read, or before an edit.
    func lacksExchanges(at node: StructureNode) -> Bool {
        exchanges[node] == nil || outdatedExchanges.contains(node)
    }

    private mutating func add(_ node: StructureNode, depth: Int) {
        for child in levels[node]?.children ?? [] {
            let isOpen = open.contains(child.node)
            rows.append(Row(child: child, depth: depth, isOpen: isOpen))
            guard isOpen else { continue }
            let own = exchanges[child.node] ?? []
            rows += own.map { Row(child: child, depth: depth + 1, isOpen: false, exchange: $0) }
            let more = self.own(child) - own.count
            if more > 0, !own.isEmpty { rows.append(Row(child: child, depth: depth + 1, isOpen: false, more: more)) }
            add(child.node, depth: depth + 1)
        }
    }
}

/// The filter in force and the line in which one is typed.
package struct FilterState: Sendable {
    /// Whether the line has the keys.
    package var isEditing = false
    package var line = LineEditor()
    /// The filter in force, as it was typed.
    package var applied = ""
    package var error: FilterError?
    /// What could stand at the cursor, after a key asked for it.
    package var candidates: [String] = []
    /// Earlier filters, the newest last.
    package var history: [String] = []
    /// The index of the history entry in the line; its count for none.
    package var historyIndex = 0
}

extension StructureNode {
    static let root = StructureNode()

    /// Whether another place is this one or below it.
    fileprivate func contains(_ other: StructureNode) -> Bool {
        site == nil || site == other.site && other.segments.starts(with: segments)
    }
}
