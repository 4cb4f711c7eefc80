import Wire

/// The proxy's fixed limits for the guide's table.
package enum ProxyLimits {
    package static let loops = 2
    /// HTTP/2 connections of one loop to one server.
    package static let connectionsToOrigin = UpstreamOrigin.connectionLimit
    /// How many name look-ups may run at a time, and how many may wait.
    package static let (lookUps, waitingLookUps) = (Resolver.mostAtOnce, Resolver.mostWaiting)
    /// Different passwords that may wait to be checked.
    package static let waitingPasswords = ProxyAuthentication.queueLimit
    /// How many refusals of one client are recorded at once.
    package static let recordedRefusals = Int(RefusedRecords.burst)
    /// Bytes in flight from a server on one stream of HTTP/2.
    package static let streamFromServer = Int(HTTP2UpstreamLayer.settings.initialWindow)
    /// The same for a stream whose bytes are read quickly, and how many such streams a connection may have.
    package static let wideStream = (bytes: Int(HTTP2UpstreamLayer.wideWindow), count: HTTP2UpstreamLayer.wideLimit)
    /// How many bytes of a refused client are dropped, for how long, and how long it may be silent.
    package static let lingering = (
        bytes: LingeringLayer.limit, time: LingeringLayer.patience, silence: LingeringLayer.silence
    )
    /// How many wrong passwords one address may send at once, and the time until one more is allowed.
    package static let wrongPasswords = (count: Int(ProxyAuthentication.burst), pause: ProxyAuthentication.pause)
}
