import HTTPModel

/// A head that can pass through a chain of handlers, and calls the hooks for its direction.
protocol FlowingHead: MessageHead {
    /// Whether bytes of a tunnel or another protocol follow instead of a body; they have no end to wait for.
    var beginsTunnel: Bool { get }

    static func demand(of handler: any StageHandler) -> BodyDemand
    mutating func pass(_ handler: any StageHandler, _ exchange: inout StageExchange) -> Verdict
    static var direction: FlowDirection { get }
}

extension RequestHead: FlowingHead {
    var beginsTunnel: Bool { method == "CONNECT" }

    static func demand(of handler: any StageHandler) -> BodyDemand { handler.requestDemand }

    mutating func pass(_ handler: any StageHandler, _ exchange: inout StageExchange) -> Verdict {
        handler.requestHead(&self, &exchange)
    }

    static var direction: FlowDirection { .request }
}

extension ResponseHead: FlowingHead {
    var beginsTunnel: Bool { status == 101 }

    static func demand(of handler: any StageHandler) -> BodyDemand { handler.responseDemand }

    mutating func pass(_ handler: any StageHandler, _ exchange: inout StageExchange) -> Verdict {
        handler.responseHead(&self, &exchange)
    }

    static var direction: FlowDirection { .response }
}
