import HTTPModel
import Sharing
import Terminal

/// The console itself: help, messages, theme, mouse, the end.
extension ConsoleModel {
    mutating func setTheme(_ word: String) -> [Effect] {
        guard let theme = Theme(rawValue: word.lowercased()) else {
            tell("There are the themes \(Theme.allCases.map(\.rawValue).joined(separator: ", ")).", .error)
            return []
        }
        look.theme = theme
        isThemeChosen = true
        return [.redraw]
    }

    mutating func openHelp(_ word: String?) -> [Effect] {
        if isLinear { return openLineHelp(word) }
        let place = context
        overlays.append(.report(ReportState(title: "Help", document: HelpDocument.make(self, for: place))))
        return []
    }

    mutating func openMessages() -> [Effect] {
        let lines = notices.reversed().map { notice in
            DetailLine([Span(notice.text, notice.kind == .error ? .failure : .text)])
        }
        let document = DetailDocument(lines: lines.isEmpty ? [DetailLine([Span("Nothing so far.", .faint)])] : lines)
        overlays.append(.report(ReportState(title: "Messages, the newest first", document: document)))
        return []
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
        var choices: [(key: Character, title: String, action: ConfirmState.Action?)] = [
            ("y", "quit all the same", .quit), ("n", "stay", nil),
        ]
        if losesRules { choices.insert(("s", "save the rules and quit", .saveAndQuit), at: 0) }
        let sentence = losses.joined(separator: ", and ")
        let question = "\(sentence.prefix(1).uppercased())\(sentence.dropFirst())."
        overlays.append(.confirm(ConfirmState(question: question, choices: choices)))
        return []
    }

    // MARK: - Mouse

    mutating func take(_ mouse: MouseEvent) -> [Effect] {
        if case .release = mouse.kind {
            isDraggingSplit = false
            return []
        }
        guard overlays.isEmpty else { return takeOverOverlay(mouse) }
        let layout = Layout(self)
        switch mouse.kind {
        case .wheelUp: return scroll(layout, mouse, -3)
        case .wheelDown: return scroll(layout, mouse, 3)
        case .press(.left): return press(layout, mouse)
        case .drag where isDraggingSplit: return drag(to: mouse)
        default: return []
        }
    }

    private mutating func takeOverOverlay(_ mouse: MouseEvent) -> [Effect] {
        switch (mouse.kind, overlays.last) {
        case (.wheelUp, .picker): return take(Key(.up))
        case (.wheelDown, .picker): return take(Key(.down))
        case (.wheelUp, _): return turnWheel(-3)
        case (.wheelDown, _): return turnWheel(3)
        default: return []
        }
    }

    private mutating func turnWheel(_ lines: Int) -> [Effect] {
        guard case .report? = overlays.last else { return move(by: lines) }
        read { $0.scroll(lines, in: $1, height: $2, follows: false) }
        return []
    }

    private mutating func scroll(_ layout: Layout, _ mouse: MouseEvent, _ lines: Int) -> [Effect] {
        if layout.detail.contains(x: mouse.x, y: mouse.y) {
            readDetail { $0.scroll(lines, in: $1, height: $2, follows: false) }
            return []
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
