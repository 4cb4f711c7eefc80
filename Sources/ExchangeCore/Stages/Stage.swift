public import HTTPModel
public import NIOCore

/// A tool: an immutable, compiled set of rules that may look at an exchange and change it.
///
/// A stage is asked once per exchange, when the request head is known. Everything that lasts longer than that
/// question lives in the handler it returns. The stages of an exchange are taken from one snapshot of the rules, so
/// editing rules affects later exchanges only.
public protocol Stage: Sendable {
    /// The stage's place in the fixed order, which also names it.
    var slot: StageSlot { get }

    /// Returns a handler for this exchange, or `nil` when none of the rules concerns it.
    ///
    /// Called on the exchange's event loop; must not block, and should cost next to nothing where it returns `nil`.
    func handler(for opening: ExchangeOpening) -> (any StageHandler)?
}

/// The fixed order of the tools.
///
/// Requests and responses pass them in this order.
public enum StageSlot: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Only matching requests pass.
    case allowList
    /// Matching requests are refused.
    case blockList
    /// Caching fields are taken out of requests and responses.
    case noCaching
    /// Cookies are taken out of requests and responses.
    case blockCookies
    /// Heads and bodies are edited by rules.
    case rewrite
    /// Requests are sent to another place.
    case mapRemote
    /// Requests are answered from files.
    case mapLocal
    /// Responses are saved to files.
    case mirror
    /// A human or a script decides.
    case breakpoints
    /// Names are resolved to chosen addresses.
    case dnsSpoofing
    /// Bytes are paced.
    case throttle

    /// The name that traces and profiles use.
    public var name: String {
        switch self {
        case .allowList: "allow"
        case .blockList: "block"
        case .noCaching: "no-caching"
        case .blockCookies: "block-cookies"
        case .rewrite: "rewrite"
        case .mapRemote: "map-remote"
        case .mapLocal: "map-local"
        case .mirror: "mirror"
        case .breakpoints: "breakpoints"
        case .dnsSpoofing: "dns-spoofing"
        case .throttle: "throttle"
        }
    }

    /// Orders by place.
    public static func < (left: StageSlot, right: StageSlot) -> Bool { left.rawValue < right.rawValue }
}

/// What a stage may know when it is asked whether an exchange concerns it.
public struct ExchangeOpening: Sendable {
    /// The exchange's number.
    public let id: ExchangeID
    /// The URL as the client sent it.
    ///
    /// Locations are matched against this, whatever an earlier stage changes.
    public let url: RequestURL
    /// The request head as received, hop-by-hop fields removed.
    public let head: RequestHead
    /// Where the client connects from, as `host:port`.
    public let clientAddress: String

    /// Creates the facts of an exchange that begins.
    public init(id: ExchangeID, url: RequestURL, head: RequestHead, clientAddress: String) {
        self.id = id
        self.url = url
        self.head = head
        self.clientAddress = clientAddress
    }
}

/// What one stage does to one exchange.
///
/// Lives on the exchange's event loop.
///
/// Hooks are synchronous and must not block: no disk, no name resolution, no locks. Every hook has a default that
/// forwards. A demand is read after the head hook of its direction, so that hook may decide it.
public protocol StageHandler: AnyObject {
    /// What the handler wants of the request's body.
    var requestDemand: BodyDemand { get }
    /// What the handler wants of the response's body.
    var responseDemand: BodyDemand { get }

    /// The request's head, as earlier stages left it.
    func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict
    /// Some bytes of the request's body (demand `observe` or `transform`).
    func requestPart(_ part: inout ByteBuffer, _ exchange: inout StageExchange) -> Verdict
    /// The request whole (demand `whole`); an edited body is framed anew.
    func requestWhole(_ head: inout RequestHead, _ body: inout ByteBuffer, _ exchange: inout StageExchange) -> Verdict
    /// The response's head, as earlier stages left it.
    func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict
    /// Some bytes of the response's body (demand `observe` or `transform`).
    func responsePart(_ part: inout ByteBuffer, _ exchange: inout StageExchange) -> Verdict
    /// The response whole (demand `whole`); an edited body is framed anew.
    func responseWhole(_ head: inout ResponseHead, _ body: inout ByteBuffer, _ exchange: inout StageExchange) -> Verdict
    /// The exchange is over, however it ended; nothing is called afterwards.
    func ended()
}

extension StageHandler {
    /// No interest in the request's body.
    public var requestDemand: BodyDemand { .none }
    /// No interest in the response's body.
    public var responseDemand: BodyDemand { .none }
    /// Forwards the head as it is.
    public func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict { .forward }
    /// Forwards the part as it is.
    public func requestPart(_ part: inout ByteBuffer, _ exchange: inout StageExchange) -> Verdict { .forward }
    /// Forwards the request as it is.
    public func requestWhole(
        _ head: inout RequestHead,
        _ body: inout ByteBuffer,
        _ exchange: inout StageExchange
    ) -> Verdict { .forward }
    /// Forwards the head as it is.
    public func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict { .forward }
    /// Forwards the part as it is.
    public func responsePart(_ part: inout ByteBuffer, _ exchange: inout StageExchange) -> Verdict { .forward }
    /// Forwards the response as it is.
    public func responseWhole(
        _ head: inout ResponseHead,
        _ body: inout ByteBuffer,
        _ exchange: inout StageExchange
    ) -> Verdict { .forward }
    /// Does nothing.
    public func ended() {}
}

/// What a handler wants of a message's body.
public enum BodyDemand: Sendable, Hashable {
    /// Nothing; parts pass by.
    case none
    /// To see each part, leaving the bytes as they are.
    case observe
    /// To see each part and perhaps change it; the message is framed anew without a length.
    case transform
    /// The whole body at once, up to `limit` bytes; over it the message passes unmodified and the trace says so.
    /// With `decoded` the content coding is removed before the hook and put back where the body was changed.
    case whole(limit: Int, decoded: Bool)
}

/// What a hook decides.
public enum Verdict: Sendable {
    /// Go on with what the hook left in its parameter.
    case forward
    /// Answer in place of the server. Remaining request hooks and the whole response chain still run. From a response
    /// hook: replaces the response from here on.
    case respond(LocalAnswer)
    /// Answer at once; no further hook is asked. What block lists do.
    case refuse(LocalAnswer)
    /// Cut the connection to the client without an answer; no further hook is asked.
    case drop
    /// Hold the message before it goes on from here.
    case pause(Pause)
}

/// How long a message is held.
public enum Pause: Sendable, Hashable {
    /// Until a moment on the event loop's clock.
    case until(NIODeadline)
    /// Until somebody decides: a breakpoint. Only from head and whole-body hooks.
    case decision
}
