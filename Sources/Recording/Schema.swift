import GRDB

/// `SessionFile.md` explains the tables to users.
enum Schema {
    /// `SLCE`.
    static let applicationID: Int64 = 0x534C_4345
    /// Increased with every change; Sluice reads no other version.
    static let version: Int64 = 5
    /// Of new sessions.
    static let pageSize = 32_768
    /// Longer bodies are in chunks.
    static let inlineBody = 4_096
    static let chunkLength = 262_144
    /// A stream's last chunk is rewritten until it has this length.
    static let streamChunk = 4_096

    struct Table: Sendable {
        let name: String
        /// In the order of reading and writing.
        let columns: String
        let kinds: [SessionTable.Kind]
        /// If a session's statement differs, Sluice did not make the session.
        let creation: String
        let replacement: String

        /// `columns` are definitions with commas between them.
        fileprivate init(_ name: String, _ columns: String, key: String? = nil, options: String = "") {
            self.name = name
            let columns = columns.split { $0 == "," || $0 == "\n" }.map { String($0.drop { $0 == " " }) }
            let names = columns.map { String($0.prefix { $0 != " " }) }.joined(separator: ", ")
            let values = Array(repeating: "?", count: columns.count).joined(separator: ",")
            kinds = columns.map { $0.contains(" TEXT") ? .text : $0.contains(" BLOB") ? .bytes : .number }
            self.columns = names
            let lines = columns + (key.map { ["PRIMARY KEY(\($0))"] } ?? [])
            creation = "CREATE TABLE \(name)(\n\(lines.joined(separator: ",\n"))\n)\(options)"
            replacement = "INSERT OR REPLACE INTO \(name)(\(names)) VALUES(\(values))"
        }
    }

    static let tables = [
        session, run, summary, connection, exchange, annotation, payload, chunk, arrival, rules, route,
    ]

    static let session = Table(
        "session",
        "id INTEGER PRIMARY KEY CHECK(id = 1), identifier TEXT NOT NULL, labels TEXT NOT NULL"
    )

    static let run = Table(
        "run",
        """
        id INTEGER PRIMARY KEY, version TEXT NOT NULL, recorder TEXT NOT NULL,
        started_at INTEGER NOT NULL, ended_at INTEGER, first_exchange INTEGER NOT NULL,
        not_recorded INTEGER NOT NULL, dropped_bytes INTEGER NOT NULL
        """
    )

    static let summary = Table(
        "summary",
        """
        id INTEGER PRIMARY KEY CHECK(id = 1), exchanges INTEGER NOT NULL, failures INTEGER NOT NULL,
        request_body_bytes INTEGER NOT NULL, response_body_bytes INTEGER NOT NULL
        """
    )

    static let connection = Table(
        "connection",
        """
        id INTEGER PRIMARY KEY, leg INTEGER NOT NULL, opened_at INTEGER NOT NULL, closed_at INTEGER,
        local_address TEXT NOT NULL, peer_address TEXT NOT NULL,
        dns INTEGER, connect INTEGER, handshake INTEGER,
        tls_version TEXT, tls_cipher TEXT, tls_server_name TEXT, tls_alpn TEXT, tls_resumed INTEGER,
        tls_failure TEXT, tls_certificates TEXT
        """
    )

    /// For connections with an upstream proxy or a client certificate.
    static let route = Table("route", "connection INTEGER PRIMARY KEY, upstream_proxy TEXT, client_certificate TEXT")

    static let exchange = Table(
        "exchange",
        """
        id INTEGER PRIMARY KEY, payload INTEGER NOT NULL, kind INTEGER NOT NULL, state INTEGER NOT NULL,
        flags INTEGER NOT NULL, started_at INTEGER NOT NULL, method TEXT NOT NULL,
        scheme TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL, path TEXT NOT NULL, query TEXT,
        status INTEGER NOT NULL, client_version INTEGER NOT NULL, upstream_version INTEGER,
        media_type TEXT NOT NULL, client_connection INTEGER NOT NULL, upstream_connection INTEGER,
        request_head_size INTEGER NOT NULL, request_body_size INTEGER NOT NULL,
        request_wire_size INTEGER NOT NULL, response_head_size INTEGER NOT NULL,
        response_body_size INTEGER NOT NULL, response_wire_size INTEGER NOT NULL,
        blocked INTEGER, dns INTEGER, connect INTEGER, tls INTEGER, send INTEGER, wait INTEGER,
        receive INTEGER, total INTEGER,
        failure TEXT, failure_message TEXT, failure_hint TEXT,
        sent_scheme TEXT, sent_host TEXT, sent_port INTEGER, sent_path TEXT, sent_query TEXT,
        client_messages INTEGER NOT NULL, server_messages INTEGER NOT NULL,
        grpc_status INTEGER, grpc_message TEXT,
        client_address TEXT, server_address TEXT, listening_mode TEXT, process_id INTEGER,
        process_name TEXT, origin TEXT, masked TEXT
        """
    )

