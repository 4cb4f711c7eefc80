import HTTPModel
package import Recording
import Runner

extension CommandTable {
    static let session = [
        Row(.delete, "Delete the exchange, the marked ones or a branch", ["d"], .ids).with { try $0.delete($1) }
            .says(.counts).unless(\.noEditing),
        Row(.clear, "Clear: delete all shown exchanges", ["Z"]).plain {
            [.edit(.delete(.branch(.root), $0.list.query))]
        }.says(.counts)
            .unless(\.noClearing),
        Row(.undo, "Undo the last change", ["u"]).plain { $0.undo() }.at([.list, .detail, .panel]).unless(\.noUndo),
        Row(.comment, "Comment on the exchange or the marked ones", [";"], .comment).asking { $0.comment($1) }
            .unless(\.noEditing),
        Row(.colour, "Colour the exchange or the marked ones", [","], .colour).asking { $0.colour($1) }
            .unless(\.noEditing),
        Row(.record, "Turn recording on or off", ["ctrl-r"], .onOff).with { $0.setRecording($1) }.unless(\.noSteering),
        Row(.saveSession, "Save a copy of the session", ["ctrl-w"], .sessionFile).asking { try $0.saveSession($1) }
            .unless(\.noSession),
        Row(.importSession, "Import exchanges from a file", [], .imported).asking { try $0.importSession($1) }
            .unless(\.noImport),
    ]
}

package enum EditRequest: Sendable, Hashable {
    /// Deletes exchanges; for a branch, only those that match the query.
    case delete(Selection, ListQuery)
    case restore(SessionChange)
    case note(Selection, ListQuery, ExchangeNote)
}

package struct SessionChange: Sendable, Hashable {
    /// The edits that undo the change: they restore deleted exchanges, or earlier comments or colours.
    package var undo: [SessionEdit]
    /// How many rule changes came before this change; undo needs the order.
    package var rulesBefore: Int
}

extension ConsoleModel {
    var noEditing: String? { noChange ?? (selection == nil && !isLinear ? nothingHere : nil) }
    var noClearing: String? {
        noChange ?? (list.total == 0 && list.progress == nil ? "The list is already empty." : nil)
    }
    var noSession: String? { isRecorded || proxy.session != nil ? nil : "Nothing is recorded here." }

    private var isRecorded: Bool { if case .recorded = source { true } else { false } }

    private var noChange: String? { isRecorded ? nil : noSteering ?? noSession }

    var noUndo: String? {
        guard lastChange == nil else { return nil }
        return isRecorded ? "Nothing to undo." : noSteering
    }

    private var lastChange: SessionChange? { changes.last.flatMap { $0.rulesBefore >= rules.past.count ? $0 : nil } }

    var selectionWords: String {
        switch selection {
        case .exchanges(let ids) where !marks.isEmpty && ids == marks:
            LinearSentence.count(ids.count, "marked exchange")
                + (list.hiddenMarks > 0 ? " (\(list.hiddenMarks) hidden)" : "")
        case .exchanges(let ids) where ids.count > 1: "\(ids.count) exchanges"
        case .exchanges(let ids): ids.first.map { "exchange \($0)" } ?? "nothing"
        case .branch(let node): node.url.map { "all below \($0)" } ?? "all"
        case nil: "nothing"
        }
    }

    mutating func delete(_ argument: String?) throws -> [Effect] {
        let chosen = try argument.map { .exchanges(try ids($0)) } ?? selection
        return chosen.map { [.edit(.delete($0, list.query))] } ?? refuseSelection(.delete)
    }

    mutating func undo() -> [Effect] {
        guard let change = lastChange else { return rules.past.isEmpty ? refuse("Nothing to undo.") : undoRules() }
        return [.edit(.restore(change))]
    }

    mutating func comment(_ text: String) -> [Effect] {
        let (chosen, rest) = split(text)
        guard let chosen else { return refuseSelection(.comment) }
        guard rest.utf8.count <= ExchangeAnnotation.longestComment else {
            return refuse("A comment has at most \(ExchangeAnnotation.longestComment) bytes.")
        }
        return [.edit(.note(chosen, list.query, .comment(rest.isEmpty ? nil : rest)))]
    }

    mutating func colour(_ text: String) -> [Effect] {
        let (chosen, rest) = split(text)
        let name = rest.lowercased()
        let colour = ExchangeAnnotation.Colour(rawValue: name)
        guard colour != nil || name == "none" else {
            let names = ExchangeAnnotation.Colour.allCases.map(\.rawValue).joined(separator: ", ")
            return refuse("There is no colour '\(rest.prefix(40))'. There are: \(names), none.")
        }
        guard let chosen else { return refuseSelection(.colour) }
        return [.edit(.note(chosen, list.query, .colour(colour)))]
    }

