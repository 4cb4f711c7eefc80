package import HTTPModel
package import NIOCore

/// What the exchange machine wants done, in order, by the owner of the sockets on the exchange's event loop.
package enum ExchangeEffect: Sendable {
    /// Find or make a connection and report `upstreamReady` or `upstreamFailed`; `fresh` excludes pooled ones.
    case connect(Destination, fresh: Bool)
    // To the server: a request's head, parts and end.
    case sendRequestHead(RequestHead, BodyFraming)
    case sendRequestPart(ByteBuffer)
    case sendRequestEnd(FieldSection?)
    // To the client: interim responses (RFC 9110 §15.2), a response's head, parts and end.
    case sendInterim(ResponseHead)
    case sendResponseHead(ResponseHead, BodyFraming)
    case sendResponsePart(ByteBuffer)
    case sendResponseEnd(FieldSection?)
    /// Pass on the next message's end without TLS close_notify, if it ends with its connection and that has TLS.
    case withholdCloseNotify(FlowDirection)
    /// Both legs carry raw bytes from here on.
    case becomeTunnel
    case readClient(Bool)
    case readUpstream(Bool)
    /// Call `pauseElapsed` with this generation at that moment.
    case wake(at: NIODeadline, FlowDirection, generation: Int)
    /// A message waits for `decided`; the limit is enforced by a `wake`, and is here to be shown with the message.
    case hold(HoldID, HeldMessage, HoldLimit?)
    /// A hold ended without a decision, because its exchange ended.
    case releaseHold(HoldID)
    /// Look up this name, and report `nameLookedUp` with whether the address is one of its.
    case lookUp(name: String, address: String)
    /// Do this work on a thread on which blocking is allowed, and call `workDone` with this generation.
    case perform(any BlockingWork, FlowDirection, generation: Int)
    /// Run this work, too; nobody waits for it.
    case performAfterwards(any BlockingWork)
    /// Read this file in place of a server's response body: report `responsePartReceived` and `responseEndReceived`, or
    /// `upstreamClosed`. `readUpstream` and `abandonUpstream` are for its reader from here on.
    case readFile(AnswerFile)
    /// Keep few bytes of the client in flight: its bytes are paced, and large socket buffers would hide that.
    case boundClientBuffer
    /// Do not use the connection to the server, made or requested, again; reset a shared one's stream with this code.
    case abandonUpstream(HTTP2ErrorCode)
    /// Close the client's connection, or, if it is shared, reset the stream with this code.
    case abortClient(HTTP2ErrorCode)
    /// The last effect: call `effectsFinished`. Both connections of a tunnel close after their pending writes.
    case finished
}

/// From the client to the server, or back.
package enum FlowDirection: Sendable, Hashable {
    case request, response
}

/// The facts about an exchange's connection to the server.
package struct UpstreamFacts: Sendable {
    /// `nil` if a recording answers.
    package var connection: ConnectionID?
    /// `host:port` of the peer.
    package var address: String?
    package var version: HTTPVersion
    /// Whether it has carried an exchange before.
    package var isReused: Bool
    /// Whether the server may have authenticated the connection, which gives requests on it another meaning.
    package var isBound = false
    /// How long looking up the name took, in microseconds; `nil` on a reused connection or for an address.
    package var dns: Int64?
    /// How long making the TCP connection took, in microseconds; `nil` on a reused connection.
    package var connect: Int64?
    /// How long the TLS handshake took, in microseconds; `nil` on a reused or plain connection.
    package var tls: Int64?
    /// Why the server's certificate failed verification, if the user allowed that.
    package var verificationFailure: String?
    /// The trace's note about the requested client certificate.
    package var certificateNote: String?

    package init(connection: ConnectionID?, version: HTTPVersion, isReused: Bool) {
        self.connection = connection
        self.version = version
        self.isReused = isReused
    }
}
