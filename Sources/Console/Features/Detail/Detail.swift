import Clients
import Description
import HTTPModel
import Terminal

extension ConsoleModel {
    private func columns(_ width: Int) -> Int { max(20, width - DocumentView.margin) }

    func isInFlight(_ id: ExchangeID) -> Bool {
        guard isLive else { return false }
        // The list's record may be older than the page, because only visible rows are updated.
        let page = detail.text.shown?.id == id ? detail.text.document.flatMap { $0.page == nil ? nil : $0 } : nil
        return page?.isUnfinished ?? (known(id)?.state == .inFlight)
    }

    /// Moves the keyboard focus to the open exchange, and stops following new exchanges.
    mutating func openDetail() {
        detail.isOpen = true
        isDetailFocused = true
        list.isFollowing = false
    }

    mutating func loadDetail() -> [Effect] {
        // If the tree has the keyboard focus, the open exchange stays.
        let staysOpen = isDetailFocused || isTreeInUse
        guard detail.isOpen, let id = staysOpen ? detail.id ?? list.selectedID : list.selectedID ?? detail.id
        else { return [] }
        return loadDetail(of: id)
    }

    mutating func loadDetail(of id: ExchangeID) -> [Effect] {
        if detail.id != id || detail.isSearchedAnew { beginDetail(of: id) }
        detail.generation += 1
        let room = Layout(self, withDetail: true).detail
        detail.options.width = columns(room.width)
        let isWide = !isLinear && room.width >= DetailView.besideFrom
        detail.options.besideWidth = isWide ? columns((room.width - 1) / 2) : nil
        detail.options.isShort = !isLinear && room.height - 1 < Layout.fewRows
        detail.options.isUnicode = look.isUnicode
        detail.options.isSentFromHere = list.rows.values.contains { $0.id == id && sending.connections.contains($0) }
        detail.options.wayToTrust = way(to: .trust)
        detail.options.wayToSkip = whyNot(.insecureHost) == nil ? way(to: .insecureHost) : nil
        detail.options.wayToWhole = isLinear ? nil : "\(way(to: .findInDetail, in: .detail)) and . show all"
        detail.options.held = heldSide(id)
        detail.options.isLive = isLive
        detail.options.hasBars = !isLinear
        detail.options.showsPreview = !isLinear
        return [.detail(id, detail.options, generation: detail.generation)]
    }

    /// Begins a different exchange: page, form, folds and search stay as the user chose them.
    private mutating func beginDetail(of id: ExchangeID) {
        (detail.id, detail.isSearchedAnew) = (id, false)
        (detail.text.reading, detail.text.shown) = (ReadingState(), nil)
        detail.text.found = nil
        detail.awaitedPage = nil
        detail.options.firstMessage = 0
        detail.options.showsNewest = !isLinear && isInFlight(id)
        detail.options.bodyForm = detail.wantedForm
        detail.options.page = detail.wantedPage ?? .overview
        detail.options.isPageChosen = detail.wantedPage != nil || isLinear
        detail.options.prefersMessages = !isLinear
        // An exchange found by the search in bodies opens at its match.
        detail.options.bodyText = list.query.bodyText.flatMap { $0 == detail.sought && !isLinear ? $0 : nil }
    }

    mutating func followDetail() -> [Effect] {
        guard !isLinear, detail.isOpen, view == .sequence else { return [] }
        // While the user reads an exchange, only a command selects a different one; changes of the list do not.
        if isDetailFocused {
            guard let id = list.selectedID, detail.id != id || detail.isSearchedAnew else { return [] }
            return loadDetail(of: id)
        }
        guard let record = list.selectedRecord else { return [] }
        let isUnfinished = detail.id == record.id && record.state == .inFlight
        let isOther = detail.id != record.id || detail.text.document == nil || detail.isSearchedAnew
        guard isOther || isUnfinished else { return [] }
        return loadDetail(of: record.id)
    }

