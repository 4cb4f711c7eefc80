package import HTTPModel

/// The list of exchanges, as far as the screen knows it.
///
/// Rows are counted from the list's end: 0 is the newest. So nothing moves while older matches are still being found.
package struct ListState: Sendable {
    /// What was asked for.
    package var query = ListQuery()
    /// Which question the rows answer.
    package var generation = 0
    /// How many rows the list has.
    package var total = 0
    /// How many exchanges the session has.
    package var sessionTotal = 0
    /// How far a pass over the session is; `nil` where none runs.
    package var progress: Double?
    /// The term that excludes everything, where the list is empty because of it.
    package var excludedBy: String?
    /// The rows that are known: those on the screen and some around them.
    package var rows: [Int: ExchangeRecord] = [:]
    /// The row at the lower edge of the screen, counted from the end.
    package var bottom = 0
    /// The selected row, counted from the end.
    package var selected = 0
    package var selectedID: ExchangeID?
    /// The exchange that is being gone to; where it is not in the list, that is told.
    var sought: ExchangeID?
    /// Whether what is being looked for is opened once it is found.
    var opensWhenFound = false
    /// When unfinished rows were last read again.
    var readAt: Int64 = 0
    /// Whether the newest exchange stays selected.
    package var isFollowing = true
    /// The columns, in their order; empty for those that fit.
    package var columns: [Column] = []

    /// The record of the selected row, where it is known.
    package var selectedRecord: ExchangeRecord? { total > 0 ? rows[selected] : nil }
}

/// The columns that the list can show.
package enum Column: String, CaseIterable, Sendable, Hashable {
    case id, start, method, host, path, status, type, size, time, waterfall

    /// The title above it.
    package var title: String {
        switch self {
        case .id: "#"
        case .start: "START"
        case .method: "METHOD"
        case .host: "HOST"
        case .path: "PATH"
        case .status: "STATUS"
        case .type: "TYPE"
        case .size: "SIZE"
        case .time: "TIME"
        case .waterfall: "WATERFALL"
        }
    }
}

/// The tree by host and path, as far as it is open.
package struct StructureState: Sendable {
    /// One line of the tree.
    package struct Row: Sendable, Hashable {
        /// The branch.
        package var child: StructureChild
        /// How deep it is.
        package var depth: Int
        /// Whether its children are shown.
        package var isOpen: Bool
    }

    /// The children of open branches, as they were read.
    package var levels: [StructureNode: StructureLevel] = [:] { didSet { arrange() } }
    /// The branches that are open.
    package var open: Set<StructureNode> = [StructureNode()] { didSet { arrange() } }
    /// The selected line.
    package var selected = 0
    /// The first line on the screen.
    package var top = 0
    /// Which question the levels answer.
    package var generation = 0
    /// The lines, from the first to the last.
    package private(set) var rows: [Row] = []

    /// The selected line; `nil` where there is none.
    var selectedRow: Row? { rows.indices.contains(selected) ? rows[selected] : nil }

    /// Makes the lines of the levels; the selected place stays selected, wherever its line is then.
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
    /// What is in force, as it was typed.
    package var applied = ""
    /// What is wrong with the line.
    package var error: FilterError?
    /// What was in force before, the newest last.
    package var history: [String] = []
    /// Which of the history is in the line; its count for none.
    package var historyIndex = 0
}

extension StructureNode {
    /// The node above all hosts.
    static let root = StructureNode()
}
