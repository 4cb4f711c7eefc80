import Content

/// What a receiver's answer means for a batch (OTLP 1.x, "OTLP/HTTP Response").
package enum ExportAnswer: Sendable, Hashable {
    /// The receiver may reject single spans, or accept all with a warning.
    case accepted(rejected: Int, message: String)
    /// `after` is the receiver's `Retry-After`.
    case retry(after: Duration?, message: String)
    case refused(message: String)

    /// In bytes; the rest of an answer's body is not read.
    package static let longestBody = 64 << 10
    private static let longestMessage = 200
    /// A longer `Retry-After` counts as this one.
    private static let longestPause: Int64 = 86_400

    package init(status: Int, reason: String, retryAfter: String?, body: [UInt8]) {
        switch status {
        case 200..<300:
            let (rejected, message) = ExportAnswer.partialSuccess(body)
            self = .accepted(rejected: rejected, message: message)
        case 429, 502, 503, 504:
            let seconds = retryAfter.flatMap { Int64($0) }.map { min(max(0, $0), ExportAnswer.longestPause) }
            let message = ExportAnswer.message(status, reason, body)
            self = .retry(after: seconds.map { .seconds($0) }, message: message)
        default: self = .refused(message: ExportAnswer.message(status, reason, body))
        }
    }

    /// The fields of `ExportTracePartialSuccess`, which is field 1. Anything unreadable is a full success, because the
    /// status has decided.
    private static func partialSuccess(_ body: [UInt8]) -> (rejected: Int, message: String) {
        guard let success = field(1, of: body, 0..<body.count), case .bytes(let range) = success else { return (0, "") }
        var rejected = 0
        if case .varint(let count)? = field(1, of: body, range) { rejected = Int(clamping: Int64(bitPattern: count)) }
        return (max(0, rejected), text(field(2, of: body, range), body))
    }

    /// With the text of `google.rpc.Status`, if the body is one.
    private static func message(_ status: Int, _ reason: String, _ body: [UInt8]) -> String {
        let text = text(field(2, of: body, 0..<body.count), body)
        return "\(status) \(reason.prefix(longestMessage))" + (text.isEmpty ? "" : ": \(text)")
    }

    private static func text(_ value: WireField.Value?, _ body: [UInt8]) -> String {
        guard case .bytes(let range)? = value else { return "" }
        return String(String(decoding: body[range], as: UTF8.self).prefix(longestMessage))
    }

    /// The last field of this number.
    private static func field(_ number: Int, of body: [UInt8], _ range: Range<Int>) -> WireField.Value? {
        var cursor = WireCursor(body, range)
        var value: WireField.Value?
        do {
            while let field = try cursor.next() { if field.number == number { value = field.value } }
            return value
        } catch {
            return nil
        }
    }
}

/// When a batch is sent again: after 1, 2, 4 … 16 s, each time shortened by chance to as little as half.
package struct RetryPlan: Sendable {
    package static let (shortest, longest): (Double, Double) = (1, 16)
    /// From the first attempt to the begin of the last one.
    package static let timeLimit = Duration.seconds(60)

    private let begin: ContinuousClock.Instant
    private var next = RetryPlan.shortest

    package init(begin: ContinuousClock.Instant) { self.begin = begin }

    /// The pause before the next attempt, at least `least`; `nil` gives up.
    package mutating func pause(
        atLeast least: Duration?,
        now: ContinuousClock.Instant,
        random: inout some RandomNumberGenerator
    ) -> Duration? {
        let pause = max(.seconds(next * Double.random(in: 0.5...1, using: &random)), least ?? .zero)
        next = min(2 * next, RetryPlan.longest)
        return now + pause <= begin + RetryPlan.timeLimit ? pause : nil
    }
}
