import Description
package import HTTPModel
import Tools

extension ConsoleModel {
    /// Performs a command, or reports why this is not possible. A missing argument may open a choice or a prompt.
    package mutating func perform(_ command: Command, _ argument: String?) -> [Effect] {
        guard let entry = CommandTable.entry(command) else { return [] }
        if let reason = entry.problem(self) { return refuse(reason) }
        if let mistake = argument.flatMap(entry.argument.mistake) { return refuse("\(mistake.capitalizedFirst).") }
        switch (entry.action, argument) {
        case (.plain(let action), nil): return attempt(action)
        case (.plain, let argument?):
            return refuse("\(command.rawValue) takes no argument, but got '\(argument.prefix(40))'.")
        case (.with(let action), _): return attempt { try action(&$0, argument) }
        case (.asking(let action), let argument?): return attempt { try action(&$0, argument) }
        case (.asking(let action), nil):
            if let choices = entry.argument.choices { return push(.picker(choices(self, command))) }
            // Linear mode does not prompt for a missing optional argument.
            if isLinear, entry.argument.isOptional { return attempt { try action(&$0, "") } }
            let line = LineEditor(entry.argument.known(self), isSuggestion: true)
            var prompt = PromptState(command: command, title: entry.argument.prompt, line: line)
            // The title names the target, because marked exchanges may not be visible.
            if command == .comment { prompt.title += " on \(selectionWords); empty removes it" }
            prompt.hint = hint(for: entry)
            return ask(prompt)
        }
    }

    /// Performs an action, and reports an error that the action throws as its rejection.
    mutating func attempt(_ action: (inout ConsoleModel) throws -> [Effect]) -> [Effect] {
        do {
            return try action(&self)
        } catch {
            return refuse("\(error)")
        }
    }

    package func whyNot(_ command: Command) -> String? { CommandTable.entry(command)?.problem(self) }

    mutating func refuse(_ reason: String, at column: Int? = nil) -> [Effect] {
        tell(reason, .error) { $0.column = column }
    }

    mutating func push(_ overlay: Overlay) -> [Effect] {
        overlays.append(overlay)
        return []
    }

    mutating func report(_ title: String, _ document: DetailDocument, topic: String? = nil) -> [Effect] {
        push(.report(ReportState(title: title, text: OpenText(document: document), topic: topic)))
    }

    mutating func report(_ title: String, _ lines: [String]) -> [Effect] {
        report(title, DetailDocument(lines: lines))
    }

    mutating func confirm(_ question: String, _ choices: [ConfirmState.Choice]) -> [Effect] {
        push(.confirm(ConfirmState(question: question, choices: choices, askedAt: now)))
    }

    /// Asks a question with two answers: one performs the action, and `n` cancels.
    mutating func confirm(
        _ question: String,
        _ title: String,
        key: Character = "y",
        takesCare: Bool = false,
        _ action: @escaping Message.Change
    ) -> [Effect] {
        confirm(question, [.init(key, title, takesCare: takesCare, action), .init("n", "cancel")])
    }

    @discardableResult
    mutating func replaceTop(by overlay: Overlay) -> [Effect] {
        overlays[overlays.count - 1] = overlay
        return []
    }

    var noExchange: String? { list.total == 0 && selectedID == nil ? nothingHere : nil }
    /// Why there is nothing to select: the tree is still loading, nothing was recorded, or nothing matches.
    var nothingHere: String {
        if isTreeInUse, list.sessionTotal > 0, structure.levels[.root] == nil {
            return "The tree is still loading; press the key again when it is shown."
        }
        return list.sessionTotal == 0 ? "No exchanges yet." : "No exchanges here."
    }
    var noRecord: String? { list.total == 0 || isTreeInUse || isTimelineInUse ? noSelection : nil }
    var noBranch: String? {
        if isTimelineInUse, selectedStatisticsHost == nil { return "Select a host in the table below first." }
        return isTreeInUse && structure.selectedRow == nil ? nothingHere : nil
    }
    var noMark: String? { selectedBranch == nil ? noRecord : nil }
    var noMarks: String? {
        marks.isEmpty && list.query.only == nil ? "Nothing is marked; \(way(to: .mark)) marks." : nil
    }
    var noIgnored: String? {
        list.query.ignoredHosts.isEmpty ? "No host is ignored; \(way(to: .ignoreHost)) ignores the selected one." : nil
    }
    var noPage: String? { detail.isOpen ? nil : noSelection }
    var noDetail: String? { detail.isOpen ? nil : "Nothing is open; \(way(to: .open)) opens the selected exchange." }
    var noList: String? { list.total == 0 ? "No exchanges here." : nil }
    var noRows: String? { isTreeInUse || isTimelineInUse ? noSequence : nil }
    var noJump: String? { noRows ?? noList }
    var noNews: String? { noSequence ?? (isLive ? noList : "Not available: viewing a recording.") }
    var noCopy: String? { isInReport || !marks.isEmpty ? nil : noRecord }
    var noJob: String? { jobs.isEmpty ? "No job is running." : nil }
    var noDraft: String? { draft == nil ? "There is no draft; rule TOOL or compose makes one." : nil }
    /// In linear mode, a draft can be edited too.
    var noEdit: String? { isLinear && draft != nil ? nil : noDecision }
    var noHold: String? { noProxy ?? (proxy.holds.isEmpty ? "No message is held." : nil) }
    var noDecision: String? { noSteering ?? noHold }

