import Description
import Guide
import HTTPModel
import Rules
import Terminal
import Tools

extension CommandTable {
    static let console = [
        Row(.palette, "All commands", [":", "ctrl-p"]).plain { $0.push(.picker($0.palette)) }.short("commands")
            .onScreen,
        Row(.help, "Help for this screen", ["?", "f1"], "[WORD]").with { $0.openHelp($1) }.at(Set(Context.allCases))
            .short("help"),
        Row(.guide, "Read the guide", [], .topic).with { $0.openGuide($1) }.at(Set(Context.allCases)),
        Row(.trust, "Set up a client: proxy and certificate", ["!"]).plain { $0.openTrust() },
        Row(.messages, "Messages of Sluice", ["@"]).plain { $0.openMessages() },
        Row(.status, "State of the proxy and of the list").plain { $0.openStatus() }.onLines,
        Row(.quiet, "Do not report new exchanges").plain { $0.tellExchanges(false) }.onLines,
        Row(.verbose, "Report each exchange when it ends").plain { $0.tellExchanges(true) }.onLines,
        Row(.theme, "Choose the theme", [], .theme).asking { $0.setTheme($1) }.onScreen,
        Row(.openSession, "Open another session", ["Y"], .session).asking { $0.openSession($1) },
        Row(.backToLive, "Back from the opened session").plain { _ in [.backToLive] }.unless(\.noHome),
        Row(.mouse, "Turn the mouse on or off", [], .onOff).with { $0.setMouse($1) }.onScreen,
        Row(.resetView, "Reset columns, order, theme, focus, highlights").plain { $0.resetView() }
            .asks("Reset columns, order, theme, focus, highlights and all other settings of the view?").onScreen,
        Row(.redraw, "Redraw the screen", ["ctrl-l"]).plain { _ in [.terminal(.redraw)] }.at(Set(Context.allCases))
            .onScreen,
        Row(.suspend, "Suspend Sluice with its proxy", ["ctrl-z"]).plain { _ in [.terminal(.suspend)] }
            .at(Set(Context.allCases)).onScreen,
        Row(.quit, "Quit", ["q", "ctrl-c"]).plain { $0.quit() }.at([.list]).short("quit"),
    ]
}

extension ConsoleModel {
    mutating func setTheme(_ word: String) -> [Effect] {
        guard let theme = Theme(rawValue: word.lowercased()) else { return [] }
        look.theme = theme
        isThemeChosen = true
        return [.terminal(.redraw)]
    }

    func openTrust() -> [Effect] { [.trust(FirstSteps(self), width: reportWidth)] }

    mutating func openMessages() -> [Effect] {
        let lines = notices.reversed().filter { !$0.isAboutKey }.map { notice in
            let time = Span("\(Timestamp.timeOfDay(notice.at))  ", .faint)
            return DetailLine([time, Span(notice.text, notice.kind == .error ? .failure : .text)])
        }
        let none = [DetailLine([Span("Nothing so far.", .faint)])]
        return report("Messages, the newest first", DetailDocument(lines: lines.isEmpty ? none : lines))
    }

    /// Whether quitting loses changed rules; a proxy in a different process keeps its rules.
    var losesRules: Bool {
        guard case .live = source else { return false }
        return proxy.problem == nil && rules.isUnsaved
    }

    mutating func quit() -> [Effect] {
        // In an opened session, quitting returns to the live session.
        if home != nil { return [.backToLive] }
        var losses = losesRules ? ["you have unsaved rule changes"] : []
        if case .live = source, !proxy.holds.isEmpty {
            losses.append(proxy.holds.count == 1 ? "a message is held" : "\(proxy.holds.count) messages are held")
        }
        guard !losses.isEmpty else { return [.terminal(.quit)] }
        let save = ConfirmState.Choice("s", "save the rules and quit") {
            // The console ends only after the files are written, so that nothing is lost if writing fails.
            $0.rules.endsWhenSaved = true
            return [.saveRules(isForced: false)]
        }
        let quit = ConfirmState.Choice("y", "quit anyway") { _ in [.terminal(.quit)] }
        let words = "\(losses.joined(separator: ", and ").capitalizedFirst)."
        let choices = (losesRules ? [save] : []) + [quit, .init("n", "stay")]
        return push(.confirm(ConfirmState(question: words, choices: choices, askedAt: now, isAboutQuitting: true)))
    }

