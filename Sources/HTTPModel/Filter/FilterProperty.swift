/// What `is:` can ask.
package enum FilterProperty: Sendable, Hashable {
    /// A fact about the exchange.
    package enum Fact: String, Sendable, Hashable, CaseIterable {
        case blocked, changed, commented, complete, error, failed, grpc, held, imported, incomplete, inflight,
            interrupted,
            local, malformed
        case requestChanged = "request-changed"
        case responseChanged = "response-changed"
        case retried, reused, tunnel, upgraded, websocket
    }

    case fact(Fact)
    /// The kind of failure.
    case failure(ExchangeFailure.Code)

    init?(name: String) {
        if let fact = Fact(rawValue: name) {
            self = .fact(fact)
        } else if let code = ExchangeFailure.Code(rawValue: name) {
            self = .failure(code)
        } else {
            return nil
        }
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

    /// What is asked of the record.
    package enum Condition: Sendable, Hashable {
        /// Any of these flags is set.
        case flags(ExchangeRecord.Flags)
        case state(ExchangeRecord.State)
        case kinds([ExchangeRecord.Kind])
        case failure(ExchangeFailure.Code)
        /// It has a comment.
        case commented
        /// It came from another file.
        case imported
        /// It failed, or has a failure.
        case failed
        /// See ``ExchangeRecord/isError``.
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
            (.state(.blocked), "a rule dropped it or answered in the server's place (block list, allow list)")
        case .changed: (.flags([.requestChanged, .responseChanged]), "a stage changed the request or the response")
        case .commented: (.commented, "it was given a comment")
        case .complete: (.state(.complete), "both messages were passed on whole")
        case .error: (.error, "it failed, or has a status from 400 up or of gRPC other than OK; also the word error")
        case .failed: (.failed, "no answer came, or not all of it; a status is not looked at")
        case .grpc: (.grpc, "it was a gRPC call, by its request, its answer or its status")
        case .held: (.flags(.held), "it was held at a breakpoint")
        case .imported: (.imported, "it came from a HAR or another session")
        case .incomplete:
            (
                .flags([.requestBodyIncomplete, .responseBodyIncomplete, .endedWithoutCloseNotify]),
                "bytes of a body may be missing"
            )
        case .inflight: (.state(.inFlight), "something is still to come")
        case .interrupted: (.state(.interrupted), "the recording ended before the exchange did")
        case .local: (.flags(.answeredLocally), "answered by a rule or by Sluice itself, not by the server")
        case .malformed: (.kinds([.malformed]), "the client sent no request that can be read")
        case .requestChanged: (.flags(.requestChanged), "a stage changed the request")
        case .responseChanged: (.flags(.responseChanged), "a stage changed the response")
        case .retried: (.flags(.retried), "it was sent a second time on a fresh connection")
        case .reused: (.flags(.upstreamReused), "the connection to the server had carried an exchange before")
        case .tunnel: (.kinds([.tunnel, .decryptedTunnel]), "bytes were passed on unread, or were no HTTP")
        case .upgraded: (.kinds([.upgraded, .webSocket]), "it became a byte tunnel or a WebSocket by an upgrade")
        case .websocket: (.kinds([.webSocket]), "it became a WebSocket")
        }
    }
}

extension ExchangeRecord {
    /// Whether no answer came, or not all of it.
    package var hasFailed: Bool { state == .failed || failure != nil }

    /// Whether what it carried came by TLS from the client, decrypted or not.
    package var isEncrypted: Bool {
        ["https", "wss"].contains(url.scheme) || flags.contains(.tunnelledTLS) || kind == .failedHandshake
    }

    /// Whether it failed, or has a status from 400 up, or a gRPC status other than OK.
    package var isError: Bool { hasFailed || status >= 400 || (grpc?.status ?? 0) > 0 }
}