    mutating func show(
        _ document: DetailDocument,
        beside: DetailDocument? = nil,
        _ pages: [DetailPage],
        of id: ExchangeID,
        _ generation: Int
    ) -> [Effect] {
        guard detail.id == id, generation == detail.generation else { return [] }
        detail.pages = pages
        if let number = detail.awaitedPage {
            detail.awaitedPage = nil
            if let page = page("\(number)") {
                choose(page)
                if page != document.page { return loadDetail() }
            }
        }
        if isLinear, !pages.contains(detail.options.page) {
            let page = detail.options.page.rawValue
            let names = pages.map(\.rawValue).joined(separator: ", ")
            tell("Exchange \(id) has no page '\(page)'. There are: \(names).", .error)
            detail.options.page = document.page ?? .overview
        }
        guard let beside else {
            detail.beside = nil
            take(document, of: id)
            return []
        }
        // The focus may have moved to the other page in the meantime.
        let isTurned = beside.page == detail.options.page
        let (own, other) = isTurned ? (beside, document) : (document, beside)
        let shown = self.shown(other, of: id)
        if detail.beside?.shown?.id != id || detail.beside?.shown?.page != shown.page {
            detail.beside = OpenText(shown: shown)
        }
        take(own, of: id)
        exchangeHalves()
        take(other, of: id)
        exchangeHalves()
        return []
    }

    private func shown(_ document: DetailDocument, of id: ExchangeID) -> DetailState.Shown {
        let (page, form) = (document.page ?? detail.options.page, document.bodyForm ?? detail.options.bodyForm)
        return DetailState.Shown(id: id, page: page, form: form)
    }

    mutating func turnToOtherHalf() {
        exchangeHalves()
        choose(detail.page)
    }

    private mutating func exchangeHalves() {
        guard let other = detail.beside, let page = other.shown?.page else { return }
        (detail.beside, detail.text, detail.options.page) = (detail.text, other, page)
    }

    private mutating func take(_ document: DetailDocument, of id: ExchangeID) {
        let shown = shown(document, of: id)
        let isHit = detail.options.bodyText != nil
        (detail.options.page, detail.options.bodyForm) = (shown.page, shown.form)
        (detail.options.isPageChosen, detail.options.bodyText) = (true, nil)
        let before = detail.text.shown
        let isOther = before?.id != id || before?.page != shown.page
        detail.text.shown = shown
        detail.text.reading = isOther ? opened(document) : kept(document, shown.form, before?.form)
        detail.text.document = document
        detail.text.find(detail.pattern)
        if isOther, shown.page == .messages, !isLinear, isInFlight(id) {
            (detail.options.showsNewest, detail.text.reading.follows) = (true, true)
        }
        let first = isHit && isOther ? detail.text.found?.all.first { $0.line >= document.bodyLines.startIndex } : nil
        readDetail { reading, rows, height in
            if let first {
                reading.show(first, in: rows, height: height)
            } else if reading.follows {
                reading.moveToEdge(first: false, in: rows, height: height)
            } else {
                reading.reveal(in: rows, height: height)
            }
        }
    }

    /// The reading position in a page that was not open: its beginning, with the sections folded as the user chose.
    private func opened(_ document: DetailDocument) -> ReadingState {
        var reading = ReadingState()
        reading.folds = document.initialFolds
        if detail.options.isShort, [.request, .response].contains(document.page) {
            // Headers are folded to make room for a body, unless the whole page fits.
            let folds = reading.folds.filter { document.lines[$0].name == nil }
            let rows = DocumentView.rows(document, folds, wraps: wraps, in: detailBody)
            let height = max(1, detailBody.height)
            if rows.distance(from: ReadingPlace(), to: rows.last, most: height) < height { reading.folds = folds }
        }
        for (line, text) in document.lines.enumerated() where text.fold != nil {
            guard let isFolded = text.name.flatMap({ detail.chosenFolds[$0] }) else { continue }
            if isFolded { reading.folds.insert(line) } else { reading.folds.remove(line) }
        }
        return reading
    }

