import HTTPModel
import Terminal

/// The exchange that is open, and texts to read.
extension ConsoleModel {
    /// The columns that a document may use.
    var detailWidth: Int { max(20, Layout(self, withDetail: true).detail.width - 2) }

    /// How many lines of a report are on the screen.
    var reportRows: Int { max(1, size.height - 5) }

    /// Asks for the open page.
    mutating func loadDetail() -> [Effect] {
        // Where the tree has the keys, what is open stays so.
        let staysOpen = isDetailFocused || isTreeInUse
        guard detail.isOpen, let id = staysOpen ? detail.id ?? list.selectedID : list.selectedID ?? detail.id
        else { return [] }
        return loadDetail(of: id)
    }

    /// Asks for the open page of an exchange.
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
        detail.document = document
        detail.shown = id
        detail.shownPage = detail.options.page
        // What begins folded stays as the reader left it when the same page is read anew.
        if isOther { detail.reading.folds = document.initialFolds }
        detail.reading.reveal(rows: Layout(self).detailRows, count: detail.visibleCount)
    }

    mutating func turnPage(_ by: Int) -> [Effect] {
        let index = detail.pages.firstIndex(of: detail.options.page) ?? 0
        return turn(to: detail.pages[(index + by + detail.pages.count) % detail.pages.count])
    }

    /// Turns to a page by its name, its number, or the beginning of its name.
    mutating func turn(to word: String) -> [Effect] {
        let word = word.lowercased()
        let byNumber = Int(word).flatMap { (1...detail.pages.count).contains($0) ? detail.pages[$0 - 1] : nil }
        guard let page = byNumber ?? DetailPage.allCases.first(where: { $0.rawValue.hasPrefix(word) }) else {
            tell(
                "There is no page '\(word.prefix(40))': \(detail.pages.map(\.rawValue).joined(separator: ", ")).",
                .error
            )
            return []
        }
        let id = detail.isOpen ? nil : selectedID
        detail.isOpen = true
        return turn(to: page, of: id)
    }

    private mutating func turn(to page: DetailPage, of id: ExchangeID? = nil) -> [Effect] {
        detail.options.page = page
        detail.reading = ReadingState()
        return id.map { loadDetail(of: $0) } ?? loadDetail()
    }

    mutating func setBodyForm(_ word: String?) -> [Effect] {
        let all = BodyForm.allCases
        if let word {
            guard let form = BodyForm(rawValue: word.lowercased()) else {
                tell("A body is shown as \(all.map(\.rawValue).joined(separator: ", ")).", .error)
                return []
            }
            detail.options.bodyForm = form
        } else {
            let index = all.firstIndex(of: detail.options.bodyForm) ?? 0
            detail.options.bodyForm = all[(index + 1) % all.count]
        }
        if ![.request, .response].contains(detail.options.page) { detail.options.page = .response }
        detail.reading = ReadingState()
        return loadDetail()
    }

    mutating func setStand(_ word: String?) -> [Effect] {
        if let word {
            guard let stand = MessageStand(rawValue: word.lowercased()) else {
                tell("A message is shown as received or as sent.", .error)
                return []
            }
            detail.options.stand = stand
        } else {
            detail.options.stand = detail.options.stand == .received ? .sent : .received
        }
        tell("Messages are shown as \(detail.options.stand.rawValue).")
        return loadDetail()
    }

    mutating func toggleFold() -> [Effect] {
        guard let document = detail.document else { return [] }
        let visible = document.folded(detail.reading.folds)
        guard visible.indices.contains(detail.reading.cursor) else { return [] }
        let line = visible[detail.reading.cursor]
        let target = document.lines[line].fold != nil ? line : document.enclosing(line).last
        guard let target else { return [] }
        if detail.reading.folds.remove(target) == nil { detail.reading.folds.insert(target) }
        let now = document.folded(detail.reading.folds)
        detail.reading.cursor = now.firstIndex(of: target) ?? detail.reading.cursor
        detail.reading.reveal(rows: Layout(self).detailRows, count: now.count)
        return []
    }

    // MARK: - Finding text

    mutating func find(_ text: String) -> [Effect] {
        if case .report(var report)? = overlays.last {
            report.sought = text
            overlays[overlays.count - 1] = .report(report)
        } else {
            detail.sought = text
        }
        return findAgain()
    }

    mutating func findAgain() -> [Effect] {
        if case .report(var report)? = overlays.last {
            find(report.sought, in: report.document, &report.reading, rows: reportRows)
            overlays[overlays.count - 1] = .report(report)
        } else if let document = detail.document {
            var reading = detail.reading
            find(detail.sought, in: document, &reading, rows: Layout(self).detailRows)
            detail.reading = reading
            isDetailFocused = true
        }
        return []
    }

    private mutating func find(_ text: String, in document: DetailDocument, _ reading: inout ReadingState, rows: Int) {
        guard !text.isEmpty else { return }
        let found = document.matches(of: text)
        let visible = document.folded(reading.folds)
        let current = visible.indices.contains(reading.cursor) ? visible[reading.cursor] : -1
        guard let line = found.first(where: { $0 > current }) ?? found.first else {
            tell("'\(text.prefix(60))' is not in what is shown.", .error)
            return
        }
        for fold in document.enclosing(line) { reading.folds.remove(fold) }
        let now = document.folded(reading.folds)
        reading.cursor = now.firstIndex(of: line) ?? reading.cursor
        reading.reveal(rows: rows, count: now.count)
        let place = (found.firstIndex(of: line) ?? 0) + 1
        let next = way(to: .findNext, in: .detail)
        tell("\(place) of \(found.count) lines with '\(text.prefix(40))'; \(next) finds the next.")
    }
}

extension DetailState {
    /// How many lines are there, those in folded blocks left out.
    var visibleCount: Int { document?.folded(reading.folds).count ?? 0 }
}

extension ReportState {
    /// How many lines are there, those in folded blocks left out.
    var visibleCount: Int { document.folded(reading.folds).count }
}
