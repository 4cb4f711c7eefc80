import Content
import Foundation
public import HTTPModel
import NIOCore
public import Recording

/// The exchanges of a session that a filter chooses.
public struct SessionQuery {
    /// The session.
    public let reader: SessionReader
    private let filter: Filter

    /// How many decoded bytes of a body a search looks at.
    private static let searchLimit = 16 << 20

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
            if try matches(record) { try body(record) }
            return true
        }
    }

    private func matches(_ record: ExchangeRecord) throws -> Bool {
        if let decided = filter.decides(record) { return decided }
        var exchange: RecordedExchange?
        func details() throws -> RecordedExchange? {
            if exchange == nil { exchange = try reader.exchange(record.id) }
            return exchange
        }
        return try filter.matches(record, details: details) { side in
            let limit = SessionQuery.searchLimit
            let bytes = try reader.body(of: record.id, side: side, limit: limit)
            guard let messages = try details()?.messages else { return bytes }
            let head = side == .requestReceived || side == .requestSent ? messages.requestHead : messages.responseHead
            let fields = head.map { StoredHead.fields($0) }
            let encoding = fields?.value(of: .contentEncoding)
            return ContentDecoder.decode(bytes, contentEncoding: encoding, limit: limit).bytes
        }
    }
}
