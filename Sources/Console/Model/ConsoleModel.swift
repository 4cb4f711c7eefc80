public import HTTPModel
public import Terminal

/// Everything that the screen shows: changed by `update` alone, drawn by `view` alone.
public struct ConsoleModel: Sendable {
    /// What the console looks at.
    public enum Source: Sendable, Hashable {
        /// A proxy that runs in this process.
        case live
        /// A proxy that runs in another process, and whether it may be steered.
        case attached(canSteer: Bool)
        /// A recorded session, or an archive.
        case recorded(name: String)
        /// Sluice at work on traffic of its own.
        case demo
    }

    /// What the left, or the upper, part shows.
    public enum ListView: String, Sendable, Hashable, CaseIterable {
        /// One exchange after the other.
        case sequence
        /// A tree by host and path.
        case structure
    }

    /// What is looked at.
    public var source: Source
    /// The terminal's size.
    public var size: Size
    /// What the terminal can.
    public var look: Look
    /// Keys and what they mean.
    public var keymap = Keymap.standard
    /// The first of two keys, while the second is awaited.
    public var pendingKey: Key?
    /// Sequence or structure.
    public var view = ListView.sequence
    /// Whether the detail has the keys, and not the list.
    public var isDetailFocused = false
    /// The list of exchanges.
    public var list = ListState()
    /// The tree.
    public var structure = StructureState()
    /// The exchange that is open.
    public var detail = DetailState()
    /// The filter and the line in which it is typed.
    public var filter = FilterState()
    /// What lies over the list and the detail; the last has the keys.
    public var overlays: [Overlay] = []
    /// What is known of the proxy.
    public var proxy = ProxyState()
    /// The rules, and what was done to them.
    public var rules = RulesState()
    /// What the user was told, the newest last.
    public var notices: [Notice] = []
    /// What runs and may take long.
    public var jobs: [Job] = []
    /// Marked exchanges, in the order in which they were marked.
    public var marks: [ExchangeID] = []
    /// What exchanges are coloured by.
    public var highlights: [Highlight] = []
    /// What `]` and `[` go to.
    public var jump = JumpChoice.error
    /// The moment, in microseconds since 1970: as of the last tick.
    public var now: Int64 = 0
    /// The width of the detail beside the list, or its height below, in thousandths of the screen.
    public var split = 500
    /// Whether the mouse drags the line between list and detail.
    public var isDraggingSplit = false
    /// Whether the user chose the theme, so that the terminal's background does not.
    public var isThemeChosen = false
    /// Whether commands are given as words, on lines.
    public var isLinear = false
    /// Whether a recording that was opened is still being made, by a Sluice that runs elsewhere.
    public var isGrowing = false
    /// Counts what is asked, so that late answers are known as such.
    public var generation = 0

    /// Begins with an empty screen.
    public init(source: Source, size: Size, look: Look) {
        self.source = source
        self.size = size
        self.look = look
    }

    /// What has the keys now.
    public var context: Context {
        if let overlay = overlays.last { return overlay.context }
        if filter.isEditing { return .line }
        return isDetailFocused && detail.isOpen ? .detail : .list
    }

    /// Whether rules, tools and holds can be changed.
    public var canSteer: Bool {
        switch source {
        case .live, .demo: true
        case .attached(let canSteer): canSteer
        case .recorded: false
        }
    }

    /// Whether exchanges may still come.
    public var isLive: Bool {
        if case .recorded = source { return isGrowing }
        return true
    }

    /// How a command is given: its key, or its word where it has no key or keys are not read.
    func way(to command: Command, in place: Context? = nil) -> String {
        let key = isLinear ? nil : keymap.keys(for: command, in: place ?? .list).first
        return key ?? (isLinear ? command.rawValue : ":\(command.rawValue)")
    }

    /// The number of the highlight that an exchange matches.
    func highlight(_ record: ExchangeRecord) -> Int? {
        highlights.first { $0.filter.decides(record) == true }?.number
    }

    /// Tells the user something, and keeps it among the messages.
    public mutating func tell(_ text: String, _ kind: Notice.Kind = .info) {
        notices.append(Notice(text: text.onOneLine, kind: kind, at: now))
        if notices.count > Notice.most { notices.removeFirst(notices.count - Notice.most) }
    }
}

extension String {
    /// The text with a space for each line break, for places that have one line.
    var onOneLine: String {
        split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }.joined(separator: " ")
    }
}

/// How things are drawn, as far as the terminal decides it.
public struct Look: Sendable, Hashable {
    /// Dark or light, or without colours.
    public var theme: Theme
    /// Whether other characters than ASCII can be shown.
    public var isUnicode: Bool

    /// Puts a look together.
    public init(theme: Theme = .dark, isUnicode: Bool = true) {
        self.theme = theme
        self.isUnicode = isUnicode
    }
}

/// Something that the user was told.
public struct Notice: Sendable, Hashable {
    /// How grave it is.
    public enum Kind: Sendable, Hashable {
        /// Something was done.
        case info
        /// Something could not be done.
        case error
    }

    /// How many are kept.
    public static let most = 500
    /// How long one stands in the status line: microseconds.
    public static let shown: Int64 = 6_000_000

    /// The words.
    public var text: String
    /// How grave it is.
    public var kind: Kind
    /// When: microseconds since 1970.
    public var at: Int64
    /// Whether it stands in the status line until a key is pressed.
    var isPinned = false
}

/// Something that runs beside the screen.
public struct Job: Sendable, Hashable, Identifiable {
    /// What is running; one of each kind at a time.
    public enum Kind: Sendable, Hashable {
        /// A pass over the session.
        case pass
        /// A jump to the next of a kind.
        case find
        /// Requests that are sent again.
        case repeating
        /// An export.
        case export
        /// Counting what a rule would match.
        case matching
    }

    /// Names it.
    public var id: Kind
    /// What it does, in words.
    public var title: String
    /// How far it is, 0 to 1; `nil` where that is not known.
    public var progress: Double?
    /// When it began: microseconds since 1970.
    public var startedAt: Int64
}

/// Colours for exchanges that match a filter.
public struct Highlight: Sendable, Hashable {
    /// Which ones.
    public var filter: Filter
    /// As which text it is marked; a number, so that no colour carries the meaning alone.
    public var number: Int
}

/// What the rotor jumps to.
public enum JumpChoice: String, CaseIterable, Sendable, Hashable {
    case error = "errors"
    case slow
    case large
    case changed = "changed by a rule"
    case held
    case marked
    case sameEndpoint = "same endpoint"
    case sameHost = "same host"
}

extension ConsoleModel {
    /// Whether the screen shows something that changes with time alone.
    var needsClock: Bool {
        !proxy.holds.isEmpty || !jobs.isEmpty || isLive
            || notices.last.map { now - $0.at < Notice.shown + 200_000 } == true
            || list.rows.values.contains { $0.state == .inFlight }
    }
}
