import DequeModule
import HTTPModel
import NIOCore

/// One direction of an exchange on its way through the chain of handlers.
///
/// Items (a head, parts, an end) enter and leave in order. If a handler holds an item, the items behind it wait. If a
/// handler demands the whole body, head and parts are gathered here until the end arrives or the limit is exceeded.
/// Only this type ever buffers a body.
struct MessageFlow<Head: FlowingHead> {
    enum Item {
        case head(Head, BodyFraming)
        case part(ByteBuffer)
        case end(FieldSection?)
    }

    enum Step {
        /// No item waits, or the first one is held.
        case idle
        /// An item has passed every handler.
        case emit(Item)
        /// A handler decided something other than `forward`; later handlers begin at `next`.
        case verdict(Verdict, next: Int)
    }
    /// An item that waits for the handler `next`.
    struct Waiting {
        var item: Item
        var next: Int
        var progress = Progress.arrived
        /// The share of the budget that a gathered body uses until it has left.
        var share: ByteShare?
    }

    /// The progress of an item at the handler `next`.
    enum Progress {
        case arrived
        /// The head hook has run; the handler's demand for the body is next.
        case headHooked
        /// The body is larger than the handler's limit; the hook `overflowed` has not run.
        case overflowing
        /// The budget for bodies is used up; the hook `overflowed` has not run.
        case crowdedOut
        case overflowHooked, wholeHooked, partHooked, endHooked
        /// The part may pass once the flow is released.
        case paced
    }

    struct Gathering {
        /// The handler that asked for the body.
        let handler: Int
        let limit: Int
        let decoded: Bool
        var head: Head
        let framing: BodyFraming
        let share: ByteShare
        var body = ByteBuffer()
    }

    let budget: ByteBudget
    var waiting = Deque<Waiting>()
    var gathering: Gathering?
    private var demands: [BodyDemand] = []
    /// Whether a handler holds the message.
    private(set) var isHeld = false
    /// The decision that released the held item.
    private var outcome: Verdict?
    /// The first handler for new items.
    private var entry = 0
    var isChanged = false
    /// Whether the sent bytes must be recorded, too, because a handler may change the body.
    var bodyMayChange = false
    private(set) var isPaced = false

    init(budget: ByteBudget = .bodies) { self.budget = budget }

    /// Whether a handler waits for the whole body before anything passes.
    var isGathering: Bool { gathering != nil }

    /// Whether all items have left.
    var isEmpty: Bool { waiting.isEmpty && gathering == nil }

    mutating func accept(_ item: Item) { waiting.append(Waiting(item: item, next: entry)) }

    /// Releases a held message with this decision.
    mutating func release(_ outcome: Verdict = .forward) {
        isHeld = false
        self.outcome = outcome
    }

    /// From here on parts are bytes of a different protocol, which handlers may observe and pace.
    mutating func becomeTunnel(_ links: [ChainLink]) {
        demands = links.map { link in
            switch Head.demand(of: link.handler) {
            case .none, .whole: .none
            case .observe: .observe
            case .pace: .pace
            }
        }
        isPaced = demands.contains(.pace)
        gathering = nil
        bodyMayChange = false
    }

    /// Replaces the waiting items by a different message at handler `next`; later items also begin there.
    mutating func replace(with items: [Item], next: Int) {
        waiting = Deque(items.map { Waiting(item: $0, next: next) })
        entry = next
        gathering = nil
        isHeld = false
        outcome = nil
        isChanged = true
        bodyMayChange = true
    }

    /// Passes waiting items on, until one has passed every handler or a handler does not forward one.
    mutating func step(_ links: [ChainLink], _ exchange: inout StageExchange) -> Step {
        while !isHeld, let current = waiting.popFirst() {
            if current.next >= links.count { return .emit(current.item) }
            exchange.enter(links[current.next])
            let handler = links[current.next].handler
            let step: Step? =
                switch current.item {
                case .head(let head, let framing):
                    passHead(current, head, framing, handler, links.count, &exchange)
                case .part(let part): passPart(current, part, handler, &exchange)
                case .end(let trailers): passEnd(current, trailers, handler, &exchange)
                }
            if let step { return step }
        }
        return .idle
    }

    // MARK: - Heads

