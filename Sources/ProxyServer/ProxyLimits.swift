package import NIOCore
import Wire

/// The fixed numbers of the proxy that the guide's table of limits tells, from where they are kept to.
package enum ProxyLimits {
    /// How many event loops there are.
    package static let loops = 2
    /// How many HTTP/2 connections one loop makes to one server.
    package static let connectionsToOrigin = UpstreamOrigin.connectionLimit
    /// How many names are looked up at a time, and how many more may wait.
    package static let (lookUps, waitingLookUps) = (Resolver.mostAtOnce, Resolver.mostWaiting)
    /// How many different passwords may wait to be checked.
    package static let waitingPasswords = ProxyAuthentication.queueLimit
    /// How many refusals of one client are recorded at once.
    package static let recordedRefusals = Int(RefusedRecords.burst)
    /// How many bytes a server may have on their way to a client on one stream of HTTP/2.
    package static let streamFromServer = Int(HTTP2UpstreamLayer.settings.initialWindow)
    /// How many on a stream whose bytes were taken as they came, and how many such streams a connection may have.
    package static let wideStream = (bytes: Int(HTTP2UpstreamLayer.wideWindow), count: HTTP2UpstreamLayer.wideLimit)
    /// How much of what a refused client goes on sending is dropped, for how long, and how long it may be silent.
    package static let lingering = (
        bytes: LingeringLayer.limit, time: LingeringLayer.patience, silence: LingeringLayer.silence
    )
    /// How many wrong passwords may come from one address at once, and the time after which one more may.
    package static let wrongPasswords = (
        count: Int(ProxyAuthentication.burst), pause: ProxyAuthentication.pause
    )
}
