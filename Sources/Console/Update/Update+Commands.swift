package import HTTPModel
import Runner
import Tools

extension ConsoleModel {
    /// Does what a command says, or tells why it cannot be done.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - argument: what follows its word; `nil` where it was given by a key, so that a choice or a line may be opened.
    /// - Returns: what is to be done outside of the model.
    package mutating func perform(_ command: Command, _ argument: String?) -> [Effect] {
        if let reason = whyNot(command) {
            tell(reason, .error)
            return []
        }
        switch command {
        case .up: return move(by: -1)
        case .down: return move(by: 1)
        case .pageUp: return movePage(-1)
        case .pageDown: return movePage(1)
        case .top: return moveToEdge(first: true)
        case .bottom: return moveToEdge(first: false)
        case .left: return moveSideways(-1)
        case .right: return moveSideways(1)
        case .open: return open(argument)
        case .back: return goBack()
        case .follow: return toggleFollow()
        case .switchView: return switchView(argument)
        case .goTo: return withArgument(command, argument, "Number of the exchange") { $0.go(to: $1) }
        case .filter: return openFilter(argument)
        case .clearFilter: return clearFilter()
        case .searchBodies: return withArgument(command, argument, "Text in bodies") { $0.search($1) }
        case .findInDetail: return withArgument(command, argument, "Text to find here") { $0.find($1) }
        case .findNext: return findAgain()
        case .nextPage: return turnPage(1)
        case .previousPage: return turnPage(-1)
        case .page: return withArgument(command, argument, "Page") { $0.turn(to: $1) }
        case .bodyForm: return setBodyForm(argument)
        case .stand: return setStand(argument)
        case .fold: return toggleFold()
        case .sort: return argument.map { sort($0) } ?? pick(.sort)
        case .columns:
            return withArgument(command, argument, "Columns, for example: id method path status") {
                $0.setColumns($1)
            }
        case .focusHost: return focusHost(argument)
        case .highlight:
            return withArgument(command, argument, "Filter of what is to be coloured; empty for none") {
                $0.setHighlight($1)
            }
        case .mark: return mark(argument)
        case .compare: return compare(argument)
        case .jumpKind: return argument.map { chooseJump($0) } ?? pick(.jump)
        case .next: return jump(forward: true)
        case .previous: return jump(forward: false)
        case .why: return selected(argument).map { [.why($0)] } ?? []
        case .cancel: return cancelJobs()
        case .toggleTool: return argument.map { toggleTool($0) } ?? pick(.tool(.toggleTool))
        case .panel: return argument.map { openPanel($0) } ?? pick(.tool(.panel))
        case .ruleFromExchange: return argument.map { draftRule($0) } ?? pick(.tool(.ruleFromExchange))
        case .preset: return argument.map { setPreset($0) } ?? pick(.preset)
        case .saveProfile: return saveProfile(argument)
        case .undo: return undoRules()
        case .decrypt: return decrypt(argument)
        case .holds: return openHolds()
        case .editHold: return editHold(argument)
        case .execute: return decide(.execute, argument)
        case .executeAll: return decide(.execute, "all")
        case .cancelHold: return decide(.cancel, argument)
        case .abort: return decide(.abort, argument)
        case .copy: return argument.map { copy($0) } ?? pick(.copy)
        case .copyCurl: return selected(argument).map { [.copy(.curl, $0)] } ?? []
        case .saveBody:
            return withArgument(command, argument, "File for the body") { model, path in
                model.selectedID.map { [.saveBody($0, path: path)] } ?? []
            }
        case .export: return argument.map { export($0) } ?? pick(.export)
        case .repeatRequest: return selected(argument).map { [.send(draft: "", $0)] } ?? []
        case .compose: return selected(argument).map { [.openRequest($0)] } ?? []
        case .repeatAdvanced:
            return withArgument(command, argument, "How often x how many at once, delay: for example 100 x 10, 50ms") {
                $0.repeatMany($1)
            }
        case .trust: return [.trust(proxy: proxy.address, look)]
        case .theme: return setTheme(argument)
        case .palette: return pick(.palette)
        case .help: return openHelp()
        case .messages: return openMessages()
        case .redraw: return [.redraw]
        case .suspend: return [.suspend]
        case .quit: return quit()
        }
    }

