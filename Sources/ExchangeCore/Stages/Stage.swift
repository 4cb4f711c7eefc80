package import HTTPModel

/// A tool: an immutable, compiled set of rules that may read an exchange and change it.
///
/// A stage is asked for a handler once per exchange, when the request head is known. All state of the exchange is in
/// that handler. The stages of an exchange are taken from one snapshot of the rules, so editing rules affects later
/// exchanges only.
package protocol Stage: Sendable {
    var id: StageID { get }

    /// Returns a handler for this exchange, or `nil` if no rule matches. Called on the exchange's event loop; must not
    /// block, and should cost next to nothing if it returns `nil`.
    func handler(for opening: ExchangeOpening) -> (any StageHandler)?
}

/// A stage's name, and its place in the fixed order of stages: lower numbers come first.
package struct StageID: Sendable, Hashable, Comparable {
    /// For traces and profiles.
    package let name: String
    package let order: Int

    package init(_ name: String, order: Int) {
        self.name = name
        self.order = order
    }

    package static func < (left: StageID, right: StageID) -> Bool {
        (left.order, left.name) < (right.order, right.name)
    }
}

/// What a stage knows of an exchange when it is asked for a handler.
package struct ExchangeOpening {
    package let id: ExchangeID
    /// The URL as the client sent it; locations are matched against this, whatever an earlier stage changes.
    package var url: RequestURL
    /// The request head as received, hop-by-hop fields removed; for a tunnel, its CONNECT.
    package var head: RequestHead
    /// `host:port`.
    package let clientAddress: String
    /// Set if the URL's host is the client's name for the address of its tunnel.
    package let claim: NameClaim?
    /// As in `--mode`; `nil` for a regular listener.
    package var listeningMode: String?
    /// The client's program, if it is known already.
    package var process: ClientProcess?
    /// `nil` if no rule has a condition.
    package var conditions: (any ExchangeConditions)?

    /// Whether it is an undecrypted CONNECT, of which only host and port are known.
    package var isTunnel: Bool { url.scheme == "tunnel" }

    package init(id: ExchangeID, url: RequestURL, head: RequestHead, clientAddress: String, claim: NameClaim? = nil) {
        self.id = id
        self.url = url
        self.head = head
        self.clientAddress = clientAddress
        self.claim = claim
    }
}
