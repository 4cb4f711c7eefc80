import DequeModule
import ExchangeCore

/// A queue in which clients take turns, each with its own elements in order. Each operation takes constant time.
struct FairQueue<Element> {
    struct Ticket: Hashable {
        fileprivate let number: Int
        fileprivate let client: ClientKey
    }

    private struct Line {
        /// The elements of some tickets may have been removed.
        var tickets: Deque<Int> = []
        var count = 0
    }

    private var elementsByTicket: [Int: Element] = [:]
    private var lines: [ClientKey: Line] = [:]
    /// The clients with elements, the next one first.
    private var turns: Deque<ClientKey> = []
    private var lastTicket = 0

    var count: Int { elementsByTicket.count }
    var isEmpty: Bool { elementsByTicket.isEmpty }
    var elements: [Element] { elementsByTicket.sorted { $0.key < $1.key }.map(\.value) }

    @discardableResult
    mutating func append(_ element: Element, for client: ClientKey) -> Ticket {
        lastTicket += 1
        elementsByTicket[lastTicket] = element
        if lines[client] == nil { turns.append(client) }
        lines[client, default: Line()].tickets.append(lastTicket)
        lines[client, default: Line()].count += 1
        return Ticket(number: lastTicket, client: client)
    }

    @discardableResult
    mutating func remove(_ ticket: Ticket) -> Element? {
        guard let element = elementsByTicket.removeValue(forKey: ticket.number), var line = lines[ticket.client] else {
            return nil
        }
        lines[ticket.client] = nil
        line.count -= 1
        // Tickets without an element are left until there are many.
        if line.tickets.count > 2 * line.count + 16 { line.tickets.removeAll { elementsByTicket[$0] == nil } }
        lines[ticket.client] = line
        return element
    }

    /// Removes the next element of the client whose turn it is, among those that `mayHave` allows.
    mutating func popFirst(where mayHave: (ClientKey) -> Bool = { _ in true }) -> Element? {
        for _ in 0..<turns.count {
            guard let client = turns.popFirst(), var line = lines[client] else { continue }
            guard line.count > 0 else {
                lines[client] = nil
                continue
            }
            guard mayHave(client) else {
                turns.append(client)
                continue
            }
            lines[client] = nil
            while let number = line.tickets.popFirst() {
                guard let element = elementsByTicket.removeValue(forKey: number) else { continue }
                line.count -= 1
                if line.count > 0 {
                    lines[client] = line
                    turns.append(client)
                }
                return element
            }
        }
        return nil
    }

    mutating func removeAll() { self = FairQueue() }
}