    private mutating func passHead(
        _ current: Waiting,
        _ head: Head,
        _ framing: BodyFraming,
        _ handler: any StageHandler,
        _ count: Int,
        _ exchange: inout StageExchange
    ) -> Step? {
        if demands.isEmpty { demands = Array(repeating: .none, count: count) }
        var current = current
        let arrival = current.progress
        var head = head
        let before = head.revision
        let verdict: Verdict
        switch current.progress {
        case .arrived:
            verdict = head.pass(handler, &exchange)
            current.progress = .headHooked
        case .overflowing, .crowdedOut:
            exchange.lacksRoom = current.progress == .crowdedOut
            verdict = handler.overflowed(Head.direction, &head.fields, &exchange)
            current.progress = .overflowHooked
        case .headHooked, .overflowHooked, .wholeHooked, .partHooked, .endHooked, .paced:
            verdict = outcome.take() ?? .forward
        }
        if head.revision != before { isChanged = true }
        current.item = .head(head, framing)
        // Work may also have the hook asked again.
        if case .pause(.again) = verdict { current.progress = arrival == .headHooked ? .arrived : arrival }
        return settle(current, head, framing, handler, verdict, &exchange)
    }

    /// Applies a handler's decision about a head.
    private mutating func settle(
        _ current: Waiting,
        _ head: Head,
        _ framing: BodyFraming,
        _ handler: any StageHandler,
        _ verdict: Verdict,
        _ exchange: inout StageExchange
    ) -> Step? {
        switch verdict {
        case .forward: return forward(current, head, framing, handler, &exchange)
        case .pause, .perform: hold(current)
        case .respond: waiting.prepend(Waiting(item: current.item, next: current.next + 1))
        case .refuse, .drop, .fail: break
        }
        return .verdict(verdict, next: current.next + 1)
    }

    private mutating func hold(_ current: Waiting) {
        waiting.prepend(current)
        isHeld = true
    }

    /// Passes a head on to the next handler, unless this handler demands the whole body.
    private mutating func forward(
        _ current: Waiting,
        _ head: Head,
        _ framing: BodyFraming,
        _ handler: any StageHandler,
        _ exchange: inout StageExchange
    ) -> Step? {
        if current.progress == .headHooked || current.progress == .overflowHooked {
            var demand = Head.demand(of: handler)
            if case .whole(let limit, let decoded) = demand {
                if current.progress == .overflowHooked {
                    let reason =
                        exchange.lacksRoom
                        ? "the \(budget.total) bytes for bodies that are gathered or held, or the \(budget.perClient) of one "
                            + "client, are in use"
                        : "the body is larger than the limit of \(limit) bytes"
                    exchange.note("\(reason); it passed unmodified")
                    demand = .none
                } else if !head.beginsTunnel {
                    gather(current, head, framing, limit, decoded, for: exchange.client)
                    return nil
                } else if Head.direction == .request {
                    return passTunnel(current, head, framing, handler, &exchange)
                }
            }
            demands[current.next] = demand
            if demand == .pace { isPaced = true }
        }
        waiting.prepend(Waiting(item: .head(head, framing), next: current.next + 1))
        return nil
    }

    // MARK: - Whole bodies

    /// Begins to collect a body, unless it is known to be too large.
    private mutating func gather(
        _ current: Waiting,
        _ head: Head,
        _ framing: BodyFraming,
        _ limit: Int,
        _ decoded: Bool,
        for client: ClientKey
    ) {
        if case .length(let length) = framing, length > limit {
            waiting.prepend(Waiting(item: current.item, next: current.next, progress: .overflowing))
            return
        }
        let share = ByteShare(of: budget, for: client)
        gathering = Gathering(
            handler: current.next,
            limit: limit,
            decoded: decoded,
            head: head,
            framing: framing,
            share: share
        )
    }

    /// Calls the hook `whole` for a CONNECT, which cannot have a body.
    private mutating func passTunnel(
        _ current: Waiting,
        _ head: Head,
        _ framing: BodyFraming,
        _ handler: any StageHandler,
        _ exchange: inout StageExchange
    ) -> Step? {
        var head = head
        var body = ByteBuffer()
        let before = head.revision
        let verdict = handler.whole(Head.direction, &head.fields, &body, &exchange)
        if head.revision != before { isChanged = true }
        if body.readableBytes > 0 { exchange.note("a tunnel cannot have a body; it continued without one") }
        let whole = Waiting(item: .head(head, framing), next: current.next, progress: .wholeHooked)
        return settle(whole, head, framing, handler, verdict, &exchange)
    }

    /// Adds a part to the collected body; if that exceeds the limit or the budget, everything passes unchanged.
    mutating func gather(_ part: ByteBuffer) {
        guard var gathered = gathering else { return }
        // Cleared first, so that the buffer has one owner and is not copied when it grows.
        gathering = nil
        gathered.body.writeImmutableBuffer(part)
        let hasRoom = gathered.share.grow(by: part.readableBytes)
        guard !hasRoom || gathered.body.readableBytes > gathered.limit else {
            gathering = gathered
            return
        }
        waiting.prepend(Waiting(item: .part(gathered.body), next: gathered.handler, share: gathered.share))
        let head = MessageFlow.Item.head(gathered.head, gathered.framing)
        let progress: Progress = hasRoom ? .overflowing : .crowdedOut
        waiting.prepend(Waiting(item: head, next: gathered.handler, progress: progress))
    }