    var noText: String? { isInReport ? nil : noDetail }

    /// Why there is no next or previous exchange; `nil` if there may be one.
    var noStep: String? { noSequence ?? (isLinear ? noExchange : noDetail) }

    var noSequence: String? {
        guard view != .sequence else { return nil }
        let times = view == .structure && !isLinear ? ", pressed twice," : ""
        return "Only in the sequence; \(way(to: .switchView))\(times) shows it."
    }

    /// In linear mode, the argument may be the rule itself, so no exchange has to be selected.
    var noOrigin: String? { noSteering ?? (ruleOrigin == nil && !isLinear ? nothingHere : nil) }

    /// On the screen, a list that is still being filled may soon have something to open.
    var nothingToOpen: String? { isLinear || list.progress == nil ? noExchange : nil }

    var noSelection: String? {
        guard selectedID == nil else { return nil }
        if isTimelineInUse, list.total > 0 {
            return "No exchange is selected; \(way(to: .open)) shows the exchanges of this time or host."
        }
        guard isTreeInUse, structure.selectedRow != nil else { return nothingHere }
        return "This is a branch, not an exchange; \(way(to: .open)) opens it."
    }

    var noProxy: String? {
        if case .recorded = source { return "Not available: viewing a recording." }
        return proxy.problem
    }

    var noSteering: String? { noProxy ?? (canSteer ? nil : "Not available: attached with --view.") }

    mutating func ask(_ prompt: PromptState) -> [Effect] {
        guard isLinear else { return push(.prompt(prompt)) }
        let argument = CommandTable.entry(prompt.command)?.argument.name ?? ""
        return refuse("\(prompt.command.rawValue) needs \(argument): \(prompt.title)")
    }

    mutating func on(_ argument: String?, _ effect: (ExchangeID) -> Effect) -> [Effect] {
        selected(argument).map { [effect($0)] } ?? []
    }

    var refusedRecord: ExchangeRecord? {
        selectedRecord.flatMap { $0.kind == .failedHandshake || $0.flags.contains(.certificateRefused) ? $0 : nil }
    }

    mutating func selected(_ argument: String?) -> ExchangeID? { argument.map { number($0) } ?? selectedID }

    /// Whether commands apply to the selected row of the structure; in linear mode, they always apply to the list.
    var isTreeInUse: Bool { view == .structure && !isLinear && !(isDetailFocused && detail.isOpen) }

    /// The open exchange if the detail has the focus, or the selected one, or a leaf's newest; `nil` for a branch.
    package var selectedID: ExchangeID? {
        if isDetailFocused, detail.isOpen { return detail.id }
        if isTimelineInUse { return nil }
        if isTreeInUse { return structure.selectedRow?.id }
        // While the list is being filled, the selected exchange may still appear in it.
        if list.total == 0, list.progress == nil, !isLinear || list.sessionTotal == 0 { return nil }
        // In linear mode, the user would not see that a different exchange has moved into the row.
        return isLinear ? list.selectedID ?? list.selectedRecord?.id : list.selectedRecord?.id ?? list.selectedID
    }

    var selectedRecord: ExchangeRecord? {
        guard let id = selectedID else { return nil }
        return list.selectedRecord?.id == id ? list.selectedRecord : known(id)
    }

    func known(_ id: ExchangeID) -> ExchangeRecord? {
        list.rows.values.first { $0.id == id }
            ?? structure.exchanges.values.lazy.flatMap(\.self).first { $0.id == id }
    }

    private var selectedURL: RequestURL? { isTreeInUse ? structure.selectedRow?.child.node.url : selectedRecord?.url }

    var selectedHost: String? { isTimelineInUse ? selectedStatisticsHost : selectedURL?.host }
    var selectedAuthority: String? { isTimelineInUse ? selectedStatisticsHost : selectedURL?.authority }
    var selectedBranch: StructureNode? {
        guard isTreeInUse, let row = structure.selectedRow, row.id == nil else { return nil }
        return row.child.node
    }

    /// The source of a new rule: the selected exchange, or everything at and below the selected branch.
    var ruleOrigin: RuleOrigin? {
        if let id = selectedID { return .exchange(id) }
        return isTreeInUse ? structure.selectedRow.map { .place($0.child.node) } : nil
    }
}
