import GRDBSQLite

package var sqliteVersion: String { String(cString: sqlite3_libversion()) }
