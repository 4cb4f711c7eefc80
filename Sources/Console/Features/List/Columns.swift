import Description
package import HTTPModel
import Terminal
import Text

package enum Column: RawRepresentable, CaseIterable, Sendable, Hashable {
    case id, start, method, scheme, host, path, status, type, size, time, version, process, server, comment, waterfall
    /// The values at a place, which are loaded only for the rows on the screen.
    case place(Place)

    package static let allCases: [Column] = [
        .id, .start, .method, .scheme, .host, .path, .status, .type, .size, .time, .version, .process, .server,
        .comment,
        .waterfall,
    ]
    package static let sortable = allCases.filter { $0 != .waterfall && $0 != .comment }

    package var rawValue: String { if case .place(let place) = self { place.description } else { "\(self)" } }

    package init?(rawValue: String) {
        let known = Column.allCases.first { $0.rawValue == rawValue }
        guard let column = known ?? (try? Place(rawValue)).map(Column.place) else { return nil }
        self = column
    }

    /// Why a word is not a valid place, in a sentence; `nil` if it is valid, or does not look like a place.
    static func problem(with word: String) -> String? {
        guard word.contains(".") else { return nil }
        do throws(PlaceError) {
            _ = try Place(word)
            return nil
        } catch {
            return "'\(VisibleText.of(String(word.prefix(40))))' is not a place: \(error)"
        }
    }

    var place: Place? { if case .place(let place) = self { place } else { nil } }

    var title: String {
        switch self {
        case .id: "#"
        case .start: "START"
        case .place(let place): place.shortName
        default: rawValue.uppercased()
        }
    }

    func title(at now: Int64) -> String { self == .start ? "\(title) \(Timestamp.zone(at: now))" : title }

    var isRightAligned: Bool { [.id, .size, .time].contains(self) }

    var meaning: String {
        switch self {
        case .id: "the number in the session"
        case .start: "the time of day at which it started"
        case .method: "the method"
        case .scheme: "http, https, ws, wss or tunnel"
        case .host: "the host, with its port if it is not the default"
        case .path: "path and query"
        case .status: "the status (of gRPC its own, as rpc14), and signs for what happened"
        case .type: "the response's media type"
        case .size: "bytes of the response's body, as received"
        case .time: "the total time"
        case .version: "HTTP version of the client, and of the server if it differs"
        case .process: "the client's program and process number; (not found): it had ended, or another user owns it"
        case .server: "the server's address"
        case .comment: "your comment"
        case .waterfall: "its start and duration as a bar; pauses between exchanges are shortened"
        case .place: "the value at this place"
        }
    }
}

extension ConsoleModel {
    var presentColumns: [Column] {
        list.columns.isEmpty && !isLinear ? arrangedColumns.drawn.map(\.column) : list.columns
    }

    /// Shows the named columns; `+` adds and `-` removes a column. In linear mode, these are the columns of each line.
    mutating func setColumns(_ words: String) -> [Effect] {
        let names = words.split { $0 == " " || $0 == "," }
        let isChange = names.contains { $0.first == "+" || $0.first == "-" }
        var columns = !isChange ? [] : isLinear ? list.columns : presentColumns
        for name in names {
            let isRemoved = name.first == "-"
            let name = String(name.drop { "+-".contains($0) })
            let known = Column.allCases.first { $0.rawValue == name.lowercased() }
            guard let column = known ?? Column(rawValue: name) else { continue }
            if isLinear, column.place != nil { return refuse("Places are columns of the list on the screen only.") }
            if isRemoved {
                columns.removeAll { $0 == column }
            } else if !columns.contains(column) {
                columns.append(column)
            }
        }
        if isChange, columns.isEmpty, !isLinear { return refuse("The list needs at least one column.") }
        list.columns = columns
        let missing = arrangedColumns.words(way(to: .columns))
        if let words = isLinear ? LinearSentence.announcement(of: columns) : missing { tell(words) }
        return readValues()
    }

    /// Loads the values of places for the rows on the screen, if a value is missing or may still change.
    func readValues() -> [Effect] {
        let places = list.columns.compactMap(\.place)
        guard !places.isEmpty else { return [] }
        let ids = ListColumns.shown(self).filter { record in
            record.state == .inFlight || places.contains { list.values[record.id]?[$0] == nil }
        }.map(\.id)
        return ids.isEmpty ? [] : [.readValues(ids, places, generation: list.generation)]
    }

    private var arrangedColumns: ListColumns { ListColumns(self, width: Layout(self).list.width) }

