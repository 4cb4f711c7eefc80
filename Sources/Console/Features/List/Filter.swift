import Description
package import HTTPModel
import Terminal
import Text

package struct FilterState: Sendable {
    package var isEditing = false
    package var line = LineEditor()
    package var applied = ""
    package var error: FilterError?
    package var candidates: [String] = []
    package var history: [String] = []
    /// The index of the history entry in the line; `history.count` if the line shows no entry.
    package var historyIndex = 0
}

extension ConsoleModel {
    mutating func openFilter(_ argument: String?) -> [Effect] {
        if let argument { return apply(filter: argument) }
        guard !isLinear else {
            return refuse("filter needs EXPRESSION, for example: filter host:api.example.com status:5xx")
        }
        (filter.isEditing, filter.error) = (true, nil)
        // The space makes the next input a separate term.
        filter.line = LineEditor(filter.applied.isEmpty ? "" : filter.applied + " ")
        filter.historyIndex = filter.history.count
        return []
    }

    mutating func typeFilter(_ key: Key) -> [Effect] {
        let wasCompleting = !filter.candidates.isEmpty
        filter.candidates = []
        switch (key.code, key.modifiers) {
        case (.tab, []): return completeFilter()
        case _ where wasCompleting && key.code == .escape: return []
        case (.function(1), _): return openHelp("filter")
        case (.enter, _):
            guard filter.error == nil else { return [] }
            filter.isEditing = false
            let text = String(filter.line.text.reversed().drop { $0 == " " }.reversed())
            remember(text)
            return apply(filter: text)
        case _ where key.isCancel:
            (filter.isEditing, filter.error) = (false, nil)
            return apply(filter: filter.applied)
        case (.up, _), (.character("p"), .control): return recall(-1)
        case (.down, _), (.character("n"), .control): return recall(1)
        default:
            switch filter.line.take(key) {
            case .changed: return filterChanged()
            case .moved: return []
            case .ignored: return key.modifiers.contains(.control) ? run(key) : []
            }
        }
    }

    /// Applies the line while the user types; if a term is wrong or incomplete, applies only the terms before it.
    mutating func filterChanged() -> [Effect] {
        do {
            let new = try Filter(filter.line.text)
            filter.error = nil
            return ask { $0.filter = new }
        } catch {
            filter.error = error
            let before = filter.line.characters.prefix(max(0, error.column - 1))
            let terms = before.lastIndex(of: " ").map { String(before[..<$0]) } ?? ""
            guard let kept = (try? Filter(terms)) ?? (try? Filter(filter.applied)) else { return [] }
            return ask { $0.filter = kept }
        }
    }

    mutating func apply(filter text: String) -> [Effect] {
        do {
            let new = try Filter(text)
            (filter.applied, filter.error) = (text, nil)
            if let remark = new.remark { tell("\(remark.capitalizedFirst).") }
            return new == list.query.filter ? loadRows() : ask { $0.filter = new }
        } catch {
            return refuse("Filter: \(error)")
        }
    }

    private mutating func remember(_ text: String) {
        guard !text.isEmpty else { return }
        filter.history.removeAll { $0 == text }
        filter.history.append(text)
        if filter.history.count > 200 { filter.history.removeFirst() }
    }

    private mutating func recall(_ by: Int) -> [Effect] {
        filter.historyIndex = min(max(0, filter.historyIndex + by), filter.history.count)
        let isNew = filter.historyIndex == filter.history.count
        filter.line = LineEditor(isNew ? "" : filter.history[filter.historyIndex])
        return filterChanged()
    }

    mutating func clearFilter() -> [Effect] {
        (filter.applied, filter.isEditing, filter.error) = ("", false, nil)
        var query = ListQuery(sort: list.query.sort)
        // Ignored hosts stay hidden: they are not a search.
        query.ignoredHosts = list.query.ignoredHosts
        guard query == list.query else { return ask(query) }
        let ignored = query.ignoredHosts.isEmpty ? "" : " \(way(to: .unignore)) shows the ignored hosts again."
        return tell("There is no filter, search, time or focus to clear.\(ignored)")
    }

    mutating func search(_ text: String) -> [Effect] {
        // Exchanges that are opened later show the text marked.
        if !text.isEmpty { (detail.sought, detail.pattern, detail.isSearchedAnew) = (text, SoughtText(text), true) }
        return ask { $0.bodyText = text.isEmpty ? nil : text }
    }

    var highlightHint: String {
        guard !highlights.isEmpty else { return "" }
        let all = highlights.map { "\($0.number) \($0.filter.description)" }.joined(separator: " · ")
        return "Active: \(all). -\(highlights[0].number) removes one; leave empty to remove all."
    }

    mutating func setHighlight(_ text: String) -> [Effect] {
        guard !text.isEmpty else {
            highlights = []
            return tell("All highlights are removed.")
        }
        if text.hasPrefix("-"), let number = Int(text.dropFirst()) {
            guard let index = highlights.firstIndex(where: { $0.number == number }) else {
                return refuse("There is no highlight \(number). \(highlightHint)")
            }
            return tell("Highlight removed: \(highlights.remove(at: index).filter.description).")
        }
        do {
            let filter = try Filter(text)
            guard filter.needs == .record else {
                return refuse("A highlight cannot search headers and bodies; the filter can.")
            }
            let used = Set(highlights.map(\.number))
            let number = (1...highlights.count + 1).first { !used.contains($0) } ?? highlights.count + 1
            highlights.append(Highlight(filter: filter, number: number))
            highlights.sort { $0.number < $1.number }
            return tell("Matches are coloured and marked with \(number): before their number.")
        } catch {
            return refuse("Highlight: \(error)", at: error.column - 1)
        }
    }

