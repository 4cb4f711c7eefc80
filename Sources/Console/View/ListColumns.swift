import HTTPModel
import Terminal
import Text

/// The list's columns with their widths, as far as there is room.
struct ListColumns {
    struct Drawn: Hashable {
        var column: Column
        var width: Int
    }

    private(set) var drawn: [Drawn] = []
    /// Those that were asked for and have no room.
    private(set) var missing: [Column] = []

    /// The sign of so many missing columns, at the right of the titles; empty where all are there.
    func sign(_ look: Look) -> String { missing.isEmpty ? "" : "\(look.isUnicode ? "›" : ">")\(missing.count)" }

    /// What says that columns have no room; `nil` where they have.
    func words(_ way: String) -> String? {
        guard !missing.isEmpty else { return nil }
        let names = missing.map(\.rawValue)
        let first = names.dropLast().joined(separator: ", ")
        let list = (first.isEmpty ? "" : "\(first) and ") + (names.last ?? "")
        return "There is no room for \(list) at this width; \(way) hides others."
    }

    /// The columns that have as much room as their content needs at most, in columns of the screen.
    private static func widths(_ model: ConsoleModel, _ width: Int, start: Int) -> [Column: Int] {
        [
            .id: max(4, String(model.list.sessionTotal).count + 2) + annotationWidth(model), .start: max(9, start),
            .method: 7, .scheme: 6, .status: 6, .type: 10, .size: 8, .time: 8, .version: 7, .process: 16, .server: 21,
            .comment: 24, .waterfall: 20 + max(0, width - widest) / 2,
        ]
    }

    /// To how much those can be narrowed that still say something then.
    private static let narrowest: [Column: Int] =
        [.type: 6, .process: 9, .server: 12, .comment: 8, .waterfall: 6]
    /// What a host and a path need at least.
    private static let least: [Column: Int] = [.host: 9, .path: 12]
    /// A host up to this length, with the sign for TLS, is whole before any path.
    private static let wholeHost = 25
    /// More than this is no host given, however long it is.
    private static let widestHost = 48

    /// From this width on, the list has all usual columns; of what is beyond it, the waterfall gets half.
    private static let widest = 140

    /// - Parameter start: the width of the title of the column with times.
    init(_ model: ConsoleModel, width: Int, start: Int) {
        let isChosen = !model.list.columns.isEmpty
        var columns = isChosen ? model.list.columns : Self.automatic(width)
        var widths = Self.widths(model, width, start: start)
        if isChosen {
            Self.narrow(columns, &widths, to: width)
            while columns.count > 1, Self.used(columns, widths) > width {
                // The path says most; of the others the last has to go.
                guard let last = columns.lastIndex(where: { $0 != .path }) else { break }
                missing.insert(columns.remove(at: last), at: 0)
            }
            // Where one had to go, the others may be wider again.
            widths = Self.widths(model, width, start: start)
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

    /// The room that columns take, with one column of the screen between them.
    private static func used(_ columns: [Column], _ widths: [Column: Int]) -> Int {
        columns.reduce(-1) { $0 + (widths[$1] ?? least[$1] ?? 0) + 1 }
    }

    /// Narrows what can be, the widest first, as far as is needed.
    private static func narrow(_ columns: [Column], _ widths: inout [Column: Int], to width: Int) {
        for _ in 0..<max(0, used(columns, widths) - width) {
            let spare = columns.max { (slack($0, widths), $0.rawValue) < (slack($1, widths), $1.rawValue) }
            guard let spare, slack(spare, widths) > 0, let old = widths[spare] else { return }
            widths[spare] = old - 1
        }
    }

    private static func slack(_ column: Column, _ widths: [Column: Int]) -> Int {
        guard let width = widths[column], let least = narrowest[column] else { return 0 }
        return width - least
    }

    /// How wide hosts are beside paths: two fifths of the room, more for usual hosts to be whole, and what the paths on the
    /// screen leave over.
    private static func hosts(_ model: ConsoleModel, _ rest: Int) -> Int {
        let last = min(model.list.total, model.list.bottom + model.size.height)
        let shown = (model.list.bottom..<max(model.list.bottom, last)).compactMap { model.list.rows[$0] }
        let whole = shown.map { SequenceView.hostWidth($0, 0, model) }.filter { $0 <= wholeHost }.max() ?? 0
        let share = max(min(32, rest * 2 / 5), min(whole, rest - (least[.path] ?? 0)))
        // With a wider column the scheme would come before the host, and take what was gained.
        let most = share < SequenceView.schemeFrom ? min(SequenceView.schemeFrom - 1, widestHost) : widestHost
        let needed = shown.map { SequenceView.hostWidth($0, share, model) }.max() ?? 0
        guard needed > share else { return share }
        let paths = shown.map { TextWidth.columns(SequenceView.path($0)) }.max() ?? 0
        return max(share, min(needed, most, rest - max(paths, 8)))
    }

    /// The room for the signs of comments and colours, where an exchange that is known has any.
    private static func annotationWidth(_ model: ConsoleModel) -> Int {
        let annotations = model.list.rows.values.lazy.map(\.extras.annotation)
        return (annotations.contains { $0.comment != nil } ? 1 : 0)
            + (annotations.contains { $0.colour != nil } ? 1 : 0)
    }
}
