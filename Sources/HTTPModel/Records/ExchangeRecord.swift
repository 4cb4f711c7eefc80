package import NIOCore

/// What passed between a client and a server in one exchange, as far as a list shows it: the session's narrow row.
///
/// Produced by the exchange machine (or, for tunnels and failed handshakes, by the proxy server) on the exchange's
/// event loop, consumed by the recorder on its own thread and by every reader of a session.
package struct ExchangeRecord: Sendable, Hashable {
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable, Codable {
        /// An HTTP request and its response.
        case http = 0
        /// Bytes passed through unread: a CONNECT to a host that is not decrypted, or a protocol that is not HTTP.
        case tunnel = 1
        /// Bytes of a protocol that is not HTTP, inside TLS that was decrypted on both legs.
        case decryptedTunnel = 2
        /// A TLS handshake with the client that failed before any request.
        case failedHandshake = 3
        /// An HTTP exchange that became a byte tunnel by an upgrade (RFC 9110 §7.8).
        case upgraded = 4
        /// Bytes from a client that were not a request we can read.
        case malformed = 5
        /// An HTTP exchange that became a WebSocket (RFC 6455, RFC 8441): its bodies are the frames of both directions.
        case webSocket = 6
    }

    /// How far the exchange has come.
    package enum State: UInt8, Sendable, Hashable, CaseIterable, Codable {
        /// Something is still to come.
        case inFlight = 0
        /// Both messages were passed on whole.
        case complete = 1
        /// It ended with an error; `failure` says which.
        case failed = 2
        /// A stage answered or dropped it (block list, allow list).
        case blocked = 3
        /// It was in flight when the recording process ended without a word; set when a session is reopened.
        case interrupted = 4
    }

    package var id: ExchangeID
    package var kind: Kind
    package var state: State = .inFlight
    /// When the first byte of the request was seen: microseconds since 1970.
    package var startedAt: Int64
    /// The request method; `CONNECT` for tunnels, empty if no request was read.
    package var method: String
    /// The URL as the client sent it.
    package var url: RequestURL
    /// The URL that was asked upstream, where a stage changed it.
    package var sentURL: RequestURL?
    /// The status code that the client got; 0 while there is none.
    package var status: Int = 0
    /// The version of the client leg.
    package var clientVersion: HTTPVersion = .http11
    /// The version of the upstream leg; `nil` if nothing was asked upstream.
    package var upstreamVersion: HTTPVersion?
    /// The response's media type without parameters, in lower case; empty where unknown.
    package var mediaType: String = ""
    package var timings = Timings()
    package var sizes = Sizes()
    /// How many messages a stream has carried so far: WebSocket, server-sent events, lines of JSON, gRPC.
    package var tally = MessageCounts()
    /// The result of a gRPC call; `nil` if there is no `grpc-status`.
    package var grpc: GRPCOutcome?
    /// What went wrong, if anything did.
    package var failure: ExchangeFailure?
    package var flags: Flags = []
    package var clientConnection: ConnectionID
    /// The connection to the server; `nil` if none was used.
    package var upstreamConnection: ConnectionID?
    /// Where the client connected from, as `host:port`; `nil` if that is not known.
    package var clientAddress: String?
    /// Where the request was sent, as `host:port`; `nil` if it was not, or that is not known.
    package var serverAddress: String?
    /// What few exchanges have.
    package var extras: Extras {
        get { if case .extras(let extras)? = box { extras } else { Extras() } }
        set { box = newValue == Extras() ? nil : .extras(newValue) }
    }
    private var box: Box?

    /// One reference, as records are copied often.
    private indirect enum Box: Sendable, Hashable {
        case extras(Extras)
    }

    package struct Extras: Sendable, Hashable {
        /// How the listener takes traffic, as `--mode` writes it; `nil` for a forward proxy.
        package var listeningMode: String?
        /// The client; `nil` if it is on another machine, or not known.
        package var process: ClientProcess?
        /// What an exchange was imported from: the format and the file; `nil` where Sluice saw it pass.
        package var origin: String?
        /// The parts whose secrets were replaced before the exchange was written.
        package var masked: [String] = []
        package var annotation = ExchangeAnnotation()

        package init() {}
    }

    /// An exchange that has just begun.
    package init(
        id: ExchangeID,
        kind: Kind,
        startedAt: Int64,
        method: String,
        url: RequestURL,
        clientConnection: ConnectionID,
        clientAddress: String? = nil
    ) {
        (self.id, self.kind, self.startedAt, self.method) = (id, kind, startedAt, method)
        (self.url, self.clientConnection, self.clientAddress) = (url, clientConnection, clientAddress)
    }

    /// Facts about an exchange that lists and filters use.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        // The default of `SetAlgebra` is generic code, which no exchange needs to pay for.
        package init(arrayLiteral flags: Flags...) { rawValue = flags.reduce(0) { $0 | $1.rawValue } }

        /// A stage changed the request.
        package static let requestChanged = Flags(rawValue: 1 << 0)
        /// A stage changed the response.
        package static let responseChanged = Flags(rawValue: 1 << 1)
        /// The response was made by a stage or by Sluice itself, not by a server.
        package static let answeredLocally = Flags(rawValue: 1 << 2)
        /// The upstream connection had carried an exchange before.
        package static let upstreamReused = Flags(rawValue: 1 << 3)
        /// The request was sent a second time on a fresh connection (RFC 9110 §9.2.2).
        package static let retried = Flags(rawValue: 1 << 4)
        /// What the server sent ended with its connection but without TLS close_notify, so it may be incomplete.
        package static let endedWithoutCloseNotify = Flags(rawValue: 1 << 5)
        /// The recorder dropped bytes of a request body (`--recorder lossy`).
        package static let requestBodyIncomplete = Flags(rawValue: 1 << 6)
        /// The recorder dropped bytes of a response body (`--recorder lossy`).
        package static let responseBodyIncomplete = Flags(rawValue: 1 << 7)
        /// The exchange was held at a breakpoint.
        package static let held = Flags(rawValue: 1 << 8)
        /// The tunnelled bytes were TLS.
        package static let tunnelledTLS = Flags(rawValue: 1 << 9)
        /// A stage changed the request's body, so the session holds it twice.
        package static let requestBodyChanged = Flags(rawValue: 1 << 10)
        /// A stage changed the response's body, so the session holds it twice.
        package static let responseBodyChanged = Flags(rawValue: 1 << 11)
        /// The request was a gRPC call, whatever its result.
        package static let grpc = Flags(rawValue: 1 << 12)
        /// A tunnel was not decrypted because its client had refused our certificate.
        package static let certificateRefused = Flags(rawValue: 1 << 13)
        /// A tunnel was not decrypted because the rules say so.
        package static let notIntercepted = Flags(rawValue: 1 << 14)
        /// The recorder dropped the bodies to keep the session below a size (`--max-session`).
        package static let bodiesDropped = Flags(rawValue: 1 << 15)
    }
}

