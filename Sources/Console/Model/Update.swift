import HTTPModel
import Runner
import Terminal

extension ConsoleModel {
    package mutating func update(_ message: Message) -> [Effect] {
        let before = Layout(self).list
        let effects = carryOut(message)
        // A held message or further rows of key hints make the list smaller.
        if Layout(self).list != before { revealAll() }
        return effects
    }

    private mutating func carryOut(_ message: Message) -> [Effect] {
        switch message {
        case .input(let event): return take(event)
        case .written: endLine()
        case .resized(let size): return resize(to: size)
        case .tick(let now): return tick(now)
        case .query(let event): return take(event)
        case .ready(let authority): proxy.authorityPath = authority
        case .proxy(_, let holds) where home != nil: takeBehind(holds.count)
        case .proxy(let status, let holds): return take(status, holds)
        case .proxyLost where home != nil: break
        case .proxyLost(let reason):
            proxy.problem = reason.replacing("\n", with: " ")
            proxy.holds = []
            proxy.tools = []
        case .answer(let change), .news(let change): return change(&self)
        case .stop, .failed: return [.terminal(.quit)]
        }
        return []
    }

    private mutating func resize(to size: Size) -> [Effect] {
        self.size = size
        revealAll()
        return loadRows() + (detail.isOpen ? loadDetail() : [])
    }

    private mutating func tick(_ now: Int64) -> [Effect] {
        self.now = now
        let passed = now - proxy.countedAt
        if proxy.countedAt > 0, passed >= 1_000_000 {
            let grown = max(0, list.sessionTotal - proxy.counted)
            proxy.rates.append(Int(Double(grown) * 1_000_000 / Double(passed)))
            if proxy.rates.count > 60 { proxy.rates.removeFirst() }
        }
        if passed >= 1_000_000 { (proxy.counted, proxy.countedAt) = (list.sessionTotal, now) }
        if openedAt == 0 {
            openedAt = now
            // Notices from before the first tick have no time yet: they count as new.
            for index in notices.indices where notices[index].at == 0 && !notices[index].isPinned {
                notices[index].at = now
            }
        }
        for index in notices.indices where notices[index].isPinned {
            // A pinned notice may be from before the first tick, without a time.
            notices[index].isPinned = now - max(notices[index].at, openedAt) < Notice.shownPinned
        }
        return readOn() + readUnfinishedRows() + readUnfinishedExchanges() + refreshStatistics()
    }

    /// Loads the rows on the screen again, at most five times a second, while one of them is in flight, or its client
    /// may still be found. If an exchange ends, the counts of the list stay the same, so that no event reports the end.
    private mutating func readUnfinishedRows() -> [Effect] {
        guard now - list.readAt >= 200_000, view == .sequence, isLive else { return [] }
        let shown = list.bottom..<max(list.bottom, min(list.total, list.bottom + Layout(self).listRows))
        guard shown.contains(where: { list.rows[$0].map(isUnsettled) ?? false }) else { return [] }
        list.readAt = now
        return loadRows(always: true)
    }

    /// Whether an exchange may still change: its client is also looked up for a moment after the exchange has ended.
    private func isUnsettled(_ record: ExchangeRecord) -> Bool {
        if record.state == .inFlight { return true }
        let end = record.startedAt &+ max(0, record.timings.total ?? 0)
        return record.isProcessUnknown && (0..<2_000_000).contains(now &- end)
    }

    private mutating func readOn() -> [Effect] {
        guard detail.isOpen, now - detail.readAt >= 1_000_000, let id = detail.id else { return [] }
        detail.readAt = now
        let was = detail.isUnfinished
        detail.isUnfinished = isInFlight(id) || known(id).map(isUnsettled) ?? false
        return was || detail.isUnfinished ? loadDetail() : []
    }

