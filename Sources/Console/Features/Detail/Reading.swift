import Description
import Terminal

extension ConsoleModel {
    var detailBody: Rect { detailHalves.own }

    var detailHalves: (own: Rect, other: Rect?) {
        DetailView.halves(self, in: Layout(self, withDetail: true).detail.splitTop(1).1)
    }

    var reportBody: Rect { OverlayView.place(width: size.width, height: size.height, size).inside }
    var reportRows: Int { max(1, reportBody.height) }
    /// The columns of a line in a report, without the margin for marks.
    var reportWidth: Int { max(20, reportBody.width - DocumentView.margin) }

    var isInReport: Bool { if case .report? = overlays.last { true } else { false } }
    var isReading: Bool { isInReport || context == .detail }

    /// The text of the top overlay if that is a report, otherwise of the open exchange.
    private var openText: OpenText {
        get { if case .report(let report)? = overlays.last { report.text } else { detail.text } }
        set {
            if case .report(var report)? = overlays.last {
                report.text = newValue
                replaceTop(by: .report(report))
            } else {
                detail.text = newValue
            }
        }
    }

    mutating func read(_ change: OpenText.Change) {
        if isInReport { openText.read(in: reportBody, wraps: wraps, change) } else { readDetail(change) }
    }

    mutating func readDetail(_ change: OpenText.Change) {
        detail.text.read(in: detailBody, wraps: wraps, change)
        guard detail.options.showsNewest, !detail.text.reading.follows,
            let first = detail.text.document?.messages?.range.lowerBound
        else { return }
        // Keeps the messages that the user reads, whatever arrives.
        (detail.options.firstMessage, detail.options.showsNewest) = (first, false)
    }

    /// Scrolls the texts after their area has changed, so that the cursor stays visible.
    mutating func revealTexts() {
        if detail.isOpen { readDetail { $0.reveal(in: $1, height: $2) } }
        for index in overlays.indices {
            guard case .report(var report) = overlays[index] else { continue }
            report.text.read(in: reportBody, wraps: wraps) { $0.reveal(in: $1, height: $2) }
            overlays[index] = .report(report)
        }
    }

    // MARK: - Moving

    /// Moves down or up; at the last or first message of the page, loads the next or previous messages.
    mutating func readFurther(_ direction: Int, _ change: OpenText.Change) -> [Effect] {
        let before = detail.text.reading
        read(change)
        guard !isInReport, before.top == detail.text.reading.top, before.cursor == detail.text.reading.cursor,
            let document = detail.text.document, let messages = document.messages
        else { return [] }
        let range = messages.range
        // One message is on both pages: its name identifies the position.
        if direction > 0, messages.hasMore {
            detail.options.firstMessage = max(range.lowerBound + 1, range.upperBound - 1)
        } else if direction < 0, range.lowerBound > 0 {
            detail.options.firstMessage = max(0, range.lowerBound + 1 - MessageWindow.most)
            let rows = DocumentView.rows(document, detail.text.reading.folds, wraps: wraps, in: detailBody)
            if let line = document.names["message \(range.lowerBound + 1)"] {
                detail.text.reading.cursor = ReadingPlace(line: rows.showing(line))
            }
        } else {
            return []
        }
        return loadDetail()
    }

    /// Goes to the beginning or to the end. The end stays in view while more data arrives.
    mutating func readToEdge(first: Bool) -> [Effect] {
        read { $0.moveToEdge(first: first, in: $1, height: $2) }
        guard !isInReport, let messages = detail.text.document?.messages, let id = detail.id else { return [] }
        if first {
            guard messages.range.lowerBound > 0 else { return [] }
            (detail.options.firstMessage, detail.options.showsNewest) = (0, false)
        } else {
            guard messages.hasMore || isInFlight(id), !detail.options.showsNewest else { return [] }
            detail.options.showsNewest = true
        }
        return loadDetail()
    }