/// A process of this machine that uses the proxy.
package struct ClientProcess: Sendable, Hashable {
    package var id: Int32
    package var name: String

    package init(id: Int32, name: String) {
        (self.id, self.name) = (id, name)
    }
}

/// What a user noted about an exchange.
package struct ExchangeAnnotation: Sendable, Hashable {
    /// The colours that an exchange can be given.
    package enum Colour: String, Sendable, Hashable, CaseIterable {
        case red, orange, yellow, green, blue, purple
    }

    /// The longest comment, in bytes of UTF-8.
    package static let longestComment = 4_096

    package var comment: String?
    /// The name of a colour.
    package var colour: String?
    /// When it was marked as deleted: microseconds since 1970; `nil` while it is not.
    package var deletedAt: Int64?

    package init() {}
}

/// Where the time of an exchange went; all in microseconds, `nil` if a phase did not happen (HAR 1.2 `timings`).
package struct Timings: Sendable, Hashable {
    /// Waiting before anything was asked upstream: for stages, for a free connection.
    package var blocked: Int64?
    /// Resolving the server's name.
    package var dns: Int64?
    /// Making the TCP connection.
    package var connect: Int64?
    /// The TLS handshake with the server.
    package var tls: Int64?
    /// From the first to the last byte of the request sent to the server.
    package var send: Int64?
    /// From the last byte of the request to the first byte of the response.
    package var wait: Int64?
    /// From the first to the last byte of the response.
    package var receive: Int64?
    /// From the first byte of the request to the last byte of the response to the client; `nil` while in flight.
    package var total: Int64?

    package init() {}
}

