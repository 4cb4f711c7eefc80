import CPostgres
import Foundation
import NIOCore

/// A connection to a server that speaks PostgreSQL's protocol. Use it on one thread, which waits.
final class PostgreSQL {
    /// A value of a statement: a text, or an array in PostgreSQL's binary form.
    enum Parameter {
        case null
        case text(String)
        case array(of: Element, ByteBuffer)
    }

    /// PostgreSQL's own types, with their object identifiers, which never change.
    enum Element: UInt32 {
        case bigint = 20
        case text = 25
        case bytea = 17

        var array: UInt32 {
            switch self {
            case .bigint: 1_016
            case .text: 1_009
            case .bytea: 1_001
            }
        }
    }

    struct Statement {
        let sql: String
        var parameters: [Parameter] = []

        init(_ sql: String, _ parameters: [Parameter] = []) { (self.sql, self.parameters) = (sql, parameters) }
    }

    private let address: StoreAddress
    private let connection: OpaquePointer
    private let isCancelled: () -> Bool

    /// How long a connection may take to be established, and a statement to answer, in seconds.
    private static let (connecting, answering) = (10.0, 60.0)

    /// Throws ``StoreError``, and `CancellationError` soon after `isCancelled` returns `true`.
    init(_ address: StoreAddress, isCancelled: @escaping () -> Bool = { false }) throws {
        (self.address, self.isCancelled) = (address, isCancelled)
        let first = try PostgreSQL.begin(address, [])
        let chosen = sluice_PQconninfo(first).map { options in
            defer { sluice_PQconninfoFree(options) }
            return StoreAddress.values(options)
        }
        // Nothing was sent yet: libpq only knows now what service files and the environment say.
        if StoreAddress.needsVerification(chosen ?? [:]) {
            sluice_PQfinish(first)
            connection = try PostgreSQL.begin(address, StoreAddress.verification)
        } else {
            connection = first
        }
        // If it throws, `deinit` ends the connection.
        try connect()
    }

    deinit { sluice_PQfinish(connection) }

