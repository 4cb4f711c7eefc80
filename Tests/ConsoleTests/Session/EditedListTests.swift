import HTTPModel
import Recording
import Testing

@testable import Console

@Suite("A list of a session that is edited")
struct EditedListTests {
    @Test("has no rows for what was deleted or never recorded, and follows what comes")
    func holes() async throws {
        let fixture = try QueryFixture(QuerySamples.records(1...6))
        try fixture.ask()
        _ = try await fixture.recorder.edit(.delete(ExchangeNumbers([2, 3, 6])))
        let status = try fixture.ask()
        #expect(status.total == 3 && status.sessionTotal == 3)
        #expect(try fixture.numbers() == [1, 4, 5])
        #expect(try fixture.ask("id:1..4").total == 2)
        try fixture.ask { $0.sort = SortOrder(column: .start, isDescending: true) }
        #expect(try fixture.numbers().count == 3)
        try fixture.ask()
        fixture.record(QuerySamples.records(9...9))
        fixture.service.refresh()
        _ = try fixture.status { $0.total == 4 }
        #expect(try fixture.numbers() == [1, 4, 5, 9])
        _ = try await fixture.recorder.edit(.restore(mark: nil))
        #expect(try fixture.ask().total == 7)
    }

    @Test("gives comments and colours back as they were")
    func undoneNotes() async throws {
        let fixture = try QueryFixture(QuerySamples.records(1...3))
        _ = try await fixture.recorder.edit(.annotate(ExchangeNumbers([2]), .comment("old")))
        let reader = try SessionReader(path: fixture.path)
        func comments() throws -> [String?] {
            try reader.records(of: .all, matching: .everything).map(\.extras.annotation.comment)
        }
        let all = ExchangeNumbers([1, 2, 3])
        let undo = try reader.undo(of: .comment("new"), on: all)
        _ = try await fixture.recorder.edit(.annotate(all, .comment("new")))
        #expect(try comments() == ["new", "new", "new"])
        for edit in undo { _ = try await fixture.recorder.edit(edit) }
        #expect(try comments() == [nil, "old", nil])
        let colours = try reader.undo(of: .colour(.red), on: all)
        #expect(colours == [.annotate(all, .colour(nil))])
    }

    @Test("is sorted again after exchanges came and ended, though nothing comes after them")
    func orderedAgain() throws {
        let fixture = try QueryFixture(QuerySamples.records(1...2) { $0.timings.total = 10 * $0.id.number })
        try fixture.ask { $0.sort = SortOrder(column: .time, isDescending: true) }
        #expect(try fixture.numbers() == [2, 1])
        fixture.record(QuerySamples.records(3...3) { $0.timings.total = 30 })
        fixture.service.refresh()
        _ = try fixture.status { $0.total == 3 }
        #expect(try fixture.numbers() == [3, 2, 1])
        fixture.record([.opened(QuerySamples.record(4) { $0.state = .inFlight }, ExchangeMessages())])
        fixture.service.refresh()
        _ = try fixture.status { $0.total == 4 }
        fixture.record([.finished(QuerySamples.record(4) { $0.timings.total = 15 }, ExchangeMessages())])
        fixture.service.refresh()
        let deadline = ContinuousClock.now + .seconds(20)
        while try fixture.numbers() != [3, 2, 4, 1], ContinuousClock.now < deadline {}
        #expect(try fixture.numbers() == [3, 2, 4, 1])
    }

    @Test("is asked for again where numbers stay without a row")
    func stale() throws {
        let fixture = try QueryFixture(QuerySamples.records(1...3))
        try fixture.ask()
        // Four to six passed unrecorded.
        fixture.record(QuerySamples.records(7...7))
        fixture.service.refresh()
        let generation = try fixture.events.next { if case .stale(let generation) = $0 { generation } else { nil } }
        #expect(generation == 1)
        #expect(try fixture.ask().total == 4)
        #expect(try fixture.numbers() == [1, 2, 3, 7])
    }
}
