import Terminal

/// The choice of the list's columns: those present in their order, then the possible ones.
extension ConsoleModel {
    /// The columns that the list has now, whether they were chosen or just fit.
    var presentColumns: [Column] {
        list.columns.isEmpty ? SequenceView.columns(self, width: Layout(self).list.width).map(\.column) : list.columns
    }

    func columnChoice(selecting column: Column? = nil) -> PickerState {
        let present = presentColumns
        let others = Column.allCases.filter { !present.contains($0) }
        let items = (present + others).map { column in
            PickerState.Item(
                column.rawValue,
                "\(present.contains(column) ? "[x]" : "[ ]") \(column.rawValue)",
                detail: column.meaning
            )
        }
        var picker = PickerState(
            command: .columns,
            title: "Columns: space shows or hides, J K moves, a as fits",
            items: items
        )
        picker.isColumnChoice = true
        picker.selected = column.flatMap { (present + others).firstIndex(of: $0) } ?? 0
        return picker
    }

    /// Takes a key in the choice of columns; what it changes is seen at once.
    mutating func typeColumns(_ key: Key, _ picker: PickerState) -> [Effect] {
        var picker = picker
        let last = picker.items.count - 1
        let column =
            picker.items.indices.contains(picker.selected) ? Column(rawValue: picker.items[picker.selected].value) : nil
        var columns = presentColumns
        let place = column.flatMap { columns.firstIndex(of: $0) }
        func swapped(with other: Int) {
            guard let place, columns.indices.contains(other) else { return }
            columns.swapAt(place, other)
        }
        switch (key.code, key.modifiers) {
        case _ where key.isCancel: return goBack()
        case (.enter, _), (.character("q"), []): return goBack()
        case (.up, []), (.character("k"), []), (.character("p"), .control):
            picker.selected = max(0, picker.selected - 1)
        case (.down, []), (.character("j"), []), (.character("n"), .control):
            picker.selected = min(last, picker.selected + 1)
        case (.character(" "), _):
            guard let column else { return [] }
            if let place {
                guard columns.count > 1 else { return refuse("The list needs a column.") }
                columns.remove(at: place)
            } else {
                columns.append(column)
            }
            list.columns = columns
            picker = columnChoice(selecting: column)
        case (.character("K"), _), (.up, .shift), (.character("J"), _), (.down, .shift):
            let isUp = key.code == .up || key.code == .character("K")
            swapped(with: (place ?? 0) + (isUp ? -1 : 1))
            list.columns = columns
            picker = columnChoice(selecting: column)
        case (.character("a"), []):
            list.columns = []
            picker = columnChoice(selecting: column)
        default: return []
        }
        replaceTop(by: .picker(picker))
        return []
    }
}
