package import HTTPModel
import Sharing
package import Terminal

/// Everything that the screen shows: changed by `update` alone, drawn by `view` alone.
package struct ConsoleModel: Sendable {
    package enum Source: Sendable, Hashable {
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
    package enum ListView: String, Sendable, Hashable, CaseIterable {
        /// One exchange after the other.
        case sequence
        /// A tree by host and path.
        case structure
    }

    package var source: Source
    package var size: Size
    package var look: Look
    package var keymap = Keymap.standard
    /// The first of two keys, while the second is awaited.
    package var pendingKey: Key?
    package var view = ListView.sequence
    /// Whether the detail has the keys, and not the list.
    package var isDetailFocused = false
    package var list = ListState()
    package var structure = StructureState()
    package var detail = DetailState()
    package var filter = FilterState()
    /// What lies over the list and the detail; the last has the keys.
    package var overlays: [Overlay] = []
    package var proxy = ProxyState()
    package var rules = RulesState()
    /// What the user was told, the newest last.
    package var notices: [Notice] = []
    package var jobs: [Job] = []
    /// Marked exchanges, in the order in which they were marked.
    package var marks: [ExchangeID] = []
    package var highlights: [Highlight] = []
    /// What `]` and `[` go to.
    package var jump = JumpChoice.error
    /// The moment, in microseconds since 1970: as of the last tick.
    package var now: Int64 = 0
    /// The width of the detail beside the list, or its height below, in thousandths of the screen.
    package var split = 500
    /// Whether the mouse drags the line between list and detail.
    package var isDraggingSplit = false
    /// Whether the user chose the theme, so that the terminal's background does not.
    package var isThemeChosen = false
    /// Whether commands are given as words, on lines.
    package var isLinear = false
    /// On lines, whether each exchange that ends is told.
    var tellsExchanges = true
    /// On lines, the rule that was drafted last and is in force once it is applied.
    var draft: EditorState?
    /// How often the user was told something, kept or not.
    private(set) var noticeCount = 0
    /// Whether a recording that was opened is still being made, by a Sluice that runs elsewhere.
    package var isGrowing = false
    /// Counts what is asked, so that late answers are known as such.
    package var generation = 0

    package init(source: Source, size: Size, look: Look) {
        self.source = source
        self.size = size
        self.look = look
    }

    /// What has the keys now.
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

    /// Whether exchanges may still come.
    package var isLive: Bool {
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
    package mutating func tell(_ text: String, _ kind: Notice.Kind = .info) {
        noticeCount += 1
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
package struct Look: Sendable, Hashable {
    /// Dark or light, or without colours.
    package var theme: Theme
    /// Whether other characters than ASCII can be shown.
    package var isUnicode: Bool

    package init(theme: Theme = .dark, isUnicode: Bool = true) {
        self.theme = theme
        self.isUnicode = isUnicode
    }
}

package struct Notice: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case info
        case error
    }

    /// How many are kept.
    package static let most = 500
    /// How long one stands in the status line: microseconds.
    package static let shown: Int64 = 6_000_000

    package var text: String
    package var kind: Kind
    /// When: microseconds since 1970.
    package var at: Int64
    /// Whether it stands in the status line until a key is pressed.
    var isPinned = false
}

/// Something that runs beside the screen.
package struct Job: Sendable, Hashable, Identifiable {
    /// What is running; one of each kind at a time.
    package enum Kind: Sendable, Hashable {
        /// A pass over the session.
        case pass
        /// A jump to the next of a kind.
        case find
        /// Requests that are sent again.
        case repeating
        case export
        /// Counting what a rule would match.
        case matching
    }

    package var id: Kind
    package var title: String
    /// How far it is, 0 to 1; `nil` where that is not known.
    package var progress: Double?
    /// When it began: microseconds since 1970.
    package var startedAt: Int64
}

/// Colours for exchanges that match a filter.
package struct Highlight: Sendable, Hashable {
    package var filter: Filter
    /// As which text it is marked; a number, so that no colour carries the meaning alone.
    package var number: Int
}

/// What the rotor jumps to.
package enum JumpChoice: String, CaseIterable, Sendable, Hashable {
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
