import HTTPModel
import Sharing
import Terminal

/// Sequence and structure: the tree by host and path.
extension ConsoleModel {
    mutating func switchView(_ argument: String?) -> [Effect] {
        if argument == nil, context == .detail, detailHalves.other != nil {
            turnToOtherHalf()
            return []
        }
        view = argument.flatMap { ListView(rawValue: $0.lowercased()) } ?? view.next
        isDetailFocused = false
        // An exchange that has the screen alone gives way to the view.
        if Layout(self).list.isEmpty { detail.isOpen = false }
        switch view {
        case .sequence: return loadRows()
        case .structure: return loadStructure()
        case .timeline: return loadStatistics()
        }
    }

    func loadStructure() -> [Effect] {
        structure.open.map { .structure($0, generation: list.generation) }
    }

    /// Reads the exchanges of a level's places that are open, where others have come since; and of the level's own place.
    func loadExchanges(in level: StructureLevel) -> [Effect] {
        let here = structure.rows.first { $0.child.node == level.node }.map { [$0.child] } ?? []
        let wanted = (here + level.children).filter { structure.wantsExchanges($0) }
        return wanted.map { .exchanges(at: $0.node, generation: list.generation) }
    }

    /// Reads the tree's exchanges again, once a second, while one of them is in flight.
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
        return followTree()
    }

    /// Shows the exchange of the selected row, where another one is open beside the tree.
    private mutating func followTree() -> [Effect] {
        guard isTreeInUse, detail.isOpen, let row = structure.selectedRow, let id = row.id, detail.id != id else {
            return []
        }
        return loadDetail(of: id) + loadLeaf(row.child)
    }

    /// Reads the exchanges among which the open one is, to go from one to the next.
    private func loadLeaf(_ child: StructureChild) -> [Effect] {
        guard child.isLeaf, structure.lacksExchanges(at: child.node) else { return [] }
        return [.exchanges(at: child.node, generation: list.generation)]
    }

    mutating func moveSideways(_ by: Int) -> [Effect] {
        if isReading {
            if !wraps {
                read { reading, rows, _ in reading.shift(by, in: rows) }
            } else if context == .detail {
                return turnPage(by)
            }
            return []
        }
        if view == .timeline { return moveInChart(by) }
        guard view == .structure, let row = structure.selectedRow else { return [] }
        if by > 0 { return row.isOpen || !row.isBranch ? [] : toggle(row) }
        if row.isOpen { return toggle(row) }
        let parent = structure.rows[..<structure.selected].lastIndex { $0.depth < row.depth }
        return parent.map { moveInStructure($0 - structure.selected) } ?? []
    }

    /// Opens or closes the selected branch; of a leaf, opens the exchange in place, and then gives it the keys.
    mutating func openBranch() -> [Effect] {
        guard let row = structure.selectedRow else { return [] }
        if row.more > 0 {
            let filter = way(to: .filter)
            tell("The \(StructureState.mostExchanges) newest are shown; \(filter) narrows them, for example since:5m.")
            return []
        }
        guard let id = row.id else { return toggle(row) }
        if detail.isOpen, detail.id == id {
            isDetailFocused = true
            return []
        }
        detail.isOpen = true
        // The tree keeps the keys, so that arrows go on to the next leaf; where it has no room, the detail has them.
        isDetailFocused = Layout(self).list.isEmpty
        revealBranch()
        return loadDetail(of: id) + loadLeaf(row.child)
    }

    private mutating func toggle(_ row: StructureState.Row) -> [Effect] {
        let node = row.child.node
        guard structure.open.remove(node) == nil else {
            revealBranch()
            return []
        }
        structure.open.insert(node)
        guard row.child.isLeaf else { return [.structure(node, generation: list.generation)] }
        return [.exchanges(at: node, generation: list.generation)]
    }

    /// Shows the next or the previous exchange of the leaf whose exchange is open; the newest is the first.
    mutating func moveInLeaf(_ by: Int) -> [Effect] {
        guard let row = structure.selectedRow, let id = detail.id else { return [] }
        let all = structure.exchanges[row.child.node] ?? []
        guard let place = all.firstIndex(where: { $0.id == id }), all.indices.contains(place + by) else {
            let edge = by < 0 ? "newest" : all.count < row.child.count ? "last of the \(all.count) newest" : "oldest"
            return refuse("This is the \(edge) exchange of \(row.child.name.isEmpty ? "/" : row.child.name).")
        }
        let next = all[place + by].id
        // The cursor goes along where the leaf's exchanges are rows.
        if let line = structure.rows.firstIndex(where: { $0.exchange?.id == next }), row.exchange != nil {
            structure.move(to: line)
            revealBranch()
        }
        return loadDetail(of: next)
    }
}
