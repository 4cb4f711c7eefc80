import Files
import Foundation
import HTTPModel
import Jobs
import Recording
import Synchronization

/// What the console shows of its own while another session is open in it.
struct HomeState: Sendable {
    var source: ConsoleModel.Source
    var proxy: ProxyState
    var rules: RulesState
    var marks: [ExchangeID]
    var isGrowing: Bool
    var changes: [SessionChange]
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
            tell("Showing \(name). \(hidesLive ? "The proxy continues to record; " : "")\(back)")
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
        tell("Recording continues in \(path); earlier exchanges are in \(old): \(way(to: .openSession)) opens it.")
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

    private mutating func forgetShown() {
        isDetailFocused = false
        (detail, structure) = (DetailState(), StructureState())
        timeline = TimelineState()
        let columns = list.columns
        list = ListState()
        list.columns = columns
    }

    var noHome: String? { home == nil ? "No other session is open here." : nil }

    mutating func takeBehind(_ holds: Int) {
        let told = home?.toldHolds ?? 0
        home?.toldHolds = holds
        guard holds > told else { return }
        pin("A message is held in the live session: \(way(to: .backToLive)) goes there.")
    }
}

// MARK: - Importing

extension ConsoleModel {
    /// Why nothing can be imported; `nil` if it can.
    var noImport: String? {
        if home != nil {
            return "Another session is shown; \(way(to: .backToLive)) goes back to your own, which can import."
        }
        if jobs.contains(where: { $0.id == .importing }) {
            return "An import is under way; \(way(to: .stop)) stops it."
        }
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
    /// Shows another session, or an archive; the proxy goes on, and records, behind it.
    func openSession(_ path: String) {
        start(on: passes) { [self] in
            do {
                let file = HomeDirectory.expanding(path)
                var archive: ImportedArchive?
                let session: String
                if try ArchiveFile.isArchive(file) {
                    let imported = try ImportedArchive(file)
                    (archive, session) = (imported, imported.session)
                } else {
                    session = try SessionQuery.open(file).path
                }
                let queries: QueryService
                do {
                    queries = try QueryService(path: session) { [inbox] in inbox.send(.query($0)) }
                } catch {
                    archive?.remove()
                    throw error
                }
                archives.withLock { all in if let archive { all.append(archive) } }
                let services = ConsoleServices(session: session, archive: archive == nil ? nil : file)
                let own = replace(by: Connected(services: services, queries: queries))
                inbox.answer { $0.takeOpened(file, hidesLive: own) }
            } catch {
                refuse(.openSession, "\(error)")
            }
        }
    }

    /// Shows another session; what was shown first stays behind. Returns whether a proxy runs there.
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
        let queries: QueryService
        do {
            queries = try QueryService(path: session) { [inbox] in inbox.send(.query($0)) }
        } catch {
            // It is tried again with the next look at the proxy.
            return
        }
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
        let own = behind.withLock { behind in
            defer { behind = nil }
            return behind
        }
        guard let own else { return }
        connected.withLock { $0 = own }
        inbox.answer { $0.takeOpened(nil, hidesLive: false) }
        loadRules()
    }

    func removeFiles() {
        viewed.remove()
        for archive in archives.withLock({ $0 }) { archive.remove() }
    }
}
