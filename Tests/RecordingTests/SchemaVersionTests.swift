import Foundation
import HTTPModel
import NIOCore
import Testing

@testable import Recording

@Suite("Sessions of an earlier Sluice")
struct SchemaVersionTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    /// What Sluice made before streams had arrivals; written down here, since today's code must not change it.
    private static let firstVersion = """
        PRAGMA page_size = 16384;
        CREATE TABLE run(
        id INTEGER PRIMARY KEY,
        version TEXT NOT NULL,
        recorder TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        ended_at INTEGER,
        first_exchange INTEGER NOT NULL,
        not_recorded INTEGER NOT NULL,
        dropped_bytes INTEGER NOT NULL
        );
        CREATE TABLE summary(
        id INTEGER PRIMARY KEY CHECK(id = 1),
        exchanges INTEGER NOT NULL,
        failures INTEGER NOT NULL,
        request_body_bytes INTEGER NOT NULL,
        response_body_bytes INTEGER NOT NULL
        );
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
        );
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
        );
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
        );
        CREATE TABLE chunk(
        exchange INTEGER NOT NULL,
        side INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY(exchange, side, offset)
        );
        INSERT INTO summary VALUES(1, 2, 0, 0, 5);
        INSERT INTO run VALUES(1, '0.9', 'lossless', 5, 6, 1, 0, 0);
        INSERT INTO exchange(id, payload, kind, state, flags, started_at, method, scheme, host, port, path, status,
        client_version, media_type, client_connection, request_head_size, request_body_size, request_wire_size,
        response_head_size, response_body_size, response_wire_size)
        VALUES(1, 1, 0, 1, 0, 7, 'GET', 'http', 'old.example', 80, '/', 200, 11, 'text/plain', 1, 9, 0, 9, 8, 5, 13),
        (2, -2, 0, 0, 0, 8, 'GET', 'http', 'open.example', 80, '/', 0, 11, '', 1, 9, 0, 9, 0, 0, 0);
        INSERT INTO payload(id, request_head, response_body)
        VALUES(1, CAST('GET / HTTP/1.1' AS BLOB), CAST('hello' AS BLOB)), (-2, CAST('GET' AS BLOB), NULL);
        PRAGMA application_id = 0x534C4345;
        PRAGMA user_version = 1;
        """

    /// What streams added to it, before rules were kept.
    private static let secondVersion = """
        \(firstVersion)
        ALTER TABLE exchange ADD COLUMN tally_client INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE exchange ADD COLUMN tally_server INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE exchange ADD COLUMN grpc_status INTEGER;
        ALTER TABLE exchange ADD COLUMN grpc_message TEXT;
        CREATE TABLE arrival(
        exchange INTEGER NOT NULL,
        side INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY(exchange, side, offset)
        ) WITHOUT ROWID;
        INSERT INTO arrival VALUES(1, 2, 0, 55);
        UPDATE exchange SET tally_server = 3 WHERE id = 1;
        PRAGMA user_version = 2;
        """

    private func makeOld(_ sql: String = firstVersion) throws {
        _ = try sqlite(scratch.session, sql)
    }

    private func tables(_ path: String) throws -> String {
        try sqlite(path, "SELECT sql FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    }

    @Test("are read as they are, with nothing where they have nothing")
    func reading() throws {
        try makeOld()
        let before = try Data(contentsOf: URL(filePath: scratch.session))
        let reader = try SessionReader(path: scratch.session)
        let records = try reader.records(limit: 10)
        #expect(records.map(\.url.host) == ["old.example", "open.example"])
        #expect(records.allSatisfy { $0.tally == MessageTally() && $0.grpc == nil })
        #expect(try reader.exchange(ExchangeID(1))?.messages.requestHead == ByteBuffer(string: "GET / HTTP/1.1"))
        #expect(try reader.body(of: ExchangeID(1), side: .responseSent, limit: 9) == ByteBuffer(string: "hello"))
        #expect(try reader.arrivals(of: ExchangeID(1), side: .responseReceived).isEmpty)
        #expect(try reader.arrivals(of: ExchangeID(1), side: .responseReceived, from: 1, limit: 1).isEmpty)
        #expect(try reader.rules().isEmpty && reader.rules(at: .max) == nil)
        #expect(try Data(contentsOf: URL(filePath: scratch.session)) == before)
    }

    @Test("are read with what the second version kept, and become sessions of today")
    func secondVersion() throws {
        try makeOld(Self.secondVersion)
        let before = try Data(contentsOf: URL(filePath: scratch.session))
        let early = try SessionReader(path: scratch.session)
        let arrivals = [Arrival(offset: 0, at: 55)]
        #expect(try early.record(ExchangeID(1))?.tally.fromServer == 3)
        #expect(try early.arrivals(of: ExchangeID(1), side: .responseReceived) == arrivals)
        #expect(try early.rules().isEmpty && early.rules(at: .max) == nil)
        #expect(try Data(contentsOf: URL(filePath: scratch.session)) == before)

        let feed = try Feed(path: scratch.session)
        feed.recorder.noteRules(sources: [], switchedOff: ["throttle"], at: 9)
        feed.recorder.flush()
        // Whoever had opened it before goes on reading what there was then.
        #expect(try early.rules().isEmpty)
        #expect(feed.recorder.close().error == nil)
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.record(ExchangeID(1))?.tally.fromServer == 3)
        #expect(try reader.arrivals(of: ExchangeID(1), side: .responseReceived) == arrivals)
        #expect(try reader.rules().map(\.switchedOff) == [["throttle"]])
        #expect(try sqlite(scratch.session, "PRAGMA user_version; PRAGMA integrity_check") == "3\nok")
        let fresh = scratch.directory + "/fresh.sluice"
        try Feed(path: fresh).recorder.close()
        #expect(try tables(scratch.session) == tables(fresh))
    }

    @Test("become sessions of today when recorded into, and lose nothing")
    func upgrading() throws {
        try makeOld()
        let early = try SessionReader(path: scratch.session)
        #expect(try early.count() == 2)
        let feed = try Feed(path: scratch.session)
        #expect(feed.recorder.recovered?.first == [ExchangeID(2)])
        #expect(feed.recorder.nextExchangeID == 3)
        let full = RoundTripTests.fullRecord
        feed(
            .opened(Samples.record(full.id.number), ExchangeMessages()),
            .arrival(full.id, .responseReceived, offset: 0, at: 77),
            .finished(full, RoundTripTests.fullMessages)
        )
        feed.recorder.flush()
        // Whoever had opened it before goes on reading what there was then.
        #expect(try early.record(full.id)?.tally == MessageTally())
        #expect(feed.recorder.close().error == nil)

        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.record(full.id) == full)
        #expect(try reader.arrivals(of: full.id, side: .responseReceived) == [Arrival(offset: 0, at: 77)])
        #expect(try reader.record(ExchangeID(1))?.tally == MessageTally())
        #expect(try reader.record(ExchangeID(2))?.state == .interrupted)
        #expect(try reader.body(of: ExchangeID(1), side: .responseReceived, limit: 9) == ByteBuffer(string: "hello"))
        #expect(try sqlite(scratch.session, "PRAGMA user_version; PRAGMA integrity_check") == "3\nok")

        // Nothing tells it from a session that began as one of today, so it can be recorded into again.
        let fresh = scratch.directory + "/fresh.sluice"
        try Feed(path: fresh).recorder.close()
        #expect(try tables(scratch.session) == tables(fresh))
        #expect(sessionError { try Feed(path: scratch.session).recorder.close() } == nil)
    }

    @Test("stay as they are where their tables are not what that Sluice made")
    func damaged() throws {
        try makeOld()
        _ = try sqlite(scratch.session, "ALTER TABLE exchange ADD COLUMN tally_client INTEGER NOT NULL DEFAULT 0")
        let before = try Data(contentsOf: URL(filePath: scratch.session))
        #expect(sessionError { try Feed(path: scratch.session) }?.code == .damaged)
        #expect(sessionError { try SessionReader(path: scratch.session) }?.code == .damaged)
        #expect(try Data(contentsOf: URL(filePath: scratch.session)) == before)
    }
}
