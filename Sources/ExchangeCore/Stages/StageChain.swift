package import HTTPModel

/// An immutable chain of the tools in force, in the fixed order.
package struct StageChain: Sendable {
    /// In the order in which messages pass them.
    package let stages: [any Stage]
    /// Finds cheaply which stages can match a URL.
    private let preselection: (any StagePreselection)?
    private let conditions: Conditions?

    /// Makes the conditions of rules for an exchange.
    package typealias Conditions = @Sendable (ExchangeOpening) -> any ExchangeConditions

    /// Sorts stages into their fixed order. `preselection` selects the stages to ask, by their indexes in that order;
    /// without a preselection, or with more than 64 stages, all stages are asked.
    package init(
        _ stages: [any Stage] = [],
        preselection: (any StagePreselection)? = nil,
        conditions: Conditions? = nil
    ) {
        self.conditions = conditions
        self.stages = stages.enumerated()
            .sorted { ($0.element.id, $0.offset) < ($1.element.id, $1.offset) }
            .map(\.element)
        self.preselection = stages.count <= UInt64.bitWidth ? preselection : nil
    }

    /// This chain with `first` before and `last` behind its stages; both are asked about every exchange. The identity
    /// of `first` must be lower, and that of `last` higher, than all of this chain.
    package func between(_ first: (any Stage)?, _ last: (any Stage)?) -> StageChain {
        let before = first.map { [$0] } ?? []
        let behind = last.map { [$0] } ?? []
        let framed = preselection.map { inner in
            let always: UInt64 = (first == nil ? 0 : 1) | (last == nil ? 0 : 1 << UInt64(before.count + stages.count))
            return FramedPreselection(inner: inner, shift: UInt64(before.count), always: always)
        }
        return StageChain(before + stages + behind, preselection: framed, conditions: conditions)
    }

    /// The stages that may act on a URL, as bits by their indexes; `nil` for all stages.
    func candidates(for url: RequestURL) -> UInt64? { stages.isEmpty ? 0 : preselection?.candidates(for: url) }

    /// The first stage that must read requests to a server; `url` has no path, and the scheme `tunnel` means TLS.
    package func reader(of url: RequestURL) -> StageID? { preselection?.reader(of: url).map { stages[$0].id } }

    func links(of candidates: UInt64?, for opening: ExchangeOpening) -> [ChainLink] {
        var links: [ChainLink] = []
        var opening = opening
        let conditions = conditions?(opening)
        opening.conditions = conditions
        for (index, stage) in stages.enumerated() where candidates.map({ $0 & (1 << UInt64(index)) != 0 }) ?? true {
            let waiting = conditions?.waitingForRequest ?? 0
            var handler = stage.handler(for: opening)
            if let conditions, conditions.waitingForRequest > waiting { handler = DeferredHandler(stage, opening) }
            if let handler { links.append(ChainLink(name: stage.id.name, handler: handler)) }
        }
        if let conditions, conditions.isOpen { links.insert(ChainLink(name: "when", handler: conditions.gate), at: 0) }
        return links
    }
}

/// Selects the stages of a chain that may act on a URL; the other stages are not asked. Most exchanges match no rule,
/// and must cost nothing.
package protocol StagePreselection: Sendable {
    /// Bit i is for the stage at index i of `StageChain.stages`; a stage whose bit is not set would return no handler.
    func candidates(for url: RequestURL) -> UInt64
    /// The first stage that must read requests to a server: it has a rule for the host, or refuses paths on every host.
    func reader(of url: RequestURL) -> Int?
}

/// The preselection of a chain between two stages that are always asked.
private struct FramedPreselection: StagePreselection {
    let inner: any StagePreselection
    let shift: UInt64
    let always: UInt64

    func candidates(for url: RequestURL) -> UInt64 { inner.candidates(for: url) << shift | always }
    func reader(of url: RequestURL) -> Int? { inner.reader(of: url).map { $0 + Int(shift) } }
}

struct ChainLink {
    let name: String
    let handler: any StageHandler
}
