import Files
import Foundation
import HTTPModel
import Jobs
import NIOCore

/// The user's settings of the screen, which are restored at the next start. Only ``init(_:)`` and ``apply(to:)`` know
/// the parts of the model that belong to them.
package struct ViewSettings: Codable, Sendable, Equatable {
    var columns: [String]?
    /// `nil` if the terminal's background decides.
    var theme: String?
    var layout: String?
    var wraps: Bool?
    var split: Int?
    var splitBelow: Int?
    var focusedHosts: [String]?
    var ignoredHosts: [String]?
    var highlights: [Int: String]?
    var filterHistory: [String]?
    var usesMouse: Bool?

    package init() {}

    init(_ model: ConsoleModel) {
        func given<Value: Collection>(_ value: Value) -> Value? { value.isEmpty ? nil : value }
        columns = given(model.list.columns.map(\.rawValue))
        theme = model.isThemeChosen ? model.look.theme.rawValue : nil
        layout = model.layout == .split ? nil : model.layout.rawValue
        wraps = model.wraps ? nil : false
        split = model.split == ViewSettings.split ? nil : model.split
        splitBelow = model.splitBelow == ViewSettings.splitBelow ? nil : model.splitBelow
        focusedHosts = model.home == nil ? given(model.list.query.focusedHosts.sorted()) : nil
        ignoredHosts = model.home == nil ? given(model.list.query.ignoredHosts.sorted()) : nil
        let filters = Dictionary(model.highlights.map { ($0.number, $0.filter.description) }) { first, _ in first }
        highlights = given(filters)
        filterHistory = given(model.filter.history)
        usesMouse = model.isMouseOn == model.isMouseOnAtFirst ? nil : model.isMouseOn
    }

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

    /// A sentence about the settings that change the content of the list; `nil` if there are none.
    func effects(on model: ConsoleModel) -> String? {
        var parts: [String] = []
        if let focusedHosts { parts.append("only \(focusedHosts.joined(separator: ", ")) is shown") }
        if let ignoredHosts { parts.append("\(ignoredHosts.joined(separator: ", ")) is hidden") }
        if let highlights { parts.append(LinearSentence.count(highlights.count, "highlight")) }
        guard !parts.isEmpty else { return nil }
        return "Restored view: \(parts.joined(separator: ", ")); \(model.way(to: .resetView)) resets it."
    }
}

extension ConsoleModel {
    mutating func resetView() -> [Effect] {
        isThemeChosen = false
        let before = list.query
        ViewSettings().apply(to: &self)
        list.query.sort = nil
        tell("All settings of the view are reset.")
        let query = list.query
        list.query = before
        revealAll()
        return ask { $0 = query } + loadRows() + [.terminal(.redraw)]
    }

    mutating func setMouse(_ word: String?) -> [Effect] {
        isMouseOn = word.map { $0.lowercased() == "on" } ?? !isMouseOn
        return tell(isMouseOn ? "Mouse on." : "Mouse off: the terminal selects text with it; :mouse turns it on.")
    }
}

/// The file with the user's ``ViewSettings``: `view.json` in Sluice's configuration directory.
package struct ViewSettingsFile: Sendable {
    /// The maximum size of the file, in bytes.
    private static let longest = 1 << 20

    let path: String

    package init(path: String = StandardPaths.configuration + "/view.json") { self.path = path }

    /// Applies the settings and reports what they hide. A file that cannot be read is reported and ignored.
    package func configure(_ model: inout ConsoleModel) {
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            let bytes = try InputFile.contents(of: path, atMost: ViewSettingsFile.longest)
            let settings = try JSONDecoder().decode(ViewSettings.self, from: Data(bytes))
            settings.apply(to: &model)
            if let words = settings.effects(on: model) { model.tell(words) }
        } catch {
            model.pin("\(path) cannot be read and is ignored; the next change of the view overwrites it.", .error)
        }
    }

    /// Writes all settings, readable only by the user; if all settings have their defaults, removes the file instead.
    func write(_ settings: ViewSettings) throws {
        guard settings != ViewSettings() else {
            if unlink(path) != 0, errno != ENOENT { throw ConsoleError("\(path) cannot be removed.") }
            return
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try StandardPaths.makeDirectory((path as NSString).deletingLastPathComponent)
        let file = try OutputFile(path, isSecret: true, waits: false)
        try file.write(ByteBuffer(bytes: try encoder.encode(settings)))
        try file.finish()
    }

    package func remove() { unlink(path) }
}

final class ViewSettingsKeeper {
    private let file: ViewSettingsFile
    private var kept: ViewSettings
    private var keptAt = ContinuousClock.now

    init(_ file: ViewSettingsFile, _ model: ConsoleModel) { (self.file, kept) = (file, ViewSettings(model)) }

    func changes(of model: ConsoleModel, isEnd: Bool = false) -> (@Sendable () throws -> Void)? {
        guard isEnd || ContinuousClock.now - keptAt >= .seconds(1) else { return nil }
        keptAt = .now
        // What an opened session hides does not belong to the console's own session, so it is not saved.
        guard model.home == nil else { return nil }
        let settings = ViewSettings(model)
        guard settings != kept else { return nil }
        kept = settings
        return { [file] in try file.write(settings) }
    }
}
