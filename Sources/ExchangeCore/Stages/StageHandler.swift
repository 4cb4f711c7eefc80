package import HTTPModel
package import NIOCore

/// A stage's handler for one exchange, used on its event loop.
///
/// Hooks are synchronous and must not block: no disk, no name resolution, no locks; blocking work needs a
/// `Verdict.perform`. Every hook has a default that forwards. A demand is read after the head hook of its direction, so
/// that the hook may decide it.
package protocol StageHandler: AnyObject {
    var requestDemand: BodyDemand { get }
    var responseDemand: BodyDemand { get }

    /// Whether the handler needs a verified host. If the client only claims that its tunnel's address has this name,
    /// the name is then looked up before the first hook. Read once, before any hook, and only for such a name.
    var needsVerifiedName: Bool { get }

    /// The request's head after earlier stages.
    func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict
    /// An interim response other than 101 (RFC 9110 §15.2), after earlier stages; it cannot be held or replaced.
    func interimHead(_ head: inout ResponseHead, _ exchange: inout StageExchange)
    /// The response's head after earlier stages.
    func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict
    /// A part of the response's body (demand `observe`).
    func responsePart(_ part: ByteBuffer, _ exchange: inout StageExchange) -> Verdict
    /// The response's body is complete (demand `observe`); its end has not been sent. Return `forward` or `perform`.
    func responseEnd(_ exchange: inout StageExchange) -> Verdict
    /// The complete message (demand `whole`), with its head's fields; an edited body is framed again.
    func whole(
        _ direction: FlowDirection,
        _ fields: inout FieldSection,
        _ body: inout ByteBuffer,
        _ exchange: inout StageExchange
    ) -> Verdict
    /// The body exceeds the demand `whole`, or the memory for bodies. It streams on, and the demand is read again.
    func overflowed(
        _ direction: FlowDirection,
        _ fields: inout FieldSection,
        _ exchange: inout StageExchange
    ) -> Verdict
    /// When waiting bytes may pass (demand `pace`), and how many. Called with the bytes at the head of the queue, never
    /// empty, and again with the rest. Their sender is not read meanwhile.
    func pace(_ direction: FlowDirection, _ waiting: ByteBuffer, _ exchange: inout StageExchange) -> Pace
    /// The exchange is over; no hook is called afterwards. `isComplete` says whether the client has the whole response
    /// and the exchange did not fail. The returned work runs on a different thread, and nobody waits for it; if its
    /// outcome is a failure, the failure is logged. The handler can add to the trace, but change nothing else.
    func ended(isComplete: Bool, _ exchange: inout StageExchange) -> (any BlockingWork)?
}

/// The default hooks, which forward unchanged.
extension StageHandler {
    package var requestDemand: BodyDemand { .none }
    package var responseDemand: BodyDemand { .none }
    package var needsVerifiedName: Bool { false }
    package func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict { .forward }
    package func interimHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) {}
    package func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict { .forward }
    package func responsePart(_ part: ByteBuffer, _ exchange: inout StageExchange) -> Verdict { .forward }
    package func responseEnd(_ exchange: inout StageExchange) -> Verdict { .forward }
    package func whole(
        _ direction: FlowDirection,
        _ fields: inout FieldSection,
        _ body: inout ByteBuffer,
        _ exchange: inout StageExchange
    ) -> Verdict { .forward }
    /// Forwards the message unchanged; the engine adds a note.
    package func overflowed(
        _ direction: FlowDirection,
        _ fields: inout FieldSection,
        _ exchange: inout StageExchange
    ) -> Verdict { .forward }
    package func pace(_ direction: FlowDirection, _ waiting: ByteBuffer, _ exchange: inout StageExchange) -> Pace {
        .pass(waiting.readableBytes, at: exchange.now)
    }
    package func ended(isComplete: Bool, _ exchange: inout StageExchange) -> (any BlockingWork)? { nil }
}

/// Acts on the head of one request, and on nothing else of the exchange.
package final class RequestHeadHandler: StageHandler {
    package let needsVerifiedName: Bool
    private let act: (inout RequestHead, inout StageExchange) -> Verdict

    package init(needsVerifiedName: Bool = false, _ act: @escaping (inout RequestHead, inout StageExchange) -> Verdict)
    {
        self.needsVerifiedName = needsVerifiedName
        self.act = act
    }

    package func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
        act(&head, &exchange)
    }
}

/// What a handler needs of a message's body.
package enum BodyDemand: Sendable, Hashable {
    /// Nothing; parts pass by.
    case none
    /// Each part of a response; not of a request.
    case observe
    /// The whole body at once, up to `limit` bytes; a larger message passes unmodified with a note in the trace. With
    /// `decoded` the content coding is removed before the hook and restored if the body was changed.
    case whole(limit: Int, decoded: Bool)
    /// Decides when bytes pass; in tunnels and WebSockets too.
    case pace
}

/// When waiting bytes pass.
package enum Pace: Sendable {
    /// This many bytes, at least one, pass at that time, or at once if it is past; the handler is asked about the rest.
    case pass(Int, at: NIODeadline)
    /// Not yet; the handler is asked again at that time.
    case again(at: NIODeadline)
    case fail(ExchangeFailure)
}
