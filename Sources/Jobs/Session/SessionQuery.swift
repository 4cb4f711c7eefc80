import Foundation
package import HTTPModel
package import Recording
import Store
import Text

package struct SessionQuery {
    package let reader: SessionReader
    package let path: String
    private let filter: Filter
    private let unfinished = UnfinishedSearches()
    /// Exchanges in progress that joined sessions leave out; `nil` for a single session.
    private let inFlight: Int?
    /// A store's exchanges that the limit left out.
    private var limited: Int?
    /// Whether nothing of a store fits.
    private var isEmpty = false

    package var isWhole: Bool { filter.matchesEverything }

    /// Throws ``StartError`` if no exchange matches the filter.
    package func requireMatch() throws {
        struct Found: Error {}
        if isEmpty { throw StartError.nothingFits(path) }
        guard !isWhole else { return }
        do {
            try forEachNumbers { _ in throw Found() }
        } catch is Found {
            return
        }
        throw StartError.nothingFits(path)
    }

    /// About exchanges left out, and exchanges for which the filter's regular expression took too long.
    package var remark: String? {
        let count = inFlight ?? 0
        let left = count == 0 ? nil : "\(count) exchange\(count == 1 ? "" : "s") in flight left out"
        let limited = limited.map { "only the newest \($0.grouped) that fit; --limit takes more" }
        let remarks = [left, limited, unfinished.remark].compactMap(\.self)
        return remarks.isEmpty ? nil : remarks.joined(separator: "; ")
    }

    /// An empty filter matches all exchanges. Throws `StartError` for a wrong filter, and `SessionError`.
    package init(session: String, filter: [String], work: LongWork? = nil) throws {
        try self.init(session: session, filter: SessionQuery.filter(filter.joined(separator: " ")), work: work)
    }

    package init(session: String, filter: Filter, work: LongWork? = nil) throws {
        let path = try SessionQuery.path(session)
        self.init(filter, path, try SessionQuery.open(path, work: work))
    }

    /// The exchanges of a store that match, as a session.
    package init(_ fetch: StoreFetch, filter: [String], work: LongWork? = nil) throws {
        let (reader, outcome) = try fetch.reader(filter, work: work)
        // The store is asked once: everything that was fetched matches.
        self.init(.everything, fetch.address.shown, reader)
        if outcome.hasMore { limited = outcome.count }
        isEmpty = outcome.count == 0
    }

    /// Words that end in `.sluice` are further sessions, the others are the filter.
    package static func split(_ session: String, _ words: [String]) -> (sessions: [String], filter: [String]) {
        func isSession(_ word: String) -> Bool { word.hasSuffix(".sluice") && !word.contains(":") }
        return ([session] + words.filter(isSession), words.filter { !isSession($0) })
    }

    /// Opens several sessions as one, with new numbers for the exchanges. Throws like ``init(session:filter:work:)``.
    package init(sessions: [String], filter: [String], work: LongWork? = nil) throws {
        let filter = try SessionQuery.filter(filter.joined(separator: " "))
        let paths = try sessions.map { try SessionQuery.path($0) }
        guard paths.count > 1 else {
            self.init(filter, paths.first ?? "", try SessionQuery.open(paths.first ?? "", work: work))
            return
        }
        let joined = try ImportedArchive(joining: paths, work: work)
        defer { joined.remove() }
        self.init(filter, paths[0], try joined.reader(), joined: joined.inFlight)
    }

    private init(_ filter: Filter, _ path: String, _ reader: SessionReader, joined: Int? = nil) {
        (self.filter, self.path, self.reader, inFlight) = (filter, path, reader, joined)
    }

    /// Throws ``StartError`` if the sessions were recorded with different rules for masking.
    package func requireOneMask() throws {
        guard inFlight != nil else { return }
        let rules = try Set(reader.rules().filter { !$0.sources.isEmpty }.map { try SessionMask.rules(in: $0.sources) })
        guard rules.count > 1 else { return }
        throw StartError("'mask:' differs between these sessions.", hint: "Use --profile FILE, or one session.")
    }

    /// Opens a session or an archive. Throws `StartError` for another kind of file, `SessionError`, and `Interrupted`.
    package static func open(_ session: String, work: LongWork? = nil) throws -> SessionReader {
        let path = try path(session)
        guard try !ArchiveFile.isArchive(path) else {
            let archive = try ImportedArchive(path, work: work)
            // The reader keeps the file open, so the file can be removed now.
            defer { archive.remove() }
            return try archive.reader()
        }
        try RequestArchive.requireSession(path)
        return try SessionReader(path: path)
    }

    package static func filter(_ expression: String) throws -> Filter {
        do {
            return try Filter(expression)
        } catch {
            throw StartError("The filter is wrong at \(error.description)\n\(error.pointing)", isUsage: true)
        }
    }

    /// The file for a path, for `last`, or for the name of a session in the standard folder.
    package static func path(_ session: String) throws -> String {
        if FileManager.default.fileExists(atPath: session) { return session }
        guard session == "last" else {
            let named = "\(StandardPaths.sessions)/\(session)"
            let isNamed = !session.isEmpty && !session.contains("/") && FileManager.default.fileExists(atPath: named)
            return isNamed ? named : session
        }
        guard let newest = StandardPaths.lastSession else {
            throw StartError("There is no session in \(StandardPaths.sessions).", hint: "Record one with sluice run.")
        }
        return newest
    }

    package func statistics(countsEndpoints: Bool, work: LongWork? = nil) throws -> SessionStatistics {
        try UnfinishedSearches.$current.withValue(unfinished) {
            try reader.statistics(matching: filter, countsEndpoints: countsEndpoints) { try work?.report($0, part: $1) }
        }
    }

    /// The oldest first.
    package func forEachMatch(_ body: (ExchangeRecord) throws -> Void) throws {
        try UnfinishedSearches.$current.withValue(unfinished) { try reader.forEachRecord(matching: filter, body) }
    }

    /// The oldest first, some thousands at a time.
    package func forEachNumbers(_ body: ([Int64]) throws -> Void) throws {
        try UnfinishedSearches.$current.withValue(unfinished) { try reader.forEachNumbers(matching: filter, body) }
    }
}

extension StartError {
    package static func nothingFits(_ session: String) -> StartError {
        StartError("No exchange of \(session) fits.", hint: "sluice list \(session) prints the exchanges there are.")
    }
}
