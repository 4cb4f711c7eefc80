import Files
import Foundation
import Recording
import Runner
import Synchronization

/// Sessions that are opened within the console, in place of its own.
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

    /// Shows the file in which the recording goes on, where the session was rotated.
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

    /// Shows the console's own session again.
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

    /// Removes the files that the console made for itself.
    func removeFiles() {
        viewed.remove()
        for archive in archives.withLock({ $0 }) { archive.remove() }
    }
}
