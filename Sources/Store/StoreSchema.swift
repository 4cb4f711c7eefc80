import Foundation
import Recording

/// The tables of a project. `Store.md` explains them to users.
enum StoreSchema {
    /// Increased with every change; Sluice uses no other version.
    static let version = 1

    /// The columns of an exchange: those of a session's tables, the hashes of its bodies in the order of ``BodySide``, and
    /// when the pieces of its streams arrived.
    static let exchange =
        SessionTable.exchange.columns.filter { $0.name != "payload" }
        + SessionTable.payload.columns.filter { $0.name != "id" }

    static let connection =
        SessionTable.connection.columns + SessionTable.route.columns.filter { $0.name != "connection" }

    /// How many columns of an exchange come before its bodies.
    static let bodies = exchange.count - 4

    /// The tables that are divided by day.
    static let daily = ["exchanges", "bodies", "connections"]

    static func names(_ columns: [(name: String, kind: SessionTable.Kind)]) -> String {
        columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
    }

    private static func definitions(_ columns: [(name: String, kind: SessionTable.Kind)]) -> String {
        columns.map { column in
            let type =
                switch column.kind {
                case .number: "bigint"
                case .text: "text COLLATE \"C\""
                case .bytes: "bytea"
                }
            return "\"\(column.name)\" \(type)"
        }
        .joined(separator: ", ")
    }

    /// Makes what is not there yet, in one transaction. The owner's functions are what a writer may do besides adding
    /// rows: to make the partition of a day near the server's, and to ask what of a session is there.
    static func creation(_ project: String) -> [String] {
        let (writer, reader) = ("\(project)_writer", "\(project)_reader")
        var statements = ["BEGIN", "CREATE SCHEMA IF NOT EXISTS \(project)", "SET LOCAL search_path = \(project)"]
        for role in [writer, reader] {
            statements.append(
                """
                DO $$ BEGIN
                    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '\(role)') THEN CREATE ROLE \(role); END IF;
                END $$
                """
            )
        }
        statements += [
            "CREATE TABLE IF NOT EXISTS version(version bigint NOT NULL)",
            """
            CREATE TABLE IF NOT EXISTS sessions(
                session uuid PRIMARY KEY, labels jsonb NOT NULL, sluice text NOT NULL,
                added_at timestamptz NOT NULL DEFAULT now()
            )
            """,
            """
            CREATE TABLE IF NOT EXISTS exchanges(
                day date NOT NULL, session uuid NOT NULL, \(definitions(exchange)), arrivals bytea,
                PRIMARY KEY(day, session, id)
            ) PARTITION BY RANGE(day)
            """,
            // The status comes last, so that rows with another one are not read.
            "CREATE INDEX IF NOT EXISTS exchanges_time ON exchanges(started_at, status)",
            "CREATE INDEX IF NOT EXISTS exchanges_host ON exchanges(lower(host), started_at, status)",
            """
            CREATE TABLE IF NOT EXISTS bodies(
                day date NOT NULL, hash bytea NOT NULL, size bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY(day, hash)
            ) PARTITION BY RANGE(day)
            """,
            // They are compressed already.
            "ALTER TABLE bodies ALTER data SET STORAGE EXTERNAL",
            """
            CREATE TABLE IF NOT EXISTS connections(
                day date NOT NULL, session uuid NOT NULL, \(definitions(connection)), PRIMARY KEY(day, session, id)
            ) PARTITION BY RANGE(day)
            """,
            """
            CREATE TABLE IF NOT EXISTS annotations(
                session uuid NOT NULL, exchange bigint NOT NULL, at bigint NOT NULL, comment text, colour text
            )
            """,
            "CREATE INDEX IF NOT EXISTS annotations_exchange ON annotations(session, exchange, at)",
            """
            CREATE TABLE IF NOT EXISTS rules(
                session uuid NOT NULL, id bigint NOT NULL, at bigint NOT NULL, sources text NOT NULL, off text NOT NULL,
                PRIMARY KEY(session, id)
            )
            """,
            """
            CREATE TABLE IF NOT EXISTS missing(
                session uuid NOT NULL, at timestamptz NOT NULL DEFAULT now(), count bigint NOT NULL, reason text NOT NULL
            )
            """,
            """
            CREATE OR REPLACE FUNCTION make_day(day date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = \(project), pg_temp AS $$
            DECLARE name text;
            BEGIN
                IF abs(day - (now() AT TIME ZONE 'UTC')::date) > 7 THEN RETURN; END IF;
                PERFORM pg_advisory_xact_lock(hashtext('\(project).make_day'));
                FOREACH name IN ARRAY ARRAY[\(daily.map { "'\($0)'" }.joined(separator: ", "))] LOOP
                    BEGIN
                        EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
                            name || to_char(day, '_YYYYMMDD'), name, day, day + 1);
                    EXCEPTION WHEN check_violation THEN
                        -- The late partition has rows of this day already, and keeps them.
                        NULL;
                    END;
                END LOOP;
            END $$
            """,
            """
            CREATE OR REPLACE FUNCTION shipped(wanted uuid) RETURNS SETOF bigint LANGUAGE sql SECURITY DEFINER STABLE
            SET search_path = \(project), pg_temp AS $$ SELECT id FROM exchanges WHERE session = wanted ORDER BY id $$
            """,
            """
            CREATE OR REPLACE FUNCTION annotated(wanted uuid) RETURNS TABLE(exchange bigint, comment text, colour text)
            LANGUAGE sql SECURITY DEFINER STABLE SET search_path = \(project), pg_temp AS $$
                SELECT DISTINCT ON (exchange) exchange, comment, colour FROM annotations WHERE session = wanted
                ORDER BY exchange, at DESC
            $$
            """,
            """
            CREATE OR REPLACE FUNCTION project_version() RETURNS bigint LANGUAGE sql SECURITY DEFINER STABLE
            SET search_path = \(project), pg_temp AS $$ SELECT max(version) FROM version $$
            """,
            "INSERT INTO version SELECT \(version) WHERE NOT EXISTS (SELECT FROM version)",
        ]
        statements += daily.map { "CREATE TABLE IF NOT EXISTS \($0)_late PARTITION OF \($0) DEFAULT" }
        statements += [
            "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA \(project) FROM PUBLIC",
            "GRANT USAGE ON SCHEMA \(project) TO \(writer), \(reader)",
            "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA \(project) TO \(writer), \(reader)",
            "GRANT INSERT ON \(added) TO \(writer)",
            "GRANT SELECT ON \(added), version TO \(reader)",
            "COMMIT",
        ]
        return statements
    }

    private static let added = "sessions, exchanges, bodies, connections, annotations, rules, missing"
}
