import HTTPModel
import Runner
import Terminal

/// Copying, exporting, comparing, sending again.
extension ConsoleModel {
    mutating func copy(_ word: String) -> [Effect] {
        guard let form = CopyForm(rawValue: word.lowercased()) else {
            let all = CopyForm.allCases.map(\.rawValue).joined(separator: ", ")
            tell("'\(word.prefix(40))' cannot be copied. There are: \(all).", .error)
            return []
        }
        return selectedID.map { [.copy(form, $0)] } ?? []
    }

    /// Exports; the words are a form and a file.
    mutating func export(_ words: String) -> [Effect] {
        let parts = words.split(separator: " ", maxSplits: 1).map(String.init)
        guard let form = parts.first.flatMap({ ExportRequest.Form(rawValue: $0.lowercased()) }) else {
            let all = ExportRequest.Form.allCases.map(\.rawValue).joined(separator: ", ")
            tell("There is no form '\(words.prefix(40))'. There are: \(all).", .error)
            return []
        }
        guard parts.count > 1 else {
            let name = "sluice.\(form == .curl ? "sh" : form.rawValue)"
            let line = LineEditor("\(form.rawValue) \(name)")
            overlays.append(.prompt(PromptState(command: .export, title: "Form and file", line: line)))
            return []
        }
        jobs.append(Job(id: .export, title: "exporting", startedAt: now))
        let ids = marks.isEmpty ? nil : marks
        return [.export(ExportRequest(form: form, path: parts[1], ids: ids, query: list.query))]
    }

    /// Compares the selected exchange with the marked one, or with the one of that number.
    mutating func compare(_ argument: String?) -> [Effect] {
        guard let current = selectedID else { return [] }
        let other = argument.flatMap { Int64($0.drop { $0 == "#" }) }.map { ExchangeID($0) }
        guard let other = other ?? marks.last(where: { $0 != current }) else {
            tell("Mark the exchange to compare with first: \(way(to: .mark)) marks it.", .error)
            return []
        }
        return [.compare(other, current, width: max(20, size.width - 6))]
    }

    /// Sends a request many times; the words are a plan, `100 x 10, 50ms`.
    mutating func repeatMany(_ words: String) -> [Effect] {
        guard let id = selectedID else { return [] }
        let plan: RepeatPlan
        do {
            plan = try RepeatPlan(words)
        } catch {
            tell("\(error)", .error)
            return []
        }
        let host = list.selectedRecord?.url.host ?? ""
        guard plan.needsConfirmation(forHost: host) else { return repeatMany(plan, of: id) }
        overlays.append(
            .confirm(
                ConfirmState(
                    question: "Send \(plan.times) requests to \(host), which is not this machine?",
                    choices: [("y", "send them", .repeating(id, plan)), ("n", "do not", nil)]
                )
            )
        )
        return []
    }

    mutating func repeatMany(_ plan: RepeatPlan, of id: ExchangeID) -> [Effect] {
        jobs.removeAll { $0.id == .repeating }
        jobs.append(Job(id: .repeating, title: "sending \(plan.times) requests", progress: 0, startedAt: now))
        return [.repeating(id, plan)]
    }
}
