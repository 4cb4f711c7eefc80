import Dispatch
import Foundation
import GRDB
import Synchronization

/// Closes sessions beside the recorder's thread, so that the traffic does not wait for it.
final class SessionCloser: Sendable {
    private let work = DispatchQueue(label: "sluice.recorder.closing", qos: .utility)
    private let isEnding = Atomic(false)
    private let found = Mutex<(removing: SessionError?, closing: SessionError?)>((nil, nil))

    /// How often, and how far apart, the log of a session is tried to be removed that somebody looks at: a console that
    /// follows to the next one stops looking soon.
    private static let (attempts, pauseMicroseconds): (Int, UInt32) = (20, 200_000)

    /// Removes what is marked as deleted, and makes the session one file again.
    ///
    /// - Parameter isWhole: whether it could be written to its end.
    func close(_ session: WritableSession, isWhole: Bool) {
        work.async { [self] in
            if isWhole {
                do {
                    try session.database.writeWithoutTransaction { try DeletedRows.remove(in: $0) }
                } catch let error as DatabaseError {
                    found.withLock { $0.removing = $0.removing ?? .removing(session.path, error) }
                } catch {}
            } else {
                session.interruptOpenExchanges()
            }
            var attempts = 0
            do {
                try session.close {
                    attempts += 1
                    guard attempts < Self.attempts, !isEnding.load(ordering: .acquiring) else { return false }
                    usleep(Self.pauseMicroseconds)
                    return true
                }
            } catch {
                let error = error as? SessionError
                found.withLock { $0.closing = $0.closing ?? error }
            }
        }
    }

    /// Does something after what was closed so far.
    func then(_ body: @escaping @Sendable () -> Void) { work.async(execute: body) }

    /// Waits for all of that; nothing waits for others any more.
    func wait() {
        isEnding.store(true, ordering: .releasing)
        work.sync {}
    }

    /// What could not be removed, and the first error of all.
    func problems(after error: SessionError?) -> (removing: SessionError?, first: SessionError?) {
        found.withLock { ($0.removing, error ?? $0.closing) }
    }
}