/// How many messages an exchange has carried, where its bodies are streams of messages.
package struct MessageCounts: Sendable, Hashable {
    /// Whole messages that the client has sent.
    package var fromClient: Int64 = 0
    /// Whole messages that the server has sent.
    package var fromServer: Int64 = 0

    package init() {}
}

/// The result of a gRPC call: its `grpc-status` and `grpc-message`, from the trailers or the head of the response.
package struct GRPCOutcome: Sendable, Hashable {
    /// The status code, 0 for OK.
    package var status: Int
    /// The message, percent-decoded; empty if there is none.
    package var message: String

    package init(status: Int, message: String = "") {
        (self.status, self.message) = (status, message)
    }

    /// The name that the gRPC specification gives the status, for example `UNAVAILABLE`; `nil` for an unknown one.
    package var name: String? { GRPCOutcome.names.indices.contains(status) ? GRPCOutcome.names[status] : nil }

    private static let names = [
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
        "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
        "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
    ]
}

/// How many bytes an exchange had.
///
/// Body sizes are after transfer coding was removed, before content coding is.
package struct Sizes: Sendable, Hashable {
    /// The request's head as received.
    package var requestHead: Int64 = 0
    /// The request's body as received.
    package var requestBody: Int64 = 0
    /// The request on the client's connection, framing included.
    package var requestWire: Int64 = 0
    /// The response's head as received from the server (or as made by a stage).
    package var responseHead: Int64 = 0
    /// The response's body as received.
    package var responseBody: Int64 = 0
    /// The response on the server's connection, framing included.
    package var responseWire: Int64 = 0

    package init() {}

    /// Both bodies; the highest number where they are more.
    package var bodies: Int64 {
        let (size, isOver) = requestBody.addingReportingOverflow(responseBody)
        return isOver ? .max : size
    }
}

/// The parts of an exchange that only a closer look needs: heads, trailers, trace. Bodies are apart.
package struct ExchangeMessages: Sendable, Hashable {
    /// The request head as received from the client.
    package var requestHead: ByteBuffer?
    /// The request head as sent to the server, where it differs.
    package var requestHeadSent: ByteBuffer?
    /// The request's trailer section as received.
    package var requestTrailers: ByteBuffer?
    /// Interim responses (1xx) as received, one after the other.
    package var interimHeads: ByteBuffer?
    /// The response head as received from the server, or as made by a stage.
    package var responseHead: ByteBuffer?
    /// The response head as sent to the client, where it differs.
    package var responseHeadSent: ByteBuffer?
    /// The response's trailer section as received.
    package var responseTrailers: ByteBuffer?
    /// What each stage decided, in order.
    package var trace: [TraceEntry] = []

    package init() {}
}

/// Which body bytes are meant.
package enum BodySide: UInt8, Sendable, Hashable, CaseIterable, Codable {
    /// The request body as received from the client.
    case requestReceived = 0
    /// The request body as sent to the server, kept only where a stage changed it.
    case requestSent = 1
    /// The response body as received from the server.
    case responseReceived = 2
    /// The response body as sent to the client, kept only where a stage changed it.
    case responseSent = 3
}

/// One line of the trace of an exchange: what a stage (or Sluice itself) did to it and why.
package struct TraceEntry: Sendable, Hashable, Codable {
    package enum Outcome: String, Sendable, Hashable, Codable {
        /// A rule fired.
        case fired
        /// Sluice itself did or noticed something that was not a rule.
        case note
    }

    /// What a stage changes without its entries naming it.
    package enum Change: Sendable {
        case url
        case response
    }

    /// The stage's name, for example `rewrite`; `sluice` for the proxy itself.
    package var stage: String
    /// The rule's name or position within its stage; `nil` if no single rule is meant.
    package var rule: String?
    package var outcome: Outcome
    /// One sentence: what was changed or noticed.
    package var text: String

    package init(stage: String, rule: String? = nil, outcome: Outcome, text: String) {
        (self.stage, self.rule, self.outcome, self.text) = (stage, rule, outcome, text)
    }
}

