import HTTPModel
import NIOCore
import Recording
import Testing

@testable import Console

@Suite("A service's list")
struct ResultListTests {
    @Test("of everything is counted from its end, and passes over a number without a record")
    func everything() throws {
        let fixture = try QueryFixture(QuerySamples.records(1...3) + QuerySamples.records(5...6))
        #expect(try fixture.ask().total == 5)
        #expect(try fixture.numbers() == [1, 2, 3, 5, 6])
        #expect(try fixture.numbers(2) == [5, 6])
        #expect(try fixture.place(of: 5) == 1)
        #expect(try fixture.place(of: 100) == 0)
    }

    @Test("says that an exchange is not in it only once it is filled")
    func position() {
        var list = ResultList()
        list.begin(ListQuery(), generation: 1)
        list.bounds = 1...3
        #expect(list.position(of: 2) == .row(1))
        #expect(list.position(of: 7) == .unknown)
        list.isFilled = true
        #expect(list.position(of: 7) == .nowhere(nearest: 0))
        list.begin(ListQuery(), generation: 2)
        #expect(list.position(of: 7) == .unknown)
    }

    @Test("of an empty session is empty, and grows")
    func empty() throws {
        let fixture = try QueryFixture()
        #expect(try fixture.ask().total == 0)
        #expect(try fixture.numbers().isEmpty)
        #expect(try fixture.place(of: 1) == nil)
        fixture.record(QuerySamples.records(1...2))
        fixture.service.refresh()
        #expect(try fixture.status { $0.total == 2 }.sessionTotal == 2)
        #expect(try fixture.ask("status:200").total == 2)
    }

    @Test("of a filter has what passes, and grows by what passes of the new")
    func filtered() throws {
        let fixture = try QueryFixture(QuerySamples.records(1...10) { $0.status = $0.id.number % 3 == 0 ? 500 : 200 })
        #expect(try fixture.ask("status:500").total == 3)
        #expect(try fixture.numbers() == [3, 6, 9])
        #expect(try fixture.place(of: 6) == 1)
        #expect(try fixture.place(of: 7) == 1)
        fixture.record(QuerySamples.records(11...15) { $0.status = $0.id.number % 3 == 0 ? 500 : 200 })
        fixture.service.refresh()
        #expect(try fixture.status { $0.total == 5 }.sessionTotal == 15)
        #expect(try fixture.numbers() == [3, 6, 9, 12, 15])
    }

    @Test("takes in what passes only once it has ended, in its place, and lets go what passes no longer")
    func inFlight() throws {
        let open = QuerySamples.record(2) {
            $0.state = .inFlight
            $0.status = 0
        }
        let fixture = try QueryFixture([QuerySamples.record(1), open, QuerySamples.record(3)])
        #expect(try fixture.ask("is:inflight").total == 1)
        #expect(try fixture.structure().children.map(\.inFlight) == [1])
        fixture.record([.finished(QuerySamples.record(2), ExchangeMessages())])
        fixture.service.refresh()
        #expect(try fixture.status { $0.total == 0 }.excludedBy == nil)
        #expect(try fixture.structure().children.isEmpty)

        fixture.record([
            QuerySamples.record(4) {
                $0.state = .inFlight
                $0.status = 0
            }, QuerySamples.record(5),
        ])
        #expect(try fixture.ask("status:200").total == 4)
        fixture.record([.finished(QuerySamples.record(4), ExchangeMessages())])
        fixture.service.refresh()
        #expect(try fixture.status { $0.total == 5 }.error == nil)
        #expect(try fixture.numbers() == [1, 2, 3, 4, 5])
    }

    @Test("takes in what its client, known only after it has ended, lets pass")
    func lateProcess() throws {
        let fixture = try QueryFixture([QuerySamples.record(1)])
        #expect(try fixture.ask("process:curl").total == 0)
        fixture.record([QuerySamples.record(2), QuerySamples.record(3)])
        fixture.service.refresh()
        #expect(try fixture.status { $0.sessionTotal == 3 }.total == 0)
        fixture.record([.identified(ExchangeID(2), ClientProcess(id: 7, name: "curl"))])
        fixture.service.refresh()
        #expect(try fixture.status { $0.total == 1 }.error == nil)
        #expect(try fixture.numbers() == [2])
    }

    @Test("answers only requests of its own generation")
    func generations() throws {
        let fixture = try QueryFixture(QuerySamples.records(1...5))
        try fixture.ask("status:200")
        fixture.service.load(last: 0..<1, generation: 99)
        fixture.service.find(.matching(.errors), from: 0, forward: false, generation: 99)
        fixture.service.loadStructure(StructureNode(), generation: 99)
        for _ in 0..<20 { fixture.service.setQuery(ListQuery(), generation: 50) }
        #expect(try fixture.ask("id:2..3").total == 2)
        #expect(try fixture.numbers() == [2, 3])
        let place = try fixture.place(of: 3)
        #expect(place == 0)
    }

    @Test("can be given up and asked for again")
    func cancelled() throws {
        let fixture = try QueryFixture(QuerySamples.records(1...3_000))
        var query = ListQuery()
        query.bodyText = "nothing has this"
        fixture.service.setQuery(query, generation: 77)
        fixture.service.cancel()
        #expect(try fixture.ask("id:>=2990").total == 11)
    }

    @Test("says in how many exchanges the filter's expression was given up")
    func unfinished() throws {
        var records = QuerySamples.records(1...5)
        for index in 1...3 { records[index].url.path = "/" + String(repeating: "a", count: 40) + "!" }
        let fixture = try QueryFixture(records)
        let status = try fixture.ask("path:/^\\/(a+)+$/")
        #expect(status.total == 0)
        #expect(status.unfinished?.hasPrefix("the search stopped in 3 exchanges") == true)
        #expect(try fixture.ask("path:/^\\/b/").unfinished == nil)
    }

