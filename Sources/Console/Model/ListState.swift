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
    /// The known rows: those on the screen and some around them.
    package var rows: [Int: ExchangeRecord] = [:]
    /// The row at the lower edge of the screen.
    package var bottom = 0
    package var selected = 0
    package var selectedID: ExchangeID?
    /// The exchange to go to; reported where it is not in the list.
    var sought: ExchangeID?
    /// The exchange that was just sent, which is selected as soon as the list has it, but not after that time.
    var awaited: (id: ExchangeID, until: Int64)?
    /// Whether the result of a search is opened.
    var opensWhenFound = false
    /// When unfinished rows were last read, in microseconds since 1970.
    var readAt: Int64 = 0
    /// Whether the newest exchange stays selected.
    package var isFollowing = true
    /// In their order; empty for those that fit.
    package var columns: [Column] = []

    /// `nil` where the selected row is not known.
    package var selectedRecord: ExchangeRecord? { total > 0 ? rows[selected] : nil }
}

package struct StructureState: Sendable {
    package struct Row: Sendable, Hashable {
        package var child: StructureChild
        package var depth: Int
        package var isOpen: Bool
    }

    /// The children of open branches.
    package var levels: [StructureNode: StructureLevel] = [:] { didSet { arrange() } }
    package var open: Set<StructureNode> = [StructureNode()] { didSet { arrange() } }
    package var selected = 0
    package var top = 0
    /// The query that the levels answer.
    package var generation = 0
    package private(set) var rows: [Row] = []

    var selectedRow: Row? { rows.indices.contains(selected) ? rows[selected] : nil }

    /// Makes the rows from the levels; the selected place stays selected on whichever row it is then.
    private mutating func arrange() {
        let place = selectedRow?.child.node
        rows = []
        add(.root, depth: 0)
        guard !rows.isEmpty else { return }
        let now = rows.indices.contains(selected) && rows[selected].child.node == place ? selected : nil
        selected = now ?? rows.firstIndex { $0.child.node == place } ?? min(selected, max(0, rows.count - 1))
    }

    private mutating func add(_ node: StructureNode, depth: Int) {
        for child in levels[node]?.children ?? [] {
            let isOpen = open.contains(child.node)
            rows.append(Row(child: child, depth: depth, isOpen: isOpen))
            if isOpen { add(child.node, depth: depth + 1) }
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
    /// Earlier filters, the newest last.
    package var history: [String] = []
    /// The index of the history entry in the line; its count for none.
    package var historyIndex = 0
}

extension StructureNode {
    static let root = StructureNode()
}
