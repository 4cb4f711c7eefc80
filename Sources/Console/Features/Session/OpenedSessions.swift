import Files
import Foundation
import HTTPModel
import Jobs
import Recording
import Synchronization

/// The state of the console's own session while a different session is open.
struct HomeState: Sendable {
    var source: ConsoleModel.Source
    var proxy = ProxyState()
    var rules = RulesState()
    var marks: [ExchangeID] = []
    var isGrowing = false
    var changes: [SessionChange] = []
    var toldHolds = 0
    var focusedHosts: Set<String> = []
    var ignoredHosts: Set<String> = []
}

extension ConsoleModel {
    mutating func openSession(_ path: String) -> [Effect] {
        guard path.isEmpty else { return [.openSession(path)] }
        return home == nil
            ? refuse("Name the file of a session, or of an archive; last is the newest session.") : [.backToLive]
    }

    mutating func takeOpened(_ name: String?, hidesLive: Bool) -> [Effect] {
        var query = ListQuery(sort: list.query.sort)
        if let name {
            home = home ?? shown
            shown = HomeState(source: .recorded(name: name))
            let back = "\(way(to: .backToLive)) goes back."
            tell("Showing \(name). \(hidesLive ? "The proxy continues to record; " : "")\(back)")
        } else if let own = home {
            (home, shown) = (nil, own)
            (query.focusedHosts, query.ignoredHosts) = (own.focusedHosts, own.ignoredHosts)
            tell("Back to live traffic.")
        }
        (overlays, draft) = ([], nil)
        (filter.applied, filter.isEditing, filter.error) = ("", false, nil)
        return askAnew(query)
    }

    private var shown: HomeState {
        get {
            var state = HomeState(source: source, proxy: proxy, rules: rules, marks: marks, isGrowing: isGrowing)
            state.changes = changes
            (state.focusedHosts, state.ignoredHosts) = (list.query.focusedHosts, list.query.ignoredHosts)
            return state
        }
        set {
            (source, proxy, rules) = (newValue.source, newValue.proxy, newValue.rules)
            (marks, isGrowing, changes) = (newValue.marks, newValue.isGrowing, newValue.changes)
        }
    }

    /// Applies a rotation of the session: the list shows the new session with the same filter; open overlays stay.
    mutating func takeRotated(to path: String, from old: String, isShown: Bool) -> [Effect] {
        tell("Recording continues in \(path); earlier exchanges are in \(old): \(way(to: .openSession)) opens it.")
        guard isShown else {
            home?.proxy.session = path
            home?.marks = []
            home?.changes = []
            return []
        }
        proxy.session = path
        (marks, changes) = ([], [])
        return askAnew(list.query)
    }

    /// Fills the list for a query, and resets everything that was shown, except for the columns.
    private mutating func askAnew(_ query: ListQuery) -> [Effect] {
        isDetailFocused = false
        (detail, structure, timeline) = (DetailState(), StructureState(), TimelineState())
        let columns = list.columns
        list = ListState()
        list.columns = columns
        return ask(query)
    }

    var noHome: String? { home == nil ? "No other session is open here." : nil }

    mutating func takeBehind(_ holds: Int) {
        let told = home?.toldHolds ?? 0
        home?.toldHolds = holds
        guard holds > told else { return }
        pin("A message is held in the live session: \(way(to: .backToLive)) goes there.")
    }

    var noImport: String? {
        let back = way(to: .backToLive)
        if home != nil { return "Another session is shown; \(back) goes back to your own, which can import." }
        let isImporting = jobs.contains { $0.id == .importing }
        if isImporting { return "An import is under way; \(way(to: .stop)) stops it." }
        switch source {
        case .attached: return "Not available here: import in the console of the Sluice that records the session."
        case .recorded: return nil
        case .live, .demo: return noSession
        }
    }

    mutating func importSession(_ file: String) throws -> [Effect] {
        let path = try fileName(file, missing: "Enter the file name of a session or an archive.")
        hasImported = true
        return [.importSession(path)]
    }
}

extension EffectRunner {
    /// Shows a different session or an archive; the proxy continues to record in the background.
    func openSession(_ path: String) {
        attempt(.openSession) { [self] in
            let file = HomeDirectory.expanding(path)
            let archive = try ArchiveFile.isArchive(file) ? ImportedArchive(file) : nil
            let session = try archive?.session ?? SessionQuery.open(file).path
            let queries: QueryService
            do {
                queries = try self.queries(of: session)
            } catch {
                archive?.remove()
                throw error
            }
            if let archive { archives.withLock { $0.append(archive) } }
            let services = ConsoleServices(session: session, archive: archive == nil ? nil : file)
            let own = replace(by: Connected(services: services, queries: queries))
            inbox.answer { $0.takeOpened(file, hidesLive: own) }
        }
    }

    func queries(of session: String) throws -> QueryService {
        try QueryService(path: session) { [inbox] in inbox.send(.query($0)) }
    }

    /// Shows a different session, and keeps the first one in the background. Returns whether a proxy runs there.
    private func replace(by other: Connected) -> Bool {
        let before = connected.withLock { connected in
            defer { connected = other }
            return connected
        }
        return behind.withLock { behind in
            if behind == nil { behind = before }
            return behind?.services.control != nil
        }
    }

    func follow(_ session: String?) {
        guard let session else { return }
        func old(_ connected: Connected?) -> String? {
            guard let services = connected?.services, services.control != nil else { return nil }
            return services.session == session ? nil : services.session
        }
        let isShown = behind.withLock { $0 == nil }
        guard let old = old(isShown ? connected.withLock(\.self) : behind.withLock(\.self)) else { return }
        // After a failure, the next check of the proxy tries again.
        guard let queries = try? queries(of: session) else { return }
        func rotate(_ connected: inout Connected?) -> Bool {
            guard connected?.services.session == old else { return false }
            connected?.services.session = session
            connected?.queries = queries
            return true
        }
        let isDone = isShown ? connected.withLock { rotate(&$0) } : behind.withLock { rotate(&$0) }
        if isDone { inbox.send(.news { $0.takeRotated(to: session, from: old, isShown: isShown) }) }
    }

    func backToLive() {
        guard let own = behind.withLock({ $0.take() }) else { return }
        connected.withLock { $0 = own }
        inbox.answer { $0.takeOpened(nil, hidesLive: false) }
        loadRules()
    }

    func removeFiles() {
        viewed.remove()
        for archive in archives.withLock({ $0 }) { archive.remove() }
    }
}
