import HTTPModel
import Runner
import Terminal
import Tools

extension ConsoleModel {
    /// Reads what gRPC messages mean, and shows the open exchange anew.
    mutating func loadDescriptor(_ words: String) -> [Effect] {
        guard let path = fileName(words) else { return [] }
        return [.loadDescriptor(path: path)] + loadDetail()
    }

    /// Saves a body; on lines, the number of the exchange may come before the file.
    mutating func saveBody(_ words: String) -> [Effect] {
        let (first, rest) = words.firstWord
        let file = isLinear && first.drop { $0 == "#" }.allSatisfy(\.isNumber) ? rest : nil
        guard let path = fileName(file ?? words) else { return [] }
        return on(file == nil ? nil : first) { .saveBody($0, path: path) }
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
        let (word, file) = words.firstWord
        guard let form = ExportRequest.Form(rawValue: word.lowercased()) else { return [] }
        guard let file else {
            let line = LineEditor("sluice.\(form == .curl ? "sh" : form.rawValue)", isSuggestion: true)
            let title = "File for the \(form.title)"
            return ask(PromptState(command: .export, title: title, line: line, prefix: form.rawValue + " "))
        }
        guard let path = fileName(file) else { return [] }
        return export(ExportRequest(form: form, path: path, ids: marks.isEmpty ? nil : marks, query: list.query))
    }

    mutating func export(_ request: ExportRequest) -> [Effect] {
        start(Job(id: .export, title: "exporting", startedAt: now))
        return [.export(request)]
    }

    mutating func askToOverwrite(_ request: ExportRequest) -> [Effect] {
        end(.export)
        var forced = request
        forced.isForced = true
        let choices: [ConfirmState.Choice] = [("o", "overwrite it", .export(forced)), ("n", "leave it", nil)]
        return confirm("\(request.path) is there already.", choices)
    }

    /// Compares the selected exchange with the marked one or that of a number; on lines, the marked one with that of a
    /// number.
    mutating func compare(_ argument: String?) -> [Effect] {
        guard let named = selected(argument), let current = selectedID else { return [] }
        let width = max(20, size.width - 6)
        let marked = marks.last { $0 != named }
        if isLinear, argument != nil, let marked { return [.compare(marked, named, width: width)] }
        guard let other = argument == nil ? marked : named, other != current else {
            return refuse("Mark the exchange to compare with first: \(way(to: .mark)) marks it.")
        }
        return [.compare(other, current, width: width)]
    }

    /// Sends a request many times; the words are a plan, `100 x 10, 50ms`.
    mutating func repeatMany(_ words: String) -> [Effect] {
        guard let id = selectedID else { return [] }
        do {
            let plan = try RepeatPlan(words)
            let host = selectedHost ?? "the exchange's host"
            guard plan.needsConfirmation(forHost: host) else { return repeatMany(plan, of: id) }
            return confirm(
                "Send \(plan.times) requests to \(host), which is not this machine?",
                [("y", "send them", .repeating(id, plan)), ("n", "do not", nil)]
            )
        } catch {
            return refuse("\(error)")
        }
    }

    mutating func repeatMany(_ plan: RepeatPlan, of id: ExchangeID) -> [Effect] {
        start(Job(id: .repeating, title: "sending \(plan.times) requests", progress: 0, startedAt: now))
        return [.repeating(id, plan)]
    }
}
