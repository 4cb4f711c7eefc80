import DequeModule
import HTTPModel
import NIOCore

/// One direction of an exchange on its way through the chain of handlers.
///
/// Items (a head, parts, an end) enter in order and leave in order. A handler may hold the item it was given, which
/// holds everything behind it; or it may have asked for the body whole, and then head and parts are gathered here
/// until the end is there or the limit is passed. Only this type ever buffers a body.
struct MessageFlow<Head: FlowingHead> {
    /// What a message consists of.
    enum Item {
        case head(Head, BodyFraming)
        case part(ByteBuffer)
        case end(FieldSection?)
    }

    /// What came of moving the flow on.
    enum Step {
        /// Nothing can move: there is nothing, or something is held.
        case idle
        /// An item has passed every handler.
        case emit(Item)
        /// A handler holds the message.
        case paused(Pause)
        /// A handler answers; later handlers begin at `next`.
        case respond(LocalAnswer, next: Int)
        /// A handler refuses the exchange.
        case refuse(LocalAnswer)
        /// A handler drops the exchange.
        case drop
    }

    private struct Waiting {
        var item: Item
        var next: Int
        /// The head hook of handler `next` has run; what is left there is its demand.
        var isHooked = false
    }

    private struct Gathering {
        let stage: Int
        let limit: Int
        let decoded: Bool
        var head: Head
        let framing: BodyFraming
        var body = ByteBuffer()
    }

    private var waiting = Deque<Waiting>()
    private var gathering: Gathering?
    private var demands: [BodyDemand] = []
    private var holdsWhole = false
    /// Set while a handler holds the message.
    private(set) var isHeld = false
    /// Whether a handler changed the head or body.
    private(set) var isChanged = false
    /// Whether what leaves must be recorded beside what was received, since a handler may change the body.
    private(set) var bodyMayChange = false

    /// Whether a handler waits for the body's end before anything goes on.
    var isGathering: Bool { gathering != nil }

    /// Takes the next item as received.
    mutating func accept(_ item: Item) {
        waiting.append(Waiting(item: item, next: 0))
    }

    /// Lets a held message go on.
    mutating func release() {
        isHeld = false
    }

    /// From here on parts are the bytes of another protocol: handlers may see and pace them, but not change them.
    mutating func becomeTunnel(_ links: [ChainLink]) {
        demands = links.map { link in
            switch Head.demand(of: link.handler) {
            case .none, .whole: .none
            case .observe, .transform: .observe
            }
        }
        gathering = nil
        bodyMayChange = false
    }

    /// Forgets what is waiting and goes on with another message from handler `next`.
    mutating func replace(with items: [Item], next: Int) {
        waiting = Deque(items.map { Waiting(item: $0, next: next) })
        gathering = nil
        isHeld = false
        isChanged = true
        bodyMayChange = true
    }

    /// The held message: its head, and its body where that is held too.
    var held: (Head, ByteBuffer?)? {
        guard isHeld, case .head(let head, _)? = waiting.first?.item else { return nil }
        guard holdsWhole else { return (head, nil) }
        if waiting.count > 1, case .part(let body) = waiting[1].item { return (head, body) }
        return (head, ByteBuffer())
    }

    /// Puts an edited message in the place of the held one.
    mutating func replaceHeld(head: Head, body: ByteBuffer?) {
        guard isHeld, case .head(_, var framing)? = waiting.first?.item else { return }
        if holdsWhole, let body {
            let oldBody: ByteBuffer
            if waiting.count > 1, case .part(let part) = waiting[1].item {
                oldBody = part
                waiting.remove(at: 1)
            } else {
                oldBody = ByteBuffer()
            }
            if body != oldBody {
                framing = holdsTrailers ? .chunked : .length(Int64(body.readableBytes))
                bodyMayChange = true
            }
            if body.readableBytes > 0 {
                waiting.insert(Waiting(item: .part(body), next: waiting[0].next), at: 1)
            }
        }
        waiting[0].item = .head(head, framing)
        isChanged = true
    }

    private var holdsTrailers: Bool {
        guard case .end(let trailers?)? = waiting.last?.item else { return false }
        return !trailers.isEmpty
    }

    /// Moves the first waiting item on, through as many handlers as let it.
    mutating func step(_ links: [ChainLink], _ exchange: inout StageExchange) -> Step {
        while !isHeld, var current = waiting.popFirst() {
            if current.next >= links.count { return .emit(current.item) }
            exchange.stage = links[current.next].name
            let handler = links[current.next].handler
            switch current.item {
            case .head(var head, let framing):
                let verdict = current.isHooked ? .forward : runHeadHook(&head, handler, links.count, &exchange)
                if let step = passHead(&current, head, framing, handler, verdict, &exchange) { return step }
            case .part(let part):
                if let step = passPart(&current, part, handler, &exchange) { return step }
            case .end(let trailers):
                if let step = passEnd(&current, trailers, handler, &exchange) { return step }
            }
        }
        return .idle
    }

