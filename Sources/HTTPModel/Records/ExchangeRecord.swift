package import NIOCore

/// An exchange as lists show it: the session's narrow row. The exchange machine or the proxy server makes it on the
/// event loop; the recorder's thread and readers use it.
package struct ExchangeRecord: Sendable, Hashable {
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable, Codable {
        case http = 0
        /// Undecrypted TLS, or a protocol other than HTTP.
        case tunnel = 1
        /// A protocol other than HTTP inside decrypted TLS.
        case decryptedTunnel = 2
        /// With the client, before any request.
        case failedHandshake = 3
        /// A byte tunnel after an upgrade (RFC 9110 §7.8).
        case upgraded = 4
        case malformed = 5
        /// RFC 6455, RFC 8441; its bodies are the frames of both directions.
        case webSocket = 6
    }

    package enum State: UInt8, Sendable, Hashable, CaseIterable, Codable {
        case inFlight = 0
        case complete = 1
        case failed = 2
        /// Blocked by a rule (block list, allow list).
        case blocked = 3
        /// The recording process ended before the exchange did; set when a session is reopened.
        case interrupted = 4
    }

    package var id: ExchangeID
    package var kind: Kind
    package var state: State = .inFlight
    /// The first byte of the request, in microseconds since 1970.
    package var startedAt: Int64
    /// `CONNECT` for tunnels, empty without a request.
    package var method: String
    /// As sent by the client.
    package var url: RequestURL
    /// As sent to the server, if a rule changed it.
    package var sentURL: RequestURL?
    /// As received by the client; 0 without a response.
    package var status: Int = 0
    package var clientVersion: HTTPVersion = .http11
    /// `nil` if nothing was sent to a server.
    package var upstreamVersion: HTTPVersion?
    /// Without parameters, in lower case; may be empty.
    package var mediaType: String = ""
    package var timings = Timings()
    package var sizes = Sizes()
    package var tally = MessageCounts()
    /// `nil` without `grpc-status`.
    package var grpc: GRPCOutcome?
    package var failure: ExchangeFailure?
    package var flags: Flags = []
    package var clientConnection: ConnectionID
    package var upstreamConnection: ConnectionID?
    /// As `host:port`.
    package var clientAddress: String?
    /// As `host:port`.
    package var serverAddress: String?
    package var extras: Extras {
        get { if case .extras(let extras)? = box { extras } else { Extras() } }
        set { box = newValue == Extras() ? nil : .extras(newValue) }
    }
    private var box: Box?

    /// One reference, because records are copied often.
    private indirect enum Box: Sendable, Hashable {
        case extras(Extras)
    }

    package struct Extras: Sendable, Hashable {
        /// As in `--mode`; `nil` for a forward proxy.
        package var listeningMode: String?
        package var process: ClientProcess?
        /// Format and file of an imported exchange.
        package var origin: String?
        /// The parts that were masked before writing.
        package var masked: [String] = []
        package var annotation = ExchangeAnnotation()

        package init() {}
    }

    package init(
        id: ExchangeID,
        kind: Kind,
        startedAt: Int64,
        method: String,
        url: RequestURL,
        clientConnection: ConnectionID,
        clientAddress: String? = nil
    ) {
        self.id = id
        self.kind = kind
        self.startedAt = startedAt
        self.method = method
        self.url = url
        self.clientConnection = clientConnection
        self.clientAddress = clientAddress
    }

    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package init(arrayLiteral flags: Flags...) { rawValue = flags.reduce(0) { $0 | $1.rawValue } }

        package static let requestChanged = Flags(rawValue: 1 << 0)
        package static let responseChanged = Flags(rawValue: 1 << 1)
        /// By a rule or by Sluice itself.
        package static let answeredLocally = Flags(rawValue: 1 << 2)
        package static let upstreamReused = Flags(rawValue: 1 << 3)
        /// On a new connection (RFC 9110 §9.2.2).
        package static let retried = Flags(rawValue: 1 << 4)
        /// Without TLS close_notify, so the response may be incomplete.
        package static let endedWithoutCloseNotify = Flags(rawValue: 1 << 5)
        /// The recorder dropped bytes (`--recorder lossy`).
        package static let requestBodyIncomplete = Flags(rawValue: 1 << 6)
        /// The recorder dropped bytes (`--recorder lossy`).
        package static let responseBodyIncomplete = Flags(rawValue: 1 << 7)
        package static let held = Flags(rawValue: 1 << 8)
        package static let tunnelledTLS = Flags(rawValue: 1 << 9)
        /// The session has both versions.
        package static let requestBodyChanged = Flags(rawValue: 1 << 10)
        package static let responseBodyChanged = Flags(rawValue: 1 << 11)
        package static let grpc = Flags(rawValue: 1 << 12)
        /// Not decrypted because the client rejected the certificate.
        package static let certificateRefused = Flags(rawValue: 1 << 13)
        package static let notIntercepted = Flags(rawValue: 1 << 14)
        /// By `--max-session`.
        package static let bodiesDropped = Flags(rawValue: 1 << 15)
    }
}

package struct ClientProcess: Sendable, Hashable {
    package var id: Int32
    package var name: String

    package init(id: Int32, name: String) { (self.id, self.name) = (id, name) }
}

package struct ExchangeAnnotation: Sendable, Hashable {
    package enum Colour: String, Sendable, Hashable, CaseIterable {
        case red, orange, yellow, green, blue, purple
    }

    /// In bytes.
    package static let longestComment = 4_096

    package var comment: String?
    package var colour: String?
    /// Microseconds since 1970.
    package var deletedAt: Int64?

    package init() {}
}

