import Terminal

/// Help on the screen: pages that keys turn.
extension ConsoleModel {
    /// Opens help for what has the keys, or the page of a word: a page's own, or that of a command's group. Within help it
    /// opens the guide.
    mutating func openHelp(_ word: String?) -> [Effect] {
        if isLinear { return openLineHelp(word) }
        if word == nil, case .report(let report) = overlays.last, report.isHelp { return openGuide(report.topic) }
        let pages = HelpDocument.pages(self, for: context)
        guard let word = word?.lowercased() else { return openHelp(pages, 0) }
        let named = Command(rawValue: word).flatMap { CommandTable.entry($0) }?.group
        // What is sent has no page of its own.
        let group = (named == .send || word == CommandEntry.Group.send.word ? .share : named)?.word
        if let page = pages.firstIndex(where: { $0.word == word || $0.word == group }) { return openHelp(pages, page) }
        return refuse("Help has no page '\(word.prefix(40))'; it has \(pages.map(\.word).joined(separator: ", ")).")
    }

    private mutating func openHelp(_ pages: [HelpPage], _ page: Int) -> [Effect] {
        let document = HelpDocument.document(pages, shown: page)
        let report = ReportState(title: "Help", document: document, pages: pages, page: page, topic: guideTopic)
        return push(.report(report))
    }

    /// Turns the page of help; `nil` for keys that turn none.
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
        var turned = report
        turned.page = page
        turned.document = HelpDocument.document(report.pages, shown: page)
        turned.reading = ReadingState()
        replaceTop(by: .report(turned))
        return []
    }

    /// Whether a key asks for help where letters are text.
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
}