    private mutating func runHeadHook(
        _ head: inout Head,
        _ handler: any StageHandler,
        _ count: Int,
        _ exchange: inout StageExchange
    ) -> Verdict {
        if demands.isEmpty { demands = Array(repeating: .none, count: count) }
        let before = head.revision
        let verdict = head.pass(handler, &exchange)
        if head.revision != before { isChanged = true }
        return verdict
    }

    private mutating func passHead(
        _ current: inout Waiting,
        _ head: Head,
        _ framing: BodyFraming,
        _ handler: any StageHandler,
        _ verdict: Verdict,
        _ exchange: inout StageExchange
    ) -> Step? {
        switch verdict {
        case .forward:
            let demand = Head.demand(of: handler)
            demands[current.next] = demand
            var framing = framing
            if case .whole(let limit, let decoded) = demand, !head.beginsTunnel {
                if case .length(let length) = framing, length > limit {
                    demands[current.next] = .none
                    noteTooLarge(limit, &exchange)
                    waiting.prepend(Waiting(item: .head(head, framing), next: current.next + 1))
                    return nil
                }
                gathering = Gathering(
                    stage: current.next,
                    limit: limit,
                    decoded: decoded,
                    head: head,
                    framing: framing
                )
                return nil
            }
            if demand == .transform, framing != .none {
                bodyMayChange = true
                if case .length = framing { framing = .chunked }
            }
            waiting.prepend(Waiting(item: .head(head, framing), next: current.next + 1))
            return nil
        case .pause(let pause):
            current.item = .head(head, framing)
            current.isHooked = true
            waiting.prepend(current)
            isHeld = true
            holdsWhole = false
            return .paused(pause)
        case .respond(let answer):
            waiting.prepend(Waiting(item: .head(head, framing), next: current.next + 1))
            return .respond(answer, next: current.next + 1)
        case .refuse(let answer): return .refuse(answer)
        case .drop: return .drop
        }
    }

    private mutating func passPart(
        _ current: inout Waiting,
        _ part: ByteBuffer,
        _ handler: any StageHandler,
        _ exchange: inout StageExchange
    ) -> Step? {
        var part = part
        if gathering?.stage == current.next {
            gather(&part, &exchange)
            return nil
        }
        let verdict: Verdict
        switch demands[current.next] {
        case .observe:
            var copy = part
            verdict = Head.pass(&copy, handler, &exchange)
        case .transform:
            verdict = Head.pass(&part, handler, &exchange)
        case .none, .whole: verdict = .forward
        }
        if part.readableBytes > 0 { waiting.prepend(Waiting(item: .part(part), next: current.next + 1)) }
        switch verdict {
        case .forward: return nil
        case .pause(.until(let moment)):
            isHeld = true
            holdsWhole = false
            return .paused(.until(moment))
        case .pause(.decision), .respond, .refuse:
            exchange.note("a hook on a body part cannot answer or hold; the part went on")
            return nil
        case .drop: return .drop
        }
    }

    private mutating func passEnd(
        _ current: inout Waiting,
        _ trailers: FieldSection?,
        _ handler: any StageHandler,
        _ exchange: inout StageExchange
    ) -> Step? {
        guard var gathered = gathering, gathered.stage == current.next else {
            current.next += 1
            waiting.prepend(current)
            return nil
        }
        gathering = nil
        let next = current.next + 1
        let result = WholeBody.pass(
            &gathered.head,
            gathered.body,
            framing: gathered.framing,
            hasTrailers: trailers?.isEmpty == false,
            decoded: gathered.decoded,
            handler: handler,
            &exchange
        )
        if result.isBodyChanged { bodyMayChange = true }
        if result.isChanged { isChanged = true }
        waiting.prepend(Waiting(item: .end(trailers), next: next))
        if result.body.readableBytes > 0 { waiting.prepend(Waiting(item: .part(result.body), next: next)) }
        waiting.prepend(Waiting(item: .head(gathered.head, result.framing), next: next))
        switch result.verdict {
        case .forward: return nil
        case .pause(let pause):
            isHeld = true
            holdsWhole = true
            return .paused(pause)
        case .respond(let answer): return .respond(answer, next: next)
        case .refuse(let answer): return .refuse(answer)
        case .drop: return .drop
        }
    }

    /// Adds a part to what is gathered; over the limit everything goes on unmodified.
    private mutating func gather(_ part: inout ByteBuffer, _ exchange: inout StageExchange) {
        guard var gathered = gathering else { return }
        // Taken out first, so that the buffer is not shared while it grows.
        gathering = nil
        gathered.body.writeBuffer(&part)
        guard gathered.body.readableBytes > gathered.limit else {
            gathering = gathered
            return
        }
        demands[gathered.stage] = .none
        noteTooLarge(gathered.limit, &exchange)
        waiting.prepend(Waiting(item: .part(gathered.body), next: gathered.stage + 1))
        waiting.prepend(Waiting(item: .head(gathered.head, gathered.framing), next: gathered.stage + 1))
    }

    private func noteTooLarge(_ limit: Int, _ exchange: inout StageExchange) {
        exchange.note("the body is larger than the \(limit) bytes that are gathered; it passed unmodified")
    }
}