    @Test("says which term of a filter lets nothing pass")
    func excluded() throws {
        let fixture = try QueryFixture(QuerySamples.records(1...5))
        #expect(try fixture.ask("status:200 host:nowhere.example method:GET").excludedBy == "host:nowhere.example")
        #expect(try fixture.ask("id:1 id:2").excludedBy == nil)
        #expect(try fixture.ask("header:x-none").excludedBy == "header:x-none")
        #expect(try fixture.ask { $0.bodyText = "zebra" }.excludedBy?.contains("zebra") == true)
        #expect(try fixture.ask { $0.focusedHosts = ["other.example"] }.excludedBy == "the focus on other.example")
        #expect(try fixture.ask("status:200").excludedBy == nil)
    }

    @Test("says in its own words that the focus, or what is ignored, lets nothing pass")
    func excludedByHosts() throws {
        let fixture = try QueryFixture(QuerySamples.records(1...3))
        #expect(try fixture.ask { $0.focusedHosts = ["localhost:9"] }.excludedBy == "the focus on localhost:9")
        let both = try fixture.ask("status:200") { $0.focusedHosts = ["localhost:9", "a.example"] }
        #expect(both.excludedBy == "the focus on a.example, localhost:9")
        let hidden = try fixture.ask("status:200") { $0.ignoredHosts = ["api.example.com"] }
        #expect(hidden.excludedBy == "the ignored hosts: api.example.com")
        #expect(try fixture.ask("status:404") { $0.ignoredHosts = ["b.example"] }.excludedBy == "status:404")
    }

    @Test("keeps to the hosts that are focused on")
    func focus() throws {
        let fixture = try QueryFixture(QuerySamples.records(1...9) { $0.url.host = "h\($0.id.number % 3).example" })
        #expect(try fixture.ask("id:>3") { $0.focusedHosts = ["h1.example", "H2.example"] }.total == 4)
        #expect(try fixture.numbers() == [4, 5, 7, 8])
    }

    @Test("comes in the order of any column, both ways, ties by number", arguments: Column.sortable)
    func sorted(column: Column) throws {
        let records = QuerySamples.records(1...40) { record in
            let number = record.id.number
            record.startedAt -= number * 37 % 11
            record.method = ["GET", "POST", "A"][Int(number * 7 % 3)]
            record.url.host = "h\(number * 13 % 7).example"
            record.url.path = "/" + String(repeating: "p", count: Int(number * 5 % 9))
            record.status = Int(200 + number * 3 % 5)
            record.mediaType = ["", "text/html", "application/json"][Int(number % 3)]
            record.kind = number % 5 == 0 ? .tunnel : .http
            (record.sizes.responseBody, record.sizes.responseWire) = (number * 17 % 23, number * 11 % 29)
            record.timings.total = number % 4 == 0 ? nil : number * 11 % 13
        }
        let fixture = try QueryFixture(records)
        for filter in ["", "id:5..30"] {
            let expected = try records.filter { try Filter(filter).decides($0) == true }
                .sorted { (Self.key($0, column), $0.id.number) < (Self.key($1, column), $1.id.number) }
                .map(\.id.number)
            let up = try fixture.ask(filter) { $0.sort = SortOrder(column: column) }
            #expect(up.total == expected.count)
            #expect(try fixture.numbers() == expected)
            #expect(try fixture.place(of: expected[3]) == expected.count - 4)
            try fixture.ask(filter) { $0.sort = SortOrder(column: column, isDescending: true) }
            #expect(try fixture.numbers() == expected.reversed())
        }
    }

    private static func key(_ record: ExchangeRecord, _ column: Column) -> String {
        func padded(_ number: Int64) -> String {
            let digits = String(number)
            return String(repeating: "0", count: 20 - digits.count) + digits
        }
        return switch column {
        case .id, .comment, .place: ""
        case .start, .waterfall: padded(record.startedAt)
        case .method: record.method
        case .host: record.url.host
        case .path: record.url.path
        case .status: padded(Int64(record.status))
        case .type: record.mediaType
        case .size: padded(record.listedSize)
        case .time: record.timings.total.map(padded) ?? ""
        case .scheme: record.url.scheme
        case .version: padded(Int64(record.clientVersion.rawValue))
        case .process: record.extras.process?.name ?? ""
        case .server: record.serverAddress ?? ""
        }
    }

    @Test("finds text in bodies: across chunks, in compressed ones, in whatever case")
    func bodies() throws {
        let fixture = try QueryFixture()
        var long = ByteBuffer(repeating: UInt8(ascii: "."), count: 65_530)
        long.writeString("Across The Border")
        long.writeRepeatingByte(UInt8(ascii: "."), count: 80_000)
        fixture.record(
            QuerySamples.exchange(1, body: ByteBuffer(string: "across the border"))
                + QuerySamples.exchange(2, body: long)
                + QuerySamples.exchange(3, body: ByteBuffer(string: "across the other border"))
        )
        #expect(try fixture.ask { $0.bodyText = "ACROSS the border" }.total == 2)
        #expect(try fixture.numbers() == [1, 2])
        #expect(try fixture.ask("id:2..3") { $0.bodyText = "across" }.total == 2)
        let tooLong = String(repeating: "x", count: 5_000)
        #expect(try fixture.ask { $0.bodyText = tooLong }.error?.contains("4096 bytes") == true)
    }
}
