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
    /// How many exchanges were left out of joined sessions, since they were in flight; `nil` for a single session.
    private let inFlight: Int?

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

    /// What to say of exchanges that were left out, or in which the filter's expression was given up so far; `nil` for
    /// nothing.
    package var remark: String? {
        let count = inFlight ?? 0
        let left = count == 0 ? nil : "\(count) exchange\(count == 1 ? "" : "s") in flight left out"
        let remarks = [left, unfinished.remark].compactMap(\.self)
        return remarks.isEmpty ? nil : remarks.joined(separator: "; ")
    }

    /// Opens a session as ``open(_:work:)`` does, and reads the words of a filter; none choose everything.
    ///
    /// Throws `StartError` for a wrong filter, `SessionError` for a file that cannot be read.
    package init(session: String, filter: [String], work: LongWork? = nil) throws {
        try self.init(session: session, filter: SessionQuery.filter(filter.joined(separator: " ")), work: work)
    }

    /// Opens a session as ``open(_:work:)`` does.
    package init(session: String, filter: Filter, work: LongWork? = nil) throws {
        let path = try SessionQuery.path(session)
        self.init(filter, path, try SessionQuery.open(path, work: work))
    }

    /// Splits the words after a session: those that end in `.sluice` are further sessions, the others are the filter.
    package static func split(_ session: String, _ words: [String]) -> (sessions: [String], filter: [String]) {
        func isSession(_ word: String) -> Bool { word.hasSuffix(".sluice") && !word.contains(":") }
        return ([session] + words.filter(isSession), words.filter { !isSession($0) })
    }

    /// Opens sessions as one, in which their exchanges have new numbers if there are several.
    ///
    /// Throws as ``init(session:filter:work:)`` does.
    package init(sessions: [String], filter: [String], work: LongWork? = nil) throws {
        let filter = try SessionQuery.filter(filter.joined(separator: " "))
        let paths = try sessions.map { try SessionQuery.path($0) }
        guard paths.count > 1 else {
            self.init(filter, paths.first ?? "", try SessionQuery.open(paths.first ?? "", work: work))
            return
        }
        let joined = try ImportedArchive(joining: paths, work: work)
        // The reader has it open.
        defer { joined.remove() }
        self.init(filter, paths[0], try joined.reader(), joined: joined.inFlight)
    }

    private init(_ filter: Filter, _ path: String, _ reader: SessionReader, joined: Int? = nil) {
        (self.filter, self.path, self.reader, inFlight) = (filter, path, reader, joined)
    }

    /// Throws ``StartError`` where the joined sessions were recorded with different rules for masking.
    package func requireOneMask() throws {
        guard inFlight != nil else { return }
        let rules = try Set(reader.rules().filter { !$0.sources.isEmpty }.map { try SessionMask.rules(in: $0.sources) })
        guard rules.count > 1 else { return }
        throw StartError(
            "'mask:' differs between the profiles of these sessions.",
            hint: "Give the rules to use with --profile FILE, or take one session at a time."
        )
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

    /// The file that a command names: a path, `last` for the session of the last run, or the name alone of one that was
    /// given none.
    package static func path(_ session: String) throws -> String {
        if FileManager.default.fileExists(atPath: session) { return session }
        guard session == "last" else {
            let named = "\(StandardPaths.sessions)/\(session)"
            let isNamed = !session.isEmpty && !session.contains("/") && FileManager.default.fileExists(atPath: named)
            return isNamed ? named : session
        }
        guard let newest = StandardPaths.lastSession else {
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
