import Dispatch
import Files
import HTTPModel
import Recording
import Runner

extension EffectRunner {
    /// Finds out which exchanges an edit is for, and makes it.
    func edit(_ request: EditRequest) {
        guard let edits = services?.edits ?? services?.control else {
            let way = "save-session FILE saves it as a session, which can be changed."
            return report(ConsoleError("An archive is only read; \(way)"))
        }
        onReader(passes) { [self] reader in
            let (edit, numbers) = try Self.edit(for: request, reader)
            start { [self] in
                do {
                    inbox.send(.sessionEdited(request, try await edits.edit(edit), numbers))
                } catch {
                    report(error)
                }
            }
        }
    }

    private static func edit(for request: EditRequest, _ reader: SessionReader) throws -> (SessionEdit, ExchangeNumbers)
    {
        switch request {
        case .delete(let selection, let query):
            let numbers = try reader.edited(selection, query)
            return (.delete(numbers), numbers)
        case .clear(let query):
            let numbers = try reader.edited(query)
            return (.delete(numbers), numbers)
        case .restore(let deletion): return (.restore(mark: deletion.mark), ExchangeNumbers([]))
        case .note(let selection, let query, let note):
            let numbers = try reader.edited(selection, query)
            return (.annotate(numbers, note), numbers)
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
                return inbox.send(.sessionExists(path: path))
            }
            let isRecorded = services?.control != nil
            say("\(isRecorded ? "A copy of the session as it is now" : "A copy of the session") is in \(path).")
        }
    }
}

extension SessionReader {
    fileprivate func edited(_ selection: Selection, _ query: ListQuery) throws -> ExchangeNumbers {
        switch selection {
        case .exchanges(let ids): ExchangeNumbers(ids.map(\.number))
        case .branch(let node): try edited(query.below(node))
        }
    }

    /// The numbers of all exchanges that a query leaves; of a whole session as a range, however many they are.
    fileprivate func edited(_ query: ListQuery) throws -> ExchangeNumbers {
        guard query.only == nil, query.wholeFilter.matchesEverything else {
            return ExchangeNumbers(try numbers(matching: query))
        }
        return ExchangeNumbers(ranges: try bounds().map { [$0] } ?? [])
    }
}
