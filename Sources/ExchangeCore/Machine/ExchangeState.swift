/// The states of an exchange; `→` is followed by the possible next states.
extension ExchangeMachine {
    /// Where the client's response comes from.
    enum State: Equatable {
        /// Sluice passes the request to a server, and its response to the client. → `answering`, `tunnel`, `over`
        case relaying(Server)
        /// Sluice answers in the server's place. → `over`
        case answering(Answer)
        /// Both sides send bytes when they like, after a CONNECT or a 101. → `over`
        case tunnel(Tunnel)
        /// Nothing more is received, sent or recorded.
        case over
    }

    /// How far the exchange with a server is.
    enum Server: Equatable {
        /// No connection was requested yet. → `connecting`
        case none
        /// A connection was requested, and the request waits for it. → `asked`, `done`, or a tunnel
        case connecting
        /// The request is being sent; interim responses may come. → `responding`, `switching`, `done`, or `connecting`
        case asked(interims: Int)
        /// The response has begun. → `responded`, `done`
        case responding
        /// The server sent 101, which the client has not got; `isOpen` until its bytes end. → `done`, or a tunnel
        case switching(isOpen: Bool)
        /// The response is whole, but some of the request is still to be sent. → `done`
        case responded
        /// Nothing more is sent to the server or received from it.
        case done
    }

    /// An answer that is not from a server.
    enum Answer: Equatable {
        /// The whole answer is in memory. → `file`, if a stage replaces the answer by a file
        case bytes
        /// A file is being read. → `bytes`
        case file(FileRole)
    }

    /// What the file replaces.
    enum FileRole {
        /// A server's response: the file's bytes are recorded as received.
        case received
        /// A response that was received, at least in part: the file's bytes are recorded as sent.
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
        /// More parts will arrive, and are sent to the server. → `ended`, `discarding`
        case receiving
        /// The client has sent the whole request; the items in the flow are sent to the server. `isClean` is `false` if
        /// a tunnel's bytes ended without TLS close_notify. → `discarding`; `receiving` after a 101
        case ended(isClean: Bool)
        /// Discarded, because it was answered locally or the server is gone; `isWhole` once it was read to its end.
        case discarding(isWhole: Bool)
    }

    /// How much of the response the client got.
    enum ResponseState: Equatable {
        /// Nothing but interim responses. → `sending`
        case none
        /// The client has the head. → `ended`
        case sending(Remainder)
        /// The client has the whole response.
        case ended
    }

    /// What the client must still get of the response's body.
    enum Remainder: Equatable {
        case unknown
        case bytes(Int64)
        /// Nothing, whatever the server or a stage sends (RFC 9112 §6.3).
        case nothing
    }

    /// Which interim response the client waits for before it sends its body (RFC 9110 §10.1.1).
    enum Continuation {
        /// The client uses HTTP/1.0, which has no interim responses (RFC 9110 §15.2).
        case unsupported
        /// No interim response. → `awaited`
        case notAwaited
        /// The client waits for 100 (Continue). → `notAwaited`, `continued`
        case awaited
        /// Sluice sent the 100 itself; a 100 from the server is not passed on.
        case continued
    }

    /// Changes that are not recorded yet, because a read cycle is running.
    enum Unrecorded: Int, Comparable {
        case nothing
        /// More of a body.
        case progress
        /// A change of the exchange itself.
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
