import Console
import Foundation
import HTTPModel
import Recording
import Testing

/// Lists of some exchanges only, and what the structure asks for.
struct PlaceQueryTests {
    /// 1 to 3 at `/users`, 4 and 5 below it, 6 at `/users50`, 7 on another port, 8 at `/`.
    private static let records = QuerySamples.records(1...8) { record in
        record.url = RequestURL(scheme: "http", host: "localhost", port: 3_000, path: "/users")
        switch record.id.number {
        case 4, 5: record.url.path = "/users/\(record.id.number)"
        case 6: record.url.path = "/users50"
        case 7: record.url.port = 3_001
        case 8: record.url.path = "/"
        default: break
        }
    }

    private let users = StructureNode(site: "http://localhost:3000", segments: ["users"])

    private func exchanges(_ fixture: QueryFixture, at node: StructureNode) throws -> [Int64] {
        fixture.service.loadExchanges(at: node, generation: fixture.generation)
        return try fixture.events.next { event in
            guard case .exchanges(node, fixture.generation, let records) = event else { return nil }
            return records.map(\.id.number)
        }
    }

    private func marked(_ fixture: QueryFixture, below node: StructureNode?, most: Int = 100) throws -> [Int64] {
        fixture.service.loadNumbers(below: node, most: most, generation: fixture.generation)
        return try fixture.events.next { event in
            guard case .numbers(fixture.generation, let numbers, let hasMore) = event else { return nil }
            return hasMore ? numbers + [-1] : numbers
        }
    }

    @Test func `a place has its own exchanges, the newest first, in every list`() throws {
        let fixture = try QueryFixture(Self.records)
        try fixture.ask()
        #expect(try exchanges(fixture, at: users) == [3, 2, 1])
        #expect(try exchanges(fixture, at: StructureNode(site: "http://localhost:3000", segments: [""])) == [8])
        try fixture.ask("id:2..9")
        #expect(try exchanges(fixture, at: users) == [3, 2])
        try fixture.ask { $0.only = [1, 4] }
        #expect(try exchanges(fixture, at: users) == [1])
    }

    @Test func `what is below a place is marked, as far as the list has it and so many are taken`() throws {
        let fixture = try QueryFixture(Self.records)
        try fixture.ask()
        #expect(try marked(fixture, below: users) == [1, 2, 3, 4, 5])
        #expect(try marked(fixture, below: nil) == Array(1...8))
        #expect(try marked(fixture, below: nil, most: 3) == [6, 7, 8, -1])
        try fixture.ask("id:3..6")
        #expect(try marked(fixture, below: users) == [3, 4, 5])
        #expect(try marked(fixture, below: nil) == [3, 4, 5, 6])
    }

    @Test func `a list can be of some exchanges only, with a filter and an order of its own`() throws {
        let fixture = try QueryFixture(Self.records)
        try fixture.ask { $0.only = [2, 5, 7] }
        #expect(try fixture.numbers() == [2, 5, 7])
        #expect(try fixture.structure().children.map(\.count) == [2, 1])
        try fixture.ask("port:3000") { $0.only = [2, 5, 7] }
        #expect(try fixture.numbers() == [2, 5])
        try fixture.ask {
            $0.only = [2, 5, 7]
            $0.sort = SortOrder(column: .path, isDescending: true)
        }
        #expect(try fixture.numbers() == [5, 7, 2])
        fixture.record([QuerySamples.record(9)])
        fixture.service.refresh()
        try fixture.ask { $0.only = [2, 9] }
        fixture.record([QuerySamples.record(10)])
        fixture.service.refresh()
        #expect(try fixture.status { $0.sessionTotal == 10 }.total == 2)
    }

    @Test func `hosts are focused and ignored by name, and by port where it is named`() throws {
        let fixture = try QueryFixture(Self.records)
        try fixture.ask { $0.focusedHosts = ["localhost:3001"] }
        #expect(try fixture.numbers() == [7])
        try fixture.ask { $0.ignoredHosts = ["localhost:3001"] }
        #expect(try fixture.numbers() == [1, 2, 3, 4, 5, 6, 8])
        #expect(try fixture.ask { $0.ignoredHosts = ["localhost"] }.total == 0)
        fixture.service.countHidden([ExchangeID(1), ExchangeID(7)], generation: fixture.generation)
        let hidden: Int = try fixture.events.next { if case .hidden(_, let count) = $0 { count } else { nil } }
        #expect(hidden == 2)
        try fixture.ask { $0.place = StructureNode(site: "http://localhost:3000", segments: ["users"]) }
        #expect(try fixture.numbers() == [1, 2, 3, 4, 5])
    }
}
