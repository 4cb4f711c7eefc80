import HTTPModel
import Sharing
import Terminal

/// The console itself: help, messages, theme, mouse, the end.
extension ConsoleModel {
    mutating func setTheme(_ word: String) -> [Effect] {
        guard let theme = Theme(rawValue: word.lowercased()) else { return [] }
        look.theme = theme
        isThemeChosen = true
        return [.redraw]
    }

    mutating func openMessages() -> [Effect] {
        let spans = notices.reversed().map { Span($0.text, $0.kind == .error ? .failure : .text) }
        let lines = (spans.isEmpty ? [Span("Nothing so far.", .faint)] : spans).map { DetailLine([$0]) }
        return report("Messages, the newest first", DetailDocument(lines: lines))
    }

    /// Whether quitting loses changed rules; a proxy that runs elsewhere keeps its own.
    var losesRules: Bool {
        guard case .live = source else { return false }
        return proxy.problem == nil && rules.isUnsaved
    }

    /// Ends the console; asks first where something would be lost.
    mutating func quit() -> [Effect] {
        var losses: [String] = []
        if losesRules { losses.append("changed rules are in no file") }
        if case .live = source, !proxy.holds.isEmpty {
            losses.append(proxy.holds.count == 1 ? "a message waits" : "\(proxy.holds.count) messages wait")
        }
        guard !losses.isEmpty else { return [.quit] }
        let save: [ConfirmState.Choice] = losesRules ? [("s", "save the rules and quit", .saveAndQuit)] : []
        return confirm(
            "\(losses.joined(separator: ", and ").capitalizedFirst).",
            save + [("y", "quit all the same", .quit), ("n", "stay", nil)]
        )
    }

    mutating func take(_ mouse: MouseEvent) -> [Effect] {
        if case .release = mouse.kind {
            isDraggingSplit = false
            return []
        }
        switch mouse.kind {
        case .wheelUp: return scroll(mouse, -3)
        case .wheelDown: return scroll(mouse, 3)
        case .press(.left) where overlays.isEmpty: return press(Layout(self), mouse)
        case .drag where isDraggingSplit && overlays.isEmpty: return drag(to: mouse)
        default: return []
        }
    }

    private mutating func scroll(_ mouse: MouseEvent, _ lines: Int) -> [Effect] {
        let layout = Layout(self)
        switch overlays.last {
        case .picker: return take(Key(lines < 0 ? .up : .down))
        case nil where layout.detail.contains(x: mouse.x, y: mouse.y), .report:
            read { $0.scroll(lines, in: $1, height: $2, follows: false) }
            return []
        case .some: return move(by: lines)
        case nil: break
        }
        if view == .structure { return move(by: lines) }
        let rows = max(1, layout.listRows)
        let bottom = min(max(0, list.bottom - lines), max(0, list.total - rows))
        guard bottom != list.bottom else { return [] }
        list.isFollowing = false
        list.bottom = bottom
        return loadRows()
    }

    private mutating func press(_ layout: Layout, _ mouse: MouseEvent) -> [Effect] {
        if layout.divider.contains(x: mouse.x, y: mouse.y) {
            isDraggingSplit = true
            return []
        }
        if layout.filter.contains(x: mouse.x, y: mouse.y) { return filter.isEditing ? [] : openFilter(nil) }
        if layout.holds.contains(x: mouse.x, y: mouse.y) { return openHolds() }
        if layout.detail.contains(x: mouse.x, y: mouse.y) { return pressDetail(layout, mouse) }
        guard layout.list.contains(x: mouse.x, y: mouse.y), mouse.y > layout.list.y else { return [] }
        isDetailFocused = false
        let row = mouse.y - layout.list.y - 1
        if view == .structure {
            let index = structure.top + row
            guard structure.rows.indices.contains(index) else { return [] }
            let isAgain = structure.selected == index
            structure.selected = index
            return isAgain ? open(nil) : []
        }
        let index = list.bottom + min(layout.listRows, list.total - list.bottom) - 1 - row
        guard index >= 0, index < list.total, index >= list.bottom else { return [] }
        let isAgain = list.selected == index && list.selectedID != nil
        list.isFollowing = false
        let effects = select(index)
        return isAgain ? effects + open(nil) : effects
    }

    private mutating func pressDetail(_ layout: Layout, _ mouse: MouseEvent) -> [Effect] {
        isDetailFocused = true
        let line = mouse.y - layout.detail.y - 1
        if line < 0 {
            let tabs = DetailView.tabs(self, width: layout.detail.width)
            let hit = tabs.first { $0.range.contains(mouse.x - layout.detail.x) }
            return hit.map { turn(to: $0.page.rawValue) } ?? []
        }
        var isAgain = false
        readDetail { reading, rows, _ in
            let target = rows.moved(reading.top, by: line)
            guard rows.distance(from: reading.top, to: target, most: line) == line else { return }
            isAgain = reading.cursor == target
            reading.cursor = target
        }
        return isAgain ? toggleFold() : []
    }

    private mutating func drag(to mouse: MouseEvent) -> [Effect] {
        let isBeside = size.width >= Layout.besideFrom
        let (whole, position) = isBeside ? (size.width, mouse.x) : (size.height - 3, mouse.y - 1)
        guard whole > 0 else { return [] }
        split = min(max(150, 1000 - position * 1000 / whole), 850)
        revealAll()
        return loadRows() + loadDetail()
    }
}
