import HTTPModel
import NIOCore

/// A head that can flow through a chain of handlers: knows which hooks are its direction's.
protocol FlowingHead: Sendable {
    /// How many edits were made since the head was received.
    var revision: UInt32 { get }
    var fields: FieldSection { get set }
    /// Whether another protocol's bytes follow, which have no end to wait for.
    var beginsTunnel: Bool { get }

    /// What a handler wants of the body in this direction.
    static func demand(of handler: any StageHandler) -> BodyDemand
    /// Calls the handler's head hook.
    mutating func pass(_ handler: any StageHandler, _ exchange: inout StageExchange) -> Verdict
    /// Calls the handler's whole-body hook.
    mutating func pass(
        whole body: inout ByteBuffer,
        _ handler: any StageHandler,
        _ exchange: inout StageExchange
    ) -> Verdict
    /// Calls the handler's hook for a body that is larger than it asked for.
    mutating func overflow(_ handler: any StageHandler, _ exchange: inout StageExchange) -> Verdict
    /// Where messages with such heads go.
    static var direction: FlowDirection { get }
}

extension RequestHead: FlowingHead {
    var beginsTunnel: Bool { false }

    static func demand(of handler: any StageHandler) -> BodyDemand { handler.requestDemand }

    mutating func pass(_ handler: any StageHandler, _ exchange: inout StageExchange) -> Verdict {
        handler.requestHead(&self, &exchange)
    }

    mutating func pass(
        whole body: inout ByteBuffer,
        _ handler: any StageHandler,
        _ exchange: inout StageExchange
    ) -> Verdict {
        handler.requestWhole(&self, &body, &exchange)
    }

    mutating func overflow(_ handler: any StageHandler, _ exchange: inout StageExchange) -> Verdict {
        handler.requestOverflowed(&self, &exchange)
    }

    static var direction: FlowDirection { .request }
}

extension ResponseHead: FlowingHead {
    var beginsTunnel: Bool { status == 101 }

    static func demand(of handler: any StageHandler) -> BodyDemand { handler.responseDemand }

    mutating func pass(_ handler: any StageHandler, _ exchange: inout StageExchange) -> Verdict {
        handler.responseHead(&self, &exchange)
    }

    mutating func pass(
        whole body: inout ByteBuffer,
        _ handler: any StageHandler,
        _ exchange: inout StageExchange
    ) -> Verdict {
        handler.responseWhole(&self, &body, &exchange)
    }

    mutating func overflow(_ handler: any StageHandler, _ exchange: inout StageExchange) -> Verdict {
        handler.responseOverflowed(&self, &exchange)
    }

    static var direction: FlowDirection { .response }
}
