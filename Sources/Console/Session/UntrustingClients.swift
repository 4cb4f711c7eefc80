import HTTPModel
import Recording

/// Finds the exchanges of a growing session whose clients do not trust the certificate, whatever the list shows.
struct UntrustingClients {
    /// How far below the newest number a row may still appear.
    private static let lateness: Int64 = 256
    /// How many exchanges one look reads at most; it gives up the older ones.
    private static let most: Int64 = 20_000

    /// The lowest number that no look has read.
    private var next: Int64 = 0
    /// Those that were found among the last ``lateness`` numbers.
    private var found: Set<Int64> = []

    /// Starts after the exchanges that there are.
    mutating func begin(_ reader: SessionReader) throws {
        next = (try reader.bounds()?.upperBound ?? 0) + 1
    }

    /// Those that are new, oldest first. Throws ``SessionError`` where the session cannot be read.
    mutating func advance(_ reader: SessionReader) throws -> [ExchangeRecord] {
        guard let newest = try reader.bounds()?.upperBound else { return [] }
        let first = max(next - Self.lateness, newest - Self.most, 1)
        guard first <= newest else { return [] }
        next = newest + 1
        let records = try reader.records(of: .range(first...newest), matching: .untrusting)
            .filter { $0.isByUntrustingClient && !found.contains($0.id.number) }
        found.formUnion(records.map(\.id.number))
        found = found.filter { $0 > newest - Self.lateness }
        return records
    }
}