    /// Not part of `exchange`, because the recorder replaces rows of `exchange`.
    static let annotation = Table(
        "annotation",
        "exchange INTEGER PRIMARY KEY, comment TEXT, colour TEXT, deleted_at INTEGER"
    )

    static let payload = Table(
        "payload",
        """
        id INTEGER PRIMARY KEY, request_head BLOB, request_head_sent BLOB, request_trailers BLOB,
        interim_heads BLOB, response_head BLOB, response_head_sent BLOB, response_trailers BLOB,
        trace TEXT, request_body BLOB, request_body_sent BLOB, response_body BLOB,
        response_body_sent BLOB
        """
    )

    static let chunk = Table(
        "chunk",
        "exchange INTEGER NOT NULL, side INTEGER NOT NULL, offset INTEGER NOT NULL, data BLOB NOT NULL",
        key: "exchange, side, offset"
    )

    static let arrival = Table(
        "arrival",
        "exchange INTEGER NOT NULL, side INTEGER NOT NULL, offset INTEGER NOT NULL, at INTEGER NOT NULL",
        key: "exchange, side, offset",
        options: " WITHOUT ROWID"
    )

    static let rules = Table("rules", "id INTEGER PRIMARY KEY, at INTEGER NOT NULL, sources TEXT, off TEXT NOT NULL")

    /// Exchanges with annotations, except deleted ones; callers append a condition.
    static let records = """
        SELECT \(exchange.columns), comment, colour, deleted_at \
        FROM exchange LEFT JOIN annotation ON annotation.exchange = exchange.id
        WHERE deleted_at IS NULL AND
        """

    static let joinedRecord =
        exchange.columns.split(separator: ", ").map { "e.\($0)" }.joined(separator: ", ")
        + ", a.comment, a.colour, a.deleted_at"

    /// Connections with routes; callers append a condition.
    static let connections = """
        SELECT \(connection.columns), upstream_proxy, client_certificate \
        FROM connection LEFT JOIN route ON route.connection = connection.id
        WHERE
        """

    static func isDeleted(_ number: String) -> String {
        "EXISTS (SELECT 1 FROM annotation AS d WHERE d.exchange = \(number) AND d.deleted_at IS NOT NULL)"
    }

    /// If no exchange is deleted, SQLite determines this once and looks up no rows.
    static func isKept(_ number: String) -> String {
        "(NOT EXISTS (SELECT 1 FROM annotation WHERE deleted_at IS NOT NULL) OR NOT \(isDeleted(number)))"
    }

    /// Makes the tables in an empty file within a transaction, and fills them.
    static func create(in database: Database, isDurable: Bool, _ fill: () throws -> Void) throws {
        // `auto_vacuum`, which lets SQLite return empty pages, must be set before the first page is written. It writes
        // that page, which the tables' transaction syncs.
        try database.execute(
            sql: """
                PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA auto_vacuum = INCREMENTAL;
                PRAGMA synchronous = \(isDurable ? "FULL" : "OFF");
                """
        )
        try database.inTransaction {
            for table in tables { try database.execute(sql: table.creation) }
            try fill()
            try database.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
            return .commit
        }
    }

    /// Refuses other versions, and tables that Sluice did not make.
    static func check(_ session: SessionDatabase) throws {
        let (database, path) = (session.connection, session.path)
        let application = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        guard application == applicationID else { throw SessionError.notASession(path) }
        let found = try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found == version else { throw SessionError.otherSchema(path, found) }
        for table in tables {
            let query = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?"
            let sql = try String.fetchOne(database, sql: query, arguments: [table.name])
            guard sql == table.creation else {
                throw SessionError.damaged(path, "its table \"\(table.name)\" differs from Sluice's")
            }
        }
        let triggers = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'")
        guard triggers == 0 else { throw SessionError.damaged(path, "it has triggers") }
    }
}

extension Configuration {
    /// For writing a session that another connection may lock for some seconds, for example while closing it.
    static func session(_ label: String, seconds: Double) -> Configuration {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.allowsUnsafeTransactions = true
        configuration.label = label
        configuration.busyMode = .timeout(seconds)
        // The first read fixes the page size of a new file.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA page_size = \(Schema.pageSize)") }
        return configuration
    }
}