    private mutating func take(_ status: ControlStatus, _ holds: [HoldSummary]) -> [Effect] {
        proxy.address = status.address
        proxy.listeners = status.listeners
        proxy.session = status.session
        proxy.recordingProblem = status.recordingProblem
        proxy.recording = status.recording
        proxy.store = status.store
        let wasEdited = proxy.edits.map { $0 != status.edits } ?? false
        proxy.edits = status.edits
        proxy.tools = status.tools
        proxy.problem = nil
        let known = Set(proxy.holds.map(\.id))
        for hold in holds where !known.contains(hold.id) {
            let ways = "\(way(to: .holds)) shows it, \(way(to: .executeAll)) executes all."
            let words = isLinear ? LinearSentence.text(hold) : "Held: \(hold.method) \(hold.url), \(hold.side). \(ways)"
            tell(words) { $0.isNews = true }
        }
        proxy.holds = holds
        updateHolds()
        tellGoneHolds()
        return readHeld() + (status.rules == rules.revision ? [] : [.loadRules]) + (wasEdited ? askAgain() : [])
    }

    private mutating func take(_ event: InputEvent) -> [Effect] {
        switch event {
        case .key(let key): return take(key)
        case .mouse(let mouse): return take(mouse)
        case .paste(let text): return paste(text)
        case .background(let color): return suit(color)
        }
    }

    /// Chooses the theme for the terminal's background, unless the user has chosen a theme.
    private mutating func suit(_ background: TerminalBackground) -> [Effect] {
        let theme: Theme = background.isDark ? .dark : .light
        guard !isThemeChosen, look.theme != .plain, look.theme != theme else { return [] }
        look.theme = theme
        return [.terminal(.redraw)]
    }

    mutating func take(_ key: Key) -> [Effect] {
        for index in notices.indices { (notices[index].isPinned, notices[index].isRead) = (false, true) }
        let prefix = pendingKey
        pendingKey = nil
        if prefix == nil, key.modifiers.isEmpty, case .character(let sign) = key.code,
            let item = sign.wholeNumberValue.flatMap({ firstStep($0) })
        {
            return [.copy(.shown(item.text, item.isCommand ? "The command" : item.text, of: []))]
        }
        if prefix == nil {
            if asksForHelp(key) { return perform(.help, nil) }
            switch overlays.last {
            case .confirm(let confirm): return answer(confirm, key)
            case .prompt(let prompt): return type(key, into: prompt)
            case .picker(let picker): return type(key, into: picker)
            case .editor(let editor): return type(key, into: editor)
            case .panel(let panel):
                if let effects = take(key, in: panel) { return effects }
            case .holds(let selected):
                if let effects = take(key, holds: selected) { return effects }
            case .report(let report):
                if let effects = turn(report, by: key) { return effects }
            case nil: break
            }
            if overlays.isEmpty, filter.isEditing { return typeFilter(key) }
        }
        return run(key, after: prefix)
    }

    mutating func run(_ key: Key, after prefix: Key? = nil) -> [Effect] {
        switch keymap.lookUp(key, after: prefix, in: context) {
        case .binding(let binding): return perform(binding.command, binding.argument)
        case .prefix(let key):
            pendingKey = key
            return []
        case .unknown:
            if key.code == .escape { return perform(.back, nil) }
            guard let prefix else { return refuseOutsideList(key) }
            return refuseKey("\(prefix.spelling) \(key.spelling) does nothing here; \(way(to: .help)) lists the keys.")
        }
    }

    /// Reports that a key does nothing; in the detail, for a key of the list, reports what to press or type instead.
    private mutating func refuseOutsideList(_ key: Key) -> [Effect] {
        guard context == .detail, case .binding(let binding) = keymap.lookUp(key, after: nil, in: .list),
            let entry = CommandTable.entry(binding.command)
        else { return refuseKey("\(key.spelling) does nothing here; \(way(to: .help)) lists the keys.") }
        let argument = binding.argument
        let words = ":\(binding.command.rawValue)\(argument.map { " \($0)" } ?? "")"
        let way = keymap.keys(for: binding.command, argument: argument, in: .detail).first ?? words
        return refuseKey("\(key.spelling) works only in the list (\(entry.title)); use \(way).")
    }

    private mutating func refuseKey(_ words: String) -> [Effect] {
        tell(words, .error) { $0.isAboutKey = true }
    }

    private mutating func paste(_ text: String) -> [Effect] {
        switch overlays.last {
        case .prompt(let prompt): return paste(text, into: prompt)
        case .picker(var picker):
            picker.line.insert(text)
            return replaceTop(by: .picker(picker))
        case .editor(var editor):
            editor.area.insert(text)
            return changed(editor)
        case nil where filter.isEditing:
            filter.line.insert(text)
            return filterChanged()
        default: return pasteOutside(text)
        }
    }
}
