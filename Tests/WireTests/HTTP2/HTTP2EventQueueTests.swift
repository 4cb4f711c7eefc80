import Testing

@testable import Wire

@Suite struct HTTP2EventQueueTests {
    @Test("Events come out in their order, however many wait and whenever they are added", arguments: [1, 2, 3, 700])
    func order(lead: Int32) {
        var queue = HTTP2EventQueue()
        var (added, taken): (Int32, Int32) = (0, 0)
        func id(_ event: HTTP2Event?) -> Int32? {
            if case .closed(let id) = event { id.number } else { nil }
        }
        for round in 0..<5 {
            for _ in 0..<lead * 2 {
                queue.append(.closed(HTTP2StreamID(added)))
                added += 1
            }
            // Of a long queue nearly all are taken, so that the next one that is added frees their memory.
            for _ in 0..<(added - taken - (round == 4 ? 0 : min(lead, 10))) {
                #expect(queue.contains { id($0) == taken })
                #expect(id(queue.popFirst()) == taken)
                #expect(!queue.contains { id($0) == taken })
                taken += 1
            }
            #expect(queue.isEmpty == (added == taken))
        }
        #expect(queue.popFirst() == nil && queue.isEmpty)
        queue.append(.closed(HTTP2StreamID(added)))
        #expect(id(queue.popFirst()) == added)
    }
}
