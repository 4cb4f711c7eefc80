/// The session file's tables, as this version makes them.
///
/// `SessionFile.md` explains them to users.
enum Schema {
    /// `SLCE`, in the file's header.
    static let applicationID: Int64 = 0x534C_4345
    /// The version of the tables, in the file's header; one more with every change.
    ///
    /// Version 2 has added the last columns of `exchange`, and `arrival`; version 3 `rules`.
    static let version: Int64 = 3
    static let pageSize = 16_384
    /// Bodies up to this length are kept in the payload row.
    static let inlineBody = 4_096
    /// Longer bodies are kept in pieces of this length.
    static let chunk = 65_536
    /// A stream's last piece is written again, longer, until it has this length.
    static let streamChunk = 4_096

    /// A table with the text that makes it.
    ///
    /// A session whose tables have another text was not made by Sluice.
    typealias Table = (name: String, sql: String)

    static func tables(version: Int64 = version) -> [Table] {
        let exchange = version == 1 ? firstExchange : firstExchange.dropLast() + additions + ")"
        var tables = firstTables + [("exchange", exchange)]
        if version > 1 { tables.append(("arrival", arrival)) }
        if version > 2 { tables.append(("rules", rules)) }
        return tables
    }

    /// What makes a session of an earlier version one of today.
    ///
    /// SQLite adds a column by adding it to the table's text; ``tables(version:)`` gives a new table the same text.
    static func upgrade(from earlier: Int64) -> String {
        var statements: [String] = []
        if earlier < 2 {
            statements += addedColumns.map { "ALTER TABLE exchange ADD COLUMN \($0)" }
            statements.append(arrival)
        }
        if earlier < 3 { statements.append(rules) }
        statements.append("PRAGMA user_version = \(version)")
        return statements.joined(separator: ";\n")
    }

    private static let addedColumns = [
        "tally_client INTEGER NOT NULL DEFAULT 0", "tally_server INTEGER NOT NULL DEFAULT 0", "grpc_status INTEGER",
        "grpc_message TEXT",
    ]

    private static var additions: String { addedColumns.map { ", \($0)" }.joined() }

    private static let arrival = """
        CREATE TABLE arrival(
        exchange INTEGER NOT NULL,
        side INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY(exchange, side, offset)
        ) WITHOUT ROWID
        """

    private static let rules = """
        CREATE TABLE rules(
        id INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        sources TEXT,
        off TEXT NOT NULL
        )
        """

    private static let firstTables: [Table] = [
        (
            "run",
            """
            CREATE TABLE run(
            id INTEGER PRIMARY KEY,
            version TEXT NOT NULL,
            recorder TEXT NOT NULL,
            started_at INTEGER NOT NULL,
            ended_at INTEGER,
            first_exchange INTEGER NOT NULL,
            not_recorded INTEGER NOT NULL,
            dropped_bytes INTEGER NOT NULL
            )
            """
        ),
        (
            "summary",
            """
            CREATE TABLE summary(
            id INTEGER PRIMARY KEY CHECK(id = 1),
            exchanges INTEGER NOT NULL,
            failures INTEGER NOT NULL,
            request_body_bytes INTEGER NOT NULL,
            response_body_bytes INTEGER NOT NULL
            )
            """
        ),
        (
            "connection",
            """
            CREATE TABLE connection(
            id INTEGER PRIMARY KEY,
            leg INTEGER NOT NULL,
            opened_at INTEGER NOT NULL,
            closed_at INTEGER,
            local_address TEXT NOT NULL,
            peer_address TEXT NOT NULL,
            dns INTEGER,
            connect INTEGER,
            handshake INTEGER,
            tls_version TEXT,
            tls_cipher TEXT,
            tls_server_name TEXT,
            tls_alpn TEXT,
            tls_resumed INTEGER,
            tls_failure TEXT,
            tls_certificates TEXT
            )
            """
        ),
        (
            "payload",
            """
            CREATE TABLE payload(
            id INTEGER PRIMARY KEY,
            request_head BLOB,
            request_head_sent BLOB,
            request_trailers BLOB,
            interim_heads BLOB,
            response_head BLOB,
            response_head_sent BLOB,
            response_trailers BLOB,
            trace TEXT,
            request_body BLOB,
            request_body_sent BLOB,
            response_body BLOB,
            response_body_sent BLOB
            )
            """
        ),
        (
            "chunk",
            """
            CREATE TABLE chunk(
            exchange INTEGER NOT NULL,
            side INTEGER NOT NULL,
            offset INTEGER NOT NULL,
            data BLOB NOT NULL,
            PRIMARY KEY(exchange, side, offset)
            )
            """
        ),
    ]

    private static let firstExchange = """
        CREATE TABLE exchange(
        id INTEGER PRIMARY KEY,
        payload INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        state INTEGER NOT NULL,
        flags INTEGER NOT NULL,
        started_at INTEGER NOT NULL,
        method TEXT NOT NULL,
        scheme TEXT NOT NULL,
        host TEXT NOT NULL,
        port INTEGER NOT NULL,
        path TEXT NOT NULL,
        query TEXT,
        status INTEGER NOT NULL,
        client_version INTEGER NOT NULL,
        upstream_version INTEGER,
        media_type TEXT NOT NULL,
        client_connection INTEGER NOT NULL,
        upstream_connection INTEGER,
        request_head_size INTEGER NOT NULL,
        request_body_size INTEGER NOT NULL,
        request_wire_size INTEGER NOT NULL,
        response_head_size INTEGER NOT NULL,
        response_body_size INTEGER NOT NULL,
        response_wire_size INTEGER NOT NULL,
        blocked INTEGER,
        dns INTEGER,
        connect INTEGER,
        tls INTEGER,
        send INTEGER,
        wait INTEGER,
        receive INTEGER,
        total INTEGER,
        failure TEXT,
        failure_message TEXT,
        failure_hint TEXT,
        sent_scheme TEXT,
        sent_host TEXT,
        sent_port INTEGER,
        sent_path TEXT,
        sent_query TEXT
        )
        """

    static let recordColumns = firstRecordColumns + ", tally_client, tally_server, grpc_status, grpc_message"
    static let recordColumnCount = 44

    /// The columns of a record, as a session of a version has them.
    static func recordColumns(version: Int64) -> String {
        version == 1 ? firstRecordColumns + ", 0 AS tally_client, 0, NULL AS grpc_status, NULL" : recordColumns
    }

    private static let firstRecordColumns = """
        id, payload, kind, state, flags, started_at, method, scheme, host, port, path, query, status, \
        client_version, upstream_version, media_type, client_connection, upstream_connection, \
        request_head_size, request_body_size, request_wire_size, \
        response_head_size, response_body_size, response_wire_size, \
        blocked, dns, connect, tls, send, wait, receive, total, failure, failure_message, failure_hint, \
        sent_scheme, sent_host, sent_port, sent_path, sent_query
        """

    static let payloadColumns = """
        id, request_head, request_head_sent, request_trailers, interim_heads, \
        response_head, response_head_sent, response_trailers, trace, \
        request_body, request_body_sent, response_body, response_body_sent
        """
    static let payloadColumnCount = 13

    static let connectionColumns = """
        id, leg, opened_at, closed_at, local_address, peer_address, dns, connect, handshake, \
        tls_version, tls_cipher, tls_server_name, tls_alpn, tls_resumed, tls_failure, tls_certificates
        """
    static let connectionColumnCount = 16

    /// Question marks for so many columns.
    static func placeholders(_ count: Int) -> String {
        Array(repeating: "?", count: count).joined(separator: ",")
    }
}
