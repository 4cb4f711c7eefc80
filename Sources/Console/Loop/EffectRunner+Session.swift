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
            let numbers = try reader.numbers(of: selection, query)
            return (.delete(numbers), numbers)
        case .clear(let query):
            let numbers = try reader.numbers(matching: query)
            return (.delete(numbers), numbers)
        case .restore(let deletion): return (.restore(mark: deletion.mark), ExchangeNumbers([]))
        case .note(let selection, let query, let note):
            let numbers = try reader.numbers(of: selection, query)
            return (.annotate(numbers, note), numbers)
        }
    }

    func saveSession(to path: String, isForced: Bool) {
        onReader(passes) { [self] reader in
            do {
                try SessionCopy.write(session: reader.path, to: ExportFile.expanded(path), overwrites: isForced)
            } catch let error as SessionError where error.code == .exists {
                return inbox.send(.sessionExists(path: path))
            }
            let isRecorded = services?.control != nil
            say("\(isRecorded ? "A copy of the session as it is now" : "A copy of the session") is in \(path).")
        }
    }
}

extension SessionReader {
    fileprivate func numbers(of selection: Selection, _ query: ListQuery) throws -> ExchangeNumbers {
        switch selection {
        case .exchanges(let ids): return ExchangeNumbers(ids.map(\.number))
        case .branch(let node):
            guard let place = node.url else { return try numbers(matching: query) }
            var numbers: [Int64] = []
            try forEachRecord(matching: query.wholeFilter) { record in
                let url = record.url
                guard url.host == place.host, url.port == place.port, url.scheme == place.scheme,
                    place.path.isEmpty || url.path == place.path || url.path.hasPrefix(place.path + "/")
                else { return }
                numbers.append(record.id.number)
            }
            return ExchangeNumbers(numbers)
        }
    }

    /// The numbers of all exchanges that a query leaves.
    fileprivate func numbers(matching query: ListQuery) throws -> ExchangeNumbers {
        guard let bounds = try bounds() else { return ExchangeNumbers([]) }
        let filter = query.wholeFilter
        guard !filter.matchesEverything else { return ExchangeNumbers(ranges: [bounds]) }
        var numbers: [Int64] = []
        try forEachBlock(of: bounds, for: filter) { block in
            numbers += try self.numbers(of: .range(block), matching: filter)
            return true
        }
        return ExchangeNumbers(numbers)
    }
}
