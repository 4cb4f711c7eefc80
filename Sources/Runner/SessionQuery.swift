import Foundation
package import HTTPModel
package import Recording

/// The exchanges of a session that a filter chooses.
package struct SessionQuery {
    package let reader: SessionReader
    /// The session or the archive.
    package let path: String
    private let filter: Filter
    private let unfinished = UnfinishedSearches()

    /// Whether it chooses all exchanges.
    package var isWhole: Bool { filter.matchesEverything }

    /// Throws ``StartError`` where it chooses none, though it does not choose all.
    package func requireMatch() throws {
        struct Found: Error {}
        guard !isWhole else { return }
        do {
            try forEachNumbers { _ in throw Found() }
        } catch is Found {
            return
        }
        throw StartError.nothingFits(path)
    }

    /// What to say of exchanges in which the filter's expression was given up so far; `nil` for nothing.
    package var remark: String? { unfinished.remark }

    /// Opens a session as ``open(_:work:)`` does, and reads the words of a filter; none choose everything.
    ///
    /// Throws `StartError` for a wrong filter, `SessionError` for a file that cannot be read.
    package init(session: String, filter: [String], work: LongWork? = nil) throws {
        try self.init(session: session, filter: SessionQuery.filter(filter.joined(separator: " ")), work: work)
    }

    /// Opens a session as ``open(_:work:)`` does.
    package init(session: String, filter: Filter, work: LongWork? = nil) throws {
        self.filter = filter
        path = try SessionQuery.path(session)
        reader = try SessionQuery.open(path, work: work)
    }

    /// Opens a session: what ``path(_:)`` finds, or an archive.
    ///
    /// Throws `StartError` for another file, `SessionError` for a session that cannot be read; `Interrupted` where a
    /// signal stops the work that it is a part of.
    package static func open(_ session: String, work: LongWork? = nil) throws -> SessionReader {
        let path = try path(session)
        guard try !ArchiveFile.isArchive(path) else {
            let archive = try ImportedArchive(path, work: work)
            // The reader has it open, so it can be removed now, and is not left behind if the process is killed.
            defer { archive.remove() }
            return try archive.reader()
        }
        try RequestArchive.requireSession(path)
        return try SessionReader(path: path)
    }

    /// Reads a filter. Throws `StartError` for a wrong one.
    package static func filter(_ expression: String) throws -> Filter {
        do {
            return try Filter(expression)
        } catch {
            throw StartError("The filter is wrong at \(error.description)\n\(error.pointing)", isUsage: true)
        }
    }

    /// The file that a command names: a path, `last` for the newest session that was given no name, or the name alone of
    /// one of these.
    package static func path(_ session: String) throws -> String {
        if FileManager.default.fileExists(atPath: session) { return session }
        guard session == "last" else {
            let named = "\(StandardPaths.sessions)/\(session)"
            let isNamed = !session.isEmpty && !session.contains("/") && FileManager.default.fileExists(atPath: named)
            return isNamed ? named : session
        }
        guard let newest = StandardPaths.newestSession else {
            throw StartError(
                "There is no session in \(StandardPaths.sessions).",
                hint: "sluice run and sluice demo record one."
            )
        }
        return newest
    }

    /// What the exchanges that the filter chooses amount to, by host and, where that is asked for, by endpoint.
    package func statistics(countsEndpoints: Bool, work: LongWork? = nil) throws -> SessionStatistics {
        try UnfinishedSearches.$current.withValue(unfinished) {
            try reader.statistics(matching: filter, countsEndpoints: countsEndpoints) { try work?.report($0, part: $1) }
        }
    }

    /// Calls `body` with each exchange that the filter chooses, oldest first.
    package func forEachMatch(_ body: (ExchangeRecord) throws -> Void) throws {
        try UnfinishedSearches.$current.withValue(unfinished) { try reader.forEachRecord(matching: filter, body) }
    }

    /// Calls `body` with the numbers of the exchanges that the filter chooses, oldest first, some thousands at a time.
    package func forEachNumbers(_ body: ([Int64]) throws -> Void) throws {
        try UnfinishedSearches.$current.withValue(unfinished) { try reader.forEachNumbers(matching: filter, body) }
    }
}

extension StartError {
    /// A filter chooses no exchange of a session.
    package static func nothingFits(_ session: String) -> StartError {
        StartError("No exchange of \(session) fits.", hint: "sluice list \(session) prints the exchanges there are.")
    }
}
