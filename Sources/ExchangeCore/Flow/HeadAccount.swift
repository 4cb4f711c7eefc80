/// Limits the memory for heads, interim heads and trailers on one client connection, because HTTP/2 compresses heads: a
/// few bytes may become thousands. A connection may use 16 MiB, and all connections share a budget. They reserve parts
/// of the budget in large steps, so that ordinary traffic costs only an addition.
package final class HeadAccount {
    /// In bytes, for one connection.
    package static let limit = 16 << 20
    /// In bytes, for the interim heads of one exchange.
    package static let interimLimit = 256 << 10
    /// The bytes that a connection may use without the budget, and the step by which it reserves from the budget.
    private static let (free, step) = (256 << 10, 1 << 20)

    private let budget: ByteBudget
    private let client: () -> ClientKey
    private var size = 0
    private var share: ByteShare?

    /// `client` returns the client as far as it is known.
    package init(budget: ByteBudget = .heads, client: @escaping () -> ClientKey) {
        self.budget = budget
        self.client = client
    }

    /// Counts bytes of a head; `false` if there is no room.
    func add(_ count: Int) -> Bool {
        guard size + count <= HeadAccount.limit else { return false }
        let lack = size + count - HeadAccount.free - (share?.count ?? 0)
        if lack > 0 {
            let share = share ?? ByteShare(of: budget, for: client())
            let more = min(max(lack, HeadAccount.step), budget.perClient)
            guard share.grow(by: more) || more > lack && share.grow(by: lack) else { return false }
            self.share = share
        }
        size += count
        return true
    }

    func remove(_ count: Int) {
        size -= count
        if size <= HeadAccount.free { share = nil }
    }

    /// The reason for a refusal.
    var roomIsMissing: String {
        let (own, all) = (HeadAccount.limit >> 20, budget.total >> 20)
        return
            "The heads of this connection's requests and responses have reached the limit of \(own) MiB, or those of "
            + "all clients the \(all) MiB."
    }
}
