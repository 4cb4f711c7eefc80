package import HTTPModel
package import NIOCore

/// What a hook may see and change of an exchange, besides the message itself.
package struct StageExchange: Sendable {
    package let id: ExchangeID
    /// The URL as the client sent it.
    package let url: RequestURL
    /// Where the request will be sent; request head hooks may change it, later it has no effect.
    package var destination: Destination
    /// The client whose limits the exchange uses.
    var client: ClientKey
    /// The client's program, if it became known after the exchange began; else the opening has it.
    package internal(set) var process: ClientProcess?
    /// Whether the client's program is being looked up.
    package internal(set) var awaitsProcess = false
    /// Set if the URL's host is the client's name for the address of its tunnel.
    package internal(set) var claim: NameClaim?
    /// The current time on the event loop's clock; hooks have no clock of their own.
    package internal(set) var now: NIODeadline
    /// `false` if the URL's host is only the client's unverified name for the address of its tunnel.
    package var isNameVerified: Bool { claim?.isVerified ?? true }
    /// The answer that replaces the server's.
    var answer: LocalAnswer?
    /// Whether a stage answers in place of a server, so that the request is not sent.
    package var isAnswered: Bool { answer != nil }
    /// In the overflow hooks: `true` if the budget is used up, `false` if the body itself is too large.
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

    /// Adds a note without a rule to the trace; by the stage whose hook is running, if no other is named.
    package mutating func note(_ text: String, by author: String? = nil) {
        trace.append(TraceEntry(stage: author ?? stage, rule: nil, outcome: .note, text: text))
    }
}

/// Where a request is sent: what to connect to, and which name to use there.
package struct Destination: Sendable, Hashable {
    /// `http` or `https`; `tunnel` for unread bytes.
    package var scheme: String
    /// A name or an address without brackets.
    package var host: String
    package var port: Int
    /// The name for Server Name Indication and verification, if the client requested a different name than the host.
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
