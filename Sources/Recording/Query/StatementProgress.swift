import GRDBSQLite

/// Called some hundred times a second while a statement runs, with the number of rows that a table scan has passed;
/// returns whether to continue.
package typealias StatementWatch = @Sendable (_ rows: Int64) -> Bool

/// Lets a watch end a statement, through SQLite's progress handler.
final class StatementProgress {
    /// Steps of SQLite's machine between two calls; a row takes five to fifty, or many more with a body to decode.
    private static let steps: CInt = 200

    private let statement: OpaquePointer
    private let watch: StatementWatch

    init(_ statement: OpaquePointer, _ watch: @escaping StatementWatch) {
        self.statement = statement
        self.watch = watch
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            sqlite3_db_handle(statement),
            Self.steps,
            { context in
                guard let context else { return 0 }
                return Unmanaged<StatementProgress>.fromOpaque(context).takeUnretainedValue().mayGoOn ? 0 : 1
            },
            context
        )
    }

    private var mayGoOn: Bool { watch(Int64(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0))) }

    func end() { sqlite3_progress_handler(sqlite3_db_handle(statement), 0, nil, nil) }
}
