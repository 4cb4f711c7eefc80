import Foundation
public import HTTPModel
public import Recording

/// The exchanges of a session that a filter chooses.
public struct SessionQuery {
    /// The session.
    public let reader: SessionReader
    private let filter: Filter

    /// Opens a session and reads a filter.
    ///
    /// - Parameters:
    ///   - session: the file, or `last` for the newest session that was given no name.
    ///   - filter: the words of the filter; none for everything.
    /// - Throws: `StartFailure` for a wrong filter, `SessionError` for a file that cannot be read.
    public init(session: String, filter: [String]) throws {
        let expression = filter.joined(separator: " ")
        do {
            self.filter = try Filter(expression)
        } catch {
            throw StartFailure("The filter is wrong at \(error.description)\n\(error.pointing)", isUsage: true)
        }
        reader = try SessionQuery.open(session)
    }

    /// Opens a session: a file, or `last` for the newest one that was given no name.
    public static func open(_ session: String) throws -> SessionReader {
        if session == "last", !FileManager.default.fileExists(atPath: session) {
            guard let newest = StandardPaths.newestSession else {
                throw StartFailure(
                    "There is no session in \(StandardPaths.sessions).",
                    hint: "sluice run and sluice demo record one."
                )
            }
            return try SessionReader(path: newest)
        }
        return try SessionReader(path: session)
    }

    /// Calls `body` with each exchange that the filter chooses, oldest first.
    public func forEachMatch(_ body: (ExchangeRecord) throws -> Void) throws {
        try reader.forEachRecord { record in
            if try reader.matches(filter, record) { try body(record) }
            return true
        }
    }
}
