import Clients
import Description
package import HTTPModel
package import Jobs
import Terminal
import Tools

extension CommandTable {
    static let share = [
        Row(.copy, "Copy the selection", ["c"], .copyForm).asking { $0.copy($1) }.at([.list, .detail, .report])
            .short("copy").unless(\.noCopy),
        Row(.copyCurl, "Copy as cURL", ["C"], .id).with { $0.copy($1.map { "curl \($0)" } ?? "curl") }.unless(\.noCopy),
        Row(.copyMasked, "Repeat the last copy, secrets masked", ["Q"]).plain { $0.copyMasked() }
            .at([.list, .detail, .report]).unless(\.noCopied),
        Row(.decode, "Decode values: base64, dates", ["^"]).plain { $0.toggleDecoding() }.at([.detail]).says(.detail)
            .unless(\.noDetail),
        Row(.descriptor, "Load gRPC field names from a descriptor file", [], .descriptorFile)
            .asking { try $0.loadDescriptor($1) },
        Row(.saveBody, "Save a body to a file", ["ctrl-o"], .bodyFile).asking { try $0.saveBody($1) }
            .unless(\.noRecord),
        Row(.openBody, "Open the body in a pager or viewer", ["|"], .id).with { $0.openBody($1) }.unless(\.noRecord),
        Row(.export, "Export the selected, the marked or all shown", ["E"], .export).asking { try $0.export($1) }
            .unless(\.noList),
    ]
}

enum ExportScope: String, CaseIterable {
    case selected, marked, shown
}

package struct ExportRequest: Sendable, Hashable {
    package var format: ExportFormat
    package var path: String
    /// `nil` for the exchanges that match the query.
    package var ids: [ExchangeID]?
    package var query: ListQuery
    package var isForced = false
    package var keepsSecrets = false
}

extension ConsoleModel {
    mutating func loadDescriptor(_ words: String) throws -> [Effect] {
        [.loadDescriptor(path: try fileName(words))] + loadDetail()
    }

    /// Saves a body; in linear mode, the number of the exchange may come before the file name.
    mutating func saveBody(_ words: String) throws -> [Effect] {
        let (first, rest) = words.firstWord
        let file = isLinear && first.drop { $0 == "#" }.allSatisfy(\.isNumber) ? rest : nil
        let path = try fileName(file ?? words)
        return on(file == nil ? nil : first) { .saveBody($0, path: path) }
    }

    /// Opens a body in a different program: the body of the open page, or the response's, or the request's.
    mutating func openBody(_ argument: String?) -> [Effect] {
        let page = detail.isOpen && isDetailFocused && argument == nil ? detail.options.page : .overview
        guard let id = selected(argument) else { return [] }
        let record = list.rows.values.first { $0.id == id }
        let isRequest = page == .request || page != .response && record?.hasResponseToSave == false
        let isChanged = record?.flags.contains(isRequest ? .requestBodyChanged : .responseBodyChanged) ?? false
        guard isChanged, detail.options.version == .sent else {
            return [.openBody(id, isRequest ? .requestReceived : .responseReceived)]
        }
        return [.openBody(id, isRequest ? .requestSent : .responseSent)]
    }

    var suggestedFile: String { selectedRecord.map { SuggestedFile.name(for: $0) } ?? "" }

    /// A file name; in linear mode, one shell word. Throws ``ConsoleError``, with `missing` if the name is empty.
    func fileName(_ text: String, missing: String? = nil) throws -> String {
        let words = isLinear ? try HoldWords.words(text) : [text]
        guard words.count == 1, !isLinear || !words[0].isEmpty else {
            throw ConsoleError("A file name is one word; quote a name with spaces.")
        }
        if let missing, words[0].isEmpty { throw ConsoleError(missing) }
        return words[0]
    }

    var exportChoices: [PickerState.Item] {
        var scopes: [(ExportScope, String)] = []
        if !marks.isEmpty { scopes.append((.marked, "the \(marks.count) marked")) }
        if let id = selectedID { scopes.append((.selected, "the selected exchange, \(id)")) }
        if let branch = selectedBranch, let row = structure.selectedRow {
            scopes.append((.selected, "the \(row.child.count) of \(branch.url.map { "\($0)" } ?? row.child.name)"))
        }
        scopes.append((.shown, "all \(list.total) shown"))
        return scopes.flatMap { scope, words in
            ExportFormat.allCases.map { .init("\($0.rawValue) \(scope.rawValue)", "\($0.title): \(words)") }
        }
    }

