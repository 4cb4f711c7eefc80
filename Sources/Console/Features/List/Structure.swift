import Description
package import HTTPModel
import Terminal
import Text

package struct StructureState: Sendable {
    package struct Row: Sendable, Hashable {
        /// The node; for an exchange, the node that contains it.
        package var child: StructureChild
        package var depth: Int
        package var isOpen: Bool
        /// One of the node's own exchanges; `nil` if the row shows the node itself.
        package var exchange: ExchangeRecord?
        /// The number of further exchanges of the node, in the row that shows this number; 0 in other rows.
        package var more = 0

        /// The exchange of the row; for a leaf, its newest exchange; `nil` for a branch.
        package var id: ExchangeID? { exchange?.id ?? (more == 0 && child.isLeaf ? child.newest : nil) }
        package var isBranch: Bool { exchange == nil && more == 0 && (!child.isLeaf || child.count > 1) }
        fileprivate var place: Place { Place(node: child.node, id: exchange?.id, isMore: more > 0) }
    }

    fileprivate struct Place: Hashable {
        var node: StructureNode
        var id: ExchangeID?
        var isMore: Bool
    }

    package private(set) var levels: [StructureNode: StructureLevel] = [:] { didSet { arrange() } }
    /// The exchanges at a node itself, the newest first, as far as they were requested.
    package private(set) var exchanges: [StructureNode: [ExchangeRecord]] = [:] { didSet { arrange() } }
    /// Nodes with old data, which are being loaded again after the session was edited.
    private var outdatedLevels: Set<StructureNode> = []
    private var outdatedExchanges: Set<StructureNode> = []
    /// When unfinished exchanges were last loaded, in microseconds since 1970.
    var readAt: Int64 = 0
    package var open: Set<StructureNode> = [StructureNode()] { didSet { arrange() } }
    package var selected = 0
    package var top = 0
    package private(set) var rows: [Row] = []

    /// The row to select again once it exists: after a change of the query, the tree is empty for a moment.
    private var kept: Place?

    var selectedRow: Row? { rows.indices.contains(selected) ? rows[selected] : nil }

    mutating func clear() {
        (levels, exchanges) = ([:], [:])
        (outdatedLevels, outdatedExchanges) = ([], [])
    }

    /// Causes everything to be loaded again. The old tree stays until then, so that keys never act on an empty tree.
    mutating func expire() { (outdatedLevels, outdatedExchanges) = (Set(levels.keys), Set(exchanges.keys)) }

    mutating func take(_ level: StructureLevel) {
        // A partial count does not replace the complete count before it.
        guard level.progress == nil || !outdatedLevels.contains(level.node) else { return }
        outdatedLevels.remove(level.node)
        levels[level.node] = level
    }

    mutating func take(_ records: [ExchangeRecord], at node: StructureNode) {
        outdatedExchanges.remove(node)
        exchanges[node] = records
    }

    mutating func move(to row: Int) {
        kept = nil
        selected = min(max(0, row), max(0, rows.count - 1))
    }

    /// Builds the rows from the levels; the selected node stays selected, even if its row moves.
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
        // If the selected row is gone, the node of the exchange or the nearest node above it is selected.
        let above = rows.lastIndex { row in place.map { row.child.node.contains($0.node) } ?? false }
        selected = above ?? min(selected, max(0, rows.count - 1))
    }

    /// The number of exchanges at a node itself, not below the node; 0 while the number is unknown.
    func own(_ child: StructureChild) -> Int {
        guard !child.isLeaf else { return child.count }
        guard let level = levels[child.node], level.progress == nil else { return 0 }
        return max(0, child.count - level.more - level.children.reduce(0) { $0 + $1.count })
    }

    /// Whether the exchanges at an open node must be loaded, for the first time or again.
    func wantsExchanges(_ child: StructureChild) -> Bool {
        let own = own(child)
        guard open.contains(child.node), own > 0 else { return false }
        guard !lacksExchanges(at: child.node), let known = exchanges[child.node] else { return true }
        let isNewest = levels[child.node]?.children.allSatisfy { $0.newest < child.newest } ?? true
        return known.count < min(own, QueryService.mostExchanges) || isNewest && known.first?.id != child.newest
    }

    func lacksExchanges(at node: StructureNode) -> Bool { exchanges[node] == nil || outdatedExchanges.contains(node) }

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

extension StructureNode {
    static let root = StructureNode()

