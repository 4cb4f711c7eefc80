import HTTPModel
import Terminal

/// What a user set up on the screen and finds again at the next start.
///
/// ``init(_:)`` and ``apply(to:)`` are the only places that know which part of the model it is.
package struct ViewSettings: Codable, Sendable, Equatable {
    var columns: [String]?
    /// `nil` where the terminal's background decides.
    var theme: String?
    var layout: String?
    var wraps: Bool?
    var split: Int?
    var splitBelow: Int?
    var focusedHosts: [String]?
    var ignoredHosts: [String]?
    /// The filters of highlights, by their numbers.
    var highlights: [Int: String]?
    var filterHistory: [String]?
    var usesMouse: Bool?

    package init() {}

    /// What of a model differs from how it begins.
    init(_ model: ConsoleModel) {
        columns = model.list.columns.isEmpty ? nil : model.list.columns.map(\.rawValue)
        theme = model.isThemeChosen ? model.look.theme.rawValue : nil
        layout = model.layout == .split ? nil : model.layout.rawValue
        wraps = model.wraps ? nil : false
        split = model.split == ViewSettings.split ? nil : model.split
        splitBelow = model.splitBelow == ViewSettings.splitBelow ? nil : model.splitBelow
        let hosts = model.home == nil ? model.list.query.focusedHosts : []
        focusedHosts = hosts.isEmpty ? nil : hosts.sorted()
        let ignored = model.home == nil ? model.list.query.ignoredHosts : []
        ignoredHosts = ignored.isEmpty ? nil : ignored.sorted()
        let filters = Dictionary(model.highlights.map { ($0.number, $0.filter.description) }) { first, _ in first }
        highlights = filters.isEmpty ? nil : filters
        filterHistory = model.filter.history.isEmpty ? nil : model.filter.history
        usesMouse = model.isMouseOn == model.isMouseOnAtFirst ? nil : model.isMouseOn
    }

    /// Puts the settings into a model; what cannot be understood is left out.
    func apply(to model: inout ConsoleModel) {
        model.list.columns = (columns ?? []).compactMap { Column(rawValue: $0) }
        if let theme = theme.flatMap({ Theme(rawValue: $0) }), model.look.theme != .plain {
            (model.look.theme, model.isThemeChosen) = (theme, true)
        }
        model.layout = layout.flatMap { ReadingLayout(rawValue: $0) } ?? .split
        model.wraps = wraps ?? true
        model.split = min(max(150, split ?? ViewSettings.split), 850)
        model.splitBelow = min(max(150, splitBelow ?? ViewSettings.splitBelow), 850)
        model.list.query.focusedHosts = Set(focusedHosts ?? [])
        model.list.query.ignoredHosts = Set(ignoredHosts ?? [])
        model.highlights = (highlights ?? [:]).sorted { $0.key < $1.key }.compactMap { number, text in
            guard number > 0, let filter = try? Filter(text), filter.needs == .record else { return nil }
            return Highlight(filter: filter, number: number)
        }
        model.filter.history = Array((filterHistory ?? []).suffix(200))
        model.isMouseOn = usesMouse ?? model.isMouseOnAtFirst
    }

    private static let split = 500
    private static let splitBelow = 800

    /// What of it changes what the list shows, in a sentence; `nil` for nothing.
    func effects(on model: ConsoleModel) -> String? {
        var parts: [String] = []
        if let focusedHosts { parts.append("only \(focusedHosts.joined(separator: ", ")) is shown") }
        if let ignoredHosts { parts.append("\(ignoredHosts.joined(separator: ", ")) is hidden") }
        if let count = highlights?.count {
            parts.append("\(LinearSentence.count(count, "highlight"))")
        }
        guard !parts.isEmpty else { return nil }
        return "As you left it: \(parts.joined(separator: ", ")); \(model.way(to: .resetView)) takes all of it back."
    }
}

extension ConsoleModel {
    /// Takes back all that ``ViewSettings`` keeps.
    mutating func resetView() -> [Effect] {
        isThemeChosen = false
        let before = list.query
        ViewSettings().apply(to: &self)
        list.query.sort = nil
        tell("Columns, order, theme, focus, highlights, filter history and the rest are as at the first start.")
        let query = list.query
        list.query = before
        revealAll()
        return ask { $0 = query } + loadRows() + [.terminal(.redraw)]
    }

    /// Has the mouse reported, or left to the terminal, so that text can be selected with it.
    mutating func setMouse(_ word: String?) -> [Effect] {
        isMouseOn = word.map { $0.lowercased() == "on" } ?? !isMouseOn
        tell(
            isMouseOn
                ? "The mouse is used." : "The mouse is the terminal's, for selecting text; :mouse uses it again."
        )
        return []
    }
}