    /// The reading position in a page that was loaded again, or whose body now has a different form.
    private func kept(_ document: DetailDocument, _ form: BodyForm, _ before: BodyForm?) -> ReadingState {
        guard let old = detail.text.document, let before else { return opened(document) }
        let rows = DocumentView.rows(old, detail.text.reading.folds, wraps: wraps, in: detailBody)
        let place = rows.clamped(detail.text.reading.cursor)
        guard before != form, rows.visible.indices.contains(place.line),
            let share = old.bodyShare(before: rows.visible[place.line], rows.extent(place).lowerBound),
            let (line, mark) = document.bodyPlace(at: share)
        else { return detail.text.reading.carried(from: old, to: document) }
        var reading = opened(document)
        let now = DocumentView.rows(document, reading.folds, wraps: wraps, in: detailBody)
        let visible = now.showing(line)
        reading.cursor = now.visible[visible] == line ? now.place(of: mark, line: visible) : ReadingPlace(line: visible)
        reading.top = now.moved(reading.cursor, by: -rows.distance(from: detail.text.reading.top, to: place, most: 500))
        return reading
    }

    mutating func turnPage(_ by: Int) -> [Effect] {
        let index = detail.pages.firstIndex(of: detail.page) ?? 0
        return turn(to: detail.pages[(index + by + detail.pages.count) % detail.pages.count])
    }

    mutating func turn(to word: String) -> [Effect] {
        if !detail.isOpen, view == .sequence, !isLinear, list.isAwaitingRow {
            (list.opensWhenFound, list.pageWhenFound) = (true, word)
            return []
        }
        let id = detail.isOpen ? nil : selectedID
        // The pages of an exchange are known only once it is loaded: a page number that is too high so far has to wait.
        let awaited = isLinear || detail.text.shown?.id == (id ?? detail.id) ? nil : Int(word)
        let effects: [Effect]
        if let awaited, !(1...detail.pages.count).contains(awaited) {
            detail.isOpen = true
            effects = id.map { loadDetail(of: $0) } ?? []
        } else {
            guard let page = page(word) else { return [] }
            detail.isOpen = true
            effects = turn(to: page, of: id)
        }
        list.isFollowing = list.isFollowing && isLinear
        detail.awaitedPage = awaited
        reveal()
        return loadRows() + effects
    }

    mutating func page(_ word: String) -> DetailPage? {
        let word = word.lowercased()
        let byNumber = Int(word).flatMap { (1...detail.pages.count).contains($0) ? detail.pages[$0 - 1] : nil }
        if let page = byNumber ?? DetailPage.allCases.first(where: { $0.rawValue.hasPrefix(word) }) { return page }
        let pages = isLinear ? DetailPage.allCases : detail.pages
        let names = pages.enumerated().map { isLinear ? $1.rawValue : "\($0 + 1) \($1.rawValue)" }
        tell("No page '\(word.prefix(40))' here (\(names.joined(separator: ", ")))", .error)
        return nil
    }

    /// Selects the page for this exchange and for all exchanges that are opened later.
    mutating func choose(_ page: DetailPage) {
        (detail.wantedPage, detail.options.page) = (page, page)
        (detail.options.isPageChosen, detail.options.prefersMessages) = (true, false)
    }

    private mutating func turn(to page: DetailPage, of id: ExchangeID? = nil) -> [Effect] {
        if id == nil, let beside = detail.beside?.shown, beside.id == detail.id, beside.page == page {
            turnToOtherHalf()
            return []
        }
        if let id, detail.id != id { beginDetail(of: id) }
        choose(page)
        // A page that is already open starts again too, with its initial folds.
        (detail.text.reading, detail.text.shown) = (ReadingState(), nil)
        return id.map { loadDetail(of: $0) } ?? loadDetail()
    }

    mutating func setBodyForm(_ word: String?) -> [Effect] {
        let form = word.flatMap { BodyForm(rawValue: $0.lowercased()) } ?? detail.options.bodyForm.next
        (detail.wantedForm, detail.options.bodyForm) = (form, form)
        if ![.request, .response].contains(detail.page) { choose(.response) }
        return loadDetail()
    }

    mutating func setVersion(_ word: String?) -> [Effect] {
        detail.options.version =
            word.flatMap { MessageVersion(rawValue: $0.lowercased()) } ?? detail.options.version.next
        tell("Messages are shown as \(detail.options.version.rawValue).")
        return loadDetail()
    }
}

extension CaseIterable where Self: Equatable, AllCases == [Self] {
    var next: Self {
        let all = Self.allCases
        return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
    }
}
