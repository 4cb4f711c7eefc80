import Description
package import Guide
package import HTTPModel
package import Terminal

/// Everything that the screen shows: changed only by `update`, drawn only by `view`.
package struct ConsoleModel: Sendable {
    package enum Source: Sendable, Hashable {
        case live
        /// Connected to a proxy in a different process.
        case attached(canSteer: Bool)
        case recorded(name: String)
        case demo
    }

    package enum ListView: String, Sendable, Hashable, CaseIterable { case sequence, structure, timeline }

    package var source: Source
    package var size: Size
    package var look: Look
    package var keymap = Keymap.standard
    /// The first key of a sequence of two, while the second key is awaited.
    package var pendingKey: Key?
    package var view = ListView.sequence
    package var isDetailFocused = false
    package var list = ListState()
    package var structure = StructureState()
    package var timeline = TimelineState()
    var seen = SeenValues()
    package var detail = DetailState()
    package var filter = FilterState()
    /// The overlays above the list and the detail; the last overlay has the keyboard focus.
    package var overlays: [Overlay] = []
    package var proxy = ProxyState()
    package var rules = RulesState()
    package var notices: [Notice] = []
    package var jobs: [Job] = []
    var sending = SendState()
    package var marks: [ExchangeID] = [] { didSet { marked = Set(marks) } }
    package private(set) var marked: Set<ExchangeID> = []
    /// Whether the terminal reports the mouse; if not, the mouse selects text in the terminal.
    package var isMouseOn = true
    /// The default of ``isMouseOn``, if the user has not chosen.
    package var isMouseOnAtFirst = true
    var copying = CopyState()
    package var highlights: [Highlight] = []
    var changes: [SessionChange] = []
    package var jump = JumpChoice.error
    /// The time of the last tick, in microseconds since 1970.
    package var now: Int64 = 0
    /// The width of the detail beside the list, in thousandths of the screen.
    package var split = 500
    /// The height of the detail below the list, in thousandths of the screen without the lines at its edges.
    package var splitBelow = 800
    package var layout = ReadingLayout.split
    package var wraps = true
    package var isDraggingSplit = false
    /// Whether the user chose the theme; if not, the terminal's background decides it.
    package var isThemeChosen = false
    package var isLinear = false
    var tellsExchanges = true
    /// In linear mode, the rule or request that was drafted last; `apply` applies or sends it.
    var draft: EditorState?
    /// The number of all notices so far, kept or not.
    private(set) var noticeCount = 0
    /// When the console was opened, in microseconds since 1970.
    var openedAt: Int64 = 0
    /// The hosts for which a client's rejection of the certificate was reported, with the kind of the message.
    var toldHosts: Set<String> = []
    /// Whether an opened recording is still being made by another Sluice.
    package var isGrowing = false
    /// Whether exchanges were imported here: then a growing session does not mean that another Sluice records it.
    var hasImported = false
    /// The state of the console's own session, while a different session is shown.
    var home: HomeState?
    /// The prompt that was submitted last; it opens again if its command is rejected later.
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

    /// How to give a command: its key, or its name if it has no key or in linear mode.
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
    /// Dark, light, or without colours; limited to the colours of the terminal.
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
    /// How long a notice stays in the status line if no key is pressed, in microseconds.
    package static let shown: Int64 = 6_000_000
    /// The minimum time that an answer is shown before news replace it, in microseconds.
    static let read: Int64 = 1_500_000
    /// The maximum time that a pinned notice waits for a key, in microseconds; then the line shows the state again.
    package static let shownPinned: Int64 = 120_000_000

    package var text: String
    package var kind: Kind
    /// In microseconds since 1970.
    package var at: Int64
    /// Whether the notice stays in the status line until a key is pressed, or for ``shownPinned``.
    var isPinned = false
    /// Whether a key was pressed since the notice appeared, so that the status line is free again.
    var isRead = false
    /// Whether the notice does not answer a key; then an answer is shown first.
    var isNews = false
    /// Whether the notice only says that a key does nothing; such a notice is not kept.
    var isAboutKey = false
    var column: Int?
}

package struct Job: Sendable, Hashable, Identifiable {
    /// At most one job of each kind runs at a time; ``matching`` counts the matches of a rule.
    package enum Kind: Sendable, Hashable { case pass, find, repeating, export, importing, matching }

    package var id: Kind
    package var title: String
    /// From 0 to 1; `nil` if the progress is unknown.
    package var progress: Double?
    /// In microseconds since 1970.
    package var startedAt: Int64
}

package struct Highlight: Sendable, Hashable {
    package var filter: Filter
    /// The number beside the row, so that the highlight can be recognised without its colour.
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

    /// An explanation; empty if the name needs none.
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
