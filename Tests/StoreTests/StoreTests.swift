import Content
import HTTPModel
import NIOCore
import Recording
import Testing

@testable import Store

@Suite("A store's words and bytes")
struct StoreTests {
    @Test("A URL is shown without its password, and so are texts of the server")
    func addresses() throws {
        let address = try StoreAddress("postgresql://ann:s3cret@db.example.com:5433/team")
        #expect(address.shown == "postgresql://ann@db.example.com:5433/team")
        #expect(address.masked("no entry for s3cret") == "no entry for …")
        let socket = try StoreAddress("postgres://ann@/team?host=/run/pg&port=5433")
        #expect(socket.shown == "postgresql://ann@/team?host=/run/pg&port=5433")
    }

    @Test(
        "A wrong address, project or word says what it should be",
        arguments: [
            ("mysql://x", "traffic"), ("postgresql://[::1", "traffic"), ("postgresql://x", "My Project"),
            ("postgresql://x", "public"),
        ]
    )
    func wrong(_ url: String, project: String) {
        #expect(throws: StoreError.self) { try StoreAddress(url, project: project) }
    }

    @Test("Only this machine is trusted without a certificate, and a chosen mode stays")
    func verification() {
        for (values, needs) in [
            (["host": "db.example.com", "sslmode": "prefer"], true),
            (["host": "localhost", "sslmode": "prefer"], false),
            (["host": "/run/pg"], false), (["hostaddr": "127.0.0.1", "host": "db"], false),
            (["host": "db", "sslmode": "require"], false), (["host": "localhost,db", "sslmode": "prefer"], true),
        ] {
            #expect(StoreAddress.needsVerification(values) == needs, "\(values)")
        }
    }

    @Test("Times choose days, also under and and or, but not under not")
    func times() throws {
        for (text, range) in [
            ("since:2026-11-30T00:00:00Z before:2026-11-30T01:00:00Z", 1_795_996_800_000_000...1_796_000_399_999_999),
            ("not since:2026-11-30T00:00:00Z", Int64.min...Int64.max),
            ("since:2026-11-30T00:00:00Z or status:500", Int64.min...Int64.max),
        ] {
            #expect(try Filter(text).root.range(of: .startedAt, in: Int64.min...Int64.max) == range, "\(text)")
        }
    }

    @Test("Columns are PostgreSQL's binary arrays")
    func arrays() {
        var rows = ColumnArrays([.number, .text, .bytes])
        rows.bind(Int64(7))
        rows.bind("a\0b")
        rows.bind(nil as ByteBuffer?)
        rows.endRow()
        let parameters = rows.parameters.map { parameter -> [UInt8] in
            guard case .array(_, let bytes) = parameter else { return [] }
            return Array(bytes.readableBytesView)
        }
        func array(_ type: UInt8, _ value: [UInt8]) -> [UInt8] {
            [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, type, 0, 0, 0, 1, 0, 0, 0, 1] + value
        }
        #expect(parameters[0] == array(20, [0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 7]))
        #expect(parameters[1] == array(25, [0, 0, 0, 5] + Array("a\u{FFFD}b".utf8)))
        #expect(parameters[2] == array(17, [255, 255, 255, 255]))
    }

    @Test("The same secret has the same digits under one key, and others under another")
    func labels() {
        let key = LabelKey(Array("Jefe".utf8))
        // RFC 4231, test case 2.
        #expect(key.label(Array("what do ya want for nothing?".utf8)) == 0x5B_DCC1)
        #expect(LabelKey().label([1]) != key.label([1]) || LabelKey().label([1]) != key.label([1]))
    }

    @Test("A body that is longer than the limit is cut, marked, and named by the bytes that are left")
    func bodies() throws {
        let batch = StoreBatch(longestBody: 4)
        let url = RequestURL(scheme: "http", host: "a", port: 80, path: "/", query: nil)
        let id = ExchangeID(1)
        var record = ExchangeRecord(
            id: id,
            kind: .http,
            startedAt: 86_400_000_001,
            method: "GET",
            url: url,
            clientConnection: ConnectionID(1)
        )
        record.state = .complete
        batch.record(.body(id, .responseReceived, ByteBuffer(string: "abc")))
        batch.record(.body(id, .responseReceived, ByteBuffer(string: "def")))
        batch.record(.finished(record, ExchangeMessages()))
        #expect(batch.numbers == [1])
        let (days, statements) = try batch.statements("traffic", session: "s")
        #expect(days == [1] && statements.count == 2)
        guard case .array(_, let hashes) = statements[0].parameters[1] else { return }
        #expect(
            Array(hashes.readableBytesView.suffix(32))
                == Array(BodyHash(ByteBuffer(string: "abcd")).bytes.readableBytesView)
        )
    }

    @Test("A row with other types, lengths or bodies than Sluice writes is an error")
    func hostile() throws {
        let columns: [ByteBuffer?] = [
            nil, ByteBuffer(), ByteBuffer(bytes: [1, 2, 3]), ByteBuffer(repeating: 0xFF, count: 9),
        ]
        for column in columns {
            var row = StoredRow([column], of: "s")
            #expect(throws: StoreError.self) { try row.number() }
        }
        var empty = StoredRow([], of: "s")
        #expect(throws: StoreError.self) { try empty.optionalText() }
        var text = StoredRow([ByteBuffer(bytes: [0xC3, 0x28])], of: "s")
        #expect(try text.text() == "\u{FFFD}(")
        let zstd = try ContentEncoder.encode(ByteBuffer(string: "body"), coding: .zstd)
        let hash = BodyHash(ByteBuffer(string: "body")).bytes
        #expect(StoreReader.body(zstd, size: 4, hash: hash) == ByteBuffer(string: "body"))
        for (data, size, wrong) in [
            (zstd, Int64(5), hash), (zstd, 3, hash), (zstd, -1, hash), (zstd, .max, hash),
            (zstd, 4, ByteBuffer(bytes: [0])), (ByteBuffer(string: "body"), 4, hash),
        ] {
            #expect(StoreReader.body(data, size: size, hash: wrong) == nil)
        }
    }
}
