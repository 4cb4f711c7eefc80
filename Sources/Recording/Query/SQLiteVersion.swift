import GRDBSQLite

/// The version of the SQLite that is in use.
package var sqliteVersion: String { String(cString: sqlite3_libversion()) }
