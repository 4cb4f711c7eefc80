/// The states of an exchange; an arrow names what may follow.
extension ExchangeMachine {
    /// Where the client's response comes from.
    enum State: Equatable {
        /// The request is for a server, whose response is for the client. → `answering`, `tunnel`, `over`
        case relaying(Server)
        /// Sluice answers in the server's place. → `over`
        case answering(Answer)
        /// Both sides send bytes when they like, after a CONNECT or a 101. → `over`
        case tunnel(Tunnel)
        /// Nothing more is received, sent or recorded.
        case over
    }

    /// What was asked of a server, and its reaction.
    enum Server: Equatable {
        /// Nothing was asked of a server yet. → `connecting`
        case none
        /// A connection was asked for, and the request waits for it. → `asked`, `done`, or a tunnel
        case connecting
        /// The request is being sent; interim responses came. → `responding`, `switching`, `done`, `connecting` again
        case asked(interims: Int)
        /// The response has begun. → `responded`, `done`
        case responding
        /// The server switches protocols, unknown to the client; `isOpen` until its bytes end. → `done`, or a tunnel
        case switching(isOpen: Bool)
        /// The response is whole, but some of the request is still to be sent. → `done`
        case responded
        /// Nothing more goes to the server or comes from it.
        case done
    }

    /// An answer that comes from no server.
    enum Answer: Equatable {
        /// All of it is here. → `file`, where a stage puts one in its place
        case bytes
        /// A file is being read. → `bytes`
        case file(FileRole)
    }

    /// What the file replaces.
    enum FileRole {
        /// A server's response: its bytes are recorded as received.
        case received
        /// A response that was received, or some of it: its bytes are recorded as sent.
        case sent
    }

    /// The server's side of a tunnel; the client's is in `RequestState` and `ResponseState`.
    enum Tunnel {
        /// The server may send. → `ended`, `closed`
        case open
        /// The server sends no more, but reads from the client. → `closed`
        case ended
        /// The connection to the server is gone or given up.
        case closed
    }

    /// How much of the request has come from the client.
    enum RequestState: Equatable {
        /// Parts are still to come, and go to the server. → `ended`, `discarding`
        case receiving
        /// The client has sent it whole; what waits in the flow goes to the server. `isClean` is `false` if a tunnel's
        /// bytes ended without TLS close_notify. → `discarding`; `receiving` after a 101
        case ended(isClean: Bool)
        /// It goes nowhere, as it was answered locally or the server is gone; `isWhole` once it was read to its end.
        case discarding(isWhole: Bool)
    }

    /// How much of the response the client got.
    enum ResponseState: Equatable {
        /// Nothing but interim responses. → `sending`
        case none
        /// It has the head. → `ended`
        case sending(Remainder)
        /// It has all of it.
        case ended
    }

    /// What the client is still to be given of the response's body.
    enum Remainder: Equatable {
        case unknown
        case bytes(Int64)
        /// Nothing, whatever the server or a stage sends (RFC 9112 §6.3).
        case nothing
    }

    /// Which interim response the client waits for before it sends its body (RFC 9110 §10.1.1).
    enum Continuation {
        /// It is of HTTP/1.0, which has no interim responses (RFC 9110 §15.2).
        case unsupported
        /// Nothing. → `awaited`
        case notAwaited
        /// It waits for 100 (Continue). → `notAwaited`, `continued`
        case awaited
        /// It got 100 before the server was asked, and need not get it twice.
        case continued
    }

    /// What is known and was not recorded yet, since a read cycle is going on.
    enum Unrecorded: Int, Comparable {
        case nothing
        /// A stream carried more.
        case progress
        /// Something about the exchange itself.
        case news

        static func < (left: Unrecorded, right: Unrecorded) -> Bool { left.rawValue < right.rawValue }
    }
}

extension ExchangeMachine.State {
    var isTunnel: Bool { if case .tunnel = self { true } else { false } }
    var isAnswering: Bool { if case .answering = self { true } else { false } }

    /// Whether response bytes are still to come, from a server or a file.
    var hasSource: Bool {
        switch self {
        case .relaying(.asked), .relaying(.responding), .relaying(.switching(isOpen: true)), .answering(.file),
            .tunnel(.open):
            true
        case .relaying, .answering, .tunnel, .over: false
        }
    }

    /// Whether there is a connection to a server, or a file, that is still of use.
    var hasPeer: Bool { hasSource || self == .relaying(.responded) || self == .tunnel(.ended) }

    /// The state once the connection to the server, or the file, is given up.
    var abandoned: Self {
        switch self {
        case .relaying: .relaying(.done)
        case .answering: .answering(.bytes)
        case .tunnel: .tunnel(.closed)
        case .over: .over
        }
    }
}