    /// Opens help for the current context, or for a page or command; within help, opens the guide.
    mutating func openHelp(_ word: String?) -> [Effect] {
        if isLinear { return openLineHelp(word) }
        if word == nil, case .report(let report) = overlays.last, report.isHelp { return openGuide(report.topic) }
        let pages = HelpDocument.pages(self, for: context)
        guard let word = word?.lowercased() else { return openHelp(pages, 0) }
        let named = Command(rawValue: word).flatMap { CommandTable.entry($0) }?.group
        // Commands that send requests are on the page of sharing.
        let group = (named == .send || word == CommandEntry.Group.send.word ? .share : named)?.word
        if let page = pages.firstIndex(where: { $0.word == word || $0.word == group }) { return openHelp(pages, page) }
        return refuse("Help has no page '\(word.prefix(40))'; it has \(pages.map(\.word).joined(separator: ", ")).")
    }

    private mutating func openHelp(_ pages: [HelpPage], _ page: Int) -> [Effect] {
        let text = OpenText(document: HelpDocument.document(pages, shown: page))
        return push(.report(ReportState(title: "Help", text: text, pages: pages, page: page, topic: guideTopic)))
    }

    /// Turns the page of help; `nil` for keys that do not turn the page.
    mutating func turn(_ report: ReportState, by key: Key) -> [Effect]? {
        let count = report.pages.count
        guard count > 0 else { return nil }
        let page: Int
        switch (key.code, key.modifiers) {
        case (.tab, []), (.right, []), (.character("l"), []), (.character(">"), []): page = (report.page + 1) % count
        case (.tab, .shift), (.left, []), (.character("h"), []), (.character("<"), []):
            page = (report.page + count - 1) % count
        case (.character(let digit), []):
            guard let number = digit.wholeNumberValue, number <= 9 else { return nil }
            page = (number + 9) % 10
        default: return nil
        }
        guard page < count else { return [] }
        var report = report
        report.page = page
        report.text = OpenText(document: HelpDocument.document(report.pages, shown: page))
        return replaceTop(by: .report(report))
    }

    func asksForHelp(_ key: Key) -> Bool {
        if case .character = key.code { return false }
        switch overlays.last {
        case .prompt, .picker, .confirm: break
        case nil where filter.isEditing: break
        default: return false
        }
        guard case .binding(let binding) = keymap.lookUp(key, after: nil, in: context) else { return false }
        return binding.command == .help
    }

    var guideTopic: String {
        let topics = overlays.reversed().lazy.compactMap { overlay -> String? in
            switch overlay {
            case .panel(let panel): panel.tool.key
            case .holds: holdingTopic
            case .editor(let editor):
                switch editor.purpose {
                case .rule(let tool, _): tool.key
                case .hold: holdingTopic
                case .request, .newRequest: "repeat-and-compare"
                }
            case .picker(let picker): if let command = picker.command { command.guideTopic } else { "keys" }
            case .prompt(let prompt): prompt.command.guideTopic
            case .report(let report): report.topic
            case .confirm: nil
            }
        }
        return topics.first ?? (filter.isEditing ? "filters" : "console")
    }

    private var holdingTopic: String { ToolRegistry.standard.onEverything?.key ?? "console" }

    /// Opens a topic's page; without a topic, the page about the current context, or in linear mode the list of topics.
    mutating func openGuide(_ topic: String?) -> [Effect] {
        let guide = makeGuide()
        guard let topic = topic ?? (isLinear ? nil : guideTopic) else {
            return report("Guide", DetailDocument(lines: guide.pages.map { "\($0.topic): \($0.title)" }))
        }
        switch guide.find(topic) {
        case .page(let page): return report("Guide: \(page.title)", document(of: page))
        case .several(let topics):
            let known = topics.isEmpty ? guide.pages.map(\.topic) : topics
            return refuse("The guide has no page '\(topic.prefix(40))'; it has \(known.joined(separator: ", ")).")
        }
    }

    private func document(of page: GuidePage) -> DetailDocument {
        // The width of a report without its frame.
        let text = GuideText(width: min(size.width - 6, 100), isStyled: !isLinear)
        let roles: [GuideRun.Style: Role] = [.bold: .heading, .code: .key]
        let lines = text.lines(of: page).map { DetailLine($0.map { Span($0.text, roles[$0.style] ?? .text) }) }
        return DetailDocument(lines: lines)
    }

    static let guideTopics = Guide.topics
}

extension Command {
    fileprivate var guideTopic: String? {
        switch self {
        case .filter, .highlight, .stats: "filters"
        case .searchBodies, .findInDetail, .columns, .sort, .jumpKind: "console"
        case .export, .copy: "export"
        case .openSession, .importSession, .saveSession: "sessions"
        case .saveProfile, .loadProfile: "profile"
        case .repeatAdvanced: "repeat-and-compare"
        case .preset: ToolRegistry.standard.withPresets?.key
        default: nil
        }
    }
}
