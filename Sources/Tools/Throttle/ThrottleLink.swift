import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Rules
import Synchronization

/// The simulated connection of one throttle rule. All its exchanges, on all event loops, share it without a lock: each
/// direction stores when the link is free again, and each sender adds the time for its bytes.
final class ThrottleLink: Sendable {
    let rule: String
    let conditions: ThrottleConditions
    let seed: UInt64
    private let draw: SeededDraw
    /// Counts the requests, because each request has its own random draws.
    let requests = RequestCounter()
    let power: ThrottleSwitch

    /// When the link is free again, in nanoseconds of the event loops' clock.
    private let up = Atomic<Int64>(0)
    private let down = Atomic<Int64>(0)
    /// When the link was first used, 0 before; quality is drawn for each second from then on.
    private let beginning = Atomic<Int64>(0)
    private let isReplaced = Atomic<Bool>(false)
    private let successor = Mutex<ThrottleLink?>(nil)

    /// Creates a free link, with a random seed if the user chose none.
    init(rule: String, conditions: ThrottleConditions, seed: UInt64?, power: ThrottleSwitch) {
        let seed = seed ?? .random(in: 0..<1_000_000)
        (self.rule, self.conditions, self.seed, self.power) = (rule, conditions, seed, power)
        draw = SeededDraw(seed: seed, rule: rule)
    }

    /// This link or its replacement; `nil` if the rule is gone, or the throttle is switched off.
    var inForce: ThrottleLink? {
        var link = self
        while link.isReplaced.load(ordering: .acquiring) {
            guard let next = link.successor.withLock({ $0 }) else { return nil }
            link = next
        }
        return link.power.isOn ? link : nil
    }

    /// Replaces this link for running exchanges; `nil` if the rule is gone.
    func replace(by link: ThrottleLink?) {
        guard link !== self else { return }
        if let link {
            link.requests.goOn(from: requests)
            link.beginning.store(beginning.load(ordering: .relaxed), ordering: .relaxed)
        }
        successor.withLock { $0 = link }
        isReplaced.store(true, ordering: .releasing)
    }

    /// Books the link for `count` bytes that are ready at `moment`; returns when the last byte has passed.
    func send(_ count: Int, _ direction: FlowDirection, from moment: NIODeadline) -> NIODeadline {
        guard let rate = conditions.rate(direction) else { return moment }
        let ready = Int64(clamping: moment.uptimeNanoseconds)
        switch direction {
        case .request: return advance(up, count, rate, ready)
        case .response: return advance(down, count, rate, ready)
        }
    }

    private func advance(_ clock: borrowing Atomic<Int64>, _ count: Int, _ rate: Double, _ ready: Int64) -> NIODeadline
    {
        var free = clock.load(ordering: .relaxed)
        while true {
            let end = end(of: Double(count), rate, from: max(free, ready))
            let (isExchanged, current) = clock.compareExchange(expected: free, desired: end, ordering: .relaxed)
            if isExchanged { return .uptimeNanoseconds(UInt64(clamping: end)) }
            free = current
        }
    }

    /// In seconds; no chunk takes longer.
    private static let longestWait = 3_600

    private func end(of bytes: Double, _ rate: Double, from start: Int64) -> Int64 {
        guard conditions.isUnstable else {
            let (end, overflows) = start.addingReportingOverflow(Int64((bytes / rate).rounded()))
            return overflows ? .max : end
        }
        let second: Int64 = 1_000_000_000
        let beginning = began(start)
        var left = bytes
        var moment = start
        for _ in 0..<ThrottleLink.longestWait {
            let index = max(0, moment - beginning) / second
            let boundary = max(beginning + (index + 1) * second, moment + 1)
            let rate = rate * quality(Int(index))
            let room = rate * Double(boundary - moment)
            if left <= room { return moment + Int64((left / rate).rounded()) }
            left -= room
            moment = boundary
        }
        return moment
    }

    private func began(_ moment: Int64) -> Int64 {
        let (isFirst, known) = beginning.compareExchange(expected: 0, desired: max(moment, 1), ordering: .relaxed)
        return isFirst ? moment : known
    }

    /// The usable share of the bandwidth in a second, 1 if it is stable; seconds count from 0 at the link's first use.
    func quality(_ second: Int) -> Double {
        guard draw.uniform("stability", index: second) * 100 >= conditions.stability else { return 1 }
        let (low, high) = (conditions.quality.lowerBound, conditions.quality.upperBound)
        return (low + draw.uniform("quality", index: second) * (high - low)) / 100
    }

    /// How long a request waits, in ms.
    func latency(_ request: ThrottledRequest) -> Double {
        // Reliability has the indexes from 0.
        conditions.latency.drawn { draw.uniform(request.method, request.url, nth: request.nth, index: -1 - $0) }
    }

    /// The number of bytes to which reliability refers.
    static let block = 10_240

    /// After how many bytes of a block the connection fails; `nil` if the block passes. The byte is drawn so that any n
    /// bytes pass with the probability reliability^(n/10240).
    func failure(_ request: ThrottledRequest, _ direction: FlowDirection, block: Int) -> Int? {
        let reliability = conditions.reliability / 100
        guard reliability < 1 else { return nil }
        let index = block * 2 + (direction == .request ? 0 : 1)
        let drawn = draw.uniform(request.method, request.url, nth: request.nth, index: index)
        guard reliability > 0, drawn > 0 else { return reliability > 0 ? nil : 0 }
        let position = Double(ThrottleLink.block) * log(drawn) / log(reliability)
        return position < Double(ThrottleLink.block) ? Int(position) : nil
    }
}

final class ThrottleSwitch: Sendable {
    private let flag = Atomic<Bool>(true)

    var isOn: Bool {
        get { flag.load(ordering: .relaxed) }
        set { flag.store(newValue, ordering: .relaxed) }
    }
}
