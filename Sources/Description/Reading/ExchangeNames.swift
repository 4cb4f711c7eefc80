package import HTTPModel

/// The names of kinds, states and flags in exports and lists; part of the documented formats.
extension ExchangeRecord.Kind {
    package var exportName: String {
        switch self {
        case .http: "http"
        case .tunnel: "tunnel"
        case .decryptedTunnel: "decrypted-tunnel"
        case .failedHandshake: "failed-handshake"
        case .upgraded: "upgraded"
        case .malformed: "malformed"
        case .webSocket: "websocket"
        }
    }
}

extension ExchangeRecord.State {
    package var exportName: String {
        switch self {
        case .inFlight: "in-flight"
        case .complete: "complete"
        case .failed: "failed"
        case .blocked: "blocked"
        case .interrupted: "interrupted"
        }
    }
}

extension ExchangeRecord.Flags {
    private static let names: [(ExchangeRecord.Flags, String)] = [
        (.requestChanged, "request-changed"), (.responseChanged, "response-changed"),
        (.requestBodyChanged, "request-body-changed"), (.responseBodyChanged, "response-body-changed"),
        (.answeredLocally, "local"), (.upstreamReused, "upstream-reused"), (.retried, "retried"),
        (.endedWithoutCloseNotify, "ended-without-close-notify"),
        (.requestBodyIncomplete, "request-body-incomplete"), (.responseBodyIncomplete, "response-body-incomplete"),
        (.held, "held"), (.tunnelledTLS, "tunnelled-tls"),
        (.grpc, "grpc"), (.certificateRefused, "certificate-refused"), (.notIntercepted, "not-intercepted"),
        (.bodiesDropped, "bodies-dropped"),
    ]

    package var exportNames: [String] { ExchangeRecord.Flags.names.filter { contains($0.0) }.map(\.1) }
}
