import Description
import Rules
import Runner
import Store
import Terminal
import Text
import Tools

/// Address, tools, holds and rate; for a moment, a notice.
enum StatusView {
    /// One part of the status line, in forms from the longest to the shortest.
    struct Item {
        var forms: [String]
        /// The importance; 0 is the most important.
        var rank: Int
        var isRight = false
        var isAlarming = false

        /// Items that name what is on have a rank of at most `named`; counts and rates, of at least `numbers`.
        static let (named, numbers) = (3, 9)

        init(_ rank: Int, _ forms: String..., isRight: Bool = false, isAlarming: Bool = false) {
            (self.forms, self.rank, self.isRight, self.isAlarming) = (forms, rank, isRight, isAlarming)
        }
    }

    /// The maximum number of rows of a pinned notice.
    private static let mostRows = 4

    static func rows(_ model: ConsoleModel) -> Int {
        guard let notice = model.notices.last(where: \.isPinned), model.size.height >= 12 else { return 1 }
        return min(mostRows, TextWidth.wrap(notice.text, to: max(1, model.size.width - 2)).count)
    }

    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        guard !rect.isEmpty else { return }
        let theme = model.look.theme
        screen.fill(rect, style: theme.bar)
        // ``NoticeView`` draws a notice that is longer than the line.
        if let notice = model.shownNotice {
            let used = screen.write(" \(notice.text) ", x: rect.x, y: rect.y, style: style(notice, theme))
            let right = text(items(model).filter(\.isRight)) + " "
            let room = rect.width - TextWidth.columns(right)
            if used <= room { screen.write(right, x: rect.x + room, y: rect.y, style: theme.bar) }
            return
        }
        let fitting = fitting(items(model), width: rect.width)
        let right = fitting.filter(\.isRight)
        let (start, end) = rect.splitLeft(rect.width - TextWidth.columns(text(right)) - 1)
        draw(fitting.filter { !$0.isRight }, in: start.splitLeft(1).rest, theme, on: &screen)
        draw(right, in: end, theme, on: &screen)
    }

    private static func draw(_ items: [Item], in rect: Rect, _ theme: Theme, on screen: inout CellBuffer) {
        var rest = rect
        func write(_ text: String, _ style: Style) {
            rest = rest.splitLeft(screen.write(text, x: rest.x, y: rest.y, style: style, limit: rest.width)).rest
        }
        for (index, item) in items.enumerated() {
            if index > 0 { write(separator, theme.bar) }
            write(item.forms.first ?? "", item.isAlarming ? alarm(theme) : theme.bar)
        }
    }

    private static let separator = " · "

    static func style(_ notice: Notice, _ theme: Theme) -> Style {
        notice.kind == .error ? alarm(theme) : theme.bar.with(.bold)
    }

    private static func alarm(_ theme: Theme) -> Style {
        theme.hasColours ? theme.style(.failure).on(theme.bar.background) : theme.bar.with(.bold)
    }

    static func text(_ items: [Item]) -> String { items.compactMap(\.forms.first).joined(separator: separator) }

    /// The items that fit, in their order. The least important items are first shortened, then left out.
    static func fitting(_ items: [Item], width: Int) -> [Item] {
        var items = items
        func isTooLong() -> Bool {
            let sides = [items.filter(\.isRight), items.filter { !$0.isRight }].map { TextWidth.columns(text($0)) }
            // One space at each end, and two between the sides.
            return sides.reduce(0, +) + 4 > width
        }
        while isTooLong(), items.count > 1 {
            let last = items.indices.max { items[$0].rank < items[$1].rank } ?? 0
            // Names of what is switched on are shortened only after all counts and rates were left out.
            let long = items.indices.filter { items[$0].forms.count > 1 }.max { items[$0].rank < items[$1].rank }
            if let long, items[long].rank > Item.named || items[last].rank < Item.numbers {
                items[long].forms.removeFirst()
            } else {
                items.remove(at: last)
            }
        }
        return items
    }

    static func items(_ model: ConsoleModel) -> [Item] {
        recordingItems(model) + workItems(model) + ruleItems(model) + countItems(model)
    }

    private static func recordingItems(_ model: ConsoleModel) -> [Item] {
        if let problem = model.proxy.problem { return [Item(0, problem, isAlarming: true)] }
        guard !model.proxy.address.isEmpty else {
            if model.home != nil {
                let back = model.way(to: .backToLive)
                return [Item(6, "opened session, \(back) goes back", "\(back) goes back")]
            }
            return model.isGrowing
                ? [Item(6, "recorded by another Sluice", "growing")] : model.isLive ? [Item(6, "starting …")] : []
        }
        let port = model.proxy.address.lastIndex(of: ":").map { String(model.proxy.address[$0...]) } ?? ""
        let listeners = model.proxy.listeners
        let more = listeners.count > 1 ? " +\(listeners.count - 1)" : ""
        // A single listener shows its mode, unless it is a forward proxy.
        let mode = listeners.count == 1 && listeners[0].isForward == false ? " \(listeners[0].mode)" : ""
        let address =
            mode.isEmpty
            ? Item(8, places(model.proxy), model.proxy.address + more, port + more)
            : Item(8, model.proxy.address + mode, model.proxy.address, port)
        if let problem = model.proxy.recordingProblem {
            return [address, Item(1, "NOT RECORDING", isAlarming: true), Item(11, problem)]
        }
        guard model.proxy.session != nil else { return [address, Item(9, "not recording")] }
        if let recording = model.proxy.recording, !recording.isOn {
            return [address, Item(1, "NOT RECORDING", isAlarming: true), Item(7, "\(recording.passed) passed")]
        }
        return [address, Item(10, "recording", "rec")] + storeItems(model.proxy)
    }

    /// How many exchanges have yet to be sent to a store, and whether it fails.
    private static func storeItems(_ proxy: ProxyState) -> [Item] {
        guard let store = proxy.store else { return [] }
        let waiting = store.waiting > 0 ? "\(store.waiting.grouped) wait" : "all sent"
        guard store.error != nil else { return [Item(12, "store: \(waiting)", "store")] }
        let since = store.waitsSince.map { " since \(Timestamp.clock($0))" } ?? ""
        return [Item(2, "STORE FAILS, \(waiting)\(since)", "STORE FAILS", isAlarming: true)]
    }

    /// All listeners with their modes; listeners on the host of the first one show only their ports.
    private static func places(_ proxy: ProxyState) -> String {
        let host = proxy.address.lastIndex(of: ":").map { proxy.address[..<$0] } ?? ""
        let others = proxy.listeners.filter { $0.address != proxy.address }
        let first = proxy.listeners.first { $0.address == proxy.address && !$0.isForward }
        let places = others.map { other in
            let isBeside = !host.isEmpty && other.address.hasPrefix("\(host):")
            return "\(isBeside ? other.address.dropFirst(host.count) : other.address[...]) \(other.mode)"
        }
        return ([proxy.address + (first.map { " \($0.mode)" } ?? "")] + places).joined(separator: ", ")
    }

    private static func workItems(_ model: ConsoleModel) -> [Item] {
        guard let job = model.shownJob else { return [] }
        let progress = job.progress.map { "\(Int($0 * 100)) %" } ?? ""
        let stops = "\(model.way(to: .stop)) stops"
        let whole = [job.title, progress].filter { !$0.isEmpty }.joined(separator: " ")
        let short = progress.isEmpty ? TextWidth.cut(job.title, to: 24) : progress
        return [Item(0, "\(whole), \(stops)", "\(short), \(stops)")]
    }

    private static func ruleItems(_ model: ConsoleModel) -> [Item] {
        var items: [Item] = []
        let throttle = ToolRegistry.standard.withPresets?.key
        if let preset = model.proxy.presetInForce { items.append(Item(2, "\(throttle ?? "") \(preset)", preset)) }
        // Without a preset, rules of throttle apply only to some hosts, so throttle is listed like other tools.
        let on = model.proxy.tools.filter {
            $0.isOn && $0.enabled > 0 && ($0.name != throttle || model.proxy.preset == nil)
        }.map(\.name)
        let letters = on.compactMap { name in Tool.all.first { $0.key == name }?.letter }.joined(separator: " ")
        if !on.isEmpty { items.append(Item(3, "on: \(on.joined(separator: " "))", "on: \(letters)", "\(on.count) on")) }
        let off = model.proxy.tools.filter { !$0.isOn && $0.rules > 0 }.map(\.name)
        if !off.isEmpty { items.append(Item(7, "off: \(off.joined(separator: " "))", "\(off.count) off")) }
        if model.rules.isOnEverything { items.append(Item(2, "everything is held", "all held")) }
        if model.rules.isUnsaved { items.append(Item(4, "rules unsaved", "unsaved")) }
        if !model.list.isFollowing, model.isLive, model.list.query.sort == nil {
            let follow = model.keymap.keys(for: .follow, in: .list).first.map { ", \($0) follows" } ?? ""
            items.append(Item(5, "not following\(follow)", "not following"))
        }
        return items
    }

    private static func countItems(_ model: ConsoleModel) -> [Item] {
        var items: [Item] = []
        func add(_ item: Item) { items.append(item) }
        if !model.proxy.holds.isEmpty { add(Item(1, "held \(model.proxy.holds.count)", isRight: true)) }
        if !model.marks.isEmpty {
            let hidden = model.list.hiddenMarks > 0 ? " (\(model.list.hiddenMarks) hidden)" : ""
            add(Item(4, "marked \(model.marks.count)\(hidden)", "marked \(model.marks.count)", isRight: true))
        }
        if model.proxy.errors > 0 { add(Item(6, "errors \(model.proxy.errors)", isRight: true, isAlarming: true)) }
        let total = model.list.sessionTotal
        add(Item(9, LinearSentence.count(total, "exchange"), "\(total)", isRight: true))
        if model.isLive, let rate = model.proxy.rates.last {
            let line = sparkline(model.proxy.rates.suffix(12), model.look)
            add(Item(12, "\(rate)/s \(line)", "\(rate)/s", isRight: true))
        }
        return items
    }

    /// A small bar for each rate; the highest rate has the highest bar.
    static func sparkline(_ rates: some Collection<Int>, _ look: Look) -> String {
        let signs: [Character] = look.isUnicode ? Array("▁▂▃▄▅▆▇█") : Array("_.-=+*#@")
        let most = max(1, rates.max() ?? 1)
        return String(rates.map { signs[min(signs.count - 1, $0 * (signs.count - 1) / most)] })
    }
}

