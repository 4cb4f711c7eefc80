package import HTTPModel
package import NIOCore

/// A task for the owner of the sockets, which does the tasks in order on the exchange's event loop.
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
    /// Send no TLS close_notify after the next message, if the message ends by closing a TLS connection.
    case withholdCloseNotify(FlowDirection)
    /// Both connections carry raw bytes from here on.
    case becomeTunnel
    case readClient(Bool)
    case readUpstream(Bool)
    /// Call `pauseElapsed` with this generation at that moment.
    case wake(at: NIODeadline, FlowDirection, generation: Int)
    /// A message waits for `decided`; a `wake` enforces the limit, which is only shown with the message.
    case hold(HoldID, HeldMessage, HoldLimit?)
    /// A hold ended without a decision, because its exchange ended.
    case releaseHold(HoldID)
    /// Look up this name, and call `nameLookedUp` with whether the name has this address.
    case lookUp(name: String, address: String)
    /// Do this work on a thread on which blocking is allowed, and call `workDone` with this generation.
    case perform(any BlockingWork, FlowDirection, generation: Int)
    /// Run this work on such a thread, too; nobody waits for its end.
    case performAfterwards(any BlockingWork)
    /// Read this file in place of a server's response body: report `responsePartReceived` and `responseEndReceived`, or
    /// `upstreamClosed`. `readUpstream` and `abandonUpstream` control the file's reader from here on.
    case readFile(AnswerFile)
    /// Keep the client's socket buffers small: its bytes are paced, and large buffers would hide that.
    case boundClientBuffer
    /// Give up the connection to the server, made or requested; if it is shared, reset its stream with this code.
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
    /// Whether the connection has carried an exchange before.
    package var isReused: Bool
    /// Whether the server may have authenticated the connection, so that a repetition needs the same connection.
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
