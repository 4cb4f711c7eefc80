import ExchangeCore
import HTTPModel
import NIOCore
import Rules

/// One direction of one exchange on a throttle's link.
struct ThrottleLane {
    /// What becomes of bytes that wait.
    enum Move {
        /// So many of them are through.
        case pass(Int)
        /// None of them are through before that moment, at which it is to be asked again.
        case again(at: NIODeadline)
        /// The connection fails here.
        case fail(ExchangeFailure)
    }

    /// The link's time that some bytes have taken, but that is not over.
    private struct Booking {
        let link: ThrottleLink
        let count: Int
        let end: NIODeadline
    }

    /// Whoever waits for longer looks this often whether the conditions are still the same.
    static let patience = TimeAmount.milliseconds(250)
    /// Bytes that come so soon after others went on count as having been there all along.
    static let gap = TimeAmount.milliseconds(20)
    /// So late the event loop may come without the link losing time by it.
    static let lateness = TimeAmount.milliseconds(100)

    let direction: FlowDirection
    /// When the link was through with the last bytes.
    private(set) var last: NIODeadline?
    /// When they went on, which is later where the event loop was late.
    private var wentOn = NIODeadline.distantPast
    private var booking: Booking?
    /// How many bytes have gone on in all, and where in the present block the connection fails.
    private(set) var passed: Int64 = 0
    private var failing: (block: Int64, at: Int?)?

    init(_ direction: FlowDirection) {
        self.direction = direction
    }

    /// Moves bytes on.
    ///
    /// - Parameters:
    ///   - waiting: how many there are; at least one.
    ///   - limit: how many may go on together.
    ///   - link: the link in force; `nil` where nothing is throttled.
    ///   - request: the request, for what is left to chance.
    ///   - exchange: its present moment, and the trace.
    /// - Returns: what becomes of them.
    mutating func move(
        _ waiting: Int,
        limit: Int = .max,
        _ link: ThrottleLink?,
        _ request: ThrottledRequest,
        _ exchange: inout StageExchange
    ) -> Move {
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
            return .again(at: min(booked.end, exchange.now + ThrottleLane.patience))
        }
        booking = nil
        return pass(min(booked.count, waiting), end: booked.end, exchange.now)
    }

    private mutating func pass(_ count: Int, end: NIODeadline, _ now: NIODeadline) -> Move {
        (last, wentOn) = (end, now)
        passed += Int64(count)
        return .pass(count)
    }

    /// When the bytes that wait now were there to be sent.
    ///
    /// A loop that comes late, and a sender that we kept waiting, must not cost the link time.
    private func ready(_ now: NIODeadline) -> NIODeadline {
        guard let last, last < now, now - wentOn <= ThrottleLane.gap else { return now }
        return max(last, now - ThrottleLane.lateness)
    }

    // MARK: - Reliability

    /// How many bytes still pass; `nil` where all of the present block do.
    private mutating func bytesToFailure(_ link: ThrottleLink, _ request: ThrottledRequest) -> Int? {
        guard link.conditions.reliability < 100 else { return nil }
        let size = Int64(ThrottleLink.block)
        let (block, offset) = passed.quotientAndRemainder(dividingBy: size)
        if failing?.block != block {
            failing = (block, request.failure(on: link, direction, block: Int(block)))
        }
        // One block at a time, since each has a draw of its own.
        return failing?.at.map { max(0, $0 - Int(offset)) } ?? Int(size - offset)
    }

    private func fail(
        _ link: ThrottleLink,
        _ request: ThrottledRequest,
        _ exchange: inout StageExchange
    ) -> ExchangeFailure {
        let reliability = "\(GrammarValue.text(link.conditions.reliability)) %"
        let message = direction == .request ? "request" : "response"
        exchange.fired(
            rule: link.rule,
            """
            reliability \(reliability): the connection failed after \(passed) bytes of the \(message) \
            (seed \(link.seed), request \(request.nth) for this URL)
            """
        )
        return ExchangeFailure(
            .reset,
            "The throttle's reliability of \(reliability) failed the \(message) after \(passed) bytes.",
            hint: "Rule '\(link.rule)' of the profile did this on purpose."
        )
    }
}

/// What chance needs to know of a request.
struct ThrottledRequest {
    /// The method as the client sent it.
    let method: String
    /// The URL as the client sent it.
    let url: RequestURL
    /// Which of the requests with that method and URL it is, from 1.
    var nth = 0

    func failure(on link: ThrottleLink, _ direction: FlowDirection, block: Int) -> Int? {
        link.failure(method, url, nth: nth, direction, block: block)
    }
}
