import HTTPModel
import Text

extension ExchangeRecord.Kind {
    package var sentence: String {
        switch self {
        case .http: "HTTP"
        case .tunnel: "tunnel: the bytes passed through unread"
        case .decryptedTunnel: "tunnel inside TLS: decrypted bytes that are no HTTP"
        case .failedHandshake: "a TLS handshake with the client that failed"
        case .upgraded: "upgraded: HTTP that became a tunnel for another protocol"
        case .malformed: "bytes from the client that are no request"
        case .webSocket: "WebSocket"
        }
    }
}

extension RecordedExchange {
    /// Why the session no longer has the bodies; `nil` if the recorder dropped none.
    package var wordsOfDroppedBodies: String? {
        guard record.flags.contains(.bodiesDropped) else { return nil }
        // The recorder's own note says how large the session may be.
        let note = messages.trace.last { $0.stage == "sluice" && $0.text.hasPrefix("the body was dropped") }
        return note?.text ?? "the body was dropped to keep the session small"
    }
}

extension ExchangeRecord {
    /// How many messages of its stream came from each side.
    func words(of tally: MessageCounts) -> String {
        let (client, server) = (Int(clamping: tally.fromClient), Int(clamping: tally.fromServer))
        let soFar = state == .inFlight ? ", so far" : ""
        return "\(client.grouped) from the client, \(server.grouped) from the server\(soFar)"
    }

    /// The text for the server of an exchange that has no connection to a server.
    package var wordsWithoutServer: String {
        if state == .inFlight { return "Nothing is known of it yet: there is no answer." }
        // The server's name was looked up, or a connection was tried.
        if state == .failed, timings.dns != nil || timings.connect != nil { return "No connection came about." }
        let isAnsweredHere = state == .blocked || flags.contains(.answeredLocally)
        // A request that was imported as a command and never sent.
        let isUnsent = kind == .http && state == .complete && status == 0
        if extras.origin == nil || isAnsweredHere || isUnsent { return "No server was asked." }
        return "Not known: the exchange was imported, and the archive does not say."
    }
}

extension ExchangeRecord.Flags {
    private static let meanings: [(ExchangeRecord.Flags, String)] = [
        (.requestChanged, "the request was changed before it was sent"),
        (.responseChanged, "the response was changed before it was sent"),
        (.answeredLocally, "answered by Sluice or a rule"),
        (.held, "a breakpoint held it"),
        (.retried, "the request was sent a second time, on a fresh connection"),
        (
            .endedWithoutCloseNotify,
            "the server ended TLS without close_notify, so the end of what it sent may be missing"
        ),
        (.requestBodyIncomplete, "the recording lacks bytes of the request body"),
        (.responseBodyIncomplete, "the recording lacks bytes of the response body"),
        (.bodiesDropped, "its bodies were dropped to keep the session below its largest size"),
        (.tunnelledTLS, "the tunnelled bytes are TLS"),
        (
            .certificateRefused,
            "not decrypted: its client refused Sluice's certificate; the command 'decrypt' has the host read again"
        ),
        (.notIntercepted, "not decrypted: passed through by the profile's 'intercept', or at somebody's word"),
    ]

    /// A sentence for each flag that means something to people.
    package var sentences: [String] { ExchangeRecord.Flags.meanings.filter { contains($0.0) }.map(\.1) }
}