    func columnChoice(selecting column: Column? = nil) -> PickerState {
        let present = presentColumns
        let all = present + Column.allCases.filter { !present.contains($0) }
        guard !isLinear else {
            let items = all.filter { !LinearSentence.always.contains($0) }.map {
                PickerState.Item($0.rawValue, present.contains($0) ? "shown" : "not shown", detail: $0.meaning)
            }
            return PickerState(command: .columns, title: "Columns of each line", items: items)
        }
        let missing = arrangedColumns.missing
        let items = all.map { column in
            let detail = (missing.contains(column) ? "NO ROOM: " : "") + column.meaning
            let box = present.contains(column) ? "[x]" : "[ ]"
            return PickerState.Item(column.rawValue, "\(box) \(column.rawValue)", detail: detail)
        }
        let title = "Columns: space shows or hides, J K moves, A automatic, or type a place"
        var picker = PickerState(command: .columns, title: title, items: items)
        picker.isColumnChoice = true
        picker.selected = column.flatMap { all.firstIndex(of: $0) } ?? 0
        return picker
    }

    /// Applies a key in the choice of columns; `nil` for keys that work as in other choices.
    mutating func typeColumns(_ key: Key, _ picker: PickerState) -> [Effect]? {
        let items = picker.matches
        let typed = picker.line.text
        let listed = items.indices.contains(picker.selected) ? Column(rawValue: items[picker.selected].value) : nil
        let column = listed ?? (try? Place(typed)).map(Column.place)
        switch (key.code, key.modifiers) {
        case (.enter, _):
            if column == nil, let problem = Column.problem(with: typed) { return refuse(problem + ".") }
            if !typed.isEmpty, let column, let refused = toggle(column) { return refused }
            return goBack() + readValues()
        case (.character(" "), _):
            guard let column else { return [] }
            if let refused = toggle(column) { return refused }
            replaceTop(by: .picker(columnChoice(selecting: column)))
            return readValues()
        case (.character("K"), _) where typed.isEmpty, (.up, .shift): moveColumn(column, by: -1)
        case (.character("J"), _) where typed.isEmpty, (.down, .shift): moveColumn(column, by: 1)
        case (.character("A"), _) where typed.isEmpty: list.columns = []
        default: return nil
        }
        replaceTop(by: .picker(columnChoice(selecting: column)))
        return []
    }

    /// Shows or hides a column; returns `nil` if this succeeds, otherwise the effects of the rejection.
    private mutating func toggle(_ column: Column) -> [Effect]? {
        var columns = presentColumns
        if let place = columns.firstIndex(of: column) {
            guard columns.count > 1 else { return refuse("The list needs at least one column.") }
            columns.remove(at: place)
        } else {
            columns.append(column)
        }
        list.columns = columns
        return nil
    }

    private mutating func moveColumn(_ column: Column?, by step: Int) {
        var columns = presentColumns
        if let place = column.flatMap({ columns.firstIndex(of: $0) }), columns.indices.contains(place + step) {
            columns.swapAt(place, place + step)
        }
        list.columns = columns
    }
}

struct ListColumns {
    struct Drawn: Hashable {
        var column: Column
        var width: Int
    }

    private(set) var drawn: [Drawn] = []
    private(set) var missing: [Column] = []

    func sign(_ look: Look) -> String { missing.isEmpty ? "" : "\(look.isUnicode ? "›" : ">")\(missing.count)" }

    func words(_ way: String) -> String? {
        guard let last = missing.last?.rawValue else { return nil }
        let first = missing.dropLast().map(\.rawValue).joined(separator: ", ")
        let list = first.isEmpty ? last : "\(first) and \(last)"
        return "No room for \(list) at this width; \(way) hides other columns."
    }

    /// The preferred widths of all columns except host and path, in columns of the screen.
    private static func widths(_ model: ConsoleModel, _ width: Int) -> [Column: Int] {
        var widths: [Column: Int] = [
            .id: max(4, String(model.list.sessionTotal).count + 2) + annotationWidth(model),
            .start: max(9, Column.start.title(at: model.now).count),
            .method: 7, .scheme: 6, .status: 6, .type: 10, .size: 8, .time: 8, .version: 7, .process: 16, .server: 21,
            .comment: 24, .waterfall: 20 + max(0, width - widest) / 2,
        ]
        for column in model.list.columns {
            guard let place = column.place else { continue }
            let values = ListColumns.shown(model).compactMap { model.list.values[$0.id]?[place] }
            let longest = values.map { TextWidth.columns($0) }.max() ?? 0
            widths[column] = max(TextWidth.columns(column.title), min(widestValue, longest), 4)
        }
        return widths
    }

    private static let widestValue = 32