/// Why an exchange failed.
package struct ExchangeFailure: Sendable, Hashable, Codable, Error {
    /// What to do where a client does not trust the authority; a console has a shorter way to the same text.
    package static let howToTrust = "Run `sluice ca export --format trust-help`."

    /// The option that lets a host through whose certificate was not accepted.
    package static func skippingVerification(of host: String) -> String { "`--insecure-host \(host)`" }

    /// The host whose certificate was not accepted; `nil` if it failed for another reason.
    package var unverifiedHost: String? {
        let parts = ExchangeFailure.skippingVerification(of: "\n").split(separator: "\n")
        guard code == .tls, let start = message.firstRange(of: parts[0]) else { return nil }
        let rest = message[start.upperBound...]
        return rest.firstRange(of: parts[1]).map { String(rest[..<$0.lowerBound]) }
    }

    /// The kind of failure; the raw value is what `is:` takes in a filter and what the session file holds.
    package enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        case dns, connect, timeout, reset, tls, aborted, stopped, loop, overload
        case clientTimeout = "client-timeout"
        case clientTLS = "client-tls"
        case badRequest = "bad-request"
        case badResponse = "bad-response"
        case clientGone = "client-gone"
        case notRecorded = "not-recorded"
        case upstreamProxy = "upstream-proxy"

        /// What happened, in words without an end.
        package var summary: String {
            switch self {
            case .dns: "the server's name was not found"
            case .connect: "no connection to the server"
            case .timeout: "the server took longer than its limit"
            case .clientTimeout: "the client took longer than its limit"
            case .reset: "the server closed the connection too early"
            case .tls: "the TLS handshake with the server failed"
            case .clientTLS: "the TLS handshake with the client failed"
            case .badRequest: "the client sent an invalid request"
            case .badResponse: "the server sent an invalid response"
            case .clientGone: "the client closed the connection early"
            case .aborted: "a rule or the user aborted it"
            case .stopped: "Sluice was stopped"
            case .loop: "the request leads back to this proxy"
            case .notRecorded: "the recording has no answer to this request"
            case .upstreamProxy: "the upstream proxy refused it"
            case .overload: "Sluice has reached a limit"
            }
        }
    }

    package var code: Code
    /// What happened, to which host, in one sentence.
    package var message: String
    /// What to try, in one sentence; empty if there is nothing to say.
    package var hint: String
    /// The peer's code when it reset the exchange's HTTP/2 stream, to be passed on; a session does not keep it.
    package var resetCode: HTTP2ErrorCode?
    /// Whether the peer's connection broke and did not end, to be passed on as a reset; a session does not keep it.
    package var isReset = false

    private enum CodingKeys: CodingKey {
        case code, message, hint, resetCode
    }

    package init(_ code: Code, _ message: String, hint: String = "", resetCode: HTTP2ErrorCode? = nil) {
        (self.code, self.message, self.hint, self.resetCode) = (code, message, hint, resetCode)
    }
}

extension ExchangeMessages {
    /// The head that belongs to a body: where nothing was changed, the one received is also the one sent.
    package func head(of side: BodySide) -> ByteBuffer? {
        switch side {
        case .requestReceived: requestHead
        case .requestSent: requestHeadSent ?? requestHead
        case .responseReceived: responseHead
        case .responseSent: responseHeadSent ?? responseHead
        }
    }

    /// The fields of the head that belongs to a body.
    package func fields(of side: BodySide) -> FieldSection {
        head(of: side).map { StoredHead.fieldsAfterStartLine($0) } ?? FieldSection()
    }
}

extension ExchangeRecord {
    /// The status of the response before a rule changed it; 0 while there is none.
    package func receivedStatus(_ messages: ExchangeMessages) -> Int {
        guard flags.contains(.responseChanged), let bytes = messages.responseHead else { return status }
        return StoredHead.response(bytes)?.status ?? status
    }
}

extension BodySide {
    /// Whether it is a request's body.
    package var isRequest: Bool { self == .requestReceived || self == .requestSent }
}
