/// The questions to the session that have no answer yet.
struct LinearAwaited {
    private var list = false
    private var rows = 0
    private var positions = 0
    private var finds = 0
    private var nodes: Set<StructureNode> = []
    private var statistics = false

    var isEmpty: Bool { !list && rows == 0 && positions == 0 && finds == 0 && nodes.isEmpty && !statistics }

    mutating func add(_ effect: Effect) {
        switch effect {
        case .setQuery:
            // Questions about the previous list get no answers.
            self = LinearAwaited()
            list = true
        case .load: rows += 1
        case .locate: positions += 1
        case .find: finds = 1
        case .structure(let node, _): nodes.insert(node)
        case .statistics: statistics = true
        default: break
        }
    }

    /// Notes an answer about the list of a generation.
    mutating func take(_ message: Message, generation: Int) {
        guard case .query(let event) = message else { return }
        switch event {
        case .list(let status) where status.generation == generation && status.progress == nil: list = false
        case .rows(generation, _, _): rows = max(0, rows - 1)
        case .position(generation, _, _): positions = max(0, positions - 1)
        case .found(generation, _): finds = 0
        case .structure(let level) where level.generation == generation && level.progress == nil:
            nodes.remove(level.node)
        case .statistics(let answer) where answer.generation == generation && answer.progress == nil:
            statistics = false
        case .failed: self = LinearAwaited()
        default: break
        }
    }
}
