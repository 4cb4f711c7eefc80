package import HTTPModel

/// A tool: an immutable, compiled set of rules that may look at an exchange and change it.
///
/// A stage is asked once per exchange, when the request head is known. Everything that lasts longer than that
/// question lives in the handler it returns. The stages of an exchange are taken from one snapshot of the rules, so
/// editing rules affects later exchanges only.
package protocol Stage: Sendable {
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
package enum StageSlot: Int, Sendable, Hashable, CaseIterable, Comparable {
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
    package var name: String {
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

    /// The messages that the tool acts on.
    package var directions: Set<FlowDirection> {
        switch self {
        case .allowList, .blockList, .mapRemote, .mapLocal, .dnsSpoofing: [.request]
        case .mirror: [.response]
        case .noCaching, .blockCookies, .rewrite, .breakpoints, .throttle: [.request, .response]
        }
    }

    /// Orders by place.
    package static func < (left: StageSlot, right: StageSlot) -> Bool { left.rawValue < right.rawValue }
}

/// What a stage may know when it is asked whether an exchange concerns it.
package struct ExchangeOpening: Sendable {
    /// The exchange's number.
    package let id: ExchangeID
    /// The URL as the client sent it.
    ///
    /// Locations are matched against this, whatever an earlier stage changes.
    package let url: RequestURL
    /// The request head as received, hop-by-hop fields removed; of a tunnel, its CONNECT.
    package let head: RequestHead
    /// Where the client connects from, as `host:port`.
    package let clientAddress: String

    /// Whether it is a CONNECT that is not decrypted, of which just host and port are known.
    package var isTunnel: Bool { url.scheme == "tunnel" }

    package init(id: ExchangeID, url: RequestURL, head: RequestHead, clientAddress: String) {
        self.id = id
        self.url = url
        self.head = head
        self.clientAddress = clientAddress
    }
}
