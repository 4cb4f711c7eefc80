import HTTPModel
import Runner
import Terminal
import Tools

extension ConsoleModel {
    /// Copies something of the selected exchange, or of the one whose number follows.
    mutating func copy(_ word: String) -> [Effect] {
        let words = word.split(separator: " ", maxSplits: 1).map(String.init)
        guard let form = words.first.flatMap({ CopyForm(rawValue: $0.lowercased()) }) else {
            let all = CopyForm.allCases.map(\.rawValue).joined(separator: ", ")
            tell("'\(word.prefix(40))' cannot be copied. There are: \(all).", .error)
            return []
        }
        return selected(words.count > 1 ? words[1] : nil).map { [.copy(form, $0)] } ?? []
    }

    /// Saves a body; on lines, the number of the exchange may come before the file.
    mutating func saveBody(_ words: String) -> [Effect] {
        let parts = words.split(separator: " ", maxSplits: 1).map(String.init)
        let isNamed = isLinear && parts.count > 1 && parts[0].drop { $0 == "#" }.allSatisfy(\.isNumber)
        guard let path = fileName(isNamed ? parts[1] : words) else { return [] }
        return on(isNamed ? parts[0] : nil) { .saveBody($0, path: path) }
    }

    var suggestedFile: String { selectedRecord.map { SuggestedFile.name(for: $0) } ?? "" }

    /// A file's name, on lines one word as in a shell; `nil` where it was refused.
    mutating func fileName(_ text: String) -> String? {
        guard isLinear else { return text }
        do {
            let words = try HoldWords.words(text)
            if words.count == 1, !words[0].isEmpty { return words[0] }
            tell("A file's name is one word; one with spaces stands in quotes.", .error)
        } catch {
            tell("\(error)", .error)
        }
        return nil
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
            let line = LineEditor(name, isSuggestion: true)
            let title = "File for the \(form.title)"
            return ask(PromptState(command: .export, title: title, line: line, prefix: form.rawValue + " "))
        }
        guard let path = fileName(parts[1]) else { return [] }
        let ids = marks.isEmpty ? nil : marks
        return export(ExportRequest(form: form, path: path, ids: ids, query: list.query))
    }

    mutating func export(_ request: ExportRequest) -> [Effect] {
        jobs.append(Job(id: .export, title: "exporting", startedAt: now))
        return [.export(request)]
    }

    /// Asks whether to overwrite a file.
    mutating func askToOverwrite(_ request: ExportRequest) {
        jobs.removeAll { $0.id == .export }
        var forced = request
        forced.isForced = true
        overlays.append(
            .confirm(
                ConfirmState(
                    question: "\(request.path) is there already.",
                    choices: [("o", "overwrite it", .export(forced)), ("n", "leave it", nil)]
                )
            )
        )
    }

    /// Compares the selected exchange with the marked one or that of a number; on lines, the marked one with that of a
    /// number.
    mutating func compare(_ argument: String?) -> [Effect] {
        guard let named = selected(argument), let selected = selectedID else { return [] }
        let marked = marks.last { $0 != named }
        if isLinear, argument != nil, let marked {
            return [.compare(marked, named, width: max(20, size.width - 6))]
        }
        let current = selected
        guard let other = argument == nil ? marked : named, other != current else {
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
        let host = selectedHost ?? "the exchange's host"
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
