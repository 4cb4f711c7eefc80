import Synchronization

/// The order of a series' files as one recorder sees them: new files come after files that existed when it began. Uses
/// no clock, because clocks may be set back.
final class SeriesOrder: Sendable {
    private struct State {
        /// By name; 0 for files that existed before.
        var ranks: [String: Int64] = [:]
        var newest: Int64 = 0
        var hasLooked = false
    }

    private let state = Mutex(State())

    func note(_ name: String) {
        state.withLock {
            $0.newest += 1
            $0.ranks[name] = $0.newest
        }
    }

    var newest: Int64 { state.withLock { $0.newest } }

    /// `finished` files are not being recorded here; `present` are all files at the time of `newest`. Files of equal
    /// rank were first seen at the same time.
    func ranks(of finished: [String], present: [String], upTo newest: Int64) -> [String: Int64] {
        state.withLock { state in
            let present = Set(present)
            state.ranks = state.ranks.filter { $0.value > newest || present.contains($0.key) }
            let unseen = finished.filter { state.ranks[$0] == nil }
            if state.hasLooked, !unseen.isEmpty { state.newest += 1 }
            for name in unseen { state.ranks[name] = state.hasLooked ? state.newest : 0 }
            state.hasLooked = true
            return state.ranks
        }
    }
}
