import Foundation
import HTTPModel
import Recording
package import Store

/// How exchanges of a store are fetched.
package struct StoreFetch: Sendable {
    package static let usualLimit = 10_000

    package let address: StoreAddress
    package var limit = StoreFetch.usualLimit
    /// Without bodies, a list of many exchanges is much faster.
    package var wantsBodies = true

    package init(_ address: StoreAddress) { self.address = address }

    package struct Outcome: Sendable, Hashable {
        package let count: Int
        /// Whether the limit left some out.
        package let hasMore: Bool
    }

    /// Fetches the newest exchanges that match into a new session, which is not written if none do. Throws `StartError` for a wrong filter, ``StoreError``,
    /// `SessionError` and `Interrupted`.
    package func fetch(
        _ words: [String],
        to path: String,
        overwrites: Bool = false,
        requiresMatch: Bool = true,
        work: LongWork? = nil
    ) throws -> Outcome {
        let filter = try SessionQuery.filter(words.joined(separator: " "))
        if filter.root.tests.contains(where: { if case .number(.id, _) = $0 { true } else { false } }) {
            let hint = "Fetched exchanges are numbered from 1; session: chooses a recording, since: and before: a time."
            throw StartError("id: cannot choose a store's exchanges, which have no numbers of their own.", hint: hint)
        }
        let bodies = wantsBodies || filter.needs == .bodies
        var outcome = Outcome(count: 0, hasMore: false)
        work?.begin("asking the store", .things("exchange"))
        let version = SluiceVersion.current
        try SessionAssembly.make(path, version: version, overwrites: overwrites) { assembly in
            let reader = try StoreReader(address) { work?.interruption != nil }
            var found = 0
            let hasMore = try reader.fill(assembly, filter, limit: limit, bodies: bodies) { count, seen in
                found = count
                try work?.report(Int64(seen), part: nil)
            }
            if found == 0, requiresMatch { throw StartError.nothingFits(address.shown) }
            outcome = Outcome(count: found, hasMore: hasMore)
        }
        return outcome
    }

    /// Fetches into a temporary session, whose file is removed at once; the reader keeps it open.
    func reader(_ words: [String], work: LongWork?) throws -> (SessionReader, Outcome) {
        let directory = try TemporaryDirectory(.store)
        defer { directory.remove() }
        let path = directory.path + "/store.sluice"
        let outcome = try fetch(words, to: path, requiresMatch: false, work: work)
        return (try SessionReader(path: path), outcome)
    }
}
