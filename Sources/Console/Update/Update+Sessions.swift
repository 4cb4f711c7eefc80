import HTTPModel
import Terminal

/// What the console shows of its own while another session is open in it.
struct HomeState: Sendable {
    var source: ConsoleModel.Source
    var proxy: ProxyState
    var rules: RulesState
    var marks: [ExchangeID]
    var isGrowing: Bool
    var changes: [SessionChange]
    /// How many held messages were told of.
    var toldHolds = 0
}

extension ConsoleModel {
    /// Opens a session or an archive in place of what is shown; nothing named goes back.
    mutating func openSession(_ path: String) -> [Effect] {
        guard path.isEmpty else { return [.openSession(path)] }
        return home == nil
            ? refuse("Name the file of a session, or of an archive; last is the newest session.") : [.backToLive]
    }

    /// Takes over that another session is shown, or the console's own again.
    mutating func takeOpened(_ name: String?, hidesLive: Bool) -> [Effect] {
        if let name {
            let own = HomeState(
                source: source,
                proxy: proxy,
                rules: rules,
                marks: marks,
                isGrowing: isGrowing,
                changes: changes
            )
            home = home ?? own
            source = .recorded(name: name)
            (proxy, rules, marks, isGrowing) = (ProxyState(), RulesState(), [], false)
            changes = []
            let back = "\(way(to: .backToLive)) goes back."
            tell("This is \(name). \(hidesLive ? "The proxy goes on and records behind it; " : "")\(back)")
        } else if let own = home {
            home = nil
            (source, proxy, rules) = (own.source, own.proxy, own.rules)
            (marks, isGrowing, changes) = (own.marks, own.isGrowing, own.changes)
            tell("Back to live traffic.")
        }
        overlays = []
        draft = nil
        let sort = list.query.sort
        filter.applied = ""
        (filter.isEditing, filter.error) = (false, nil)
        forgetShown()
        return ask(ListQuery(sort: sort))
    }

    /// Takes over that the session was rotated: the list follows, with its filter; what is being written stays.
    mutating func takeRotated(to path: String, from old: String, isShown: Bool) -> [Effect] {
        tell("The recording goes on in \(path); what began before is in \(old): \(way(to: .openSession)) opens it.")
        guard isShown else {
            home?.proxy.session = path
            home?.marks = []
            home?.changes = []
            return []
        }
        proxy.session = path
        (marks, changes) = ([], [])
        let query = list.query
        forgetShown()
        return ask(query)
    }

    /// Forgets what was shown of a session, in place of which another is shown.
    private mutating func forgetShown() {
        isDetailFocused = false
        (detail, structure) = (DetailState(), StructureState())
        timeline = TimelineState()
        let columns = list.columns
        list = ListState()
        list.columns = columns
    }

    var noHome: String? { home == nil ? "No other session is open here." : nil }

    /// Takes over how the proxy behind an opened session is.
    mutating func takeBehind(_ holds: Int) {
        let told = home?.toldHolds ?? 0
        home?.toldHolds = holds
        guard holds > told else { return }
        pin("A message waits for a decision in the live session: \(way(to: .backToLive)) goes there.")
    }
}

// MARK: - Importing

extension ConsoleModel {
    /// Why nothing can be imported; `nil` where it can.
    var noImport: String? {
        if home != nil {
            return "Another session is shown; \(way(to: .backToLive)) goes back to the one that can grow."
        }
        if jobs.contains(where: { $0.id == .importing }) {
            return "An import is under way; \(way(to: .stop)) stops it."
        }
        switch source {
        case .attached: return "Exchanges are imported where the session is recorded: in that Sluice's own console."
        case .recorded: return nil
        case .live, .demo: return noSession
        }
    }

    mutating func importSession(_ file: String) -> [Effect] {
        guard let path = fileName(file) else { return [] }
        guard !path.isEmpty else { return refuse("An import needs the name of a file: a session or an archive.") }
        hasImported = true
        return [.importSession(path)]
    }
}
