import Content
import ExchangeCore
import HTTPModel
import NIOCore
import Rules

/// Sends one exchange over a throttle's link: its heads, its bodies, or the bytes of its tunnel.
final class ThrottleHandler: StageHandler {
    private let link: ThrottleLink
    private var request: ThrottledRequest
    private var up = ThrottleDirection(.request)
    private var down = ThrottleDirection(.response)
    /// How many bytes of the head still wait; `nil` before the head arrives.
    private var requestHeadLeft: Int?
    private var responseHeadLeft: Int?
    private var events: PacedEvents?
    private var traced: ThrottleLink?

    init(_ link: ThrottleLink, _ opening: ExchangeOpening) {
        self.link = link
        request = ThrottledRequest(method: opening.head.method, url: opening.url)
    }

    /// Paced only if a link is in force, because pacing a request also limits the buffer for its bytes.
    var requestDemand: BodyDemand { traced == nil ? .none : .pace }
    /// Always paced, because the throttle may be switched on or changed during a response.
    var responseDemand: BodyDemand { .pace }

    func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
        let link = inForce(&exchange)
        if requestHeadLeft == nil {
            requestHeadLeft = head.serialized().readableBytes
            if self.link.conditions.drawsForRequests {
                request.nth = self.link.requests.next(request.method, request.url)
            }
        }
        if let failure = absence(of: link, &exchange) { return .fail(failure) }
        if let verdict = ThrottleHandler.move(&requestHeadLeft, &up, link, request, &exchange) { return verdict }
        // One round trip, counted from the moment at which the head has passed.
        guard let link, !link.conditions.latency.isZero else { return .forward }
        let latency = link.latency(request)
        let end = (up.last ?? exchange.now) + .nanoseconds(Int64(latency * 1e6))
        guard end > exchange.now else { return .forward }
        return .pause(.again(at: min(end, exchange.now + ThrottleDirection.patience)))
    }

    func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
        let link = inForce(&exchange)
        if responseHeadLeft == nil {
            responseHeadLeft = head.serialized().readableBytes
            if PacedEvents.isStream(head) { events = PacedEvents() }
        }
        if let failure = absence(of: link, &exchange) { return .fail(failure) }
        return ThrottleHandler.move(&responseHeadLeft, &down, link, request, &exchange) ?? .forward
    }

    /// Passes a head on; `nil` once all its bytes have passed.
    private static func move(
        _ left: inout Int?,
        _ lane: inout ThrottleDirection,
        _ link: ThrottleLink?,
        _ request: ThrottledRequest,
        _ exchange: inout StageExchange
    ) -> Verdict? {
        while let waiting = left, waiting > 0 {
            switch lane.move(waiting, link, request, &exchange) {
            case .fail(let failure): return .fail(failure)
            case .again(let moment): return .pause(.again(at: moment))
            case .pass(let count, _): left = waiting - count
            }
        }
        return nil
    }

    func pace(_ direction: FlowDirection, _ waiting: ByteBuffer, _ exchange: inout StageExchange) -> Pace {
        let link = inForce(&exchange)
        if let failure = absence(of: link, &exchange) { return .fail(failure) }
        if direction == .request { return up.move(waiting.readableBytes, link, request, &exchange) }
        let gap = link?.conditions.eventGap ?? .zero
        if let moment = events?.release(gap), moment > exchange.now {
            return .again(at: min(moment, exchange.now + ThrottleDirection.patience))
        }
        let limit = gap > .zero ? events?.bytesToEnd(in: waiting) : nil
        let move = down.move(waiting.readableBytes, limit: limit ?? .max, link, request, &exchange)
        if case .pass(let count, _) = move { events?.pass(waiting, count, at: exchange.now) }
        return move
    }

    /// The link in force; a change is traced.
    private func inForce(_ exchange: inout StageExchange) -> ThrottleLink? {
        let present = link.inForce
        guard present !== traced else { return present }
        let isFirst = traced == nil && requestHeadLeft == nil
        if let present {
            exchange.fired(rule: present.rule, "\(isFirst ? "" : "from here on: ")\(present.conditions.text)")
        } else {
            exchange.note("no longer throttled: the rule was removed, or the throttle was switched off")
        }
        traced = present
        return present
    }

    /// The failure if the link simulates no network.
    private func absence(of link: ThrottleLink?, _ exchange: inout StageExchange) -> ExchangeFailure? {
        guard let link, link.conditions.isOffline else { return nil }
        let message = "\(exchange.url.authority) cannot be reached: the throttle simulates no network."
        return ExchangeFailure(.connect, message, hint: "Rule '\(link.rule)' of the profile did this on purpose.")
    }
}

/// The server-sent events of a response, with a minimum time between them.
private struct PacedEvents {
    private var boundary = EventBoundary()
    /// When the last event had passed.
    private var last: NIODeadline?
    /// Whether the next byte begins an event.
    private var isBetween = true

    /// Whether a response has events that can be paced; in a content coding they cannot be told apart.
    static func isStream(_ head: ResponseHead) -> Bool {
        guard !head.fields.contains(.contentEncoding), let type = head.fields.value(of: .contentType) else {
            return false
        }
        return MediaType(type)?.essence == "text/event-stream"
    }

    /// The earliest moment for the next bytes; `nil` if they need not wait.
    func release(_ gap: TimeAmount) -> NIODeadline? { isBetween && gap > .zero ? last.map { $0 + gap } : nil }

    /// How many bytes there are up to the end of the event.
    func bytesToEnd(in waiting: ByteBuffer) -> Int {
        var boundary = boundary
        return boundary.advance(over: waiting.readableBytesView) ?? waiting.readableBytes
    }

    mutating func pass(_ waiting: ByteBuffer, _ count: Int, at moment: NIODeadline) {
        var bytes = waiting.readableBytesView.prefix(count)
        while !bytes.isEmpty {
            isBetween = false
            guard let end = boundary.advance(over: bytes) else { return }
            bytes = bytes.dropFirst(end)
            isBetween = true
            last = moment
        }
    }
}
