import Files
import Runner
import Sharing
import Synchronization

extension EffectRunner {
    /// Brings the exchanges of another file into the session that is shown.
    func importSession(_ path: String) {
        guard let imports = services?.imports else {
            let way = "save-session FILE makes a session of it, which can grow."
            return refuse(.importSession, "Nothing can be added to an archive; \(way)")
        }
        let begun = cancellations.load(ordering: .relaxed)
        let said = Atomic(-1)
        let progress: @Sendable (Double) -> Bool = { [self] part in
            let percent = Int(part * 100)
            if said.exchange(percent, ordering: .relaxed) != percent {
                tell(Job(id: .importing, title: "importing", progress: part, startedAt: 0))
            }
            return cancellations.load(ordering: .relaxed) == begun
        }
        start { [self] in
            await withTaskCancellationHandler {
                do {
                    let outcome = try await imports.importExchanges(
                        of: HomeDirectory.expanding(path),
                        progress: progress
                    )
                    end(.importing)
                    say(Self.words(outcome, of: path), outcome.problem == nil ? .info : .error)
                } catch {
                    end(.importing)
                    refuse(.importSession, "\(error)")
                }
            } onCancel: {
                // The console ends.
                cancellations.add(1, ordering: .relaxed)
            }
        }
    }

    static func words(_ outcome: ImportOutcome, of path: String) -> String {
        let count = outcome.count
        var words = [
            count == 0
                ? "Nothing came of \(path)"
                : "\(count) \(count == 1 ? "exchange" : "exchanges") of \(path) came in"
        ]
        if let first = outcome.first { words[0] += count == 1 ? " as \(first)" : " from \(first) on" }
        if outcome.isStopped { words[0] = "Stopped: \(words[0])" }
        words[0] += "."
        if outcome.unfinished > 0 { words.append("\(outcome.unfinished) still in flight there left out.") }
        if !outcome.losses.isEmpty { words.append("Left out: \(outcome.losses.joined(separator: "; ")).") }
        if count > 0 { words.append("Filter is:imported shows what was imported.") }
        if let problem = outcome.problem { words.append("The rest could not be read: \(problem)") }
        return words.joined(separator: " ")
    }
}
