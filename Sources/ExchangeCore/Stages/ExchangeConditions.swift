import HTTPModel
import NIOCore

/// The conditions of rules, for one exchange: they are decided on the messages as received, as far as these are known.
package protocol ExchangeConditions: AnyObject {
    /// By a condition's number in its profile. Asking makes the exchange wait for what the condition needs.
    func state(of condition: Int) -> ConditionState
    /// How many conditions that were asked about wait for the request's body or program.
    var waitingForRequest: Int { get }
    /// Whether conditions that were asked about are undecided.
    var isOpen: Bool { get }
    /// Decides conditions while messages arrive; it comes before the handlers of all stages.
    var gate: any StageHandler { get }
}

package enum ConditionState: Sendable {
    case holds
    case fails
    /// The request's body or program decides.
    case awaitsRequest
    case awaitsResponse
}

/// The handler of a stage whose conditions wait for the request. The stage is asked again when they are decided.
final class DeferredHandler: StageHandler {
    private let stage: any Stage
    private let opening: ExchangeOpening
    private lazy var handler = stage.handler(for: opening)

    init(_ stage: any Stage, _ opening: ExchangeOpening) { (self.stage, self.opening) = (stage, opening) }

    var needsVerifiedName: Bool { true }
    var requestDemand: BodyDemand { handler?.requestDemand ?? .none }
    var responseDemand: BodyDemand { handler?.responseDemand ?? .none }

    func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
        handler?.requestHead(&head, &exchange) ?? .forward
    }

    func interimHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) {
        handler?.interimHead(&head, &exchange)
    }

    func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
        handler?.responseHead(&head, &exchange) ?? .forward
    }

    func responsePart(_ part: ByteBuffer, _ exchange: inout StageExchange) -> Verdict {
        handler?.responsePart(part, &exchange) ?? .forward
    }

    func responseEnd(_ exchange: inout StageExchange) -> Verdict { handler?.responseEnd(&exchange) ?? .forward }

    func whole(
        _ direction: FlowDirection,
        _ fields: inout FieldSection,
        _ body: inout ByteBuffer,
        _ exchange: inout StageExchange
    ) -> Verdict { handler?.whole(direction, &fields, &body, &exchange) ?? .forward }

    func overflowed(
        _ direction: FlowDirection,
        _ fields: inout FieldSection,
        _ exchange: inout StageExchange
    ) -> Verdict { handler?.overflowed(direction, &fields, &exchange) ?? .forward }

    func pace(_ direction: FlowDirection, _ waiting: ByteBuffer, _ exchange: inout StageExchange) -> Pace {
        handler?.pace(direction, waiting, &exchange) ?? .pass(waiting.readableBytes, at: exchange.now)
    }

    func ended(isComplete: Bool, _ exchange: inout StageExchange) -> (any BlockingWork)? {
        handler?.ended(isComplete: isComplete, &exchange)
    }
}