    /// Exports to a file; the words are a format, an optional scope (by default marked, or all shown), and the file.
    mutating func export(_ words: String) throws -> [Effect] {
        let (word, others) = words.firstWord
        guard let format = ExportFormat(rawValue: word.lowercased()) else { return [] }
        var (file, scope) = (others, ExportScope?.none)
        if let (first, rest) = others?.firstWord, let named = ExportScope(rawValue: first == "all" ? "shown" : first) {
            // In linear mode, a single word is the file name, even if it is the name of a scope.
            if rest != nil || !isLinear { (scope, file) = (named, rest) }
        }
        let keepsSecrets = file.map { $0.firstWord.word == "secrets" && $0.firstWord.rest != nil } ?? false
        if keepsSecrets { file = file?.firstWord.rest }
        guard let file else {
            let line = LineEditor("sluice.\(format.fileExtension)", isSuggestion: true)
            let title = "File for the \(format.title), masked; type 'secrets FILE' to include secrets"
            let prefix = [format.rawValue, scope?.rawValue].compactMap(\.self).joined(separator: " ") + " "
            return ask(PromptState(command: .export, title: title, line: line, prefix: prefix))
        }
        let path = try fileName(file)
        var request = ExportRequest(format: format, path: path, ids: nil, query: list.query, keepsSecrets: keepsSecrets)
        switch scope ?? (marks.isEmpty ? .shown : .marked) {
        case .shown: break
        case .marked:
            guard !marks.isEmpty else { return refuse("Nothing is marked; \(way(to: .mark)) marks.") }
            request.ids = marks
        case .selected:
            if let branch = selectedBranch {
                request.query = list.query.below(branch)
            } else {
                guard let id = selectedID else { return refuse(nothingHere) }
                request.ids = [id]
            }
        }
        return export(request)
    }

    mutating func export(_ request: ExportRequest) -> [Effect] {
        start(Job(id: .export, title: "exporting", startedAt: now))
        return [.export(request)]
    }

    mutating func askToOverwrite(_ request: ExportRequest) -> [Effect] {
        end(.export)
        var forced = request
        forced.isForced = true
        return confirm("\(request.path) already exists.", "overwrite", key: "o") { [forced] in $0.export(forced) }
    }

    /// Compares two numbers, or the selected exchange with a number or a mark; in linear mode, a number with a mark.
    mutating func compare(_ argument: String?) -> [Effect] {
        let width = max(20, size.width - 6)
        let words = argument?.split { $0 == " " || $0 == "," }.map(String.init) ?? []
        guard words.count < 2 else { return compare(words, width: width) }
        guard let named = selected(words.first), let current = selectedID else { return [] }
        let marked = marks.last { $0 != named }
        if isLinear, argument != nil, let marked { return [.compare(marked, named, width: width)] }
        guard let other = argument == nil ? marked : named, other != current else {
            let both = isLinear ? " Or name two: compare 1 2" : ""
            return refuse("Mark the exchange to compare with first: \(way(to: .mark)) marks it.\(both)")
        }
        return [.compare(other, current, width: width)]
    }

    private mutating func compare(_ words: [String], width: Int) -> [Effect] {
        guard words.count == 2 else { return refuse("compare takes one number or two, for example: compare 1 2") }
        guard let first = number(words[0]), let second = number(words[1]) else { return [] }
        guard first != second else { return refuse("\(first) cannot be compared with itself: name two.") }
        return [.compare(first, second, width: width)]
    }

    mutating func repeatMany(_ words: String) throws -> [Effect] {
        guard let id = selectedID else { return [] }
        let plan = try RepeatPlan(words)
        let host = selectedHost ?? "the exchange's host"
        guard plan.needsConfirmation(forHost: host) else { return repeatMany(plan, of: id) }
        let question = "Send \(plan.times) requests to \(host), which is not this machine?"
        return confirm(question, "send them", takesCare: true) { $0.repeatMany(plan, of: id) }
    }

    mutating func repeatMany(_ plan: RepeatPlan, of id: ExchangeID) -> [Effect] {
        start(Job(id: .repeating, title: "sending \(plan.times) requests", progress: 0, startedAt: now))
        return [.repeating(id, plan)]
    }
}
