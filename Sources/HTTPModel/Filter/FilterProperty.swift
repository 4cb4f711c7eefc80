package enum FilterProperty: Sendable, Hashable {
    package enum Fact: String, Sendable, Hashable, CaseIterable {
        case blocked, changed, commented, complete, error, failed, grpc, held, imported, incomplete, inflight,
            interrupted,
            local, malformed
        case requestChanged = "request-changed"
        case responseChanged = "response-changed"
        case retried, reused, tunnel, upgraded, websocket
    }

    case fact(Fact)
    case failure(ExchangeFailure.Code)

    init?(name: String) {
        guard let property = FilterProperty.all.first(where: { $0.name == name }) else { return nil }
        self = property
    }

    package var name: String {
        switch self {
        case .fact(let fact): fact.rawValue
        case .failure(let code): code.rawValue
        }
    }

    package static var all: [FilterProperty] {
        Fact.allCases.map(FilterProperty.fact) + ExchangeFailure.Code.allCases.map(FilterProperty.failure)
    }

    var summary: String {
        switch self {
        case .fact(let fact): fact.meaning.summary
        case .failure(let code): code.summary
        }
    }

    package enum Condition: Sendable, Hashable {
        case flags(ExchangeRecord.Flags)
        case state(ExchangeRecord.State)
        case kinds([ExchangeRecord.Kind])
        case failure(ExchangeFailure.Code)
        case commented
        case imported
        case failed
        case error
        /// It has the flag, a gRPC status or ``grpcMediaType``.
        case grpc
    }

    func holds(for record: ExchangeRecord) -> Bool {
        switch condition {
        case .flags(let flags): !record.flags.isDisjoint(with: flags)
        case .state(let state): record.state == state
        case .kinds(let kinds): kinds.contains(record.kind)
        case .failure(let code): record.failure?.code == code
        case .commented: record.extras.annotation.comment != nil
        case .imported: record.extras.origin != nil
        case .failed: record.hasFailed
        case .error: record.isError
        case .grpc:
            record.flags.contains(.grpc) || record.grpc != nil
                || record.mediaType.utf8.starts(with: FilterProperty.grpcMediaType.utf8)
        }
    }

    package static let grpcMediaType = "application/grpc"

    package var condition: Condition {
        switch self {
        case .failure(let code): .failure(code)
        case .fact(let fact): fact.meaning.condition
        }
    }
}

extension FilterProperty.Fact {
    fileprivate var meaning: (condition: FilterProperty.Condition, summary: String) {
        switch self {
        case .blocked:
            (.state(.blocked), "a rule refused it (block list, allow list)")
        case .changed: (.flags([.requestChanged, .responseChanged]), "a rule changed the request or the response")
        case .commented: (.commented, "it has a comment")
        case .complete: (.state(.complete), "request and response passed completely")
        case .error: (.error, "it failed, or has a status from 400 up or of gRPC other than OK; also the word error")
        case .failed: (.failed, "no complete response arrived, whatever its status")
        case .grpc: (.grpc, "it is a gRPC call")
        case .held: (.flags(.held), "a breakpoint held it")
        case .imported: (.imported, "it was imported from a HAR or another session")
        case .incomplete:
            (
                .flags([.requestBodyIncomplete, .responseBodyIncomplete, .endedWithoutCloseNotify]),
                "a recorded body may be incomplete"
            )
        case .inflight: (.state(.inFlight), "it has not ended")
        case .interrupted: (.state(.interrupted), "the recording ended before the exchange did")
        case .local: (.flags(.answeredLocally), "answered by a rule or by Sluice itself, not by the server")
        case .malformed: (.kinds([.malformed]), "the client's request could not be read")
        case .requestChanged: (.flags(.requestChanged), "a rule changed the request")
        case .responseChanged: (.flags(.responseChanged), "a rule changed the response")
        case .retried: (.flags(.retried), "the request was sent again on a new connection")
        case .reused: (.flags(.upstreamReused), "the connection to the server had carried an exchange before")
        case .tunnel: (.kinds([.tunnel, .decryptedTunnel]), "bytes passed unread, or were not HTTP")
        case .upgraded: (.kinds([.upgraded, .webSocket]), "an upgrade made it a tunnel or a WebSocket")
        case .websocket: (.kinds([.webSocket]), "it is a WebSocket")
        }
    }
}

extension ExchangeRecord {
    package var hasFailed: Bool { state == .failed || failure != nil }

    /// Whether the client used TLS, decrypted or not.
    package var isEncrypted: Bool {
        ["https", "wss"].contains(url.scheme) || flags.contains(.tunnelledTLS) || kind == .failedHandshake
    }

    /// A failure, a status from 400, or a gRPC status other than OK.
    package var isError: Bool { hasFailed || status >= 400 || (grpc?.status ?? 0) > 0 }
}
