import Description
import HTTPModel
import Terminal

extension ConsoleModel {
    mutating func move(by lines: Int) -> [Effect] {
        if isReading { return readFurther(lines) { $0.move(lines, in: $1, height: $2) } }
        switch overlays.last {
        case .panel(var panel):
            panel.selected = min(max(0, panel.selected + lines), max(0, panelRules(panel.tool).count - 1))
            replaceTop(by: .panel(panel))
            return []
        case .holds(let selected):
            moveInHolds(from: selected, by: lines)
            return []
        case .picker, .prompt, .confirm, .editor, .report: return []
        case nil:
            switch view {
            case .sequence: return select(list.selected - lines)
            case .structure: return moveInStructure(lines)
            case .timeline: return moveInTimeline(lines)
            }
        }
    }

    /// Moves by pages. In a text, the last row of a page is the first row of the next page.
    mutating func movePage(_ pages: Int) -> [Effect] {
        if isReading {
            return readFurther(pages) { $0.scroll(pages * max(1, $2 - 1), in: $1, height: $2, follows: true) }
        }
        let rows = context == .list ? Layout(self).listRows : reportRows
        return move(by: pages * max(1, rows - 1))
    }

    mutating func moveToEdge(first: Bool) -> [Effect] {
        if context == .list, view == .sequence {
            list.isFollowing = !first && list.query.sort == nil
            return select(first ? list.total - 1 : 0, keepsFollowing: true)
        }
        if isReading { return readToEdge(first: first) }
        return move(by: first ? -1_000_000_000 : 1_000_000_000)
    }

    mutating func select(_ row: Int, keepsFollowing: Bool = false) -> [Effect] {
        let row = min(max(0, row), max(0, list.total - 1))
        if !keepsFollowing { list.isFollowing = list.isFollowing && row == 0 && list.selected == 0 }
        list.opensWhenFound = false
        (list.sought, list.awaited) = (nil, nil)
        list.selected = row
        list.selectedID = list.rows[row]?.id
        reveal()
        return loadRows() + followDetail()
    }

    mutating func reveal() { list.bottom = scrolled(list.bottom, to: list.selected, of: list.total) }

    /// Scrolls everything after its area has changed, so that the selected row stays visible.
    mutating func revealAll() {
        reveal()
        revealBranch()
        revealTexts()
        for index in overlays.indices {
            guard case .editor(var editor) = overlays[index] else { continue }
            reveal(&editor)
            overlays[index] = .editor(editor)
        }
    }

    mutating func revealBranch() {
        structure.top = scrolled(structure.top, to: structure.selected, of: structure.rows.count)
    }

    /// The first visible row of the list, scrolled so that a row is visible and no row stays empty.
    private func scrolled(_ first: Int, to row: Int, of count: Int) -> Int {
        let rows = max(1, Layout(self).listRows)
        return min(max(0, min(max(first, row - rows + 1), row)), max(0, count - rows))
    }

    mutating func loadRows(always: Bool = false) -> [Effect] {
        let rows = max(1, Layout(self).listRows)
        // The list may have become shorter since the last call.
        list.bottom = min(max(0, list.bottom), max(0, list.total - 1))
        let wanted = list.bottom..<min(list.total, list.bottom + rows)
        guard always || wanted.contains(where: { list.rows[$0] == nil }) else { return readValues() }
        let around = max(0, list.bottom - rows)..<min(list.total, list.bottom + 2 * rows)
        return around.isEmpty ? [] : [.load(always ? wanted : around, generation: list.generation)]
    }

    /// Opens the selected exchange, branch or fold; or an exchange by its number, optionally at a page.
    mutating func open(_ argument: String?) -> [Effect] {
        if let argument {
            let (word, rest) = argument.firstWord
            guard let id = number(word) else { return [] }
            if let rest {
                guard let page = page(rest) else { return [] }
                choose(page)
            } else if isLinear {
                choose(.overview)
            }
            openDetail()
            list.selectedID = id
            return [.locate(id, generation: list.generation)] + loadDetail(of: id)
        }
        if context == .detail { return toggleFold() }
        if view == .structure { return openBranch() }
        if view == .timeline { return openInTimeline() }
        if jobs.contains(where: { $0.id == .find }) || list.isAwaitingRow && !isLinear {
            // The key arrived before the search has ended: it opens the search result.
            list.opensWhenFound = true
            return []
        }
        guard list.total > 0 else { return [] }
        if detail.isOpen, detail.id == list.selectedID, !detail.isSearchedAnew {
            openDetail()
            return []
        }
        return openSelected()
    }

    mutating func openSelected() -> [Effect] {
        guard let id = list.visibleID else { return [] }
        openDetail()
        list.selectedID = id
        reveal()
        return loadRows() + loadDetail(of: id)
    }

    mutating func goBack() -> [Effect] {
        if case .editor(let editor)? = overlays.last { return close(editor) }
        if !overlays.isEmpty {
            overlays.removeLast()
        } else if context == .detail || detail.isOpen {
            if !isDetailFocused || Layout(self).list.height == 0 { detail.isOpen = false }
            isDetailFocused = false
            // If the list no longer contains the open exchange, the exchange of the selected row is selected.
            if view == .sequence, list.progress == nil, let record = list.selectedRecord { list.selectedID = record.id }
            reveal()
            return loadRows() + (detail.id == list.selectedID ? [] : followDetail())
        }
        return []
    }

    mutating func go(to word: String) -> [Effect] {
        guard let id = number(word) else { return [] }
        list.sought = id
        return [.locate(id, generation: list.generation)]
    }

    mutating func number(_ word: String) -> ExchangeID? {
        if word == "last", let newest = list.rows[0]?.id { return newest }
        guard let number = Int64(word.drop { $0 == "#" }), number > 0 else {
            tell("'\(word.prefix(40))' is not an exchange number.", .error)
            return nil
        }
        return ExchangeID(number)
    }

    mutating func toggleFollow() -> [Effect] {
        if context == .detail { return followOpen() }
        list.isFollowing.toggle()
        tell("\(list.isFollowing ? "Following" : "No longer following") the newest exchange.")
        return list.isFollowing ? select(0, keepsFollowing: true) : []
    }

    /// Sorts by a column; sorting by the same column again reverses the order.
    mutating func sort(_ word: String) -> [Effect] {
        let words = word.lowercased().split(separator: " ")
        if isTimelineInUse { return sortTimeline(words) }
        guard let column = words.first.flatMap({ Column(rawValue: String($0)) }) else {
            return refuse("'\(word.prefix(40))' sorts the timeline's table of hosts; \(way(to: .switchView)) shows it.")
        }
        if let other = words.dropFirst().first(where: { !["asc", "desc"].contains($0) }) {
            return refuse("The order is 'asc' or 'desc', not '\(other.prefix(40))'.")
        }
        var query = list.query
        let turns = query.sort == SortOrder(column: column) && !words.contains("asc")
        let isDescending = words.contains("desc") || turns
        if isLinear { tell("Sorted by \(column.rawValue), \(isDescending ? "descending" : "ascending").") }
        query.sort = column == .id && !isDescending ? nil : SortOrder(column: column, isDescending: isDescending)
        guard query.sort != nil else { return ask(query) }
        // A newly sorted list starts at its top, and does not follow the newest exchange.
        (list.isFollowing, list.selectedID) = (false, nil)
        let effects = ask(query)
        (list.isFollowing, list.beginsAtTop) = (false, true)
        return effects
    }
}
