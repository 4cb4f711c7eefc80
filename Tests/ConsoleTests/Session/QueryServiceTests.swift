import Console
import Foundation
import HTTPModel
import NIOCore
import Recording
import Testing

@Suite("A service")
struct QueryServiceTests {
    /// Ten exchanges, of which each kind has its own.
    private static let records = QuerySamples.records(1...10) { record in
        switch record.id.number {
        case 2: record.status = 404
        case 3: record.timings.total = 5_000_000
        case 4: record.sizes.responseBody = 2_000_000
        case 5: record.flags = .requestChanged
        case 6: record.flags = .held
        case 7:
            record.url.host = "other.example"
            record.url.path = "/a*b"
        case 8:
            record.state = .failed
            record.failure = ExchangeFailure(.reset, "gone")
        case 9: record.url.host = "other.example"
        default: break
        }
    }

    @Test("tells of clients that do not trust the certificate, whether the list has them or not")
    func untrusting() throws {
        let fixture = try QueryFixture(QuerySamples.records(1...3))
        try fixture.ask("status:404")
        func refused(_ record: inout ExchangeRecord) { (record.kind, record.flags) = (.tunnel, .certificateRefused) }
        fixture.record(
            QuerySamples.records(4...7) { record in
                switch record.id.number {
                case 4:
                    (record.kind, record.state) = (.failedHandshake, .failed)
                    record.failure = ExchangeFailure(.clientTLS, "The client refused the certificate.")
                case 5: refused(&record)
                case 6: record.kind = .tunnel
                default: break
                }
            }
        )
        fixture.service.refresh()
        #expect(try fixture.untrusting() == [4, 5])
        // A row may come late; what was told is not told again.
        fixture.record(QuerySamples.records(9...9, refused))
        fixture.service.refresh()
        #expect(try fixture.untrusting() == [9])
        fixture.record(QuerySamples.records(8...8, refused))
        fixture.service.refresh()
        #expect(try fixture.untrusting() == [8])
    }

    @Test(
        "goes to the next and the previous row of a kind, in any list",
        arguments: [
            (JumpKind.matching(.errors), [2, 8] as [Int64]), (.matching(.slow(from: 1_000_000)), [3]),
            (.matching(.large(from: 1_000_000)), [4]),
            (.matching(.changedByRule), [5]), (.matching(.held), [6]), (.marked([1, 4, 99]), [1, 4]),
            (.matching(.hosts(["other.example"])), [7, 9]),
            (.matching(.endpoint(method: "GET", host: "other.example", path: "/a*b")), [7]),
        ]
    )
    func jumps(kind: JumpKind, numbers: [Int64]) throws {
        let fixture = try QueryFixture(Self.records)
        for change in Self.lists {
            try fixture.ask("", change)
            try fixture.ask("id:1..10", change)
            let order = try fixture.numbers().compactMap(\.self)
            for from in order.indices {
                let last = order.count - 1 - from
                let next = order[(from + 1)...].first(where: numbers.contains)
                let found = try fixture.find(kind, from: last, forward: true)
                #expect(found.map { order[order.count - 1 - $0] } == next)
                let previous = order[..<from].last(where: numbers.contains)
                let foundBefore = try fixture.find(kind, from: last, forward: false)
                #expect(foundBefore.map { order[order.count - 1 - $0] } == previous)
            }
        }
        try fixture.ask()
        #expect(try fixture.find(kind, from: 500, forward: true) == nil)
    }

    private static let lists: [@Sendable (inout ListQuery) -> Void] = [
        { _ in },
        { $0.sort = SortOrder(column: .id, isDescending: true) },
        { $0.sort = SortOrder(column: .time, isDescending: true) },
    ]

    @Test("goes to a row in a list that no filter cuts, whichever way it runs")
    func jumpsInWholeList() throws {
        let fixture = try QueryFixture(Self.records)
        try fixture.ask()
        #expect(try fixture.find(.matching(.errors), from: 0, forward: false) == 2)
        #expect(try fixture.find(.matching(.errors), from: 2, forward: false) == 8)
        #expect(try fixture.find(.matching(.errors), from: 8, forward: false) == nil)
        #expect(try fixture.find(.matching(.errors), from: 9, forward: true) == 8)
        try fixture.ask { $0.sort = SortOrder(column: .id, isDescending: true) }
        #expect(try fixture.find(.matching(.errors), from: 0, forward: false) == 1)
        #expect(try fixture.find(.matching(.errors), from: 9, forward: true) == 7)
    }