/// In microseconds, `nil` for a phase that did not happen (HAR 1.2 `timings`).
package struct Timings: Sendable, Hashable {
    package var blocked: Int64?
    package var dns: Int64?
    package var connect: Int64?
    package var tls: Int64?
    /// From the first to the last byte of the request.
    package var send: Int64?
    /// From the last byte of the request to the first of the response.
    package var wait: Int64?
    /// From the first to the last byte of the response.
    package var receive: Int64?
    /// From the first byte of the request to the last byte for the client.
    package var total: Int64?

    package init() {}
}

/// Whole messages of a stream.
package struct MessageCounts: Sendable, Hashable {
    package var fromClient: Int64 = 0
    package var fromServer: Int64 = 0

    package init() {}
}

/// From the trailers or the head of the response.
package struct GRPCOutcome: Sendable, Hashable {
    /// 0 for OK.
    package var status: Int
    /// Percent-decoded; may be empty.
    package var message: String

    package init(status: Int, message: String = "") { (self.status, self.message) = (status, message) }

    package var name: String? { GRPCOutcome.names.indices.contains(status) ? GRPCOutcome.names[status] : nil }

    static let names = [
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
        "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
        "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
    ]
}

/// In bytes, bodies without transfer coding but with content coding.
package struct Sizes: Sendable, Hashable {
    package var requestHead: Int64 = 0
    package var requestBody: Int64 = 0
    /// With framing.
    package var requestWire: Int64 = 0
    package var responseHead: Int64 = 0
    package var responseBody: Int64 = 0
    package var responseWire: Int64 = 0

    package init() {}

    package var bodies: Int64 {
        let (size, isOver) = requestBody.addingReportingOverflow(responseBody)
        return isOver ? .max : size
    }
}

package struct ExchangeMessages: Sendable, Hashable {
    package var requestHead: ByteBuffer?
    package var requestHeadSent: ByteBuffer?
    package var requestTrailers: ByteBuffer?
    package var interimHeads: ByteBuffer?
    /// From the server, or from a rule.
    package var responseHead: ByteBuffer?
    package var responseHeadSent: ByteBuffer?
    package var responseTrailers: ByteBuffer?
    package var trace: [TraceEntry] = []

    package init() {}
}

package enum BodySide: UInt8, Sendable, Hashable, CaseIterable, Codable {
    case requestReceived = 0
    /// Only if a rule changed the body.
    case requestSent = 1
    case responseReceived = 2
    /// Only if a rule changed the body.
    case responseSent = 3
}

/// What a stage or Sluice itself did, and why.
package struct TraceEntry: Sendable, Hashable, Codable {
    package enum Outcome: String, Sendable, Hashable, Codable {
        case fired
        case note
    }

    /// What the rules of a stage change although their trace entries do not name it.
    package enum Change: Sendable {
        case url
        case response
    }

    /// For example `rewrite`; `sluice` for the proxy itself.
    package var stage: String
    package var rule: String?
    package var outcome: Outcome
    /// One sentence.
    package var text: String

    package init(stage: String, rule: String? = nil, outcome: Outcome, text: String) {
        self.stage = stage
        self.rule = rule
        self.outcome = outcome
        self.text = text
    }
}

package struct ExchangeFailure: Sendable, Hashable, Codable, Error {
    package static let howToTrust = "Run `sluice ca export --format trust-help`."

    package static func skippingVerification(of host: String) -> String { "`--insecure-host \(host)`" }

    package var unverifiedHost: String? {
        let parts = ExchangeFailure.skippingVerification(of: "\n").split(separator: "\n")
        guard code == .tls, let start = message.firstRange(of: parts[0]) else { return nil }
        let rest = message[start.upperBound...]
        return rest.firstRange(of: parts[1]).map { String(rest[..<$0.lowerBound]) }
    }

    /// The raw value is used in filters (`is:`) and sessions.
    package enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        case dns, connect, timeout, reset, tls, aborted, stopped, loop, overload
        case clientTimeout = "client-timeout"
        case clientTLS = "client-tls"
        case badRequest = "bad-request"
        case badResponse = "bad-response"
        case clientGone = "client-gone"
        case notRecorded = "not-recorded"
        case upstreamProxy = "upstream-proxy"

        /// Without a full stop.
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
    /// One sentence with the host.
    package var message: String
    /// One sentence; may be empty.
    package var hint: String
    /// From the HTTP/2 peer, to be passed on; not recorded.
    package var resetCode: HTTP2ErrorCode?
    /// Whether a broken connection is passed on as a reset; not recorded.
    package var isReset = false

    private enum CodingKeys: CodingKey {
        case code, message, hint, resetCode
    }

    package init(_ code: Code, _ message: String, hint: String = "", resetCode: HTTP2ErrorCode? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
        self.resetCode = resetCode
    }
}

extension ExchangeMessages {
    /// Unchanged heads are sent as received.
    package func head(of side: BodySide) -> ByteBuffer? {
        switch side {
        case .requestReceived: requestHead
        case .requestSent: requestHeadSent ?? requestHead
        case .responseReceived: responseHead
        case .responseSent: responseHeadSent ?? responseHead
        }
    }

    package func fields(of side: BodySide) -> FieldSection {
        head(of: side).map { StoredHead.fieldsAfterStartLine($0) } ?? FieldSection()
    }
}

extension ExchangeRecord {
    /// Before rules changed it; 0 without a response.
    package func receivedStatus(_ messages: ExchangeMessages) -> Int {
        guard flags.contains(.responseChanged), let bytes = messages.responseHead else { return status }
        return StoredHead.response(bytes)?.status ?? status
    }
}

extension BodySide {
    package var isRequest: Bool { self == .requestReceived || self == .requestSent }
}
