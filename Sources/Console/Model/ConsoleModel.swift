import Description
package import Guide
package import HTTPModel
package import Terminal

/// Everything that the screen shows: changed only by `update`, drawn only by `view`.
package struct ConsoleModel: Sendable {
    package enum Source: Sendable, Hashable {
        case live
        /// To a proxy in another process.
        case attached(canSteer: Bool)
        case recorded(name: String)
        case demo
    }

    package enum ListView: String, Sendable, Hashable, CaseIterable { case sequence, structure, timeline }

    package var source: Source
    package var size: Size
    package var look: Look
    package var keymap = Keymap.standard
    /// The first of two keys, while the second is awaited.
    package var pendingKey: Key?
    package var view = ListView.sequence
    /// Whether the detail, not the list, has the keys.
    package var isDetailFocused = false
    package var list = ListState()
    package var structure = StructureState()
    package var timeline = TimelineState()
    var seen = SeenValues()
    package var detail = DetailState()
    package var filter = FilterState()
    /// What lies over the list and the detail; the last has the keys.
    package var overlays: [Overlay] = []
    package var proxy = ProxyState()
    package var rules = RulesState()
    package var notices: [Notice] = []
    package var jobs: [Job] = []
    var sending = SendState()
    package var marks: [ExchangeID] = [] { didSet { marked = Set(marks) } }
    package private(set) var marked: Set<ExchangeID> = []
    /// Whether the terminal reports the mouse; without, it selects text with it.
    package var isMouseOn = true
    /// The same if the user has chosen neither.
    package var isMouseOnAtFirst = true
    var copying = CopyState()
    package var highlights: [Highlight] = []
    var changes: [SessionChange] = []
    package var jump = JumpChoice.error
    /// The time of the last tick, in microseconds since 1970.
    package var now: Int64 = 0
    /// The width of the detail beside the list, in thousandths of the screen.
    package var split = 500
    /// The height of the detail below the list, in thousandths of what is left by the lines at the edges.
    package var splitBelow = 800
    package var layout = ReadingLayout.split
    package var wraps = true
    package var isDraggingSplit = false
    /// Whether the user chose the theme, so that the terminal's background does not.
    package var isThemeChosen = false
    package var isLinear = false
    var tellsExchanges = true
    /// On lines, the rule that was drafted last and that `apply` puts in force.
    var draft: EditorState?
    /// The number of all notices so far, kept or not.
    private(set) var noticeCount = 0
    /// When the console was opened, in microseconds since 1970.
    var openedAt: Int64 = 0
    /// The hosts of which was told that a client does not trust the certificate, and what was told.
    var toldHosts: Set<String> = []
    /// Whether an opened recording is still being made by another Sluice.
    package var isGrowing = false
    /// Whether exchanges were imported here, so that a session that grows is not being recorded elsewhere.
    var hasImported = false
    /// What is the console's own, while another session is shown.
    var home: HomeState?
    /// The prompt that was answered last, which comes back if its command is refused later.
    var submitted: PromptState?
    package var makeGuide: @Sendable () -> Guide = { Guide() }
    /// Counts queries, so that late answers are recognised.
    package var generation = 0

    package init(source: Source, size: Size, look: Look) { (self.source, self.size, self.look) = (source, size, look) }

    package var context: Context {
        if let overlay = overlays.last { return overlay.context }
        if filter.isEditing { return .line }
        return isDetailFocused && detail.isOpen ? .detail : .list
    }

    package var canSteer: Bool {
        switch source {
        case .live, .demo: true
        case .attached(let canSteer): canSteer
        case .recorded: false
        }
    }

    package var isLive: Bool {
        if case .recorded = source { return isGrowing }
        return true
    }

    /// How to give a command: its key; its word if it has none, or on lines.
    func way(to command: Command, in place: Context? = nil) -> String {
        let key = isLinear ? nil : keymap.keys(for: command, in: place ?? .list).first
        return key ?? (isLinear ? command.rawValue : ":\(command.rawValue)")
    }

    func highlight(_ record: ExchangeRecord) -> Int? { highlights.first { $0.filter.decides(record) == true }?.number }

    /// Shows the user a notice; returns no effects.
    @discardableResult
    package mutating func tell(
        _ text: String,
        _ kind: Notice.Kind = .info,
        _ change: (inout Notice) -> Void = { _ in }
    ) -> [Effect] {
        noticeCount += 1
        var notice = Notice(text: text.onOneLine, kind: kind, at: now)
        change(&notice)
        notices.append(notice)
        if notices.count > Notice.most { notices.removeFirst(notices.count - Notice.most) }
        return []
    }

    /// Shows the user a notice until a key is pressed, or for two minutes.
    mutating func pin(_ text: String, _ kind: Notice.Kind = .info) { tell(text, kind) { $0.isPinned = true } }
}