    /// The minimum widths of columns that are still useful if they are narrowed.
    private static let narrowest: [Column: Int] = [.type: 6, .process: 9, .server: 12, .comment: 8, .waterfall: 6]
    private static let least: [Column: Int] = [.host: 9, .path: 12]
    /// A host up to this width, with the mark for TLS, is shown whole before paths get any space.
    private static let wholeHost = 25
    /// The maximum width of the host column beside paths.
    private static let widestHost = 48

    /// From this width on, the list has all usual columns; the waterfall gets half of any additional width.
    private static let widest = 140

    init(_ model: ConsoleModel, width: Int) {
        let isChosen = !model.list.columns.isEmpty
        var columns = isChosen ? model.list.columns : Self.automatic(width)
        var widths = Self.widths(model, width)
        if isChosen {
            Self.narrow(columns, &widths, to: width)
            while columns.count > 1, Self.used(columns, widths) > width {
                // Removes the last column other than the path, which is the most informative column.
                guard let last = columns.lastIndex(where: { $0 != .path }) else { break }
                missing.insert(columns.remove(at: last), at: 0)
            }
            // If a column was removed, the other columns may be wider again.
            widths = Self.widths(model, width)
            Self.narrow(columns, &widths, to: width)
        }
        let fixed = columns.reduce(0) { $0 + (widths[$1] ?? 0) + 1 }
        let rest = max(0, width - fixed + 1)
        let hosts = !columns.contains(.host) ? 0 : columns.contains(.path) ? Self.hosts(model, rest) : rest
        drawn = columns.compactMap { column in
            let width = widths[column] ?? (column == .host ? hosts : rest - hosts)
            return width > 0 ? Drawn(column: column, width: width) : nil
        }
    }

    private static func automatic(_ width: Int) -> [Column] {
        switch width {
        case widest...: [.id, .start, .method, .status, .host, .path, .type, .size, .time, .waterfall]
        case 120...: [.id, .start, .method, .status, .host, .path, .type, .size, .time]
        case 100...: [.id, .method, .status, .host, .path, .type, .size, .time]
        case 64...: [.id, .method, .status, .host, .path, .size, .time]
        case 40...: [.id, .method, .status, .host, .path]
        case 24...: [.id, .status, .path]
        default: [.status, .path]
        }
    }

    private static func used(_ columns: [Column], _ widths: [Column: Int]) -> Int {
        columns.reduce(-1) { $0 + (widths[$1] ?? least[$1] ?? 0) + 1 }
    }

    private static func narrow(_ columns: [Column], _ widths: inout [Column: Int], to width: Int) {
        for _ in 0..<max(0, used(columns, widths) - width) {
            let spare = columns.max { (slack($0, widths), $0.rawValue) < (slack($1, widths), $1.rawValue) }
            guard let spare, slack(spare, widths) > 0, let old = widths[spare] else { return }
            widths[spare] = old - 1
        }
    }

    private static func slack(_ column: Column, _ widths: [Column: Int]) -> Int {
        guard let width = widths[column], let least = column.place == nil ? narrowest[column] : 6 else { return 0 }
        return width - least
    }

    fileprivate static func shown(_ model: ConsoleModel) -> [ExchangeRecord] {
        let last = min(model.list.total, model.list.bottom + model.size.height)
        return (model.list.bottom..<max(model.list.bottom, last)).compactMap { model.list.rows[$0] }
    }

    /// The width of the host column beside paths: two fifths, more for usual hosts and if paths are short.
    private static func hosts(_ model: ConsoleModel, _ rest: Int) -> Int {
        let shown = ListColumns.shown(model)
        let view = SequenceView(model: model)
        let whole = shown.map { view.hostWidth($0, 0) }.filter { $0 <= wholeHost }.max() ?? 0
        let share = max(min(32, rest * 2 / 5), min(whole, rest - (least[.path] ?? 0)))
        // A wider column would also show the scheme, which would use up the additional width.
        let most = share < SequenceView.schemeFrom ? min(SequenceView.schemeFrom - 1, widestHost) : widestHost
        let needed = shown.map { view.hostWidth($0, share) }.max() ?? 0
        guard needed > share else { return share }
        let paths = shown.map { TextWidth.columns(SequenceView.path($0)) }.max() ?? 0
        return max(share, min(needed, most, rest - max(paths, 8)))
    }

    private static func annotationWidth(_ model: ConsoleModel) -> Int {
        let notes = model.list.rows.values.lazy.map(\.extras.annotation)
        return [notes.contains { $0.comment != nil }, notes.contains { $0.colour != nil }].count { $0 }
    }
}

extension Place {
    fileprivate var shortName: String {
        steps.lazy.reversed().compactMap { if case .member(let name) = $0 { VisibleText.of(name) } else { nil } }.first
            ?? part.rawValue
    }
}