    /// Turns following the open exchange on or off.
    mutating func followOpen() -> [Effect] {
        guard let id = detail.id, isInFlight(id) else {
            let way = way(to: .back, in: .detail)
            return refuse("This exchange has ended; \(way) goes back to the list, to follow that.")
        }
        guard !detail.text.reading.follows else {
            readDetail { reading, _, _ in reading.follows = false }
            return tell("No longer following the newest.")
        }
        tell("Following the newest until you move.")
        return readToEdge(first: false)
    }

    /// Opens the exchange of the row below or above, on the same page.
    mutating func step(_ by: Int) -> [Effect] {
        if view == .structure, !isLinear { return moveInLeaf(by) }
        let row = list.selected - by
        guard (0..<list.total).contains(row) else {
            return refuse("This is the \(by > 0 ? "last" : "first") exchange of the list.")
        }
        let effects = select(row)
        guard let id = list.selectedID else {
            list.opensWhenFound = true
            return effects
        }
        detail.isOpen = true
        return detail.id == id && !isLinear ? effects : effects + loadDetail(of: id)
    }

    // MARK: - Folds, wrapping, layouts

    mutating func toggleFold() -> [Effect] {
        var target: Int?
        read { target = $0.toggleFold(in: $1, height: $2) }
        guard !isInReport, let target, let name = detail.text.document?.lines[target].name, !name.hasPrefix("message ")
        else { return [] }
        detail.chosenFolds[name] = detail.text.reading.folds.contains(target)
        return []
    }

    mutating func fold(all: Bool) -> [Effect] {
        read { $0.fold(all: all, in: $1, height: $2) }
        return []
    }

    mutating func toggleWraps() -> [Effect] {
        wraps.toggle()
        let isUnwrapped = !wraps
        read { reading, rows, height in
            reading.left = 0
            // The visible part of a long line stays visible.
            let before = DocumentRows(rows.document, rows.folds, width: rows.width, wraps: isUnwrapped)
            let place = before.clamped(reading.cursor)
            guard isUnwrapped, place.row > 0, rows.visible.indices.contains(place.line) else { return }
            reading.left = max(0, rows.column(of: before.extent(place).lowerBound, line: place.line) - rows.width / 3)
        }
        revealTexts()
        return tell(wraps ? "Long lines are wrapped." : "Long lines are not wrapped; left and right scroll.")
    }

    /// Shows the list, the list with the open exchange, or only the exchange; without a name, the next layout.
    mutating func setLayout(_ word: String?) -> [Effect] {
        let now: ReadingLayout = detail.isOpen ? layout : .list
        var next = word.flatMap { ReadingLayout(rawValue: $0.lowercased()) } ?? now.next
        if word == nil, next == .split, !canSplit { next = .detail }
        guard next != .list else {
            detail.keysBefore = isDetailFocused ? detail.id : nil
            (detail.isOpen, isDetailFocused) = (false, false)
            reveal()
            return loadRows()
        }
        layout = next
        let isNew = !detail.isOpen
        let hadKeys = isDetailFocused || isNew && detail.keysBefore != nil && detail.keysBefore == selectedID
        guard let id = isNew ? selectedID : detail.id else { return refuse(noSelection ?? nothingHere) }
        openDetail()
        // In the split layout, the exchange keeps the keyboard focus, even after a full cycle of layouts.
        isDetailFocused = next == .detail || hadKeys
        revealAll()
        return loadRows() + loadDetail(of: id)
    }

    private var canSplit: Bool {
        var model = self
        model.layout = .split
        return !Layout(model, withDetail: true).list.isEmpty
    }

    // MARK: - Searching

    var soughtHere: String {
        if case .report(let report)? = overlays.last { return report.sought }
        return detail.sought
    }

    mutating func find(_ text: String) -> [Effect] {
        if !isInReport {
            if Self.isPlace(text) { return showOnly(text) }
            if text.isEmpty, let effects = showAll() { return effects }
        }
        let pattern: SoughtText?
        do {
            pattern = try SoughtText.reading(text)
        } catch {
            return refuse("\(error)".capitalizedFirst + ".")
        }
        if case .report(var report)? = overlays.last {
            report.sought = text
            replaceTop(by: .report(report))
        } else {
            (detail.sought, detail.pattern) = (text, pattern)
            detail.beside?.find(pattern)
            if !isLinear { openDetail() } else { isDetailFocused = true }
        }
        openText.reading.match = nil
        openText.find(pattern)
        return pattern == nil ? [] : findAgain()
    }