    private mutating func passEnd(
        _ current: Waiting,
        _ trailers: FieldSection?,
        _ handler: any StageHandler,
        _ exchange: inout StageExchange
    ) -> Step? {
        let next = current.next + 1
        guard var gathered = gathering, gathered.handler == current.next else {
            if current.progress == .arrived, let work = endWork(at: current.next, handler, &exchange) {
                hold(Waiting(item: current.item, next: current.next, progress: .endHooked))
                return .verdict(work, next: next)
            }
            waiting.prepend(Waiting(item: current.item, next: next))
            return nil
        }
        gathering = nil
        let result = WholeBody.pass(&gathered, hasTrailers: trailers?.isEmpty == false, handler, &exchange)
        if result.isBodyChanged { bodyMayChange = true }
        if result.isChanged { isChanged = true }
        waiting.prepend(Waiting(item: .end(trailers), next: next))
        if result.body.readableBytes > 0 {
            waiting.prepend(Waiting(item: .part(result.body), next: next, share: gathered.share))
        }
        let head = gathered.head
        let whole = Waiting(item: .head(head, result.framing), next: current.next, progress: .wholeHooked)
        return settle(whole, head, result.framing, handler, result.verdict, &exchange)
    }

    /// The work of a handler with the demand `observe` before the end of a response passes; `nil` if it has no work.
    private func endWork(at place: Int, _ handler: any StageHandler, _ exchange: inout StageExchange) -> Verdict? {
        guard Head.direction == .response, place < demands.count, demands[place] == .observe else { return nil }
        switch handler.responseEnd(&exchange) {
        case .perform(let work): return .perform(work)
        case .forward: return nil
        case .pause, .respond, .refuse, .drop, .fail:
            exchange.note("a hook on a body's end cannot answer or hold; the end passed")
            return nil
        }
    }

    // MARK: - Parts

    private mutating func passPart(
        _ current: Waiting,
        _ part: ByteBuffer,
        _ handler: any StageHandler,
        _ exchange: inout StageExchange
    ) -> Step? {
        if gathering?.handler == current.next {
            gather(part)
            return nil
        }
        let verdict: Verdict
        switch (demands[current.next], current.progress) {
        case (_, .partHooked), (_, .paced): verdict = outcome.take() ?? .forward
        case (.observe, _): verdict = Head.direction == .response ? handler.responsePart(part, &exchange) : .forward
        case (.pace, _): return pace(part, current, handler, &exchange)
        case (.none, _), (.whole, _): verdict = .forward
        }
        return settle(part, current, verdict, &exchange)
    }

    /// Applies a handler's decision about a part.
    private mutating func settle(
        _ part: ByteBuffer,
        _ current: Waiting,
        _ verdict: Verdict,
        _ exchange: inout StageExchange
    ) -> Step? {
        switch verdict {
        case .forward: break
        case .pause, .respond, .refuse:
            exchange.note("a hook on a body part cannot answer or hold; the part passed")
        case .perform:
            hold(Waiting(item: .part(part), next: current.next, progress: .partHooked, share: current.share))
            return .verdict(verdict, next: current.next + 1)
        case .drop, .fail: return .verdict(verdict, next: current.next + 1)
        }
        if part.readableBytes > 0 {
            waiting.prepend(Waiting(item: .part(part), next: current.next + 1, share: current.share))
        }
        return nil
    }

    /// Asks a handler when bytes may pass.
    private mutating func pace(
        _ part: ByteBuffer,
        _ current: Waiting,
        _ handler: any StageHandler,
        _ exchange: inout StageExchange
    ) -> Step? {
        let (place, share) = (current.next, current.share)
        guard part.readableBytes > 0 else { return nil }
        switch handler.pace(Head.direction, part, &exchange) {
        case .fail(let failure): return .verdict(.fail(failure), next: place + 1)
        case .again(let moment):
            hold(Waiting(item: .part(part), next: place, share: share))
            return .verdict(.pause(.again(at: moment)), next: place + 1)
        case .pass(let count, let moment):
            var rest = part
            let due = rest.readSlice(length: min(max(count, 1), part.readableBytes)) ?? part
            if rest.readableBytes > 0 { waiting.prepend(Waiting(item: .part(rest), next: place, share: share)) }
            guard moment > exchange.now else {
                waiting.prepend(Waiting(item: .part(due), next: place + 1))
                return nil
            }
            hold(Waiting(item: .part(due), next: place, progress: .paced))
            return .verdict(.pause(.again(at: moment)), next: place + 1)
        }
    }
}
