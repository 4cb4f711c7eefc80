import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Recording

@Suite("Pages of exchanges")
struct SessionPagesTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Bodies on every side, of none, short and long; some exchanges with heads only.
    private func record(_ count: Int64) throws -> SessionReader {
        let feed = try Feed(path: scratch.session)
        feed(
            .connection(
                ConnectionRecord(
                    id: ConnectionID(1),
                    leg: .client,
                    openedAt: 5,
                    localAddress: "l:1",
                    peerAddress: "p:2"
                )
            )
        )
        for id in 1...count {
            var bodies: [(BodySide, ByteBuffer)] = []
            if id % 5 != 0 { bodies.append((.requestReceived, Samples.bytes(Int(id) * 7, seed: UInt64(id)))) }
            if id % 3 == 0 { bodies.append((.responseReceived, Samples.bytes(Int(id) * 800, seed: UInt64(id) + 100))) }
            if id % 4 == 0 { bodies.append((.responseSent, Samples.bytes(id % 8 == 0 ? 0 : 70_000, seed: 9))) }
            feed.submit(Samples.exchange(id, bodies: bodies, messages: Samples.realisticMessages))
        }
        feed.recorder.close()
        return try SessionReader(path: scratch.session)
    }

    @Test("A page has what the session has, read one by one")
    func same() throws {
        let reader = try record(40)
        let pages = SessionPages(reader)
        for order in [Array(Int64(1)...43), [40, 3, 41, 8, 7, 3, 24]] {
            var rest = order[...]
            var read: [RecordedExchange] = []
            while !rest.isEmpty {
                let page = try pages.read(&rest)
                read += page
                for exchange in page {
                    let id = exchange.record.id
                    for side in BodySide.allCases {
                        for (offset, limit) in [(0, 1 << 20), (5, 10), (4_000, 200), (66_000, 9_000), (-1, 5), (0, 0)] {
                            let expected = try reader.body(of: id, side: side, offset: Int64(offset), limit: limit)
                            let body = try pages.body(of: id, side: side, offset: Int64(offset), limit: limit)
                            #expect(body == expected, "\(id) \(side) \(offset)")
                        }
                    }
                }
            }
            let expected = try order.compactMap { try reader.exchange(ExchangeID($0)) }
            #expect(read.map(\.record) == expected.map(\.record))
            #expect(read.map(\.messages) == expected.map(\.messages))
            #expect(read.allSatisfy { $0.client?.peerAddress == "p:2" && $0.upstream == nil })
        }
    }

    @Test("A page ends where it has enough bytes, and one exchange is always read")
    func length() throws {
        let feed = try Feed(path: scratch.session)
        var messages = ExchangeMessages()
        messages.requestHead = Samples.bytes(SessionPages.longestPage / 2, seed: 1)
        for id in 1...Int64(5) { feed.submit(Samples.exchange(id, messages: messages)) }
        feed.recorder.close()
        let pages = SessionPages(try SessionReader(path: scratch.session))
        var rest: ArraySlice<Int64> = [1, 2, 3, 4, 5]
        var lengths: [Int] = []
        while !rest.isEmpty { lengths.append(try pages.read(&rest).count) }
        #expect(lengths == [2, 2, 1])
    }

    @Test("Exchanges that are deleted or were never there are left out; other exchanges are read from the session")
    func missing() throws {
        let reader = try record(6)
        let editor = try SessionEditor(path: scratch.session)
        _ = try editor.edit(.delete(ExchangeNumbers([2, 3])))
        let pages = SessionPages(reader)
        var rest: ArraySlice<Int64> = [1, 2, 3, 4, 99]
        #expect(try pages.read(&rest).map(\.record.id.number) == [1, 4] && rest.isEmpty)
        #expect(try pages.body(of: ExchangeID(6), side: .requestReceived, offset: 0, limit: 100).readableBytes == 42)
        try editor.close()
    }

    private struct Stop: Error {}

    @Test("A check that throws ends the reading, and the numbers stay")
    func check() throws {
        let reader = try record(3)
        var isStopped = false
        let pages = SessionPages(reader) { if isStopped { throw Stop() } }
        var rest: ArraySlice<Int64> = [1, 2]
        _ = try pages.read(&rest)
        isStopped = true
        rest = [3]
        #expect(throws: Stop.self) { try pages.read(&rest) }
        #expect(rest == [3])
        #expect(throws: Stop.self) { try pages.body(of: ExchangeID(3), side: .requestReceived, offset: 0, limit: 1) }
    }

    @Test("Another reader is of the same file only")
    func another() throws {
        let reader = try record(2)
        #expect(try reader.another()?.count() == 2)
        try scratch.replaceSession()
        #expect(reader.another() == nil)
    }

    @Test("The numbers of a filter's exchanges come in order")
    func numbers() throws {
        let reader = try record(40)
        var numbers: [Int64] = []
        try reader.forEachNumbers(matching: try Filter("id:3..30")) { numbers += $0 }
        #expect(numbers == Array(3...30))
    }
}

extension Scratch {
    /// Puts another file in the session's place.
    fileprivate func replaceSession() throws {
        for file in SessionPath.companions(of: session) + [session] { unlink(file) }
        let feed = try Feed(path: session)
        feed.submit(Samples.exchange(1))
        feed.recorder.close()
    }
}