    private static func begin(_ address: StoreAddress, _ more: [(String, String)]) throws -> OpaquePointer {
        let parameters = address.parameters + more
        let keys = parameters.map { strdup($0.0) }
        let values = parameters.map { strdup($0.1) }
        defer { for text in keys + values { free(text) } }
        var (keyList, valueList) = (keys.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil])
        guard let connection = sluice_PQconnectStartParams(&keyList, &valueList, 1) else {
            throw StoreError(.connection, "There is no memory for a connection to the store.")
        }
        sluice_drop_notices(connection)
        return connection
    }

    private func connect() throws {
        let end = Date() + PostgreSQL.connecting
        // PGRES_POLLING_WRITING.
        var next: CInt = 2
        while true {
            // CONNECTION_BAD.
            guard sluice_PQstatus(connection) != 1 else { throw failure() }
            switch next {
            case 1: try wait(POLLIN, until: end)
            case 2: try wait(POLLOUT, until: end)
            case 3:
                sluice_PQsetnonblocking(connection, 1)
                return
            default: throw failure()
            }
            next = sluice_PQconnectPoll(connection)
        }
    }

    /// Waits for the socket; throws at the end of the time, and soon after a cancellation.
    private func wait(_ events: Int32, until end: Date) throws {
        while true {
            if isCancelled() { throw cancelled() }
            var entry = pollfd(fd: sluice_PQsocket(connection), events: Int16(events), revents: 0)
            if poll(&entry, 1, 100) > 0 { return }
            guard Date() < end else {
                throw StoreError(.connection, "The store \(address.shown) did not answer in time.")
            }
        }
    }

    private func cancelled() -> any Error {
        if let cancel = sluice_PQgetCancel(connection) {
            var text = [CChar](repeating: 0, count: 256)
            sluice_PQcancel(cancel, &text, 256)
            sluice_PQfreeCancel(cancel)
        }
        return CancellationError()
    }

    private func failure() -> StoreError {
        let text = sluice_PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        return StoreError(.connection, "The store \(address.shown) was not reached: \(sentence(text))")
    }

    /// libpq's texts have several lines; the first says the most.
    private func sentence(_ text: String) -> String {
        let lines = address.masked(text).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let line = lines.first ?? "no reason is given"
        return line.hasSuffix(".") ? line : line + "."
    }

    // MARK: - Statements

    /// Runs statements in one pipeline, without waiting between them; the first error ends it. The rows of all of them.
    @discardableResult
    func run(_ statements: [Statement]) throws -> [StoredRow] {
        var rows: [StoredRow] = []
        guard sluice_PQenterPipelineMode(connection) == 1 else { throw failure() }
        for statement in statements { try send(statement) }
        guard sluice_PQpipelineSync(connection) == 1 else { throw failure() }
        var failed: (any Error)?
        var isSynchronised = false
        while !isSynchronised {
            guard let result = try nextResult() else { continue }
            defer { sluice_PQclear(result) }
            switch sluice_PQresultStatus(result) {
            // PGRES_PIPELINE_SYNC, PGRES_PIPELINE_ABORTED.
            case 10: isSynchronised = true
            case 11: continue
            default:
                do { try check(result) } catch { failed = failed ?? error }
                for row in 0..<sluice_PQntuples(result) { rows.append(StoredRow(copying: result, row, self.address)) }
            }
        }
        guard sluice_PQexitPipelineMode(connection) == 1 else { throw failure() }
        if let failed { throw failed }
        return rows
    }

    @discardableResult
    func run(_ sql: String, _ parameters: [Parameter] = []) throws -> [StoredRow] {
        try run([Statement(sql, parameters)])
    }

    /// Reads rows one by one as they come; the statement is given up if `body` throws.
    func forEachRow(_ sql: String, _ parameters: [Parameter] = [], _ body: (inout StoredRow) throws -> Void) throws {
        try send(Statement(sql, parameters))
        sluice_PQsetSingleRowMode(connection)
        var failed: (any Error)?
        while let result = try nextResult() {
            defer { sluice_PQclear(result) }
            guard failed == nil else { continue }
            do {
                try check(result)
                for row in 0..<sluice_PQntuples(result) {
                    var row = StoredRow(copying: result, row, address)
                    try body(&row)
                }
            } catch {
                failed = error
                if !(error is StoreError) { _ = cancelled() }
            }
        }
        if let failed { throw failed }
    }

    private func send(_ statement: Statement) throws {
        let parameters = statement.parameters
        var types: [UInt32] = []
        var (lengths, formats): ([CInt], [CInt]) = ([], [])
        var texts: [UnsafeMutablePointer<CChar>?] = []
        defer { for text in texts { free(text) } }
        for parameter in parameters {
            switch parameter {
            case .null:
                (types, lengths, formats, texts) = (types + [0], lengths + [0], formats + [0], texts + [nil])
            case .text(let text):
                types.append(0)
                lengths.append(0)
                formats.append(0)
                texts.append(strdup(text))
            case .array(let element, let bytes):
                types.append(element.array)
                lengths.append(CInt(clamping: bytes.readableBytes))
                formats.append(1)
                let copy = malloc(bytes.readableBytes)?.assumingMemoryBound(to: CChar.self)
                bytes.withUnsafeReadableBytes { source in
                    if let copy, let start = source.baseAddress { memcpy(copy, start, source.count) }
                }
                texts.append(copy)
            }
        }
        var values = texts.map { UnsafePointer($0) }
        let count = CInt(parameters.count)
        let sent = sluice_PQsendQueryParams(connection, statement.sql, count, &types, &values, &lengths, &formats, 1)
        guard sent == 1 else { throw failure() }
        try flush(until: Date() + PostgreSQL.answering)
    }

    /// Sends what libpq has kept, and takes what the server sends meanwhile, so that neither waits for the other.
    private func flush(until end: Date) throws {
        while true {
            switch sluice_PQflush(connection) {
            case 0: return
            case 1:
                try wait(POLLIN | POLLOUT, until: end)
                guard sluice_PQconsumeInput(connection) == 1 else { throw failure() }
            default: throw failure()
            }
        }
    }

    /// `nil` ends the results of one statement.
    private func nextResult() throws -> OpaquePointer? {
        let end = Date() + PostgreSQL.answering
        try flush(until: end)
        while sluice_PQisBusy(connection) == 1 {
            try wait(POLLIN, until: end)
            guard sluice_PQconsumeInput(connection) == 1 else { throw failure() }
        }
        return sluice_PQgetResult(connection)
    }

    private func check(_ result: OpaquePointer) throws {
        // PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE.
        guard ![1, 2, 9].contains(sluice_PQresultStatus(result)) else { return }
        func field(_ letter: Character) -> String {
            sluice_PQresultErrorField(result, CInt(letter.asciiValue ?? 0)).map { String(cString: $0) } ?? ""
        }
        guard sluice_PQstatus(connection) != 1 else { throw failure() }
        throw StoreError(state: field("C"), sentence(field("M")), address)
    }
}

extension StoreError {
    /// From an SQLSTATE (PostgreSQL's documentation, appendix A) and the server's words.
    init(state: String, _ text: String, _ address: StoreAddress) {
        let project = address.project
        let start = "The store \(address.shown)"
        switch state {
        case "3F000", "42P01", "42883":
            let hint = "'sluice store init URL --project \(project)' makes it, 'sluice store sessions' reads it."
            self.init(.schema, "\(start) has no project \(project).", hint: hint)
        case "42501":
            let hint = "Users need the role \(project)_writer or \(project)_reader: GRANT \(project)_writer TO NAME."
            self.init(.refused, "\(start) does not allow it: \(text)", hint: hint)
        // Connection lost, no resources, operator's intervention, system error.
        case let state where ["08", "53", "57", "58"].contains(state.prefix(2)):
            self.init(.connection, "\(start) cannot do it now: \(text)")
        default: self.init(.refused, "\(start) refused it: \(text)")
        }
    }
}
