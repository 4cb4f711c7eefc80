package import HTTPModel
package import Sharing
package import Terminal

/// Everything that the screen shows: changed only by `update`, drawn only by `view`.
package struct ConsoleModel: Sendable {
    package enum Source: Sendable, Hashable {
        /// A proxy in this process.
        case live
        /// A proxy in another process.
        case attached(canSteer: Bool)
        /// A recorded session, or an archive.
        case recorded(name: String)
        /// Sluice with its own traffic.
        case demo
    }

    /// What the left, or upper, part shows.
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
    /// Whether the detail, not the list, has the keys.
    package var isDetailFocused = false
    package var list = ListState()
    package var structure = StructureState()
    package var detail = DetailState()
    package var filter = FilterState()
    /// What lies over the list and the detail; the last has the keys.
    package var overlays: [Overlay] = []
    package var proxy = ProxyState()
    package var rules = RulesState()
    /// Notices to the user, the newest last.
    package var notices: [Notice] = []
    package var jobs: [Job] = []
    /// Marked exchanges, in the order in which they were marked.
    package var marks: [ExchangeID] = []
    /// What was copied last, with which the choice begins.
    package var lastCopied = CopyForm.curl
    package var highlights: [Highlight] = []
    /// What `]` and `[` go to.
    package var jump = JumpChoice.error
    /// The time of the last tick, in microseconds since 1970.
    package var now: Int64 = 0
    /// The width of the detail beside the list, or its height below, in thousandths of the screen.
    package var split = 500
    /// Whether the mouse drags the line between list and detail.
    package var isDraggingSplit = false
    /// Whether the user chose the theme, so that the terminal's background does not.
    package var isThemeChosen = false
    /// Whether commands are given as lines.
    package var isLinear = false
    /// On lines, whether each exchange that ends is reported.
    var tellsExchanges = true
    /// On lines, the rule that was drafted last and that `apply` puts in force.
    var draft: EditorState?
    /// The number of all notices so far, kept or not.
    private(set) var noticeCount = 0
    /// Whether an opened recording is still being made by another Sluice.
    package var isGrowing = false
    /// Counts queries, so that late answers are recognised.
    package var generation = 0

    package init(source: Source, size: Size, look: Look) {
        (self.source, self.size, self.look) = (source, size, look)
    }

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

    /// How to give a command: its key; its word where it has none, or on lines.
    func way(to command: Command, in place: Context? = nil) -> String {
        let key = isLinear ? nil : keymap.keys(for: command, in: place ?? .list).first
        return key ?? (isLinear ? command.rawValue : ":\(command.rawValue)")
    }

    func highlight(_ record: ExchangeRecord) -> Int? {
        highlights.first { $0.filter.decides(record) == true }?.number
    }

    /// Shows the user a notice, and keeps it among the messages.
    package mutating func tell(_ text: String, _ kind: Notice.Kind = .info) {
        noticeCount += 1
        notices.append(Notice(text: text.onOneLine, kind: kind, at: now))
        if notices.count > Notice.most { notices.removeFirst(notices.count - Notice.most) }
    }
}

extension String {
    /// The text with a space for each line break.
    var onOneLine: String {
        split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }.joined(separator: " ")
    }

    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

    var firstWord: (word: String, rest: String?) {
        let words = split(separator: " ", maxSplits: 1).map(String.init)
        return (words.first ?? "", words.count > 1 ? words[1] : nil)
    }
}

/// What the terminal decides of how things are drawn.
package struct Look: Sendable, Hashable {
    /// Dark or light, or without colours.
    package var theme: Theme
    /// Whether characters beyond ASCII can be shown.
    package var isUnicode: Bool

    package init(theme: Theme = .dark, isUnicode: Bool = true) {
        self.theme = theme
        self.isUnicode = isUnicode
    }
}

package struct Notice: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case info, error
    }

    package static let most = 500
    /// How long one is in the status line, in microseconds.
    package static let shown: Int64 = 6_000_000

    package var text: String
    package var kind: Kind
    /// In microseconds since 1970.
    package var at: Int64
    /// Whether it stays in the status line until a key is pressed.
    var isPinned = false
}

package struct Job: Sendable, Hashable, Identifiable {
    /// One of each kind runs at a time.
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
    /// From 0 to 1; `nil` where it is not known.
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
}

extension ConsoleModel {
    /// Whether the screen shows something that changes with time alone.
    var needsClock: Bool {
        !proxy.holds.isEmpty || !jobs.isEmpty || isLive
            || notices.last.map { now - $0.at < Notice.shown + 200_000 } == true
            || list.rows.values.contains { $0.state == .inFlight }
    }
}