extension ConsoleModel {
    fileprivate var shownJob: Job? { jobs.last { now - $0.startedAt > 300_000 } }

    /// The notice in the status line. A running job, and how to stop it, has priority over an older notice.
    var shownNotice: Notice? {
        if let pinned = notices.last(where: \.isPinned) { return pinned }
        let answer = notices.last { !$0.isNews }.flatMap { now - $0.at < Notice.read ? $0 : nil }
        guard let notice = answer ?? notices.last, !notice.isRead else { return nil }
        let isOld = shownJob.map { notice.at <= $0.startedAt } ?? false
        return now - notice.at < Notice.shown && !isOld ? notice : nil
    }
}

/// A notice that is longer than the status line also uses the rows of the footer.
enum NoticeView {
    static func draw(_ model: ConsoleModel, _ layout: Layout, on screen: inout CellBuffer) {
        let rect = layout.status
        guard let notice = model.shownNotice, rect.width > 20, TextWidth.columns(notice.text) + 2 > rect.width
        else { return }
        let theme = model.look.theme
        let style = StatusView.style(notice, theme)
        let rows = rect.height + layout.footer.height
        var lines = TextWidth.wrap(notice.text, to: rect.width - 2).map(String.init)
        if lines.count > rows, rows > 0 {
            let rest = " … \(model.way(to: .messages)) says all"
            lines = Array(lines.prefix(rows))
            lines[rows - 1] = TextWidth.cut(lines[rows - 1], to: rect.width - 2 - rest.count, ellipsis: "") + rest
        }
        for (row, line) in lines.enumerated() {
            let place = rect.row(row)
            screen.fill(place, style: theme.bar)
            screen.write(" \(line)", x: place.x, y: place.y, style: style, limit: place.width)
        }
    }
}
