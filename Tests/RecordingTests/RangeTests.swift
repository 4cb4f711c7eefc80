import Foundation
import GRDB
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Recording

@Suite("Numbers in a session")
struct RangeTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private static let values: [DatabaseValue] = [
        Int64.max.databaseValue, Int64.min.databaseValue, (-1).databaseValue, Int64(1 << 53 + 1).databaseValue,
        Int64(1 << 53).databaseValue, "text".databaseValue, Data([0xFF]).databaseValue, 1e300.databaseValue, .null,
    ]

    private static let tables = [
        "exchange", "annotation", "payload", "connection", "chunk", "arrival", "session", "run", "summary", "rules",
    ]

    @Test("Whatever is in a column, reading ends with values in their ranges or with an error", arguments: tables)
    func columns(_ table: String) throws {
        let columns = try GoodSession.made.get().columns.filter { $0.table == table }
        #expect(!columns.isEmpty)
        for (table, column) in columns {
            // What is recorded next counts on from these.
            let recordsOn = column == "id" || ["summary", "run"].contains(table)
            for value in Self.values {
                let change = SessionChange(table: table, column: column, value: value)
                #expect(throws: Never.self, "\(change)") { try SessionProbe.with([change], recordsOn: recordsOn) }
            }
        }
    }

    @Test(
        "A number out of its range is refused with its place",
        arguments: [
            ("exchange", "started_at", "started_at of exchange 3 is"), ("exchange", "wait", "wait of exchange 3 is"),
            ("exchange", "response_body_size", "response_body_size of exchange 3 is"),
        ]
    )
    func place(_ table: String, _ column: String, _ words: String) throws {
        let change = SessionChange(table: table, column: column, value: Int64.max.databaseValue)
        let path = try GoodSession.made.get().changed([change])
        defer { try? FileManager.default.removeItem(atPath: path) }
        let error = sessionError { try SessionReader(path: path).records(limit: 10) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("\(words) \(Int64.max)") == true, "\(error as Any)")
    }

    @Test(
        "A session whose numbers leave no room is not recorded on",
        arguments: ["exchange", "connection", "payload", "run", "rules"]
    )
    func noRoom(_ table: String) throws {
        for number in [Int64.max, 1 << 53, 1 << 52 + 1] as [Int64] {
            let change = SessionChange(table: table, column: "id", value: number.databaseValue)
            let path = try GoodSession.made.get().changed([change])
            defer { try? FileManager.default.removeItem(atPath: path) }
            let error = sessionError { try Recorder(RecorderConfiguration(path: path)).close() }
            #expect(error?.message.contains("id of \(table) \(number) is \(number)") == true, "\(error as Any)")
        }
    }

    @Test("A negative duration of a connection is none", arguments: ["dns", "connect", "handshake"])
    func setBack(_ column: String) throws {
        let change = SessionChange(table: "connection", column: column, value: Int64(-378_187).databaseValue)
        let path = try GoodSession.made.get().changed([change])
        defer { try? FileManager.default.removeItem(atPath: path) }
        let connection = try #require(try SessionReader(path: path).connections(limit: 10).last)
        let times = ["dns": connection.dns, "connect": connection.connect, "handshake": connection.handshake]
        #expect(times[column] == .some(nil))
    }

    @Test("A moment before 1970 is one")
    func past() throws {
        let change = SessionChange(
            table: "exchange",
            column: "started_at",
            value: Int64(-315_619_200_000_000).databaseValue
        )
        let path = try GoodSession.made.get().changed([change])
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try SessionReader(path: path).record(ExchangeID(3))?.startedAt == -315_619_200_000_000)
    }

    @Test("no input of sessions fails", arguments: try FuzzReplay.all("Sessions", seeds: SessionSeeds.all))
    func fuzz(_ input: FuzzReplay) throws {
        try SessionProbe.run(input.bytes)
    }
}
