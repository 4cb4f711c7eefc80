package import ExchangeCore
package import HTTPModel
package import NIOCore

/// A stage whose handlers are made by a closure.
package struct ScriptedStage: Stage {
    package let id: StageID
    private let make: @Sendable (ExchangeOpening) -> ScriptedHandler?

    /// Creates a stage.
    package init(_ id: StageID, _ make: @escaping @Sendable (ExchangeOpening) -> ScriptedHandler?) {
        self.id = id
        self.make = make
    }

    /// Creates a stage whose handler is the default one after `prepare`.
    package static func on(
        _ id: StageID,
        _ prepare: @escaping @Sendable (ScriptedHandler) -> Void
    ) -> ScriptedStage {
        ScriptedStage(id) { _ in
            let handler = ScriptedHandler()
            prepare(handler)
            return handler
        }
    }

    /// Creates a stage that holds each request's and each response's head for this long.
    package static func delaying(_ id: StageID, by time: TimeAmount) -> ScriptedStage {
        .on(id) { handler in
            var hasWaited = (request: false, response: false)
            handler.onRequestHead = { _, exchange in
                defer { hasWaited.request = true }
                return hasWaited.request ? .forward : .pause(.again(at: exchange.now + time))
            }
            handler.onResponseHead = { _, exchange in
                defer { hasWaited.response = true }
                return hasWaited.response ? .forward : .pause(.again(at: exchange.now + time))
            }
        }
    }

    /// Asks the closure.
    package func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        make(opening)
    }
}

/// Identities like those of the tools, for stages that stand in for them.
extension StageID {
    package static let allowList = StageID("allow", order: 100)
    package static let blockList = StageID("block", order: 200)
    package static let noCaching = StageID("no-caching", order: 300)
    package static let blockCookies = StageID("block-cookies", order: 400)
    package static let rewrite = StageID("rewrite", order: 500)
    package static let mapRemote = StageID("map-remote", order: 600)
    package static let mapLocal = StageID("map-local", order: 700)
    package static let mirror = StageID("mirror", order: 800)
    package static let breakpoints = StageID("breakpoints", order: 900)
    package static let dnsSpoofing = StageID("dns-spoofing", order: 1000)
    package static let throttle = StageID("throttle", order: 1100)
}

/// A handler made of closures; a hook without one forwards.
package final class ScriptedHandler: StageHandler {
    /// What `needsVerifiedName` says.
    package var needsVerifiedName = false
    /// What `requestDemand` says.
    package var requestDemand = BodyDemand.none
    /// What `responseDemand` says.
    package var responseDemand = BodyDemand.none
    /// The request head hook.
    package var onRequestHead: (inout RequestHead, inout StageExchange) -> Verdict = { _, _ in .forward }
    /// The whole request hook.
    package var onRequestWhole: (inout FieldSection, inout ByteBuffer, inout StageExchange) -> Verdict = { _, _, _ in
        .forward
    }
    /// The response head hook.
    package var onResponseHead: (inout ResponseHead, inout StageExchange) -> Verdict = { _, _ in .forward }
    /// The response part hook.
    package var onResponsePart: (ByteBuffer, inout StageExchange) -> Verdict = { _, _ in .forward }
    /// The hook for the end of a response whose parts were seen.
    package var onResponseEnd: (inout StageExchange) -> Verdict = { _ in .forward }
    /// The whole response hook.
    package var onResponseWhole: (inout FieldSection, inout ByteBuffer, inout StageExchange) -> Verdict = { _, _, _ in
        .forward
    }
    /// The hook for a request that is larger than asked for.
    package var onRequestOverflowed: (inout FieldSection, inout StageExchange) -> Verdict = { _, _ in .forward }
    /// The hook for a response that is larger than asked for.
    package var onResponseOverflowed: (inout FieldSection, inout StageExchange) -> Verdict = { _, _ in .forward }
    /// The pacing hook.
    package var onPace: (FlowDirection, ByteBuffer, inout StageExchange) -> Pace = {
        .pass($1.readableBytes, at: $2.now)
    }
    /// Called when the exchange is over.
    package var onEnded: (Bool) -> (any BlockingWork)? = { _ in nil }

    /// Creates a handler that forwards everything.
    package init() {}

    /// Runs the closure.
    package func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
        onRequestHead(&head, &exchange)
    }

    /// Runs the closure.
    package func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
        onResponseHead(&head, &exchange)
    }

    /// Runs the closure.
    package func responsePart(_ part: ByteBuffer, _ exchange: inout StageExchange) -> Verdict {
        onResponsePart(part, &exchange)
    }

    /// Runs the direction's closure.
    package func whole(
        _ direction: FlowDirection,
        _ fields: inout FieldSection,
        _ body: inout ByteBuffer,
        _ exchange: inout StageExchange
    ) -> Verdict {
        direction == .request
            ? onRequestWhole(&fields, &body, &exchange) : onResponseWhole(&fields, &body, &exchange)
    }

    /// Runs the direction's closure.
    package func overflowed(
        _ direction: FlowDirection,
        _ fields: inout FieldSection,
        _ exchange: inout StageExchange
    ) -> Verdict {
        direction == .request ? onRequestOverflowed(&fields, &exchange) : onResponseOverflowed(&fields, &exchange)
    }

    /// Runs the closure.
    package func pace(_ direction: FlowDirection, _ waiting: ByteBuffer, _ exchange: inout StageExchange) -> Pace {
        onPace(direction, waiting, &exchange)
    }

    /// Runs the closure.
    package func responseEnd(_ exchange: inout StageExchange) -> Verdict { onResponseEnd(&exchange) }

    /// Runs the closure.
    package func ended(isComplete: Bool, _ exchange: inout StageExchange) -> (any BlockingWork)? {
        onEnded(isComplete)
    }
}

/// Blocking work made of a closure.
package struct ScriptedWork: BlockingWork {
    private let work: @Sendable () -> WorkOutcome

    /// Creates work.
    package init(_ work: @escaping @Sendable () -> WorkOutcome) {
        self.work = work
    }

    /// Runs the closure.
    package func run() -> WorkOutcome { work() }
}
