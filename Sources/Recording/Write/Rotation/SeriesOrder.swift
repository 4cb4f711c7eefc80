import Synchronization

/// In which order the files of a series came, as one recorder saw it: what it made, and what others made meanwhile, is
/// newer than all that was there when it began. No clock has a say in that; it may be set back while files are written.
final class SeriesOrder: Sendable {
    private struct State {
        /// By a file's name; 0 for those that were there.
        var ranks: [String: Int64] = [:]
        var newest: Int64 = 0
        var hasLooked = false
    }

    private let state = Mutex(State())

    /// Notes that a file has been made.
    func note(_ name: String) {
        state.withLock {
            $0.newest += 1
            $0.ranks[name] = $0.newest
        }
    }

    /// The newest file's rank.
    var newest: Int64 { state.withLock { $0.newest } }

    /// Ranks files; of those with the same rank none was seen before another.
    ///
    /// - Parameters:
    ///   - finished: the files that nobody records here.
    ///   - present: the names of all files, as they were when `newest` was the newest.
    func ranks(of finished: [String], present: [String], upTo newest: Int64) -> [String: Int64] {
        state.withLock { state in
            let present = Set(present)
            // A file that was made after that is not among them.
            state.ranks = state.ranks.filter { $0.value > newest || present.contains($0.key) }
            let unseen = finished.filter { state.ranks[$0] == nil }
            if state.hasLooked, !unseen.isEmpty { state.newest += 1 }
            for name in unseen { state.ranks[name] = state.hasLooked ? state.newest : 0 }
            state.hasLooked = true
            return state.ranks
        }
    }
}
