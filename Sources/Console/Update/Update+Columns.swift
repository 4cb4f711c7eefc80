import Terminal

/// The choice of the list's columns: those present in their order, then the possible ones.
extension ConsoleModel {
    /// The columns that the list has now, whether they were chosen or just fit.
    var presentColumns: [Column] {
        list.columns.isEmpty && !isLinear
            ? SequenceView.columns(self, width: Layout(self).list.width).map(\.column) : list.columns
    }

    /// Shows the named columns; those after a `+` or `-` are added or taken away, and the others stay. On lines, what
    /// sentences say besides.
    mutating func setColumns(_ words: String) -> [Effect] {
        let names = words.lowercased().split { $0 == " " || $0 == "," }
        let isChange = names.contains { $0.first == "+" || $0.first == "-" }
        var columns = !isChange ? [] : isLinear ? list.columns : presentColumns
        for name in names {
            guard let column = Column(rawValue: String(name.drop { "+-".contains($0) })) else { continue }
            if name.first == "-" {
                columns.removeAll { $0 == column }
            } else if !columns.contains(column) {
                columns.append(column)
            }
        }
        if isChange, columns.isEmpty, !isLinear { return refuse("The list needs a column.") }
        list.columns = columns
        if isLinear {
            tell(LinearSentence.announcement(of: columns))
        } else {
            tellMissing()
        }
        return []
    }

    /// Says which of the chosen columns have no room.
    private mutating func tellMissing() {
        if let words = arrangedColumns.words(way(to: .columns)) { tell(words) }
    }

    private var arrangedColumns: ListColumns { SequenceView.arranged(self, width: Layout(self).list.width) }

    func columnChoice(selecting column: Column? = nil) -> PickerState {
        let present = presentColumns
        let others = Column.allCases.filter { !present.contains($0) }
        guard !isLinear else {
            let items = (present + others).filter { !LinearSentence.always.contains($0) }.map { column in
                PickerState.Item(
                    column.rawValue,
                    present.contains(column) ? "said" : "not said",
                    detail: column.meaning
                )
            }
            return PickerState(command: .columns, title: "What lines say besides", items: items)
        }
        let missing = arrangedColumns.missing
        let items = (present + others).map { column in
            PickerState.Item(
                column.rawValue,
                "\(present.contains(column) ? "[x]" : "[ ]") \(column.rawValue)",
                detail: (missing.contains(column) ? "NO ROOM: " : "") + column.meaning
            )
        }
        let title = "Columns: space shows or hides, J K moves, A automatic"
        var picker = PickerState(command: .columns, title: title, items: items)
        picker.isColumnChoice = true
        picker.selected = column.flatMap { (present + others).firstIndex(of: $0) } ?? 0
        return picker
    }

    /// Takes a key in the choice of columns; what it changes is seen at once.
    mutating func typeColumns(_ key: Key, _ picker: PickerState) -> [Effect] {
        var picker = picker
        let items = picker.matches
        let column = items.indices.contains(picker.selected) ? Column(rawValue: items[picker.selected].value) : nil
        switch (key.code, key.modifiers) {
        case _ where key.isCancel: return goBack()
        case (.enter, _):
            // A name that was typed is meant.
            if !picker.line.text.isEmpty, let column, let refused = toggle(column) { return refused }
            return goBack()
        case (.up, []), (.character("p"), .control): picker.selected = max(0, picker.selected - 1)
        case (.down, []), (.character("n"), .control):
            picker.selected = min(max(0, items.count - 1), picker.selected + 1)
        case (.character(" "), _):
            guard let column else { return [] }
            if let refused = toggle(column) { return refused }
            picker = columnChoice(selecting: column)
        case (.character("K"), _), (.up, .shift): picker = moveColumn(column, by: -1)
        case (.character("J"), _), (.down, .shift): picker = moveColumn(column, by: 1)
        case (.character("A"), _):
            list.columns = []
            picker = columnChoice(selecting: column)
        default:
            switch picker.line.take(key) {
            case .changed: picker.selected = 0
            case .moved: break
            case .ignored: return key.modifiers.contains(.control) ? run(key) : []
            }
        }
        replaceTop(by: .picker(picker))
        return []
    }

    /// Shows or hides a column; returns what the refusal asks for, `nil` where it is done.
    private mutating func toggle(_ column: Column) -> [Effect]? {
        var columns = presentColumns
        if let place = columns.firstIndex(of: column) {
            guard columns.count > 1 else { return refuse("The list needs a column.") }
            columns.remove(at: place)
        } else {
            columns.append(column)
        }
        list.columns = columns
        return nil
    }

    private mutating func moveColumn(_ column: Column?, by step: Int) -> PickerState {
        var columns = presentColumns
        if let place = column.flatMap({ columns.firstIndex(of: $0) }), columns.indices.contains(place + step) {
            columns.swapAt(place, place + step)
        }
        list.columns = columns
        return columnChoice(selecting: column)
    }
}
