import Files
import HTTPModel
import Jobs
import Recording
import Runner
import Synchronization

extension EffectRunner {
    private static let noChange = "An archive cannot be changed; save it as a session first: save-session FILE"

    func edit(_ request: EditRequest) {
        guard let edits = services?.edits ?? services?.control else { return report(ConsoleError(Self.noChange)) }
        onReader(passes) { [self] reader in
            let numbers = try reader.edited(by: request)
            let (changes, undo): ([SessionEdit], [SessionEdit]) =
                switch request {
                case .delete: ([.delete(numbers)], [])
                case .restore(let change): (change.undo, [])
                case .note(_, _, let note): ([.annotate(numbers, note)], try reader.undo(of: note, on: numbers))
                }
            start { [self] in
                do {
                    var result = SessionEditResult()
                    for change in changes {
                        let part = try await edits.edit(change)
                        result.changed += part.changed
                        result.inFlight += part.inFlight
                        result.mark = part.mark ?? result.mark
                    }
                    inbox.answer { [result] in $0.take(result, of: request, numbers, undo: undo) }
                } catch {
                    report(error)
                }
            }
        }
    }

    func saveSession(to path: String, isForced: Bool) {
        onReader(passes) { [self] reader in
            do {
                if let archive = services?.archive {
                    try OutputPlace.check(HomeDirectory.expanding(path), reading: archive, calling: "the archive")
                }
                try SessionCopy.write(session: reader.path, to: HomeDirectory.expanding(path), overwrites: isForced)
            } catch let error as SessionError where error.code == .exists {
                return inbox.answer { $0.askToReplace(path) }
            }
            say("Copy of the session saved to \(path).")
        }
    }

    func importSession(_ path: String) {
        guard let imports = services?.imports else { return refuse(.importSession, Self.noChange) }
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
                    let file = HomeDirectory.expanding(path)
                    let outcome = try await imports.importExchanges(of: file, progress: progress)
                    end(.importing)
                    say(Self.words(outcome, of: path), outcome.problem == nil ? .info : .error)
                } catch {
                    end(.importing)
                    refuse(.importSession, "\(error)")
                }
            } onCancel: {
                // Runs when the console ends.
                cancellations.add(1, ordering: .relaxed)
            }
        }
    }

    static func words(_ outcome: ImportOutcome, of path: String) -> String {
        let count = outcome.count
        let imported = "Imported \(LinearSentence.count(count, "exchange"))"
        var words = ["\(count == 0 ? "No exchanges in" : "\(imported) from") \(path)"]
        if let first = outcome.first { words[0] += count == 1 ? " as \(first)" : ", the first as \(first)" }
        if outcome.isStopped { words[0] = "Stopped: \(words[0])" }
        words[0] += "."
        if outcome.unfinished > 0 { words.append("\(outcome.unfinished) unfinished skipped.") }
        if !outcome.losses.isEmpty { words.append("Not imported: \(outcome.losses.joined(separator: "; ")).") }
        if count > 0 { words.append("Filter is:imported shows them.") }
        if let problem = outcome.problem { words.append("The rest could not be read: \(problem)") }
        return words.joined(separator: " ")
    }
}

extension SessionReader {
    func undo(of note: ExchangeNote, on numbers: ExchangeNumbers) throws -> [SessionEdit] {
        // Undo is not possible for more exchanges than this.
        let mostKept = 10_000
        guard numbers.ranges.allSatisfy({ $0.upperBound &- $0.lowerBound < mostKept }),
            numbers.ranges.reduce(0, { $0 + $1.count }) <= mostKept
        else { return [] }
        var before: [ExchangeNote: [Int64]] = [:]
        let rows = ExchangeRows.numbers(numbers.ranges.flatMap { Array($0) })
        for record in try records(of: rows, matching: .everything) {
            let annotation = record.extras.annotation
            let old: ExchangeNote =
                switch note {
                case .comment: .comment(annotation.comment)
                case .colour: .colour(annotation.colour.flatMap { ExchangeAnnotation.Colour(rawValue: $0) })
                }
            before[old, default: []].append(record.id.number)
        }
        return before.map { .annotate(ExchangeNumbers($0.value), $0.key) }
    }

    fileprivate func edited(by request: EditRequest) throws -> ExchangeNumbers {
        switch request {
        case .restore: ExchangeNumbers([])
        case .delete(.exchanges(let ids), _), .note(.exchanges(let ids), _, _): ExchangeNumbers(ids.map(\.number))
        case .delete(.branch(let node), let query), .note(.branch(let node), let query, _):
            try edited(query.below(node))
        }
    }

    /// The numbers of all exchanges that match a query; for a whole session one range, however many exchanges it has.
    private func edited(_ query: ListQuery) throws -> ExchangeNumbers {
        guard query.only == nil, query.wholeFilter.matchesEverything else {
            return ExchangeNumbers(try numbers(matching: query))
        }
        return ExchangeNumbers(ranges: try bounds().map { [$0] } ?? [])
    }
}
