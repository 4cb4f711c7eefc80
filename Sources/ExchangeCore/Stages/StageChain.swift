package import HTTPModel

/// An immutable chain of the tools in force, in the fixed order.
package struct StageChain: Sendable {
    /// In the order in which messages pass them.
    package let stages: [any Stage]
    /// Finds cheaply which stages can match a URL.
    private let preselection: (any StagePreselection)?

    /// Puts stages in their fixed order. `preselection` says which of them, by their places in that order, are asked;
    /// without one, or with more than 64 stages, all are.
    package init(_ stages: [any Stage] = [], preselection: (any StagePreselection)? = nil) {
        self.stages = stages.enumerated()
            .sorted { ($0.element.id, $0.offset) < ($1.element.id, $1.offset) }
            .map(\.element)
        self.preselection = stages.count <= UInt64.bitWidth ? preselection : nil
    }

    /// This chain between a stage before all of its own and one behind them, which are asked about every exchange.
    /// Their identities have to be lower and higher than all of this chain.
    package func between(_ first: (any Stage)?, _ last: (any Stage)?) -> StageChain {
        let before = first.map { [$0] } ?? []
        let behind = last.map { [$0] } ?? []
        let framed = preselection.map { inner in
            let always: UInt64 = (first == nil ? 0 : 1) | (last == nil ? 0 : 1 << UInt64(before.count + stages.count))
            return FramedPreselection(inner: inner, shift: UInt64(before.count), always: always)
        }
        return StageChain(before + stages + behind, preselection: framed)
    }

    /// The stages that may have something to do with a URL, by the bits of their places; `nil` for all.
    func candidates(for url: RequestURL) -> UInt64? { stages.isEmpty ? 0 : preselection?.candidates(for: url) }

    /// The first stage that must read requests to a server, by the server's URL without a path; over TLS for a tunnel.
    package func reader(of url: RequestURL) -> StageID? { preselection?.reader(of: url).map { stages[$0].id } }

    func links(of candidates: UInt64?, for opening: ExchangeOpening) -> [ChainLink] {
        var links: [ChainLink] = []
        for (index, stage) in stages.enumerated() where candidates.map({ $0 & (1 << UInt64(index)) != 0 }) ?? true {
            if let handler = stage.handler(for: opening) {
                links.append(ChainLink(name: stage.id.name, handler: handler))
            }
        }
        return links
    }
}

/// Says which stages of a chain may have something to do with a URL, so that the others need not be asked. Most
/// exchanges concern no rule at all; they are to cost nothing.
package protocol StagePreselection: Sendable {
    /// Bit i is for the stage at place i of `StageChain.stages`; a stage whose bit is not set would return no handler.
    func candidates(for url: RequestURL) -> UInt64
    /// The first stage that must read requests to a server: it has a rule for the host, or refuses paths everywhere.
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

/// A handler in an exchange's chain.
struct ChainLink {
    let name: String
    let handler: any StageHandler
}