    fileprivate func contains(_ other: StructureNode) -> Bool {
        site == nil || site == other.site && other.segments.starts(with: segments)
    }

    /// Matches the exchanges at and below the node; `nil` for the root.
    var filter: Filter? {
        guard let site = siteURL else { return nil }
        func quoted(_ text: String) -> String { "\"" + text.replacing(["\\": "\\\\", "\"": "\\\""]) + "\"" }
        let path = quoted(segments.map { "/" + $0 }.joined())
        let place = segments.isEmpty ? "" : " path:\(path),\(path)\"/\"*"
        return try? Filter("scheme:\(quoted(site.scheme)) host:\(quoted(site.host)) port:\(site.port)\(place)")
    }

    var words: String { (site ?? "") + segments.map { "/" + $0 }.joined() }
}

extension ConsoleModel {
    mutating func switchView(_ argument: String?) -> [Effect] {
        if argument == nil, context == .detail, detailHalves.other != nil {
            turnToOtherHalf()
            return []
        }
        view = argument.flatMap { ListView(rawValue: $0.lowercased()) } ?? view.next
        isDetailFocused = false
        // If the detail fills the screen, it closes to make room for the view.
        if Layout(self).list.isEmpty { detail.isOpen = false }
        switch view {
        case .sequence: return loadRows()
        case .structure: return loadStructure()
        case .timeline: return loadStatistics()
        }
    }

    func loadStructure() -> [Effect] { structure.open.map { .structure($0, generation: list.generation) } }

    /// Loads the exchanges of open nodes of a level, and of the level's own node, if newer exchanges exist.
    func loadExchanges(in level: StructureLevel) -> [Effect] {
        let here = structure.rows.first { $0.child.node == level.node }.map { [$0.child] } ?? []
        let wanted = (here + level.children).filter { structure.wantsExchanges($0) }
        return wanted.map { .exchanges(at: $0.node, generation: list.generation) }
    }

    /// Loads the tree's exchanges again, once a second, while one of them is in flight.
    mutating func readUnfinishedExchanges() -> [Effect] {
        guard view == .structure, isLive, now - structure.readAt >= 1_000_000 else { return [] }
        let unfinished = structure.exchanges.filter { $0.value.contains { $0.state == .inFlight } }.keys
        guard !unfinished.isEmpty else { return [] }
        structure.readAt = now
        return unfinished.map { .exchanges(at: $0, generation: list.generation) }
    }

    mutating func moveInStructure(_ lines: Int) -> [Effect] {
        structure.move(to: structure.selected + lines)
        revealBranch()
        guard isTreeInUse, detail.isOpen, let row = structure.selectedRow, let id = row.id, detail.id != id else {
            return []
        }
        return loadDetail(of: id) + loadLeaf(row.child)
    }

    private func loadLeaf(_ child: StructureChild) -> [Effect] {
        guard child.isLeaf, structure.lacksExchanges(at: child.node) else { return [] }
        return [.exchanges(at: child.node, generation: list.generation)]
    }

    mutating func moveSideways(_ by: Int) -> [Effect] {
        if isReading {
            if wraps { return context == .detail ? turnPage(by) : [] }
            read { reading, rows, _ in reading.shift(by, in: rows) }
            return []
        }
        if view == .timeline { return moveInChart(by) }
        guard view == .structure, let row = structure.selectedRow else { return [] }
        if by > 0 { return row.isOpen || !row.isBranch ? [] : toggle(row) }
        if row.isOpen { return toggle(row) }
        let parent = structure.rows[..<structure.selected].lastIndex { $0.depth < row.depth }
        return parent.map { moveInStructure($0 - structure.selected) } ?? []
    }

    /// Opens or closes the selected branch; for a leaf, opens its exchange, and at the second call focuses it.
    mutating func openBranch() -> [Effect] {
        guard let row = structure.selectedRow else { return [] }
        if row.more > 0 {
            let newest = "The \(QueryService.mostExchanges) newest are shown"
            return tell("\(newest); \(way(to: .filter)) narrows them, for example since:5m.")
        }
        guard let id = row.id else { return toggle(row) }
        if detail.isOpen, detail.id == id {
            isDetailFocused = true
            return []
        }
        detail.isOpen = true
        // The tree keeps the focus, so that arrows select the next leaf; if it has no room, the detail gets the focus.
        isDetailFocused = Layout(self).list.isEmpty
        revealBranch()
        return loadDetail(of: id) + loadLeaf(row.child)
    }

