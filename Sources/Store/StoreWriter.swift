import Foundation
package import HTTPModel
package import Recording

/// Adds rows to a store, as the role of writers may. Use it on one thread.
package final class StoreWriter {
    private let connection: PostgreSQL
    private let project: String
    private let session: String
    private var days: Set<Int64> = []

    /// Connects, and adds the session. Throws ``StoreError``, and `CancellationError`.
    package init(
        _ settings: Shipper.Settings,
        session: String,
        isCancelled: @escaping () -> Bool = { false }
    ) throws {
        let address = settings.address
        connection = try PostgreSQL(address, isCancelled: isCancelled)
        (project, self.session) = (address.project, session)
        try StoreWriter.check(connection, address)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(settings.labels), as: UTF8.self)
        let sql = """
            INSERT INTO \(project).sessions(session, labels, sluice) VALUES($1::uuid, $2::jsonb, $3)
            ON CONFLICT DO NOTHING
            """
        try connection.run(sql, [.text(session), .text(text), .text(settings.version)])
    }

    static func check(_ connection: PostgreSQL, _ address: StoreAddress) throws {
        var rows = try connection.run("SELECT \(address.project).project_version()")
        guard !rows.isEmpty, let found = try rows[0].optionalNumber(), found != StoreSchema.version else { return }
        let what = "The project \(address.project) of the store \(address.shown)"
        let hint = "Another version of Sluice made it; use that, or another project."
        throw StoreError(.schema, "\(what) has version \(found), not \(StoreSchema.version).", hint: hint)
    }

    /// Makes what a project needs; changes nothing that is there. Throws ``StoreError``.
    package static func create(_ address: StoreAddress) throws {
        let connection = try PostgreSQL(address)
        for sql in StoreSchema.creation(address.project) { try connection.run(sql) }
        try check(connection, address)
    }

    /// The exchanges of this session that the store has.
    package func shipped() throws -> ExchangeNumbers {
        var numbers: [Int64] = []
        try connection.forEachRow("SELECT \(project).shipped($1::uuid)", [.text(session)]) {
            numbers.append(try $0.number())
        }
        return ExchangeNumbers(numbers)
    }

    /// Writes all rows of the batch or none; rows that are there stay as they are.
    package func write(_ batch: StoreBatch) throws {
        let (newDays, statements) = try batch.statements(project, session: session)
        for day in newDays where !days.contains(day) {
            let makeDay = "SELECT \(project).make_day(date '1970-01-01' + $1::integer)"
            try connection.run(makeDay, [.text("\(day)")])
            days.insert(day)
        }
        try connection.run([.init("BEGIN")] + statements + [.init("COMMIT")])
    }

    package func write(_ rules: [StoredRules]) throws {
        for set in rules {
            let (sources, switchedOff) = try set.texts()
            let values: [PostgreSQL.Parameter] = [
                .text(session), .text("\(set.number)"), .text("\(set.at)"), .text(sources), .text(switchedOff),
            ]
            let places = "$1::uuid, $2::bigint, $3::bigint, $4, $5"
            let sql = "INSERT INTO \(project).rules VALUES(\(places)) ON CONFLICT DO NOTHING"
            try connection.run(sql, values)
        }
    }

    /// Adds the comments that differ from those that the store has (`known`), which are then these; a removed comment is a
    /// row without one.
    package func write(_ annotations: [Int64: ExchangeAnnotation], known: inout [Int64: ExchangeAnnotation]?) throws {
        var stored = try known ?? annotated()
        for exchange in Set(annotations.keys).union(stored.keys).sorted() {
            let annotation = annotations[exchange] ?? ExchangeAnnotation()
            guard annotation != stored[exchange] ?? ExchangeAnnotation() else { continue }
            try write(annotation, of: exchange)
            stored[exchange] = annotation
        }
        known = stored
    }

    private func annotated() throws -> [Int64: ExchangeAnnotation] {
        var annotations: [Int64: ExchangeAnnotation] = [:]
        try connection.forEachRow("SELECT * FROM \(project).annotated($1::uuid)", [.text(session)]) { row in
            let number = try row.number()
            var annotation = ExchangeAnnotation()
            annotation.comment = try row.optionalText()
            annotation.colour = try row.optionalText()
            annotations[number] = annotation
        }
        return annotations
    }

    private func write(_ annotation: ExchangeAnnotation, of exchange: Int64) throws {
        func value(_ text: String?) -> PostgreSQL.Parameter {
            text.map { .text($0.replacing("\0", with: "")) } ?? .null
        }
        try connection.run(
            "INSERT INTO \(project).annotations VALUES($1::uuid, $2::bigint, $3::bigint, $4, $5)",
            [
                .text(session), .text("\(exchange)"), .text("\(WallClock.now())"), value(annotation.comment),
                value(annotation.colour),
            ]
        )
    }

    /// Notes that exchanges were dropped from the session file before they were stored.
    package func write(missing count: Int, reason: String) throws {
        let sql = "INSERT INTO \(project).missing(session, count, reason) VALUES($1::uuid, $2::bigint, $3)"
        try connection.run(sql, [.text(session), .text("\(count)"), .text(reason)])
    }
}
