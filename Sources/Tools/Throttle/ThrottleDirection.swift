import ExchangeCore
import HTTPModel
import NIOCore
import Rules

/// One direction of one exchange on a throttle's link.
struct ThrottleDirection {
    /// A time that is booked on the link for some bytes, not over yet.
    private struct Booking {
        let link: ThrottleLink
        let count: Int
        let end: NIODeadline
    }

    /// During a longer wait the conditions are checked this often.
    static let patience = TimeAmount.milliseconds(250)
    /// Bytes that arrive within this time after earlier bytes passed count as having been ready all along.
    static let gap = TimeAmount.milliseconds(20)
    /// The event loop may be late by this without the link losing time.
    static let lateness = TimeAmount.milliseconds(100)

    let direction: FlowDirection
    /// When the link had transmitted the last bytes.
    private(set) var last: NIODeadline?
    /// When the last bytes passed: later than `last` if the event loop was late.
    private var wentOn = NIODeadline.distantPast
    private var booking: Booking?
    /// How many bytes have passed in total, and at which byte of the current block the connection fails.
    private(set) var passed: Int64 = 0
    private var failing: (block: Int64, at: Int?)?

    init(_ direction: FlowDirection) { self.direction = direction }

    /// Passes waiting bytes on, at least one and at most `limit` together; without a link nothing is throttled.
    mutating func move(
        _ waiting: Int,
        limit: Int = .max,
        _ link: ThrottleLink?,
        _ request: ThrottledRequest,
        _ exchange: inout StageExchange
    ) -> Pace {
        guard let link else {
            booking = nil
            return pass(min(waiting, limit), end: exchange.now, exchange.now)
        }
        let booked: Booking
        if let booking, booking.link === link {
            booked = booking
        } else {
            let toFailure = bytesToFailure(link, request)
            if toFailure == 0 { return .fail(fail(link, request, &exchange)) }
            let count = min(waiting, limit, link.conditions.chunk(direction), toFailure ?? .max)
            let end = link.send(count, direction, from: ready(exchange.now))
            booked = Booking(link: link, count: count, end: end)
        }
        guard booked.end <= exchange.now else {
            booking = booked
            return .again(at: min(booked.end, exchange.now + ThrottleDirection.patience))
        }
        booking = nil
        return pass(min(booked.count, waiting), end: booked.end, exchange.now)
    }

    private mutating func pass(_ count: Int, end: NIODeadline, _ now: NIODeadline) -> Pace {
        (last, wentOn) = (end, now)
        passed += Int64(count)
        return .pass(count, at: now)
    }

    /// When the waiting bytes were ready. A late event loop, or a sender that had to wait, must not cost the link time.
    private func ready(_ now: NIODeadline) -> NIODeadline {
        guard let last, last < now, now - wentOn <= ThrottleDirection.gap else { return now }
        return max(last, now - ThrottleDirection.lateness)
    }

    /// How many bytes still pass in this block before the connection fails; `nil` if the link never fails.
    private mutating func bytesToFailure(_ link: ThrottleLink, _ request: ThrottledRequest) -> Int? {
        guard link.conditions.reliability < 100 else { return nil }
        let size = Int64(ThrottleLink.block)
        let (block, offset) = passed.quotientAndRemainder(dividingBy: size)
        if failing?.block != block { failing = (block, link.failure(request, direction, block: Int(block))) }
        // At most one block, because each block has its own draw.
        return failing?.at.map { max(0, $0 - Int(offset)) } ?? Int(size - offset)
    }

    private func fail(
        _ link: ThrottleLink,
        _ request: ThrottledRequest,
        _ exchange: inout StageExchange
    ) -> ExchangeFailure {
        let reliability = "\(GrammarValue.text(link.conditions.reliability)) %"
        let origin = "(seed \(link.seed), request \(request.nth) for this URL)"
        let event = "the connection failed after \(passed) bytes of the \(direction) \(origin)"
        exchange.fired(rule: link.rule, "reliability \(reliability): \(event)")
        let message = "The throttle's reliability of \(reliability) failed the \(direction) after \(passed) bytes."
        return ExchangeFailure(.reset, message, hint: "Rule '\(link.rule)' of the profile did this on purpose.")
    }
}

/// The parts of a request, as the client sent it, on which its random draws depend.
struct ThrottledRequest {
    let method: String
    let url: RequestURL
    /// The request's number among those with the same method and URL, from 1.
    var nth = 0
}
