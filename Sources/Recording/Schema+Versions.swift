import GRDB

/// Reading and writing on sessions of older schemas.
extension Schema {
    /// Refuses a file whose tables are not exactly those of its version.
    static func check(_ session: SessionDatabase) throws {
        let (database, path) = (session.connection, session.path)
        let application = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        guard application == applicationID else { throw SessionError.notASession(path) }
        let found = try version(of: database)
        guard found >= 1 else { throw SessionError.damaged(path, "its schema version is \(found)") }
        guard (oldestVersion...version).contains(found) else { throw SessionError.otherSchema(path, found) }
        for table in tables {
            let sql = try String.fetchOne(
                database,
                sql: "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?",
                arguments: [table.name]
            )
            guard sql == (table.since <= found ? table.creation : nil) else {
                throw SessionError.damaged(path, "its table \"\(table.name)\" is not as Sluice makes it")
            }
        }
        let triggers = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'")
        guard triggers == 0 else { throw SessionError.damaged(path, "it has triggers") }
    }

    /// Adds the tables that came after the file's version, and makes it a file of today's.
    static func complete(_ database: Database) throws {
        let found = try version(of: database)
        guard found < version else { return }
        try database.inTransaction(.immediate) {
            for table in tables where table.since > found { try database.execute(sql: table.creation) }
            try database.execute(sql: "PRAGMA user_version = \(version)")
            return .commit
        }
    }

    /// Gives a connection that only reads the tables that came after the file's version, without rows and beside the
    /// file, which stays as it is.
    static func completeForReading(_ database: Database) throws {
        let found = try version(of: database)
        guard found < version else { return }
        let isGuarded = try Bool.fetchOne(database, sql: "PRAGMA query_only") ?? false
        try database.execute(sql: "PRAGMA query_only = OFF; PRAGMA temp_store = MEMORY")
        for table in tables where table.since > found {
            try database.execute(sql: "CREATE TEMP TABLE" + table.creation.dropFirst("CREATE TABLE".count))
        }
        try database.execute(sql: "PRAGMA query_only = \(isGuarded ? "ON" : "OFF")")
    }

    private static func version(of database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    }
}