    mutating func findAgain(forward: Bool = true) -> [Effect] {
        let text = soughtHere
        if !isInReport, detail.text.found?.all.isEmpty == true, detail.beside?.found?.all.isEmpty == false,
            detailHalves.other != nil
        {
            turnToOtherHalf()
        }
        guard let found = openText.found else { return goToDifference(forward: forward) }
        let end = found.end.map { "; the search stopped at line \($0 + 1) because it took too long" } ?? ""
        guard let match = goToNext("Match", of: found.all, forward: forward) else {
            return refuse("No match for '\(text.prefix(60))'\(end).")
        }
        // Linear mode prints all matches anyway.
        return isLinear ? [] : tell(match + end)
    }

    /// Goes to the next or previous match and returns a message with its number; `nil` if there is no match.
    private mutating func goToNext(_ name: String, of places: [FoundPlace], forward: Bool) -> String? {
        var index: Int?
        read { index = $0.goToMatch(forward: forward, among: places, in: $1, height: $2) }
        let place: Context = isInReport ? .report : .detail
        let keys = "\(way(to: .findNext, in: place))/\(way(to: .findPrevious, in: place))"
        return index.map { "\(name) \($0 + 1) of \(places.count) (\(keys))" }
    }

    /// Without a search, goes to the next or previous difference of a comparison.
    private mutating func goToDifference(forward: Bool) -> [Effect] {
        guard let document = openText.document, document.page == .difference, !isLinear else {
            return refuse("No search yet; \(way(to: .findInDetail)) finds text.")
        }
        let places = document.differences.map { line in
            let end = TextMark(span: document.lines[line].spans.count, offset: 0)
            return FoundPlace(line: line, range: TextMark(span: 0, offset: 0)..<end)
        }
        let difference = goToNext("Difference", of: places, forward: forward)
        return difference.map { tell($0) } ?? refuse("There is no difference here.")
    }

    // MARK: - Searching while a text is typed

    private mutating func restore(_ state: SearchState) {
        openText.reading = state.text.reading
        openText.found = state.text.found
        guard !isInReport else { return }
        detail.pattern = state.pattern
        detail.beside?.found = state.foundBeside
    }

    /// Restores the state before the preview when the prompt closes.
    mutating func endPreview(_ prompt: PromptState) {
        guard let before = prompt.before, !overlays.isEmpty else { return }
        overlays.removeLast()
        restore(before)
        overlays.append(.prompt(prompt))
    }

    /// Marks the matches of the typed text, and scrolls to the first match after the reader's position.
    mutating func preview(_ prompt: inout PromptState) {
        guard prompt.command == .findInDetail, !overlays.isEmpty else { return }
        overlays.removeLast()
        let now = SearchState(text: openText, foundBeside: detail.beside?.found, pattern: detail.pattern)
        let before = prompt.before ?? now
        prompt.before = before
        prompt.hint = ""
        restore(before)
        let text = prompt.line.text
        let isPath = !isInReport && Self.isPlace(text)
        let pattern = isPath ? nil : try? SoughtText.reading(text)
        openText.find(pattern)
        if !isInReport {
            detail.pattern = pattern
            detail.beside?.find(pattern)
        }
        if let found = openText.found {
            var index: Int?
            read { reading, rows, height in
                index = reading.goToMatch(forward: true, among: found.all, in: rows, height: height)
                let row = rows.distance(from: rows.clamped(reading.top), to: reading.cursor, most: height)
                prompt.isHigh = row > height - 6
            }
            prompt.hint = index.map { "Match \($0 + 1) of \(found.all.count)" } ?? "No match"
        }
        overlays.append(.prompt(prompt))
    }
}