    mutating func setRecording(_ word: String?) -> [Effect] {
        [.setRecording(word.map { $0 == "on" } ?? !(proxy.recording?.isOn ?? true))]
    }

    func saveSession(_ file: String) throws -> [Effect] {
        [.saveSession(path: try fileName(file, missing: "Enter a file name for the copy."), isForced: false)]
    }

    mutating func askToReplace(_ path: String) -> [Effect] {
        confirm("\(path) already exists.", "overwrite", key: "o") { _ in [.saveSession(path: path, isForced: true)] }
    }

    mutating func take(
        _ result: SessionEditResult,
        of request: EditRequest,
        _ numbers: ExchangeNumbers,
        undo: [SessionEdit]
    ) -> [Effect] {
        let (changed, many) = (result.changed, LinearSentence.count(result.changed, "exchange"))
        func are(_ number: Int) -> String { number == 1 ? "is" : "are" }
        switch request {
        case .delete:
            let kept = result.inFlight > 0 ? "\(result.inFlight) unfinished \(are(result.inFlight)) kept." : ""
            guard changed > 0, let mark = result.mark else { return tell(kept.isEmpty ? "Nothing to delete." : kept) }
            changes.append(SessionChange(undo: [.restore(mark: mark)], rulesBefore: rules.past.count))
            let back = "\(way(to: .undo)) brings \(changed == 1 ? "it" : "them") back."
            let stored = proxy.store == nil ? "" : " The store keeps what was sent."
            tell("\(many) deleted; \(back)\(kept.isEmpty ? "" : " \(kept)")\(stored)")
            list.sessionTotal = max(0, list.sessionTotal - changed)
            selectNext(without: numbers)
            marks.removeAll { numbers.contains($0.number) }
            if let id = detail.id, numbers.contains(id.number) {
                (isDetailFocused, detail.isOpen, detail.id, detail.text.document) = (false, false, nil, nil)
            }
        case .restore(let change):
            changes.removeAll { $0 == change }
            if case .restore? = change.undo.first {
                // Restored exchanges do not count as traffic.
                list.sessionTotal += changed
                proxy.counted += changed
            }
            tell("\(many) \(are(changed)) restored.")
        case .note(_, _, let note):
            switch note {
            case .comment(nil): tell("The comment of \(many) is removed.")
            case .comment: tell("\(many) commented.")
            case .colour(nil): tell("\(many) \(changed == 1 ? "has" : "have") no colour.")
            case .colour(let colour?): tell("\(many) \(are(changed)) \(colour.rawValue).")
            }
            if changed > 0, !undo.isEmpty { changes.append(SessionChange(undo: undo, rulesBefore: rules.past.count)) }
        }
        return askAgain() + (detail.isOpen ? loadDetail() : [])
    }

    mutating func askAgain() -> [Effect] { ask(list.query) }

    /// Selects the nearest remaining row below the cursor; if there is none, the list selects the nearest row above.
    private mutating func selectNext(without numbers: ExchangeNumbers) {
        guard let id = list.selectedID, numbers.contains(id.number) else { return }
        let below = (0..<max(0, list.selected)).reversed().compactMap { list.rows[$0]?.id }
        if let next = below.first(where: { !numbers.contains($0.number) }) { list.selectedID = next }
    }

    private mutating func refuseSelection(_ command: Command) -> [Effect] {
        refuse("\(command.rawValue) needs the number of an exchange.")
    }

    private func ids(_ text: String) throws -> [ExchangeID] {
        guard let numbers = ExchangeNumbers(text) else {
            throw ConsoleError("'\(text.prefix(40))' is not a list of exchanges; for example: 3 5-8")
        }
        let count = numbers.ranges.reduce(0) { $0 &+ $1.count }
        guard count <= 100_000 else {
            throw ConsoleError("\(count) exchanges are too many to name; set a filter, then clear.")
        }
        return numbers.ranges.flatMap { $0.map { ExchangeID($0) } }
    }

    /// In linear mode, exchange numbers may come first; on the screen, the command applies to the selection.
    private func split(_ text: String) -> (Selection?, rest: String) {
        guard isLinear else { return (selection, text) }
        var words = text.split(separator: " ", omittingEmptySubsequences: false)[...]
        var ranges: [ClosedRange<Int64>] = []
        while let word = words.first, let numbers = ExchangeNumbers(word) {
            ranges += numbers.ranges.map {
                $0.clamped(to: $0.lowerBound...$0.lowerBound.addingReportingOverflow(99_999).partialValue)
            }
            words = words.dropFirst()
        }
        let rest = words.joined(separator: " ")
        guard !ranges.isEmpty else { return (selection, rest) }
        return (.exchanges(ExchangeNumbers(ranges: ranges).ranges.flatMap { $0.map { ExchangeID($0) } }), rest)
    }
}