    mutating func chooseJump(_ word: String) -> [Effect] {
        guard let choice = JumpChoice.allCases.first(where: { $0.rawValue.hasPrefix(word.lowercased()) }) else {
            return []
        }
        jump = choice
        let meaning = choice.meaning.isEmpty ? "" : ", \(choice.meaning)"
        let place = noRows.map { " \($0)" } ?? ""
        return tell("\(way(to: .next)) and \(way(to: .previous)) jump to: \(choice.rawValue)\(meaning).\(place)")
    }

    mutating func jump(forward: Bool) -> [Effect] {
        guard let kind = jumpKind else { return refuse("Select an exchange first.") }
        // The result of the search replaces the open exchange.
        list.opensWhenFound = context == .detail
        start(Job(id: .find, title: "looking for \(jump.rawValue)", startedAt: now))
        return [.find(kind, from: list.selected, forward: forward, generation: list.generation)]
    }

    private var jumpKind: JumpKind? {
        switch jump {
        case .error: .matching(.errors)
        case .slow: .matching(.slow(from: JumpChoice.slowFrom))
        case .large: .matching(.large(from: JumpChoice.largeFrom))
        case .changed: .matching(.changedByRule)
        case .held: .matching(.held)
        case .marked: .marked(Set(marks.map(\.number)))
        case .sameEndpoint:
            selectedRecord.map { .matching(.endpoint(method: $0.method, host: $0.url.host, path: $0.url.path)) }
        case .sameHost: selectedAuthority.map { .matching(.authorities([$0])) }
        }
    }

    mutating func cancelJobs() -> [Effect] {
        jobs = []
        list.opensWhenFound = false
        tell("Stopped.")
        return [.cancelJobs]
    }
}

enum FilterView {
    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        guard !rect.isEmpty else { return }
        let (theme, filter) = (model.look.theme, model.filter)
        let x = rect.x + screen.write("filter: ", x: rect.x, y: rect.y, style: theme.key, limit: rect.width)
        if filter.isEditing {
            FieldView.draw(filter.line, theme, in: rect.splitLeft(x - rect.x).rest, on: &screen)
            guard rect.height > 1 else { return }
            guard filter.candidates.isEmpty else {
                let words = filter.candidates.joined(separator: "  ")
                screen.write(words, x: rect.x + 2, y: rect.y + 1, style: theme.faint, limit: rect.width - 2)
                return
            }
            let below = errorRows(filter, x - rect.x, rect.width, height: rect.height - 1)
            for (row, line) in below.prefix(rect.height - 1).enumerated() {
                let place = rect.x + line.x
                screen.write(line.text, x: place, y: rect.y + 1 + row, style: theme.style(.failure), limit: rect.width)
            }
            return
        }
        var parts: [String] = filter.applied.isEmpty ? [] : [filter.applied]
        let query = model.list.query
        if let text = query.bodyText { parts.append("bodies with “\(text)”") }
        if query.only != nil { parts.append("marked") }
        if !query.focusedHosts.isEmpty { parts.append("focus: \(ListQuery.names(query.focusedHosts))") }
        if !query.ignoredHosts.isEmpty { parts.append("ignored: \(ListQuery.names(query.ignoredHosts))") }
        if let period = query.period { parts.append(TimelineView.words(period)) }
        let count = "  \(model.list.total) of \(model.list.sessionTotal)"
        let room = max(0, rect.maxX - x - count.count)
        let used = screen.write(parts.joined(separator: "  +  "), x: x, y: rect.y, limit: room)
        screen.write(count, x: x + used, y: rect.y, style: theme.faint, limit: max(0, rect.maxX - x - used))
    }

    static func rows(_ model: ConsoleModel, width: Int) -> Int {
        let filter = model.filter
        guard filter.isEditing else { return filter.error == nil ? 1 : 2 }
        return filter.candidates.isEmpty ? 1 + min(4, errorRows(filter, 8, width).count) : 2
    }

    private typealias Row = (x: Int, text: String)

    /// The error with `^` below its column: the message right of it if it fits, or left of it, or below. The line
    /// begins at `x`. If there is a single row, it may show only the message.
    private static func errorRows(_ filter: FilterState, _ x: Int, _ width: Int, height: Int = .max) -> [Row] {
        guard let error = filter.error else { return [] }
        let text = "\(error.message)\(error.suggestion.map { ", \($0)" } ?? "")"
        let before = String(filter.line.characters.prefix(max(0, error.column - 1)))
        let column = x + before.columns - FieldView.shift(filter.line, width - x)
        let isVisible = column >= x && column < width
        if isVisible, column + 2 + text.columns <= width { return [(column, "^ \(text)")] }
        if isVisible, column > text.columns { return [(column - text.columns - 1, "\(text) ^")] }
        let sign = isVisible && height > 1 ? [(x: column, text: "^")] : []
        return sign + TextWidth.wrap(text, to: max(1, width)).map { (x: 0, text: String($0)) }
    }
}