    /// Why a command cannot be done now; `nil` where it can.
    package func whyNot(_ command: Command) -> String? {
        switch command {
        case .open: return list.total == 0 && selectedID == nil ? "There is no exchange yet." : nil
        case .mark, .why, .copy, .copyCurl, .saveBody, .compare:
            return list.total == 0 || isTreeInUse ? exchangeProblem : nil
        case .repeatRequest, .compose, .repeatAdvanced:
            if case .recorded = source { return "Requests are sent through a running proxy; this is a recording." }
            return steeringProblem ?? exchangeProblem
        case .ruleFromExchange: return steeringProblem ?? (ruleOrigin == nil ? "There is no exchange yet." : nil)
        case .focusHost where isTreeInUse: return structure.selectedRow == nil ? "There is no exchange yet." : nil
        case .goTo where view == .structure, .follow where view == .structure,
            .jumpKind where isTreeInUse, .next where isTreeInUse, .previous where isTreeInUse:
            return "Rows stand in the sequence; \(way(to: .switchView)) shows it."
        case .page: return detail.isOpen ? nil : exchangeProblem
        case .toggleTool, .preset, .saveProfile, .undo, .decrypt: return steeringProblem
        case .panel: return lookingProblem
        case .holds: return lookingProblem ?? (proxy.holds.isEmpty ? "No message waits." : nil)
        case .editHold, .execute, .executeAll, .cancelHold, .abort:
            return steeringProblem ?? (proxy.holds.isEmpty ? "No message waits." : nil)
        case .follow where !isLive: return "This is a recording: nothing new comes."
        case .follow, .next, .previous, .sort, .export: return list.total == 0 ? "There is no exchange here." : nil
        case .findInDetail, .findNext:
            if case .report? = overlays.last { return nil }
            return detail.isOpen ? nil : "Nothing is open; \(way(to: .open)) opens the selected exchange."
        case .bodyForm, .stand, .fold, .nextPage, .previousPage:
            return detail.isOpen ? nil : "Nothing is open; \(way(to: .open)) opens the selected exchange."
        case .cancel: return jobs.isEmpty ? "Nothing runs that could be stopped." : nil
        default: return nil
        }
    }

    /// Why there is no exchange that a command could be about; `nil` where there is one.
    private var exchangeProblem: String? {
        guard selectedID == nil else { return nil }
        guard isTreeInUse, structure.selectedRow != nil else { return "There is no exchange yet." }
        return "A branch is no exchange; \(way(to: .open)) opens it, a leaf means its newest one."
    }

    /// Why the proxy cannot be asked anything; `nil` where it can.
    private var lookingProblem: String? {
        if case .recorded = source { return "This is a recording: there is no proxy to steer." }
        return proxy.problem
    }

    /// Why nothing can be changed at the proxy; `nil` where it can.
    private var steeringProblem: String? {
        lookingProblem ?? (canSteer ? nil : "Attached with --view: looking only.")
    }

    /// Does something with an argument, or asks for it.
    private mutating func withArgument(
        _ command: Command,
        _ argument: String?,
        _ title: String,
        _ body: (inout ConsoleModel, String) -> [Effect]
    ) -> [Effect] {
        if let argument { return body(&self, argument) }
        let known =
            switch command {
            case .findInDetail: detail.sought
            case .searchBodies: list.query.bodyText ?? ""
            case .columns: list.columns.map(\.rawValue).joined(separator: " ")
            case .repeatAdvanced: "10 x 2"
            case .saveBody: selectedRecord.map { SuggestedFile.name(for: $0) } ?? ""
            default: ""
            }
        let line = LineEditor(known, isSuggestion: true)
        overlays.append(.prompt(PromptState(command: command, title: title, line: line)))
        return []
    }

    /// Has a host decrypted again: the one that is named, or that of the selected tunnel.
    private mutating func decrypt(_ host: String?) -> [Effect] {
        if let host { return [.decrypt(host)] }
        guard let record = refusedRecord else {
            tell("Select a tunnel whose client refused the certificate, or name the host: decrypt HOST.", .error)
            return []
        }
        return [.decrypt(record.url.authority)]
    }

    /// The selected exchange, where its client refused our certificate.
    var refusedRecord: ExchangeRecord? {
        selectedRecord.flatMap {
            $0.kind == .failedHandshake || $0.flags.contains(.certificateRefused) ? $0 : nil
        }
    }

    /// The selected exchange, or the one of that number; told where it is none.
    mutating func selected(_ argument: String?) -> ExchangeID? {
        argument.map { number($0) } ?? selectedID
    }

    /// Whether commands are about what is selected in the structure.
    ///
    /// On lines it is only written, and the list stays what commands are about.
    var isTreeInUse: Bool { view == .structure && !isLinear && !(isDetailFocused && detail.isOpen) }

    /// The exchange that commands are about: the open one where the detail has the keys, else the selected one, which
    /// of a leaf of the structure is the newest; `nil` for a branch.
    package var selectedID: ExchangeID? {
        if isDetailFocused, detail.isOpen { return detail.id }
        if isTreeInUse { return structure.selectedRow.flatMap { $0.child.isLeaf ? $0.child.newest : nil } }
        // Without a screen nobody sees a row take another one's place.
        return isLinear ? list.selectedID ?? list.selectedRecord?.id : list.selectedRecord?.id ?? list.selectedID
    }

    /// The record of that exchange, where its row is known.
    var selectedRecord: ExchangeRecord? {
        let id = selectedID
        return list.selectedRecord?.id == id ? list.selectedRecord : list.rows.values.first { $0.id == id }
    }

    /// The host that commands are about, where it is known.
    var selectedHost: String? {
        isTreeInUse ? structure.selectedRow?.child.node.url?.host : selectedRecord?.url.host
    }

    /// What a rule is made from: the selected exchange, or all below the selected branch.
    var ruleOrigin: RuleOrigin? {
        if let id = selectedID { return .exchange(id) }
        return isTreeInUse ? structure.selectedRow.map { .place($0.child.node) } : nil
    }
}
