import Description
import Runner
import Terminal

extension ConsoleModel {
    mutating func take(_ mouse: MouseEvent) -> [Effect] {
        switch mouse.kind {
        case .release:
            isDraggingSplit = false
            return []
        case .wheelUp: return scroll(mouse, -3)
        case .wheelDown: return scroll(mouse, 3)
        case .press:
            guard let overlay = overlays.last else { return press(Layout(self), mouse) }
            return press(overlay, mouse)
        case .drag where isDraggingSplit && overlays.isEmpty: return drag(to: mouse)
        case .drag: return []
        }
    }

    private mutating func scroll(_ mouse: MouseEvent, _ lines: Int) -> [Effect] {
        let layout = Layout(self)
        switch overlays.last {
        case .picker: return take(Key(lines < 0 ? .up : .down))
        case nil where layout.detail.contains(x: mouse.x, y: mouse.y), .report:
            turn(to: mouse)
            return readFurther(lines) { $0.scroll(lines, in: $1, height: $2, follows: false) }
        case .some: return move(by: lines)
        case nil: break
        }
        if view != .sequence { return move(by: lines) }
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
        if layout.title.contains(x: mouse.x, y: mouse.y) {
            let tab = TitleView.tabs(self).first { $0.range.contains(mouse.x - layout.title.x) }
            return tab.map { perform(.switchView, $0.view.rawValue) } ?? []
        }
        if layout.detail.contains(x: mouse.x, y: mouse.y) { return pressDetail(layout, mouse) }
        guard layout.list.contains(x: mouse.x, y: mouse.y) else { return [] }
        if mouse.y == layout.list.y { return pressTitle(layout, mouse) }
        isDetailFocused = false
        let row = mouse.y - layout.list.y - 1
        if view == .timeline { return pressTimeline(mouse) }
        if view == .structure {
            let index = structure.top + row
            guard structure.rows.indices.contains(index) else { return [] }
            let isAgain = structure.selected == index
            return isAgain ? open(nil) : moveInStructure(index - structure.selected)
        }
        let index = list.bottom + min(layout.listRows, list.total - list.bottom) - 1 - row
        guard index >= 0, index < list.total, index >= list.bottom else { return [] }
        let isAgain = list.selected == index && list.selectedID != nil
        list.isFollowing = false
        let effects = select(index)
        return isAgain ? effects + open(nil) : effects
    }

    /// Sorts by the column under the mouse; a second click on the same column reverses the order.
    private mutating func pressTitle(_ layout: Layout, _ mouse: MouseEvent) -> [Effect] {
        guard view == .sequence, list.total > 0 else { return [] }
        var x = layout.list.x
        for column in ListColumns(self, width: layout.list.width).drawn {
            if (x..<x + column.width).contains(mouse.x) { return perform(.sort, column.column.rawValue) }
            x += column.width + 1
        }
        return []
    }

    /// Acts like a key on the row under the mouse: chooses the row, or selects it and opens it at the second click.
    private mutating func press(_ overlay: Overlay, _ mouse: MouseEvent) -> [Effect] {
        func row(_ count: Int, _ selected: Int, _ rect: Rect) -> Int? {
            let rows = OverlayView.rows(count, selected: selected, in: rect)
            return rows.first { $0.line.contains(x: mouse.x, y: mouse.y) }?.index
        }
        switch overlay {
        case .picker(var picker):
            let rect = OverlayView.pickerRows(picker, size)
            guard let index = row(picker.matches.count, picker.selected, rect) else { return [] }
            picker.selected = index
            replaceTop(by: .picker(picker))
            return take(Key(.enter))
        case .confirm(let confirm):
            let rect = OverlayView.choiceRows(confirm, size)
            let index = mouse.y - rect.y
            let isHit = rect.contains(x: mouse.x, y: mouse.y) && confirm.choices.indices.contains(index)
            return isHit ? choose(confirm.choices[index]) : []
        case .panel(var panel):
            let count = panelRules(panel.tool).count
            guard let index = row(count, panel.selected, PanelView.place(count, size)) else { return [] }
            if panel.selected == index { return take(Key(.enter)) }
            panel.selected = index
            return replaceTop(by: .panel(panel))
        case .holds(let selected):
            let index = proxy.holds.firstIndex { $0.id == selected }
            let rect = OverlayView.holdRows(proxy.holds.count, size)
            guard let pressed = row(proxy.holds.count, index ?? -1, rect) else { return [] }
            if pressed == index { return take(Key(.enter)) }
            return replaceTop(by: .holds(selected: proxy.holds[pressed].id))
        case .report: return reportBody.contains(x: mouse.x, y: mouse.y) ? pressText(mouse.y - reportBody.y) : []
        case .prompt, .editor: return []
        }
    }

    /// Moves the cursor of the open text to a row of the screen; a second click folds the row's section.
    private mutating func pressText(_ line: Int) -> [Effect] {
        var isAgain = false
        read { reading, rows, _ in
            let target = rows.moved(reading.top, by: line)
            guard rows.distance(from: reading.top, to: target, most: line) == line else { return }
            isAgain = reading.cursor == target
            reading.cursor = target
        }
        return isAgain ? toggleFold() : []
    }

    private mutating func pressDetail(_ layout: Layout, _ mouse: MouseEvent) -> [Effect] {
        let line = mouse.y - layout.detail.y - 1
        if line < 0 {
            let tabs = DetailView.tabs(self, width: layout.detail.width)
            if let hit = tabs.first(where: { $0.range.contains(mouse.x - layout.detail.x) }) {
                openDetail()
                return turn(to: hit.page.rawValue)
            }
            isDraggingSplit = layout.isBelow
            return []
        }
        openDetail()
        turn(to: mouse)
        return pressText(line)
    }

    /// Focuses the page under the mouse, if it is the page beside the focused one.
    private mutating func turn(to mouse: MouseEvent) {
        if overlays.isEmpty, detailHalves.other?.contains(x: mouse.x, y: mouse.y) == true { turnToOtherHalf() }
    }

    private mutating func drag(to mouse: MouseEvent) -> [Effect] {
        let layout = Layout(self)
        let whole = layout.isBelow ? layout.list.height + layout.detail.height : size.width
        let position = layout.isBelow ? mouse.y - layout.list.y : mouse.x
        guard whole > 0 else { return [] }
        let share = min(max(150, 1000 - position * 1000 / whole), 850)
        if layout.isBelow { splitBelow = share } else { split = share }
        revealAll()
        return loadRows() + loadDetail()
    }
}
