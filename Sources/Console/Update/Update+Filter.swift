import HTTPModel
import Terminal

extension ConsoleModel {
    /// Opens the filter's line, or applies a filter.
    mutating func openFilter(_ argument: String?) -> [Effect] {
        if let argument { return apply(filter: argument) }
        guard !isLinear else {
            tell("filter needs EXPRESSION, for example: filter host:api.example.com status:5xx", .error)
            return []
        }
        filter.isEditing = true
        // What is typed after a filter is a term of its own.
        filter.line = LineEditor(filter.applied.isEmpty ? "" : filter.applied + " ")
        filter.error = nil
        filter.historyIndex = filter.history.count
        return []
    }

    mutating func typeFilter(_ key: Key) -> [Effect] {
        switch (key.code, key.modifiers) {
        case (.enter, _):
            guard filter.error == nil else { return [] }
            filter.isEditing = false
            let text = String(filter.line.text.reversed().drop { $0 == " " }.reversed())
            remember(text)
            return apply(filter: text)
        case (.escape, _), (.character("c"), .control), (.character("g"), .control):
            filter.isEditing = false
            filter.error = nil
            return apply(filter: filter.applied)
        case (.up, _), (.character("p"), .control): return recall(-1)
        case (.down, _), (.character("n"), .control): return recall(1)
        default: break
        }
        switch filter.line.take(key) {
        case .changed: return filterChanged()
        case .moved: return []
        case .ignored: return key.modifiers.contains(.control) ? run(key) : []
        }
    }

    /// Applies the line while it is typed.
    mutating func filterChanged() -> [Effect] {
        do {
            var query = list.query
            query.filter = try Filter(filter.line.text)
            filter.error = nil
            return query == list.query ? [] : ask(query)
        } catch {
            filter.error = error
            return []
        }
    }

    mutating func apply(filter text: String) -> [Effect] {
        do {
            var query = list.query
            query.filter = try Filter(text)
            filter.applied = text
            filter.error = nil
            return query == list.query ? loadRows() : ask(query)
        } catch {
            tell("Filter: \(error)", .error)
            return []
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
        filter.applied = ""
        filter.isEditing = false
        filter.error = nil
        var query = ListQuery()
        query.sort = list.query.sort
        return query == list.query ? [] : ask(query)
    }

    /// Leaves only exchanges with a text in a body.
    mutating func search(_ text: String) -> [Effect] {
        var query = list.query
        query.bodyText = text.isEmpty ? nil : text
        return query == list.query ? [] : ask(query)
    }

    /// Shows only the selected exchange's host, or removes it from the hosts that are shown alone.
    mutating func focusHost(_ argument: String?) -> [Effect] {
        guard let host = argument?.lowercased() ?? selectedHost else { return [] }
        var query = list.query
        if query.focusedHosts.remove(host) == nil { query.focusedHosts.insert(host) }
        tell(
            query.focusedHosts.isEmpty
                ? "All hosts are shown."
                : "Only \(query.focusedHosts.sorted().joined(separator: ", ")); \(way(to: .focusHost)) takes it back."
        )
        return ask(query)
    }

    /// Colours what matches a filter; an empty one removes all colours.
    mutating func setHighlight(_ text: String) -> [Effect] {
        guard !text.isEmpty else {
            highlights = []
            tell("No exchange is highlighted.")
            return []
        }
        do {
            let filter = try Filter(text)
            guard filter.needs == .record else {
                tell("Highlights look at what the list shows; headers and bodies are for the filter.", .error)
                return []
            }
            highlights.append(Highlight(filter: filter, number: highlights.count + 1))
            tell("Matches are coloured and have a \(highlights.count) beside their number.")
        } catch {
            tell("Highlight: \(error)", .error)
        }
        return []
    }

    // MARK: - Jumping by kind

    mutating func chooseJump(_ word: String) -> [Effect] {
        let word = word.lowercased()
        guard let choice = JumpChoice.allCases.first(where: { $0.rawValue.hasPrefix(word) }), !word.isEmpty else {
            let all = JumpChoice.allCases.map(\.rawValue).joined(separator: ", ")
            tell("There is no kind '\(word.prefix(40))'. There are: \(all).", .error)
            return []
        }
        jump = choice
        tell("\(way(to: .next)) and \(way(to: .previous)) go to: \(choice.rawValue).")
        return []
    }

    mutating func jump(forward: Bool) -> [Effect] {
        guard let kind = jumpKind else {
            tell("Nothing is selected to compare with.", .error)
            return []
        }
        // The open exchange gives way to the result.
        list.opensWhenFound = context == .detail
        jobs.removeAll { $0.id == .find }
        jobs.append(Job(id: .find, title: "looking for \(jump.rawValue)", startedAt: now))
        return [.find(kind, from: list.selected, forward: forward, generation: list.generation)]
    }

    private var jumpKind: JumpKind? {
        switch jump {
        case .error: return .error
        case .slow: return .slow(1_000_000)
        case .large: return .large(1_000_000)
        case .changed: return .changedByRule
        case .held: return .held
        case .marked: return .marked(Set(marks.map(\.number)))
        case .sameEndpoint:
            return selectedRecord.map { .sameEndpoint(method: $0.method, host: $0.url.host, path: $0.url.path) }
        case .sameHost: return selectedHost.map { .sameHost($0) }
        }
    }

    mutating func cancelJobs() -> [Effect] {
        jobs = []
        list.opensWhenFound = false
        tell("Stopped.")
        return [.cancelJobs]
    }
}
