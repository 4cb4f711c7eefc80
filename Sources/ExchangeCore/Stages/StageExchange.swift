package import HTTPModel
package import NIOCore

/// The exchange as a hook may see and steer it, beside the message itself.
package struct StageExchange: Sendable {
    package let id: ExchangeID
    /// The URL as the client sent it.
    package let url: RequestURL
    /// Where the request will be sent; request head hooks may change it, later it has no effect.
    package var destination: Destination
    /// The client that it counts for.
    var client: ClientKey
    /// Set where the URL's host is what the client calls the address that its tunnel leads to.
    package internal(set) var claim: NameClaim?
    /// The present moment on the event loop's clock; hooks have no clock of their own.
    package internal(set) var now: NIODeadline
    /// Whether the URL's host is more than a client's word for the address of its tunnel.
    package var isNameVerified: Bool { claim?.isVerified ?? true }
    /// The answer that replaces the server's.
    var answer: LocalAnswer?
    /// Whether a stage answers in place of a server, so that the request goes nowhere.
    package var isAnswered: Bool { answer != nil }
    /// In the overflow hooks: whether others use up the budget, and the body is not itself too large.
    package internal(set) var lacksRoom = false
    package internal(set) var trace: [TraceEntry] = []
    /// The stage whose hook is running, or ran last: the author of notes.
    private(set) var stage = ""

    /// Called before a hook of this handler.
    mutating func enter(_ link: ChainLink) { stage = link.name }

    /// Adds the effect of a rule to the trace.
    package mutating func fired(rule: String?, _ text: String) {
        trace.append(TraceEntry(stage: stage, rule: rule, outcome: .fired, text: text))
    }

    /// Adds a note without a rule to the trace.
    package mutating func note(_ text: String) {
        trace.append(TraceEntry(stage: stage, rule: nil, outcome: .note, text: text))
    }
}

/// Where a request is sent: what to connect to, and what to say there.
package struct Destination: Sendable, Hashable {
    /// `http` or `https`; `tunnel` for unread bytes.
    package var scheme: String
    /// A name or an address without brackets.
    package var host: String
    package var port: Int
    /// The name for Server Name Indication and verification, if it is not the host: what the client asked for.
    package var serverName: String?
    /// The address (or another name) to connect to in place of looking up the host (DNS spoofing).
    package var address: String?

    package init(scheme: String, host: String, port: Int, serverName: String? = nil, address: String? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.serverName = serverName
        self.address = address
    }

    /// The required name in the server's certificate.
    package var verifiedName: String { serverName ?? host }

    /// For messages.
    package var authority: String { HostAddress.withPort(host, port) }
}