extension String {
    var onOneLine: String { split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }.joined(separator: " ") }

    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

    var firstWord: (word: String, rest: String?) {
        let words = split(separator: " ", maxSplits: 1).map(String.init)
        return (words.first ?? "", words.count > 1 ? words[1] : nil)
    }
}

package struct Look: Sendable, Hashable {
    /// Dark or light, or without colours; as the terminal can show it.
    package var theme: Theme { didSet { theme = theme.at(oldValue.depth) } }
    package var isUnicode: Bool

    package init(theme: Theme = .dark, isUnicode: Bool = true, depth: ColorDepth = .palette256) {
        self.theme = theme.at(depth)
        self.isUnicode = isUnicode
    }
}

package struct Notice: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case info, error }

    package static let most = 500
    /// How long one is in the status line if no key is pressed, in microseconds.
    package static let shown: Int64 = 6_000_000
    /// How long an answer is there at the least before news take its place.
    static let read: Int64 = 1_500_000
    /// How long one is there at the most that waits for a key, so that the line says again what is going on.
    package static let shownPinned: Int64 = 120_000_000

    package var text: String
    package var kind: Kind
    /// In microseconds since 1970.
    package var at: Int64
    /// Whether it stays in the status line until a key is pressed, or for ``shownPinned``.
    var isPinned = false
    /// Whether a key was pressed since, so that the status line has its room again.
    var isRead = false
    /// Whether it came unasked, so that it lets an answer to a key be read first.
    var isNews = false
    /// Whether it only says that a key means nothing, which is not worth keeping.
    var isAboutKey = false
    var column: Int?
}

package struct Job: Sendable, Hashable, Identifiable {
    /// One of each kind runs at a time; ``matching`` counts the matches of a rule.
    package enum Kind: Sendable, Hashable { case pass, find, repeating, export, importing, matching }

    package var id: Kind
    package var title: String
    /// From 0 to 1; `nil` if it is not known.
    package var progress: Double?
    /// In microseconds since 1970.
    package var startedAt: Int64
}

package struct Highlight: Sendable, Hashable {
    package var filter: Filter
    /// Shown beside the row, so that colour alone carries no meaning.
    package var number: Int
}

package enum JumpChoice: String, CaseIterable, Sendable, Hashable {
    case error = "errors"
    case slow, large
    case changed = "changed by a rule"
    case held, marked
    case sameEndpoint = "same endpoint"
    case sameHost = "same host"

    /// In microseconds.
    static let slowFrom: Int64 = 1_000_000
    /// In bytes.
    static let largeFrom: Int64 = 1_000_000

    /// Empty if the word says it.
    var meaning: String {
        switch self {
        case .error: "failed, or status 400 and above"
        case .slow: "\(Measures.duration(Self.slowFrom)) or more"
        case .large: "a response of \(Measures.size(Self.largeFrom)) or more"
        case .changed, .held, .marked, .sameEndpoint, .sameHost: ""
        }
    }
}

extension ConsoleModel {
    /// Whether the screen shows something that changes with time alone.
    var needsClock: Bool {
        !proxy.holds.isEmpty || !jobs.isEmpty || isLive
            || notices.last.map { now - $0.at < Notice.shown + 200_000 } == true
            || notices.contains(where: \.isPinned)
            || list.rows.values.contains { $0.state == .inFlight }
    }
}
