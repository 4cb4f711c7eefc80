import Dispatch
import Foundation
import GRDB
import Synchronization

/// Closes sessions without blocking the recorder's thread.
final class SessionCloser: Sendable {
    private let work = DispatchQueue(label: "sluice.recorder.closing", qos: .utility)
    private let isEnding = Atomic(false)
    private let found = Mutex<(removing: SessionError?, closing: SessionError?)>((nil, nil))

    /// How often to retry while a reader keeps the log; a console soon continues with the next session.
    private static let (attempts, pauseMicroseconds): (Int, UInt32) = (20, 200_000)

    /// Removes deleted exchanges and the log. `isWhole`: no write has failed.
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

    func then(_ body: @escaping @Sendable () -> Void) { work.async(execute: body) }

    func wait() {
        isEnding.store(true, ordering: .releasing)
        work.sync {}
    }

    /// The error of the failed removal, and the first error.
    func problems(after error: SessionError?) -> (removing: SessionError?, first: SessionError?) {
        found.withLock { ($0.removing, error ?? $0.closing) }
    }
}