    @Test("counts sites and paths, of the list only, and goes on counting")
    func structure() throws {
        let fixture = try QueryFixture(
            QuerySamples.records(1...6)
                + [
                    QuerySamples.record(7) { $0.url.path = "/v1" },
                    QuerySamples.record(8) { $0.url.path = "/" },
                    QuerySamples.record(9) {
                        $0.url = RequestURL(scheme: "http", host: "::1", port: 8_080, path: "/x")
                        $0.status = 500
                    },
                    QuerySamples.record(10) {
                        $0.state = .inFlight
                        $0.status = 0
                    },
                ]
        )
        try fixture.ask()
        let root = try fixture.structure()
        #expect(root.children.map(\.name) == ["http://[::1]:8080", "https://api.example.com"])
        #expect(root.children.map(\.count) == [1, 9])
        #expect(root.children.map(\.newest) == [ExchangeID(9), ExchangeID(10)])
        #expect(root.children.map(\.errors) == [1, 0])
        #expect(root.children.map(\.inFlight) == [0, 1])
        let site = try fixture.structure(root.children[1].node)
        #expect(site.children.map(\.name) == ["", "v1"])
        #expect(site.children.map(\.count) == [1, 8])
        #expect(site.children.map(\.isLeaf) == [true, false])
        let items = try fixture.structure(StructureNode(site: "https://api.example.com", segments: ["v1", "items"]))
        #expect(items.children.map(\.name) == ["1", "10", "2", "3", "4", "5", "6"])
        #expect(items.children.allSatisfy { $0.isLeaf && $0.count == 1 && $0.record?.id == $0.newest })
        #expect(site.children.map(\.record?.id) == [ExchangeID(8), nil])
        #expect(items.children[1].record?.state == .inFlight)
        #expect(try fixture.structure(root.children[0].node).children.map(\.name) == ["x"])

        fixture.record([.finished(QuerySamples.record(10) { $0.status = 502 }, ExchangeMessages())])
        fixture.record(QuerySamples.records(11...12))
        fixture.service.refresh()
        _ = try fixture.status { $0.total == 12 }
        let later = try fixture.structure()
        #expect(later.children.map(\.count) == [1, 11])
        #expect(later.children.map(\.newest) == [ExchangeID(9), ExchangeID(12)])
        #expect(later.children.map(\.errors) == [1, 1])
        #expect(later.children.map(\.inFlight) == [0, 0])
        #expect(try fixture.structure(items.node).children[1].record?.status == 502)

        try fixture.ask("status:>=400")
        #expect(try fixture.structure().children.map(\.count) == [1, 1])
    }

    @Test("reads which operation of GraphQL a row's request asks for, from its query or a short body")
    func operations() throws {
        func posted(_ id: Int64, _ body: String, _ change: (inout ExchangeRecord) -> Void = { _ in }) -> [RecordEvent] {
            var record = QuerySamples.record(id) {
                $0.method = "POST"
                $0.mediaType = "application/json"
                $0.sizes.requestBody = Int64(body.utf8.count)
            }
            change(&record)
            var messages = ExchangeMessages()
            messages.requestHead = ByteBuffer(
                string: "POST /graphql HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n\r\n"
            )
            var opened = record
            opened.state = .inFlight
            return [
                .opened(opened, ExchangeMessages()), .body(record.id, .requestReceived, ByteBuffer(string: body)),
                .finished(record, messages),
            ]
        }
        let fixture = try QueryFixture()
        fixture.record(posted(1, #"{"query":"query Items { items { id } }"}"#))
        fixture.record(posted(2, #"{"name":"no query"}"#))
        fixture.record(posted(3, #"[{"query":"mutation Add { add }"},{"query":"{ me }"}]"#))
        fixture.record(posted(4, #"{"query":"{ me }"}"#) { $0.sizes.requestBody = 1 << 20 })
        fixture.record([QuerySamples.record(5) { $0.url.query = "query=%7Bme%7D" }])
        fixture.service.refresh()
        _ = try fixture.status { $0.total == 5 }
        _ = try fixture.numbers()
        let titles = try fixture.events.next { if case .operations(_, let titles) = $0 { titles } else { nil } }
        #expect(
            titles == [ExchangeID(1): "query Items", ExchangeID(3): "mutation Add +1", ExchangeID(5): "query"]
        )
    }

    @Test("tells apart a bounded number of children, and counts the others")
    func crowdedStructure() throws {
        let fixture = try QueryFixture(QuerySamples.records(1...5_100))
        try fixture.ask()
        let level = try fixture.structure(StructureNode(site: "https://api.example.com", segments: ["v1", "items"]))
        #expect(level.children.count == 5_000)
        #expect(level.more == 100)
    }

    @Test("says that its session was removed, and keeps what it has open")
    func vanished() throws {
        let fixture = try QueryFixture(QuerySamples.records(1...3))
        try fixture.ask()
        try FileManager.default.removeItem(atPath: fixture.path)
        fixture.service.refresh()
        #expect(try fixture.failure().contains("removed or replaced"))
        #expect(try fixture.numbers() == [1, 2, 3])
    }

    @Test("says what is damaged, and shows the other rows")
    func damaged() throws {
        let fixture = try QueryFixture(QuerySamples.records(1...3))
        try fixture.ask()
        fixture.recorder.close()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["sqlite3", fixture.path, "UPDATE exchange SET status = 'none' WHERE id = 2"]
        try process.run()
        process.waitUntilExit()
        fixture.service.load(last: 0..<3, generation: 1)
        #expect(try fixture.failure().contains("status of exchange 2 is not a number"))
        #expect(try fixture.numbers() == [1, nil, 3])
    }

    @Test("cannot be opened where there is no session")
    func missing() {
        #expect(throws: SessionError.self) { try QueryService(path: "/nowhere/none.sluice") { _ in } }
    }
}
