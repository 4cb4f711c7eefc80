import HTTPModel
import Sharing
import Terminal

extension ConsoleModel {
    var detailWidth: Int { max(20, Layout(self, withDetail: true).detail.width - 2) }

    private var detailBody: Rect { Layout(self).detail.splitTop(1).1 }

    private var reportBody: Rect { OverlayView.place(width: size.width, height: size.height, size).inside }
    var reportRows: Int { max(1, reportBody.height) }

    /// Whether keys move in a text: a report, or the open exchange.
    var isReading: Bool {
        if case .report? = overlays.last { return true }
        return context == .detail
    }

    /// Changes the place in the uppermost report, else in the open exchange.
    mutating func read(_ change: (inout ReadingState, DocumentRows, _ height: Int) -> Void) {
        if case .report(var report)? = overlays.last {
            let rows = DocumentView.rows(report.document, report.reading.folds, in: reportBody)
            change(&report.reading, rows, reportBody.height)
            replaceTop(by: .report(report))
        } else {
            readDetail(change)
        }
    }

    mutating func readDetail(_ change: (inout ReadingState, DocumentRows, _ height: Int) -> Void) {
        guard let document = detail.document else { return }
        let body = detailBody
        let rows = DocumentView.rows(document, detail.reading.folds, in: body)
        change(&detail.reading, rows, body.height)
    }

    /// Scrolls texts after their room has changed, so that what was visible stays so.
    mutating func revealTexts() {
        if detail.isOpen { readDetail { $0.reveal(in: $1, height: $2) } }
        for index in overlays.indices {
            guard case .report(var report) = overlays[index] else { continue }
            let rows = DocumentView.rows(report.document, report.reading.folds, in: reportBody)
            report.reading.reveal(in: rows, height: reportBody.height)
            overlays[index] = .report(report)
        }
    }

    mutating func loadDetail() -> [Effect] {
        // Where the tree has the keys, the open exchange stays.
        let staysOpen = isDetailFocused || isTreeInUse
        guard detail.isOpen, let id = staysOpen ? detail.id ?? list.selectedID : list.selectedID ?? detail.id
        else { return [] }
        return loadDetail(of: id)
    }

    mutating func loadDetail(of id: ExchangeID) -> [Effect] {
        if detail.id != id {
            detail.reading = ReadingState()
            detail.options.firstMessage = 0
        }
        detail.id = id
        detail.generation += 1
        detail.options.width = detailWidth
        detail.options.isUnicode = look.isUnicode
        detail.options.isLive = isLive
        detail.options.hasBars = !isLinear
        detail.options.showsPreview = !isLinear
        return [.detail(id, detail.options, generation: detail.generation)]
    }

    /// Shows the selected exchange, where another one is open.
    mutating func followDetail() -> [Effect] {
        guard !isLinear, detail.isOpen, context != .detail, view == .sequence, let record = list.selectedRecord else {
            return []
        }
        let isUnfinished = detail.id == record.id && record.state == .inFlight
        guard detail.id != record.id || detail.document == nil || isUnfinished else { return [] }
        return loadDetail(of: record.id)
    }

    mutating func show(_ document: DetailDocument, _ pages: [DetailPage], of id: ExchangeID, _ generation: Int) {
        guard detail.id == id, generation == detail.generation else { return }
        let isOther = detail.shown != id || detail.shownPage != detail.options.page
        detail.pages = pages
        if isLinear, !pages.contains(detail.options.page) {
            let page = detail.options.page.rawValue
            let names = pages.map(\.rawValue).joined(separator: ", ")
            tell("Exchange \(id) has no page '\(page)'. There are: \(names).", .error)
            detail.options.page = .overview
        }
        detail.document = document
        detail.shown = id
        detail.shownPage = detail.options.page
        // The reader's folds stay when the same page is read again.
        if isOther { detail.reading.folds = document.initialFolds }
        readDetail { $0.reveal(in: $1, height: $2) }
    }

    mutating func turnPage(_ by: Int) -> [Effect] {
        let index = detail.pages.firstIndex(of: detail.options.page) ?? 0
        return turn(to: detail.pages[(index + by + detail.pages.count) % detail.pages.count])
    }

    /// Turns to a page by its name, its number, or the beginning of its name.
    mutating func turn(to word: String) -> [Effect] {
        guard let page = page(word) else { return [] }
        let id = detail.isOpen ? nil : selectedID
        detail.isOpen = true
        return turn(to: page, of: id)
    }

    /// The page of a name or a number; refused where there is none.
    mutating func page(_ word: String) -> DetailPage? {
        let word = word.lowercased()
        let byNumber = Int(word).flatMap { (1...detail.pages.count).contains($0) ? detail.pages[$0 - 1] : nil }
        if let page = byNumber ?? DetailPage.allCases.first(where: { $0.rawValue.hasPrefix(word) }) { return page }
        let pages = isLinear ? DetailPage.allCases : detail.pages
        tell("There is no page '\(word.prefix(40))': \(pages.map(\.rawValue).joined(separator: ", ")).", .error)
        return nil
    }

    private mutating func turn(to page: DetailPage, of id: ExchangeID? = nil) -> [Effect] {
        detail.options.page = page
        detail.reading = ReadingState()
        return id.map { loadDetail(of: $0) } ?? loadDetail()
    }

    mutating func setBodyForm(_ word: String?) -> [Effect] {
        detail.options.bodyForm = word.flatMap { BodyForm(rawValue: $0.lowercased()) } ?? detail.options.bodyForm.next
        if ![.request, .response].contains(detail.options.page) { detail.options.page = .response }
        detail.reading = ReadingState()
        return loadDetail()
    }

    mutating func setVersion(_ word: String?) -> [Effect] {
        detail.options.version =
            word.flatMap { MessageVersion(rawValue: $0.lowercased()) } ?? detail.options.version.next
        tell("Messages are shown as \(detail.options.version.rawValue).")
        return loadDetail()
    }

    mutating func toggleFold() -> [Effect] {
        readDetail { $0.toggleFold(in: $1, height: $2) }
        return []
    }

    mutating func find(_ text: String) -> [Effect] {
        if case .report(var report)? = overlays.last {
            report.sought = text
            replaceTop(by: .report(report))
        } else if text.hasPrefix(".") {
            return showOnly(text)
        } else if text.isEmpty, let effects = showAll() {
            return effects
        } else {
            detail.sought = text
        }
        return findAgain()
    }

    mutating func findAgain() -> [Effect] {
        var text = detail.sought
        if case .report(let report)? = overlays.last { text = report.sought } else { isDetailFocused = true }
        guard let sought = SoughtText(text) else { return [] }
        var found: (number: Int, count: Int)?
        read { found = $0.find(sought, in: $1, height: $2) }
        guard let found else { return refuse("'\(text.prefix(60))' is not in what is shown.") }
        // On lines, all matches are written.
        if isLinear { return [] }
        let next = way(to: .findNext, in: .detail)
        tell("\(found.number) of \(found.count) places with '\(text.prefix(40))'; \(next) finds the next.")
        return []
    }
}

extension CaseIterable where Self: Equatable, AllCases == [Self] {
    /// The case after this one; the first after the last.
    var next: Self {
        let all = Self.allCases
        return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
    }
}