    private mutating func toggle(_ row: StructureState.Row) -> [Effect] {
        let node = row.child.node
        if structure.open.remove(node) != nil {
            revealBranch()
            return []
        }
        structure.open.insert(node)
        let generation = list.generation
        if row.child.isLeaf { return [.exchanges(at: node, generation: generation)] }
        return [.structure(node, generation: generation)]
    }

    /// Shows the next or previous exchange of the leaf whose exchange is open; the newest exchange is the first.
    mutating func moveInLeaf(_ by: Int) -> [Effect] {
        guard let row = structure.selectedRow, let id = detail.id else { return [] }
        let all = structure.exchanges[row.child.node] ?? []
        guard let place = all.firstIndex(where: { $0.id == id }), all.indices.contains(place + by) else {
            let edge = by < 0 ? "newest" : all.count < row.child.count ? "last of the \(all.count) newest" : "oldest"
            return refuse("This is the \(edge) exchange of \(row.child.name.isEmpty ? "/" : row.child.name).")
        }
        let next = all[place + by].id
        // If the leaf's exchanges have rows of their own, the cursor moves too.
        if let line = structure.rows.firstIndex(where: { $0.exchange?.id == next }), row.exchange != nil {
            structure.move(to: line)
            revealBranch()
        }
        return loadDetail(of: next)
    }
}

/// The tree by host and path. A leaf shows the columns of its newest exchange.
enum StructureView {
    private static func columns(_ width: Int) -> [(title: String, width: Int)] {
        (width < 64 ? [] : [("STATUS", 8), ("SIZE", 9), ("TIME", 9)]) + [("COUNT", 9), ("ERRORS", 9)]
    }

    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let (title, body) = rect.splitTop(1)
        let columns = columns(rect.width)
        let name = max(0, rect.width - 2 - columns.reduce(0) { $0 + $1.width })
        let heading = theme.style(.label).with(.bold)
        func draw(_ cells: [(text: String, style: Style)], y: Int) {
            var x = rect.x + name
            for ((_, width), cell) in zip(columns, cells) {
                screen.write(TextWidth.paddedLeft(cell.text, to: width), x: x, y: y, style: cell.style)
                x += width
            }
        }
        screen.write("HOST AND PATH", x: title.x, y: title.y, style: heading, limit: name)
        if name > 0 { draw(columns.map { ($0.title, heading) }, y: title.y) }
        for (line, row) in model.structure.rows.dropFirst(model.structure.top).prefix(body.height).enumerated() {
            let y = body.y + line
            let isSelected = model.structure.top + line == model.structure.selected
            let selection = model.context == .list ? theme.selection : theme.dimSelection
            let base = isSelected ? selection : Style.plain
            func style(_ role: Role) -> Style { SequenceView.merged(theme.style(role), onto: base) }
            screen.fill(body.row(line), style: base)
            let text = String(repeating: "  ", count: row.depth) + label(row, model)
            let isWhole = row.more > 0 || row.exchange != nil && columns.count == 2
            screen.write(text, x: body.x, y: y, style: base, limit: isWhole ? rect.width : name - 1)
            guard !isWhole else { continue }
            var cells: [(String, Style)] = []
            if columns.count > 2 {
                let record = row.exchange ?? row.child.record
                let status = record.map { SequenceView(model: model).status($0) }
                cells = [
                    (status?.text ?? "", style(status?.role ?? .text)),
                    (record.map(SequenceView.size) ?? "", style(.faint)),
                    (record.map { SequenceView(model: model).time($0) } ?? "", style(.faint)),
                ]
            }
            if row.exchange == nil {
                let errors = row.child.errors
                cells += [(String(row.child.count), base), (errors > 0 ? String(errors) : "", style(.failure))]
            }
            draw(cells, y: y)
        }
    }

    private static func label(_ row: StructureState.Row, _ model: ConsoleModel) -> String {
        if row.more > 0 { return "  and \(row.more) more: \(model.way(to: .filter)) narrows them" }
        if let record = row.exchange {
            let mark = model.marked.contains(record.id) ? "*" : ""
            return "  \(mark)#\(record.id) " + SequenceView(model: model).words(record)
        }
        let sign = !row.isBranch ? " " : row.isOpen ? "▾" : "▸"
        return "\(sign) \(row.child.name.isEmpty ? "/" : VisibleText.percentDecoded(row.child.name))"
    }
}
