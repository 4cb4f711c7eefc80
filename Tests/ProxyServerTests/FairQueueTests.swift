import ExchangeCore
import Support
import Testing

@testable import ProxyServer

@Suite("What waits, by client")
struct FairQueueTests {
    private let one = ClientKey.process(1)
    private let other = ClientKey.process(2)

    @Test("Clients take turns, each in its own order, however many one of them has")
    func turns() {
        var queue = FairQueue<Int>()
        for number in 1...1_000 { queue.append(number, for: one) }
        queue.append(-1, for: other)
        queue.append(-2, for: other)
        let first = (0..<6).map { _ in queue.popFirst() }
        #expect(first == [1, -1, 2, -2, 3, 4])
        queue.append(-3, for: other)
        let next = [queue.popFirst(), queue.popFirst()]
        #expect(next == [5, -3])
        #expect(queue.count == 995)
    }

    @Test("One that may have nothing is passed over, and keeps what it has")
    func passedOver() {
        var queue = FairQueue<Int>()
        queue.append(1, for: one)
        queue.append(2, for: other)
        let others = (0..<2).map { _ in queue.popFirst { $0 == other } }
        #expect(others == [2, nil])
        let rest = (0..<2).map { _ in queue.popFirst() }
        #expect(rest == [1, nil])
    }

    @Test("It holds what a list for each client does, whatever is added and removed", arguments: 1...20)
    func model(seed: UInt64) {
        var generator = SplitMix(seed)
        var queue = FairQueue<Int>()
        var tickets: [(ticket: FairQueue<Int>.Ticket, number: Int, client: ClientKey)] = []
        for number in 0..<2_000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<4:
                let client = ClientKey.process(.random(in: 0..<4, using: &generator))
                tickets.append((queue.append(number, for: client), number, client))
            case 4..<7 where !tickets.isEmpty:
                let removed = tickets.remove(at: .random(in: 0..<tickets.count, using: &generator))
                let numbers = [queue.remove(removed.ticket), queue.remove(removed.ticket)]
                #expect(numbers == [removed.number, nil])
            default:
                guard let popped = queue.popFirst() else {
                    #expect(tickets.isEmpty)
                    continue
                }
                guard let index = tickets.firstIndex(where: { $0.number == popped }) else {
                    Issue.record("\(popped) was removed before")
                    continue
                }
                let client = tickets[index].client
                #expect(tickets.firstIndex { $0.client == client } == index, "a client keeps its order")
                tickets.remove(at: index)
            }
            #expect(queue.count == tickets.count && queue.isEmpty == tickets.isEmpty)
            #expect(queue.elements == tickets.map(\.number))
        }
    }
}
