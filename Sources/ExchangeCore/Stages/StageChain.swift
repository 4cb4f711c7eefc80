/// One snapshot of the tools in force, in the fixed order.
public struct StageChain: Sendable {
    /// The stages in the order in which messages pass them.
    public let stages: [any Stage]

    /// Orders stages by their slots; stages of one slot keep the given order.
    public init(_ stages: [any Stage] = []) {
        self.stages = stages.enumerated()
            .sorted { ($0.element.slot, $0.offset) < ($1.element.slot, $1.offset) }
            .map(\.element)
    }

    /// Asks every stage for a handler of this exchange.
    func links(for opening: ExchangeOpening) -> [ChainLink] {
        var links: [ChainLink] = []
        for stage in stages {
            if let handler = stage.handler(for: opening) {
                links.append(ChainLink(name: stage.slot.name, handler: handler))
            }
        }
        return links
    }
}

/// A handler in an exchange's chain.
struct ChainLink {
    let name: String
    let handler: any StageHandler
}
